//! Whole families of faults: every member of a document taken away, made null, made of another
//! type, and every object given a member more. The parser and the schema judge each alike.

use holdall_artifact::json::{Object, Value};
use holdall_artifact::{artifact_manifest_schema, check_artifact_manifest};

use crate::generate::sample;
use crate::mutants::at;
use crate::schema::{only_the_parser_can_tell, to_serde};

/// The places of all values below the root, as `a.b.0.c`, containers before what they hold.
fn places(value: &Value, here: &str, found: &mut Vec<String>) {
    let join =
        |step: &str| if here.is_empty() { step.to_owned() } else { format!("{here}.{step}") };
    match value {
        Value::Object(object) => {
            for (key, member) in object.iter() {
                found.push(join(key));
                places(member, &join(key), found);
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                found.push(join(&index.to_string()));
                places(item, &join(&index.to_string()), found);
            }
        }
        _ => {}
    }
}

/// A place as faults write it, `a.b[0].c`.
fn written(place: &str) -> String {
    place.split('.').fold(String::new(), |text, step| match step.parse::<usize>() {
        Ok(index) => format!("{text}[{index}]"),
        Err(_) if step.is_empty() => format!("{text}[\"\"]"),
        Err(_) if text.is_empty() => step.to_owned(),
        Err(_) => format!("{text}.{step}"),
    })
}

/// Inside a value that may be anything.
fn is_free(place: &str) -> bool {
    place.starts_with("web.apps.0.input.")
}

fn all_places() -> Vec<String> {
    let mut found = Vec::new();
    places(&sample(), "", &mut found);
    assert!(found.len() > 400, "{}", found.len());
    found
}

/// Every variation of the sample: its place, in which way it was varied, the document.
fn variations(mut each: impl FnMut(&str, &str, Value)) {
    let sample = sample();
    // Of a long list the first rows are as good as all.
    let is_late =
        |place: &str| place.split('.').any(|step| step.parse::<usize>().is_ok_and(|n| n > 2));
    let places = all_places().into_iter().filter(|place| !is_late(place));
    for (number, place) in places.enumerate() {
        let (above, last) = place.rsplit_once('.').unwrap_or(("", &place));
        let mut less = sample.clone();
        match if above.is_empty() { &mut less } else { at(&mut less, above) } {
            Value::Object(object) => {
                object.remove(last);
            }
            Value::Array(items) => {
                items.remove(last.parse().unwrap());
            }
            _ => unreachable!("a place below a scalar"),
        }
        each(&place, "without", less);
        // Two of the other types for each place, taken in turns.
        let others = [
            ("boolean", true.into()),
            ("number", 5.into()),
            ("text", "text".into()),
            ("array", Value::Array(vec![])),
            ("object", Value::Object(Object::new())),
        ];
        let turn = others.into_iter().cycle().skip(number % 5).take(2);
        for (way, other) in [("null", Value::Null)].into_iter().chain(turn) {
            let mut varied = sample.clone();
            *at(&mut varied, &place) = other;
            if varied != sample {
                each(&place, way, varied);
            }
        }
        let mut more = sample.clone();
        if let Value::Object(object) = at(&mut more, &place) {
            object.insert("unheardOf", Value::Null);
            each(&place, "more", more);
        }
    }
}

#[test]
fn null_is_never_absence_and_no_object_takes_a_key_more() {
    variations(|place, way, document| {
        let faults = check_artifact_manifest(&document.to_canonical_bytes()).err();
        let found: Vec<_> =
            faults.iter().flatten().map(|fault| (fault.rule.name(), fault.place.clone())).collect();
        let free = is_free(place);
        match way {
            "null" if free => assert!(found.is_empty(), "{place}: {found:?}"),
            "null" => {
                // The channels are one value of two.
                let channels = ("value", "distribution.channels".to_owned());
                let own = found.contains(&("type", written(place)));
                let of_channels = place.starts_with("distribution.channels.");
                assert!(own || (of_channels && found.contains(&channels)), "{place}: {found:?}");
            }
            "more" if free || place == "web.apps.0.input" => {
                assert!(found.is_empty(), "{place}: {found:?}");
            }
            "more" => {
                let extra = format!("{}.unheardOf", written(place));
                // Some objects have names of the author's, whose values are typed.
                let named = ["properties", "env", "defaults"].iter().any(|it| place.ends_with(it));
                let rule = if named { "type" } else { "key" };
                assert!(found.contains(&(rule, extra)), "{place}: {found:?}");
            }
            _ => {}
        }
    });
}

#[test]
fn the_schema_judges_every_variation_as_the_parser_does() {
    let schema = jsonschema::draft202012::new(&to_serde(&artifact_manifest_schema())).unwrap();
    variations(|place, way, document| {
        let accepted = schema.is_valid(&to_serde(&document));
        match check_artifact_manifest(&document.to_canonical_bytes()) {
            Ok(_) => assert!(accepted, "the schema refuses {place} ({way})"),
            Err(faults) => {
                let all_beyond = faults
                    .iter()
                    .all(|fault| only_the_parser_can_tell(fault.rule.name(), &fault.place));
                if accepted {
                    assert!(all_beyond, "the schema takes {place} ({way}): {faults:?}");
                }
            }
        }
    });
}
