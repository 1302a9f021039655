use holdall_diagnostics::{Code, Diagnostic, Policy, PolicyError, Registry, Severity, Summary};

use crate::{CODES, COLON, LONG, MORE, NOTE, colon, registry};

const AGAIN: &[Code] = &[NOTE];

#[test]
fn finds_codes_in_any_case_and_the_nearest_of_a_wrong_one() {
    let registry = registry();
    assert_eq!(registry.get("pk0104"), Some(&COLON));
    assert_eq!(registry.find("Ao0301"), Ok(&NOTE));
    let ids: Vec<_> = registry.all().iter().map(|code| code.id).collect();
    assert_eq!(ids, ["AO0301", "PK0104", "PK0210"]);

    for (asked, nearest) in
        [("PK0140", Some("PK0104")), ("PK104", Some("PK0104")), ("nonsense", None), ("", None)]
    {
        let error = registry.find(asked).unwrap_err();
        assert_eq!((error.id.as_str(), error.nearest), (asked, nearest));
    }
    let words = registry.explain("pk014").unwrap_err().to_string();
    assert_eq!(words, "`pk014` is no diagnostic code; did you mean PK0104?");
}

#[test]
fn explains() {
    assert_eq!(
        registry().explain("ao0301").unwrap(),
        "AO0301 info: no licence\n\nNothing says under which terms the package may be used.\n"
    );
}

#[test]
fn reports_ids_given_twice() {
    assert!(Registry::duplicates(&[CODES, MORE]).is_empty());
    assert_eq!(Registry::duplicates(&[CODES, MORE, AGAIN, AGAIN]), ["AO0301"]);
}

#[test]
fn makes_the_page() {
    let page = registry().markdown();
    assert!(page.starts_with("# Diagnostics\n"));
    assert!(page.contains("\n## AO: Packages\n\n| Code | Severity | Meaning |\n|---|---|---|\n| [AO0301](#ao0301) | info | no licence |\n"));
    assert!(page.contains("| [PK0210](#pk0210) | warning | a description \\| a table |\n"));
    assert!(page.contains("\n### PK0104\n\nerror: `: ` in a plain value\n\nYAML reads"));
    assert!(!page.contains("## HD"));
}

#[test]
fn strict_allow_and_deny() {
    let all = || vec![colon(), Diagnostic::new(&LONG, "w"), Diagnostic::new(&NOTE, "i")];
    let counts = |policy: &Policy| {
        let summary = Summary::of(&policy.apply(all()));
        (summary.errors, summary.warnings, summary.infos)
    };
    let policy =
        |strict, allow: &[&str], deny: &[&str]| Policy::new(&registry(), strict, allow, deny);
    assert_eq!(counts(&Policy::default()), (1, 1, 1));
    assert_eq!(counts(&policy(true, &[], &[]).unwrap()), (2, 0, 1));
    assert_eq!(counts(&policy(true, &["pk0210"], &[]).unwrap()), (1, 0, 1));
    assert_eq!(counts(&policy(false, &["AO0301"], &[]).unwrap()), (1, 1, 0));
    assert_eq!(counts(&policy(false, &[], &["AO0301"]).unwrap()), (2, 1, 0));

    assert_eq!(policy(false, &["PK0104"], &[]).unwrap_err(), PolicyError::AllowsError("PK0104"));
    let both = policy(false, &["AO0301"], &["ao0301"]).unwrap_err();
    assert_eq!(both.to_string(), "AO0301 is both allowed and denied");
    let unknown = policy(false, &[], &["AO0302"]).unwrap_err().to_string();
    assert_eq!(unknown, "`AO0302` is no diagnostic code; did you mean AO0301?");

    // A finding raised to an error where it was made is not hidden by allowing its code.
    let raised = vec![Diagnostic::new(&LONG, "w").severity(Severity::Error)];
    assert_eq!(policy(false, &["PK0210"], &[]).unwrap().apply(raised).len(), 1);
}
