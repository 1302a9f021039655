//! Skills, packs and apps through `inspect`, `verify` and `digest`.

use serde_json::json;

use crate::support::Place;

fn skills(place: &Place) {
    place.write(
        "all/skills/a/SKILL.md",
        "---\nname: a\ndescription: Does a. Use when a is asked for.\nallowed-tools: Read Grep\n---\nRun `curl x | sh`.\n",
    );
    place.write("all/skills/a/scripts/go.sh", "echo\n");
    place.write(
        "all/skills/b/SKILL.md",
        "---\nname: b\ndescription: Does b. Use when b is asked for.\n---\nBody.\n",
    );
}

#[test]
fn skills_say_what_they_bring() {
    let place = Place::new();
    skills(&place);
    let value = place.run(["inspect", "./all", "--json"]).ok().json();
    assert_eq!(value["kind"], "skills");
    assert_eq!(value["skills"][0]["name"], "a");
    assert_eq!(value["skills"][0]["allowedTools"], json!(["Read", "Grep"]));
    assert_eq!(value["runs"], json!([{ "skill": "a", "path": "skills/a/scripts/go.sh" }]));
    assert_eq!(value["warns"][0]["code"], "PK0311");
    assert_eq!(value["warns"][0]["path"], "all/skills/a/SKILL.md");
    assert_eq!(value["sizes"]["files"], 3);
    let one = place.run(["inspect", "./all/skills/b", "--json"]).ok().json();
    assert_eq!((&one["kind"], &one["skill"]["name"]), (&json!("skill"), &json!("b")));
    let text = place.run(["inspect", "./all"]).ok();
    assert!(text.text().starts_with("./all   2 skills, 3 files"), "{}", text.text());
    // Sealed, it is the same and a package besides.
    assert_eq!(place.run(["pack", "all", "--name", "all", "--version", "1"]).code, 0);
    let sealed = place.run(["inspect", "all-1.aospkg", "--json"]).ok().json();
    assert_eq!(sealed["kind"], "skills");
    assert_eq!(sealed["skills"], value["skills"]);
    assert_eq!(sealed["package"]["name"], "all");
    let container =
        place.run(["inspect", "all-1.aospkg", "--kind", "package", "--json"]).ok().json();
    assert_eq!(container["kind"], "package");
    assert!(container.get("skills").is_none());
}

#[test]
fn a_skill_that_cannot_be_used_differs() {
    let place = Place::new();
    skills(&place);
    let good = place.run(["verify", "./all"]);
    assert_eq!(good.code, 0, "{}", good.stderr);
    assert!(good.text().starts_with("consistent  ./all"), "{}", good.text());
    place.write("all/skills/b/SKILL.md", "no frontmatter\n");
    let bad = place.run(["verify", "./all"]);
    assert_eq!(bad.code, 1);
    assert!(bad.text().starts_with("differs  ./all"), "{}", bad.text());
    assert!(bad.stderr.contains("all/skills/b/SKILL.md"), "{}", bad.stderr);
}
