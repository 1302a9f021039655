//! Every diagnostic code this crate owns: `PK04xx` `PACK.md`, `PK05xx` `APP.md` and `.agentapp`,
//! `PK06xx` refs, pins and digests, `PK07xx` products and prices. Frontmatter and YAML are
//! `PK01xx`, of the skill crate.

holdall_diagnostics::codes! {
    PACK_MISSING = "PK0401" Error "a required field of `PACK.md` is missing"
        "A pack needs `schema: pack/v1`, `name`, `title`, `description`, `version` and `plugin`. An entry of `apps` needs \
         `id` and `path`, `knowledge` needs `workspace`, `playbook` needs `title`, `pricing` needs `bundle`.";
    PACK_TYPE = "PK0402" Error "a field of `PACK.md` has the wrong type"
        "Nothing is converted: `\"29\"` is no number, `yes` no boolean, and a key with nothing behind it is null, not \
         absent. Remove the key instead.";
    PACK_BOUNDS = "PK0403" Error "a value of `PACK.md` is too short, too long, too small or too large"
        "`name` has 2 to 80 characters, `title` 1 to 200, `description` 1 to 2,000; ids, paths, versions and workspaces \
         are not empty; `targetChapters` is at least 1, prices are not negative. Characters are Unicode scalar values.";
    PACK_FORM = "PK0404" Error "a value of `PACK.md` does not have the form it must have"
        "`schema` is exactly `pack/v1`. `name` begins with a lower-case letter, goes on with lower-case letters, digits \
         and hyphens, and does not end with a hyphen.";
    PACK_KEY = "PK0405" Error "a key that pack/v1 does not know"
        "The schema is strict at every level, so that a misspelt key is no silent default. The status of a pack is \
         derived and cannot be written: `status` is an unknown key too.";
    PACK_FOREIGN = "PK0406" Error "this `PACK.md` is not a pack/v1 manifest"
        "Other tools use files of this name, and even `schema: pack/v1`, for something else. None of the fields that make \
         an AIP-64 pack are there. Exclude the file (`--exclude`), or write `schema: pack/v1`, `name`, `title`, \
         `description`, `version` and `plugin`.";
    PLUGIN = "PK0411" Error "the pack has no way to produce a plugin"
        "`plugin` has `inline: true`, for the skills in the pack's own `skills` directory, or lists published packages \
         under `includes`, or both. Without either there is nothing to install.";
    BUNDLE_PRICE = "PK0412" Error "the bundle price is not positive"
        "A pack with `pricing` has a `bundle` price greater than 0. Leave `pricing` out for a pack without a price.";
    APP_TWICE = "PK0413" Error "two apps of a pack have one id"
        "The id is the key an app is installed under, so the second would replace the first. Two entries may have one \
         path.";
    INCLUDE = "PK0414" Error "an include is neither a package name nor a git pin"
        "An entry of `plugin.includes` is the name of a published package (`\"@agentproto/skill-pack-code-review\"`) or a \
         repository at a commit (`git+https://URL#SHA40`). A blank entry includes nothing.";
    PACK_DIRECTORY = "PK0421" Warning "a pack's name differs from its directory"
        "They are meant to be equal. Caches name directories otherwise, so it is a warning, and an error with `--strict`.";
    PACK_VERSION = "PK0422" Warning "a pack's version is not a semantic version"
        "Any text is allowed, but only a semantic version such as `1.2.0` can be pinned by a ref.";
    INCLUDE_NAME = "PK0423" Warning "an included package is not named like a pack of skills"
        "Published packs of skills are named `@agentproto/skill-pack-…` or `@scope/agentproto-skill-pack-…`. Another name \
         may be one all the same.";
    NO_SKILLS = "PK0424" Warning "an inline plugin has no skills"
        "`plugin.inline` builds the plugin from `skills/*/SKILL.md` in the pack root, and there is none.";
    APP_MISSING = "PK0431" Error "a declared app is not there"
        "An entry of `apps` names a directory below the pack root with an `APP.md` or `.agentproto/APP.md` in it. Without \
         it the pack can be neither digested nor installed.";
    APP_PATH = "PK0432" Error "the path of an app leaves the pack"
        "`apps[].path` is relative to the pack root and stays in it: no absolute path, no drive letter, no `..` out of \
         it, no link out of it, no line break.";
    APP_ID = "PK0433" Error "an app's id differs from the one the pack declares"
        "The id is the key the app is installed under; with two ids it would be ambiguous. Make `apps[].id` and the `id` \
         of `APP.md` equal, the scope (`@owner/`) included.";
    APP_DOCUMENTS = "PK0434" Error "an app has two different documents"
        "Both `APP.md` and `.agentproto/APP.md` are there with different bytes, so what is digested could be another \
         document than what is installed. Keep one, or make them equal.";

    APP_FIELD_MISSING = "PK0501" Error "a required field of `APP.md` is missing"
        "An app needs `schema: app/v1`, `agents` and `workflows` (each may be `[]`); an entry of those needs `id` and \
         `path`, a surface needs `path`, `dev` needs `launch`.";
    APP_FIELD_TYPE = "PK0502" Error "a field of `APP.md` has the wrong type"
        "Nothing is converted, and a key with nothing behind it is null, not absent. Keys that are not known are fine.";
    APP_FIELD = "PK0503" Error "a value of `APP.md` is not allowed"
        "`schema` is exactly `app/v1`; texts that must not be empty are not.";
    APP_EMPTY = "PK0504" Error "an app has neither agents nor a user interface"
        "`agents` may be empty only where `ui` is given.";
    APP_MEMBER_TWICE = "PK0505" Error "two agents or two workflows of an app have one id"
        "Ids are unique among the agents of an app, and among its workflows.";
    APP_FILE = "PK0506" Error "a file that `APP.md` names is not there"
        "Agents, workflows, surfaces and the workspace document are files below the app's directory, and not empty.";
    APP_FILE_OUTSIDE = "PK0507" Error "a path in `APP.md` leaves the app"
        "Paths are relative to the app's directory and stay in it.";
    APP_NO_ID = "PK0508" Warning "an app without an id"
        "It is a valid app that cannot be installed, since the id is the key it is installed under.";
    NOT_AN_APP = "PK0509" Error "there is no app here"
        "An app is a directory with `APP.md` or `.agentproto/APP.md` in it.";
    BUNDLE_READ = "PK0521" Error "an app bundle cannot be read"
        "An `.agentapp` is a gzip-compressed tar. The bytes are not that, or are cut off, or go on behind the end.";
    BUNDLE_NO_MANIFEST = "PK0522" Error "an app bundle has no `manifest.json`"
        "The list of files, with their digest, stands in `manifest.json` at the root of the bundle.";
    BUNDLE_MANIFEST = "PK0523" Error "the manifest of an app bundle is malformed"
        "`manifest.json` is a JSON object with `format`, `id`, `version`, `agents`, `workflows`, `files`, `fileCount`, \
         `totalSize`, `sha256`, `createdAt` and `agentprotoVersion`, each of its type; no key is given twice.";
    BUNDLE_FORMAT = "PK0524" Error "an app bundle of an unknown format"
        "`format` is `agentapp/v1`. Nothing else is unpacked.";
    BUNDLE_PATH = "PK0525" Error "a name in an app bundle is unsafe"
        "Names are relative, UTF-8, and have no empty, `.` or `..` component.";
    BUNDLE_DIGEST = "PK0526" Error "an app bundle is not what its manifest says"
        "The SHA-256 over the bytes of all files, the number of files or their total size differs from the manifest. The \
         bundle was damaged or changed. Nothing was unpacked.";
    BUNDLE_FILES = "PK0527" Error "the files of an app bundle are not those its manifest lists"
        "Every file is listed and every listed file is there; the list is sorted and names none twice, also on file \
         systems that fold case. A file that is not listed would be installed without being digested.";
    BUNDLE_ENTRY = "PK0528" Error "an app bundle holds something else than files and directories"
        "Links, devices and named pipes are refused.";
    BUNDLE_LIMIT = "PK0529" Error "an app bundle is beyond a limit"
        "A bundle may unpack to 20,000 entries and 1 GiB, with paths of 1,024 bytes. What is beyond is refused while it \
         is read, before it fills a disk.";
    BUNDLE_LEFT_OUT = "PK0530" Warning "something was left out of an app bundle"
        "A bundle holds regular files. Links are left out, as the format has none, and so are `node_modules`, `.git` and \
         a `manifest.json` at the top.";

    BUNDLE_SECRET = "PK0531" Error "something that is rarely meant to be published"
        "An `.env` file or a private key lies in the app. Leave it out with `--exclude PATH`, or say that it is meant with \
         `--include PATH`.";

    BUNDLE_ID = "PK0532" Error "an app bundle says another id than the app in it"
        "`id` in `manifest.json` is copied from `APP.md` when a bundle is made, and it is what people are shown before \
         the app is installed under the id of `APP.md`. Two different ids mean that one of the two was changed \
         afterwards, so the bundle is refused. An app without an id has nothing to compare.";
    BUNDLE_VERSION = "PK0533" Warning "an app bundle says another version than the app in it"
        "`version` in `manifest.json` is copied from `APP.md` when a bundle is made (`0.1.0` where that has none). \
         `APP.md` counts, so it is a warning, and an error with `--strict`. Make the bundle anew.";

    REF = "PK0601" Error "not an `aip://` ref"
        "A ref is `aip://NUMBER/ID`, with `@VERSION` to pin it: a number from 1 without leading zeros, an id without `@` \
         and blanks, a semantic version. Nothing is escaped.";
    REF_NOT_A_PACK = "PK0602" Error "a ref that names no pack"
        "Packs are `aip://64/NAME`. Older texts use 52, which was a placeholder and belongs to another kind of document.";
    REF_NO_STRING = "PK0603" Error "a ref has no string form"
        "The string form has no escape, so an id with `@` or a blank (such as `@owner/app`) has an object form only.";
    PIN_TRANSPORT = "PK0611" Error "a source over another transport than git over https"
        "Only `git+https://` is fetched: no ssh, no plain http, no file, no helper program (`ext::`).";
    PIN = "PK0612" Error "a git source is not pinned to a commit"
        "A branch, a tag or an abbreviated commit moves, so what was reviewed is not what is installed. Write all 40 \
         lower-case digits of the commit behind the first `#` of the address.";
    DIGEST_ORDER = "PK0621" Warning "the pack digest depends on who computes it"
        "Readers that sort by UTF-16 units get another digest, because the path of an app has a character above U+FFFF. \
         Rename the directory.";
    DIGEST_DIFFERS = "PK0622" Error "the digest differs"
        "What is here is not what was recorded. Fetch it again from its publisher, or ask what changed.";
    DIGEST_REFUSED = "PK0623" Error "a digest cannot be compared"
        "A digest without its algorithm, or of one that is not known, says nothing. It is neither a match nor a \
         mismatch, and the pack is not verified.";

    PRODUCT_FIELD = "PK0701" Error "a field of a product is missing or wrong"
        "A product has `schema: product/v1`, `id`, `kind: pricing`, `on` (a ref) and `price`.";
    PRODUCT_PRICE = "PK0702" Error "the price of a product is wrong"
        "`price.model` is `one-time` (`amountMinor`), `prepaid-pool` (`unitPriceMinor`, `grantUnits`) or `pay-per-call` \
         (`unitPriceMinor`, `meter`), each with a `currency` of three lower-case letters. Amounts are whole numbers of \
         minor units: cents, not euros.";
    PRODUCT_REF = "PK0703" Error "a product is on something that is no ref"
        "`on` is an `aip://` ref, as a text or as an object `{aip, id, version?}`.";
    PRODUCT_KEY = "PK0704" Warning "a key that product/v1 does not know"
        "The key is ignored. One's own data belongs below `metadata`.";
    PRODUCT_FILE = "PK0705" Warning "a product's id differs from its file name"
        "A product is `products/ID.md`.";
    PRODUCT_TWICE = "PK0706" Error "two products have one id"
        "Both files would be one product.";
    PRODUCT_DANGLING = "PK0711" Error "a product prices nothing"
        "Its ref names a pack or an app that is not known here. The product is at fault, not the pack.";
    PRODUCT_OLD_FAMILY = "PK0712" Warning "a product is on the old number of packs"
        "`aip://52/…` does not price a pack: packs are family 64.";
    PRICE_TWICE = "PK0713" Warning "a pack has both a product and `pricing`"
        "The product is authoritative, and `pricing` in `PACK.md` is ignored. Remove it, or make them say the same.";

    KNOWLEDGE_ENTRY = "PK0801" Warning "a document of a knowledge workspace is no entry"
        "It was passed over, because its frontmatter cannot be read or a field of it is wrong. An entry has \
         `schema: knowledge.entry/v1`, `slug`, `kind`, `title`, and may have `tags` and `confidence`; documents in \
         `sources/` are not looked at.";
    KNOWLEDGE_ABSENT = "PK0802" Warning "a knowledge workspace is not there"
        "The pack's agents read nothing until it is. A workspace is a directory with `KNOWLEDGE.md`, one level below a \
         directory named in `knowledge-roots` of the store's `config.toml`, or that directory itself.";
    KNOWLEDGE_TWICE = "PK0803" Error "several knowledge workspaces have one name"
        "Which one is meant cannot be told; nothing is read.";
    KNOWLEDGE_NAME = "PK0804" Error "a knowledge workspace is named by a path"
        "A workspace is named, and looked for in the roots that the user chose; a path would lead anywhere.";
}
