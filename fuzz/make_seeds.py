"""Writes the seeds of the fuzz targets that read packages, tars and artifact manifests into the
directory given.

Packages and tars are made from the published field lists with Python's own tarfile and struct, not
by the code under test; artifact manifests are those of the test data. `python3 make_seeds.py seeds`
gives the same bytes on every run.
"""

import gzip
import hashlib
import io
import json
import pathlib
import struct
import sys
import tarfile

DIRECTORY, FILE, LINK = 1, 0, 2


def text(value):
    data = value.encode()
    assert len(data) < 128
    return bytes([len(data)]) + data


def entry(path, kind, offset=0, size=0, mode=0o040755, target=None):
    fixed = struct.pack("<BQQIIIq", kind, offset, size, mode, 0, 0, 0)
    return text(path) + fixed + (b"\0" if target is None else b"\1" + text(target))


def index(*entries):
    return bytes([len(entries)]) + b"".join(entries)


def header(version, manifest, chunk2):
    return struct.pack("<4sHHII", b"\x89AOS", version, 0, len(manifest) + 2, len(chunk2) + 2)


DEMO = text("demo") + text("2.1.0")
COMMANDS = b"\1" + text("demo") + text("bin/demo") + b"\1" + text("man1") + text("demo.1")
PROVIDES = b"\1\2" + text("B") + text("1") + text("A") + text("2") + b"\1" + text("d") + text("/usr/d")
AGENT = b"\1" + text("demo") + b"\1\1" + text("K") + text("v") + b"\1" + text("--acp")
MANIFESTS = {
    "v2": (2, DEMO + b"\0" + COMMANDS),
    "v2-provides": (2, DEMO + PROVIDES + COMMANDS),
    "v1": (1, DEMO + b"\0\0" + COMMANDS + b"\0"),
    "v1-agent": (1, DEMO + AGENT + PROVIDES + COMMANDS + b"\1" + text("/dist/sdk-snapshot.js")),
}
DEMO_INDEX = index(
    entry("/", DIRECTORY),
    entry("/bin", DIRECTORY),
    entry("/bin/demo", FILE, 512, 20, 0o100755),
    entry("/d", DIRECTORY),
    entry("/d-", FILE, 0, 1, 0o100644),
    entry("/d/up", LINK, mode=0o120777, target="../bin/demo"),
    entry("/lnk", LINK, mode=0o120777, target="bin/demo"),
    entry("/loop", LINK, mode=0o120777, target="loop"),
    entry("/orphan/child", FILE, 0, 0, 0o100644),
)


