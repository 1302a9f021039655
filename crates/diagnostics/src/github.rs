//! Diagnostics as GitHub workflow commands, which become annotations in a pull request.
//!
//! GitHub shows at most ten errors, ten warnings and ten notices of a step and drops the others
//! without a word. So the ten that are worth most go first, one notice says how many are left,
//! and these follow as plain lines of the log.

use std::collections::HashSet;

use crate::text::short_line;
use crate::{Diagnostic, Severity};

/// What GitHub shows of a kind for one step.
const SHOWN: usize = 10;

/// The workflow commands of the findings, one a line. Within a severity each file's first finding
/// comes first, then the others in the order given.
pub fn github_commands(diagnostics: &[Diagnostic]) -> String {
    let of = |severity| first_of_each_file_first(diagnostics, severity);
    let (errors, warnings, infos) =
        (of(Severity::Error), of(Severity::Warning), of(Severity::Info));
    let over = errors.len() > SHOWN || warnings.len() > SHOWN || infos.len() > SHOWN;
    // The notice about the rest is itself one of the ten notices.
    let notices = if over { SHOWN - 1 } else { SHOWN };

    let mut out = String::new();
    let mut rest = Vec::new();
    let mut counts = Vec::new();
    for (found, limit, word) in
        [(&errors, SHOWN, "error"), (&warnings, SHOWN, "warning"), (&infos, notices, "notice")]
    {
        let (shown, left) = found.split_at(limit.min(found.len()));
        for diagnostic in shown {
            out.push_str(&command(diagnostic, word));
            out.push('\n');
        }
        match left.len() {
            0 => {}
            1 => counts.push(format!("1 more {word}")),
            n => counts.push(format!("{n} more {word}s")),
        }
        rest.extend_from_slice(left);
    }
    if !counts.is_empty() {
        let text = format!("{} in the log of this step", counts.join(", "));
        out.push_str(&format!("::notice title=holdall::{}\n", escape_data(&text)));
    }
    for diagnostic in rest {
        // `##[` anywhere in a line is the older spelling of a command.
        out.push_str(&short_line(diagnostic).replace("##[", "##\\u{5b}"));
        out.push('\n');
    }
    out
}

fn first_of_each_file_first(diagnostics: &[Diagnostic], severity: Severity) -> Vec<&Diagnostic> {
    let mut seen = HashSet::new();
    let (mut first, later): (Vec<_>, Vec<_>) = diagnostics
        .iter()
        .filter(|diagnostic| diagnostic.severity == severity)
        .partition(|diagnostic| seen.insert(diagnostic.path.as_deref()));
    first.extend(later);
    first
}

fn command(diagnostic: &Diagnostic, word: &str) -> String {
    let mut properties = Vec::new();
    if let Some(path) = &diagnostic.path {
        properties.push(format!("file={}", escape_property(path)));
        if let Some(span) = diagnostic.span {
            properties.push(format!("line={}", span.start.line));
            properties.push(format!("endLine={}", span.end.line));
            // GitHub refuses columns of a range over several lines.
            if span.start.line == span.end.line {
                properties.push(format!("col={}", span.start.column));
                properties.push(format!("endColumn={}", span.end.column));
            }
        }
    }
    properties.push(format!("title={}", escape_property(diagnostic.code)));
    let mut text = diagnostic.message.clone();
    if let Some(target) = &diagnostic.target {
        text.push_str(&format!(" [{target}]"));
    }
    if let Some(help) = &diagnostic.help {
        text.push_str(&format!("\nhelp: {help}"));
    }
    format!("::{word} {}::{}", properties.join(","), escape_data(&text))
}

fn escape_data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn escape_property(text: &str) -> String {
    escape_data(text).replace(':', "%3A").replace(',', "%2C")
}
