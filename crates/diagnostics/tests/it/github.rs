use holdall_diagnostics::{Diagnostic, SourceText, github_commands};

use crate::{COLON, LONG, NOTE, colon};

#[test]
fn writes_a_command_with_its_place() {
    assert_eq!(
        github_commands(&[colon()]),
        "::error file=skills/triage/SKILL.md,line=3,endLine=3,col=15,endColumn=17,title=PK0104\
         ::`: ` in a plain value%0Ahelp: put the value in double quotes\n"
    );
}

#[test]
fn escapes_data_and_properties() {
    let one = Diagnostic::new(&LONG, "50% of\r\n::error::x").at("a,b:c%\n.md").target("claude");
    assert_eq!(
        github_commands(&[one]),
        "::warning file=a%2Cb%3Ac%25%0A.md,title=PK0210::50%25 of%0D%0A::error::x [claude]\n"
    );
}

#[test]
fn gives_no_column_for_a_range_over_lines() {
    let source = SourceText::new("one\ntwo\n");
    let one = Diagnostic::new(&NOTE, "x").at("f").span(&source, 0..6);
    assert_eq!(github_commands(&[one]), "::notice file=f,line=1,endLine=2,title=AO0301::x\n");
}

#[test]
fn puts_each_files_first_error_first_and_counts_the_rest() {
    let mut all = Vec::new();
    for file in ["a", "b", "c"] {
        for n in 0..6 {
            all.push(Diagnostic::new(&COLON, format!("{file}{n}")).at(file));
        }
    }
    all.extend((0..10).map(|n| Diagnostic::new(&LONG, format!("w{n}")).at("w")));
    all.extend((0..10).map(|n| Diagnostic::new(&NOTE, format!("##[add-mask]n{n}")).at("n")));
    let out = github_commands(&all);
    let commands: Vec<_> = out.lines().filter(|line| line.starts_with("::")).collect();
    let of = |word: &str| commands.iter().filter(|line| line.starts_with(word)).count();
    assert_eq!((of("::error "), of("::warning "), of("::notice ")), (10, 10, 10));
    let messages: Vec<_> =
        commands.iter().take(10).map(|line| line.rsplit("::").next().unwrap()).collect();
    assert_eq!(messages, ["a0", "b0", "c0", "a1", "a2", "a3", "a4", "a5", "b1", "b2"]);
    assert!(
        commands.contains(
            &"::notice title=holdall::8 more errors, 1 more notice in the log of this step"
        )
    );
    // What is not shown as an annotation still stands in the log, as words and not as commands.
    let words: Vec<_> = out.lines().filter(|line| !line.starts_with("::")).collect();
    assert_eq!(words.len(), 9);
    assert_eq!(words[0], "PK0104 error b b3");
    assert_eq!(words[8], "AO0301 info n ##\\u{5b}add-mask]n9");
}

#[test]
fn ten_of_each_need_no_notice() {
    let all: Vec<_> = (0..10).map(|n| Diagnostic::new(&NOTE, n.to_string())).collect();
    assert_eq!(github_commands(&all).lines().count(), 10);
    assert_eq!(github_commands(&[]), "");
}