def archive(format, members, pax=None):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=format, pax_headers=pax) as tar:
        for name, kind, data, headers in members:
            info = tarfile.TarInfo(name)
            info.type = kind
            info.pax_headers = headers
            info.mode = 0o755
            if kind == tarfile.REGTYPE:
                info.size = len(data)
                tar.addfile(info, io.BytesIO(data))
            else:
                info.linkname = data.decode()
                tar.addfile(info)
    # Without the padding to a record: small seeds mutate better.
    return out.getvalue().rstrip(b"\0").ljust((len(out.getvalue().rstrip(b"\0")) + 511) // 512 * 512, b"\0") + bytes(1024)


def marked(data):
    """The archive with a mark in place of each checksum that is right."""
    out = bytearray(data)
    for at in range(0, len(out), 512):
        block = out[at : at + 512]
        total = sum(block[:148]) + sum(block[156:]) + 8 * 32
        try:
            right = int(bytes(block[148:154]).strip(b" \0") or b"x", 8) == total
        except ValueError:
            right = False
        if right:
            out[at + 148 : at + 156] = b"??????\0 "
    return bytes(out)


REG, DIR, SYM, HARD = tarfile.REGTYPE, tarfile.DIRTYPE, tarfile.SYMTYPE, tarfile.LNKTYPE
PLAIN = [
    ("agentos-package.json", REG, b'{"name":"demo","version":"2.1.0"}', {}),
    ("bin", DIR, b"", {}),
    ("bin/demo", REG, b"#!/bin/sh\necho demo\n", {}),
    ("lnk", SYM, b"bin/demo", {}),
    ("same", HARD, b"bin/demo", {}),
]
LONG = [("d/" * 60 + "name", REG, b"x", {}), ("l", SYM, b"t/" * 70 + b"t", {})]
SPARSE = {"GNU.sparse.size": "8192", "GNU.sparse.name": "s", "GNU.sparse.map": "1024,512,4096,3"}
TARS = {
    "plain-gnu": archive(tarfile.GNU_FORMAT, PLAIN),
    "plain-ustar": archive(tarfile.USTAR_FORMAT, PLAIN),
    "long-gnu": archive(tarfile.GNU_FORMAT, LONG),
    "long-pax": archive(tarfile.PAX_FORMAT, LONG),
    "records": archive(tarfile.PAX_FORMAT, [("a", REG, b"x", {"mtime": "-1.5", "uid": "70000", "SCHILY.xattr.k": "v"})]),
    "global": archive(tarfile.PAX_FORMAT, PLAIN[2:3], {"mtime": "5", "comment": "c"}),
    "sparse": archive(tarfile.PAX_FORMAT, [("s", REG, b"a" * 512 + b"bbb", SPARSE)]),
    "two": archive(tarfile.GNU_FORMAT, PLAIN[:2]) + archive(tarfile.GNU_FORMAT, PLAIN[2:]),
}


def artifact_documents():
    """The artifact manifests and records of compile evidence among the test data, good and bad."""
    data = pathlib.Path(__file__).parent.parent / "tests" / "data"
    documents = {}
    for path in sorted(data.glob("**/agent-bundle.*.json")):
        if path.is_file():
            documents["-".join(path.relative_to(data).parts)] = path.read_bytes()
    return documents


PACK_DOCUMENT = b"""---
schema: pack/v1
name: ab
title: "A: B"
description: &d D
version: 1.2.0
plugin:
  inline: true
  includes: ["@agentproto/skill-pack-x", git+https://h/r#0123456789abcdef0123456789abcdef01234567]
apps:
  - {id: one, path: ./one}
knowledge: {workspace: w, anyOf: [a], allOf: [b], kinds: [c]}
playbook: {title: *d, root: ./book, targetChapters: 12.0}
pricing: {ebook: 29, bundle: 7.9e1, step: 0}
blockers: []
---
Body
"""
APP_DOCUMENT = b"""---
schema: app/v1
id: "@owner/one"
version: 0.1.0
agents: [{id: lead, path: agents/lead}]
workflows: [{id: w, path: w.md}]
requires: [two]
ui: {path: index.html, port: 80, csp: {connectDomains: []}}
data: {dir: data}
---
"""
PRODUCT = b"""---
schema: product/v1
id: ab
kind: pricing
on: {aip: 64, id: ab, version: 1.0.0}
price: {model: pay-per-call, unitPriceMinor: 3, currency: eur, meter: calls}
billingRail: {rail: stripe, meterId: m}
metadata: {a: 1}
---
"""


def bundle(contents, **changes):
    """The tar of an app bundle; `changes` replace members of its manifest."""
    listed = sorted(contents)
    content = b"".join(contents[name] for name in listed)
    manifest = {
        "format": "agentapp/v1", "id": "one", "version": "0.1.0", "agents": [], "workflows": [],
        "files": listed, "fileCount": len(listed), "totalSize": len(content),
        "sha256": hashlib.sha256(content).hexdigest(), "createdAt": "2026-01-02T03:04:05.000Z",
        "agentprotoVersion": ">=0.1.0",
    }
    manifest.update(changes)
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name, data in [("manifest.json", json.dumps(manifest).encode()), *sorted(contents.items())]:
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return out.getvalue()


def document_seeds():
    files = {".agentproto/APP.md": APP_DOCUMENT, "index.html": b"<p>", "w.md": b"w"}
    good = bundle(files)
    return {
        "pack_document": {"full": PACK_DOCUMENT, "crlf": PACK_DOCUMENT.replace(b"\n", b"\r\n")},
        "app_document": {"full": APP_DOCUMENT},
        "product": {"full": PRODUCT, "text": PRODUCT.replace(b"{aip: 64, id: ab, version: 1.0.0}", b"aip://64/ab")},
        "reference": {"pinned": b"aip://64/ab@1.0.0-rc.1+b", "app": b"aip://53/one", "name": b"ab@1.0.0"},
        "pin": {
            "pin": b"git+https://h:8443/r?x=1#0123456789abcdef0123456789abcdef01234567",
            "package": b"@agentproto/skill-pack-x",
            "address": b"[2001:db8::1]:1/r@v1",
        },
        "agentapp": {
            "good": good,
            "packed": gzip.compress(good, mtime=0),
            "size": bundle(files, totalSize=1),
            "up": bundle(files, files=["../x"]),
            "format": bundle(files, format="agentapp/v2"),
        },
    }


def main(root):
    seeds = {"header": {}, "manifest": {}, "index": {}, "tar": {}, "package": {}, "pack": {}}
    mount = TARS["plain-gnu"]
    for name, (version, manifest) in MANIFESTS.items():
        prefix = struct.pack("<H", version)
        head = header(version, manifest, DEMO_INDEX)
        whole = head + prefix + manifest + prefix + DEMO_INDEX + mount
        # `arbitrary` takes the number from the end of the bytes or from their start.
        seeds["header"][name] = struct.pack("<Q", len(whole)) + head
        seeds["manifest"][name] = prefix + manifest
        seeds["index"][name] = prefix + DEMO_INDEX
        seeds["package"][name] = whole
        lengths = struct.pack("<BHH", version - 1, len(manifest), len(DEMO_INDEX))
        seeds["package"][name + "-framed"] = lengths + manifest + DEMO_INDEX + mount
    seeds["index"]["bare"] = DEMO_INDEX
    for name, data in TARS.items():
        seeds["tar"][name] = data
        seeds["tar"][name + "-marked"] = marked(data)
        seeds["pack"][name] = marked(data)
    for target, files in document_seeds().items():
        seeds[target] = files
    documents = artifact_documents()
    seeds["artifact"] = seeds["artifact_lean"] = documents
    for target, files in seeds.items():
        (root / target).mkdir(parents=True, exist_ok=True)
        for name, data in files.items():
            (root / target / name).write_bytes(data)


main(pathlib.Path(sys.argv[1]))
