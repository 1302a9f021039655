//! Instructions that run what nobody has seen.
//!
//! A skill is read by a model that follows it. What it downloads and runs at that moment is not
//! what was reviewed, pinned or hashed. These are warnings: plenty of honest skills do it.

use std::ops::Range;
use std::sync::LazyLock;

use holdall_diagnostics::{Code, Diagnostic, SourceText};
use regex_lite::Regex;

use crate::codes;

/// Findings of one file and rule that are reported.
const MAX_FINDINGS: usize = 10;

struct Rule {
    code: &'static Code,
    /// One of these has to be on a line before the expression is even compiled.
    hints: &'static [&'static str],
    pattern: LazyLock<Regex>,
    message: &'static str,
    help: &'static str,
}

macro_rules! regex {
    ($pattern:expr) => {
        // A pattern of our own that does not compile fails the first test.
        LazyLock::new(|| match Regex::new($pattern) {
            Ok(regex) => regex,
            Err(error) => unreachable!("{error}"),
        })
    };
}

static RULES: [Rule; 5] = [
    Rule {
        code: &codes::RISKY_PIPE,
        hints: &["curl", "wget", "iwr", "irm", "iex", "Invoke-"],
        // Download piped into a shell or an interpreter, given to one as a script, or evaluated.
        pattern: regex!(concat!(
            r"(?i)\b(?:curl|wget)\b[^\n|]*\|\s*(?:sudo\s+(?:-\S+\s+)*)?(?:/\S*/)?(?:env\s+)?",
            r"(?:ba|z|k|da|fi|c)?sh\b",
            r"|\b(?:curl|wget)\b[^\n|]*\|\s*(?:sudo\s+)?(?:/\S*/)?(?:python[0-9.]*|node|perl|ruby|php)\b",
            r"|\b(?:ba|z|k|da)?sh\s+(?:-\S+\s+)*<\(\s*(?:curl|wget)\b",
            r#"|\b(?:ba|z|k|da)?sh\s+-\w*c\s+["']?(?:\$\(|`)\s*(?:curl|wget)\b"#,
            r#"|\b(?:eval|source|\.)\s+["']?(?:\$\(|`|<\()\s*(?:curl|wget)\b"#,
            r"|\b(?:iwr|irm|Invoke-WebRequest|Invoke-RestMethod)\b[^\n|]*\|\s*(?:iex|Invoke-Expression)\b",
            r"|\b(?:iex|Invoke-Expression)\b[^\n]*\b(?:iwr|irm|Invoke-WebRequest|Invoke-RestMethod|DownloadString)\b",
        )),
        message: "runs a download without looking at it",
        help: "ship the script with the skill, or download it to a file, check its digest, then run it",
    },
    Rule {
        code: &codes::RISKY_FETCH,
        hints: &["http://", "https://"],
        // A verb of fetching, an address, and a word that says the answer is to be obeyed.
        pattern: regex!(concat!(
            r"(?i)\b(?:fetch|download|retrieve|load|read|pull|get|open|visit|curl|webfetch)\b[^\n]*",
            r"https?://[^\s)>\x60]+[^\n]*\b(?:and|then|to)\b[^\n]*",
            r"\b(?:follow|obey|comply|execute|apply)\b",
            r"|\b(?:fetch|download|retrieve|load|pull|webfetch)\b[^\n]*",
            r"\b(?:instructions?|guidelines?|rules|prompts?|directives?)\b[^\n]*https?://",
            r"|\b(?:follow|obey|execute)\b[^\n]*\b(?:instructions?|steps|guidelines?|rules)\b[^\n]*",
            r"\b(?:at|from)\b[^\n]{0,20}https?://",
        )),
        message: "takes instructions from the network at run time",
        help: "put the text into the skill: what is fetched later was not reviewed",
    },
    Rule {
        code: &codes::RISKY_RUNNER,
        hints: &["npx", "bunx", "dlx"],
        pattern: regex!(
            r"\bnpx\s+(?:-\S+\s+)*(?:-y|--yes)\b(?:\s+-\S+)*(?:\s+\S+)?|\bbunx\s+[@\w]\S*|\b(?:pnpm|yarn)\s+dlx\s+[@\w]\S*"
        ),
        message: "runs a package from the registry without asking and without a version",
        help: "name the exact version, as in `npx -y name@1.2.3`",
    },
    Rule {
        code: &codes::RISKY_LATEST,
        hints: &["@latest"],
        pattern: regex!(r"(?:@[\w.-]+/)?[\w][\w.-]*@latest\b"),
        message: "names whatever version is newest at that moment",
        help: "name the exact version that was tried",
    },
    Rule {
        code: &codes::RISKY_RUNNER,
        hints: &["uvx", "pipx run"],
        pattern: regex!(r"\b(?:uvx|pipx\s+run)\s+(?:-\S+\s+)*--from\s+git\+\S+"),
        message: "runs a package from a repository without a version",
        help: "add the commit, as in `git+https://host/repository@COMMIT`",
    },
];

/// The risky instructions of a text file, with places; nothing if it is not UTF-8.
pub fn diagnostics(source: &SourceText) -> Vec<Diagnostic> {
    let Ok(text) = std::str::from_utf8(source.bytes()) else { return Vec::new() };
    let mut found = Vec::new();
    for rule in &RULES {
        if rule.hints.iter().any(|hint| text.contains(hint)) {
            found.extend(rule.find(text).take(MAX_FINDINGS).map(|range| {
                let shown: String = text[range.clone()].chars().take(60).collect();
                let message = format!("`{shown}` {}", rule.message);
                Diagnostic::new(rule.code, message).span(source, range).help(rule.help)
            }));
        }
    }
    found.sort_by_key(|found| found.span.map(|span| span.start.offset));
    found
}

impl Rule {
    fn find<'t>(&self, text: &'t str) -> impl Iterator<Item = Range<usize>> + use<'t, '_> {
        let lines = text.split_inclusive('\n').scan(0, |at, line| {
            let start = *at;
            *at += line.len();
            Some((start, line))
        });
        lines
            // A line of data is not an instruction, and long ones make expressions slow.
            .filter(|(_, line)| line.len() <= 4096)
            .filter(|(_, line)| self.hints.iter().any(|hint| line.contains(hint)))
            .filter_map(|(start, line)| {
                let range = self.pattern.find(line)?.range();
                (!is_pinned(&line[range.clone()])).then_some(start + range.start..start + range.end)
            })
    }
}

/// `npx -y name@1.2.3` and `git+…@<commit>` name what they run.
fn is_pinned(command: &str) -> bool {
    let runner = ["npx", "bunx", "dlx", "uvx", "pipx"].iter().any(|word| command.contains(word));
    let last = command.rsplit_once(char::is_whitespace).map_or(command, |(_, last)| last);
    let last = last.trim_matches(['`', '"', '\'', ',', ')', ']', ';']);
    let version = last.get(1..).and_then(|rest| rest.rsplit_once('@')).map(|(_, version)| version);
    runner
        && version.is_some_and(|version| {
            let commit = version.len() == 40 && version.bytes().all(|b| b.is_ascii_hexdigit());
            let dots = version.split(['-', '+']).next().unwrap_or_default();
            let exact = dots.split('.').count() == 3
                && dots
                    .split('.')
                    .all(|part| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit()));
            commit || exact
        })
}
