//! Collation, numbers and strings against the engine whose order and form the format takes over.

use std::io::Write;
use std::process::{Command, Stdio};

use holdall_artifact::collate;
use holdall_artifact::json::{write_number, write_string};
use proptest::prelude::*;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;

const CASES: usize = 100_000;

/// Runs a script that turns a JSON document on its input into lines.
fn node(script: &str, input: &serde_json::Value) -> Vec<String> {
    let script = format!(
        "const input = JSON.parse(require('fs').readFileSync(0, 'utf8'));
         const lines = ({script})(input);
         require('fs').writeFileSync(1, lines.join('\\n'));"
    );
    let mut child = Command::new("node")
        .args(["-e", &script])
        .env("LC_ALL", "en_US.UTF-8")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("node 20 or later is installed");
    let mut stdin = child.stdin.take().expect("a pipe");
    let text = input.to_string();
    let writer = std::thread::spawn(move || stdin.write_all(text.as_bytes()));
    let output = child.wait_with_output().expect("node ends");
    writer.join().expect("no panic").expect("written");
    assert!(output.status.success());
    String::from_utf8(output.stdout).expect("UTF-8").split('\n').map(str::to_owned).collect()
}

fn generated<S: Strategy>(strategy: &S, count: usize) -> Vec<S::Value> {
    let mut runner = TestRunner::deterministic();
    (0..count).map(|_| strategy.new_tree(&mut runner).expect("a value").current()).collect()
}

#[test]
fn arrays_sort_as_node_compares() {
    let ascii = "[ -~]{0,10}";
    let pathlike = "[a-cA-C]{1,2}[-_./ ]?[a-cA-C0-2]{0,3}[-_./]?[a-c]{0,2}";
    let unicode = "[a-cé\u{301}ßÅå中ñ🎉\u{1}\u{7f}\u{ff5e}αβ0-1. /-]{0,6}";
    // Without Han: its order among itself is known to differ, see `collate`.
    let any_text = "[\\PC&&\\P{Han}]{0,6}";
    let one = prop_oneof![3 => ascii, 3 => pathlike, 3 => unicode, 1 => any_text];
    let pairs = generated(&(one.clone(), one), CASES);
    let script = "pairs => pairs.map(([a, b]) => Math.sign(a.localeCompare(b)))";
    let signs = node(script, &serde_json::json!(pairs));
    assert_eq!(signs.len(), pairs.len());
    for ((a, b), sign) in pairs.iter().zip(&signs) {
        assert_eq!((collate(a, b) as i8).to_string(), *sign, "{a:?} {b:?}");
    }
}

#[test]
fn every_pair_of_printable_characters_sorts_as_node_compares() {
    let letters: Vec<String> = (' '..='~').map(String::from).collect();
    let mut pairs = Vec::new();
    for a in &letters {
        for b in &letters {
            pairs.push((a.clone(), b.clone()));
            // Case decides only where no later letter does.
            pairs.push((format!("{a}x"), format!("{b}X")));
        }
    }
    let script = "pairs => pairs.map(([a, b]) => Math.sign(a.localeCompare(b)))";
    for ((a, b), sign) in pairs.iter().zip(node(script, &serde_json::json!(pairs))) {
        assert_eq!((collate(a, b) as i8).to_string(), sign, "{a:?} {b:?}");
    }
}

#[test]
fn numbers_are_written_as_node_writes_them() {
    let finite = any::<u64>().prop_map(f64::from_bits).prop_filter("finite", |v| v.is_finite());
    let short = (any::<i32>(), -30..30_i32).prop_map(|(n, e)| f64::from(n) * 10_f64.powi(e));
    let whole = (any::<i32>(), any::<u32>()).prop_map(|(a, b)| f64::from(a) * f64::from(b));
    let numbers = generated(&prop_oneof![finite, short, whole], CASES);
    let bits: Vec<String> = numbers.iter().map(|n| n.to_bits().to_string()).collect();
    let script = "all => { const v = new DataView(new ArrayBuffer(8));
        return all.map(b => { v.setBigUint64(0, BigInt(b)); return JSON.stringify(v.getFloat64(0)); }) }";
    for (number, written) in numbers.iter().zip(node(script, &serde_json::json!(bits))) {
        let mut ours = Vec::new();
        write_number(*number, &mut ours);
        assert_eq!(String::from_utf8(ours).expect("ASCII"), written, "{number:e}");
    }
}

#[test]
fn strings_are_written_as_node_writes_them() {
    let texts =
        generated(&"[\u{0}-\u{2f}\\\\\"a-c\u{7f}-\u{a0}\u{2028}\u{2029}é中🎉\u{fffe}]{0,8}", CASES);
    let units: Vec<Vec<u16>> = texts.iter().map(|text| text.encode_utf16().collect()).collect();
    // A line separator of ours is only ever written as an escape.
    let script = "all => all.map(units => JSON.stringify(String.fromCharCode(...units)))";
    for (text, written) in texts.iter().zip(node(script, &serde_json::json!(units))) {
        let mut ours = Vec::new();
        write_string(text, &mut ours);
        assert_eq!(String::from_utf8(ours).expect("UTF-8"), written, "{text:?}");
    }
}
