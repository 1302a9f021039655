//! The only place that prints. Data goes to standard output, words for people to standard error;
//! with `--json` exactly one object goes to standard output and nothing else anywhere.

use std::io::{self, BufWriter, IsTerminal, Write};
use std::process::ExitCode;

use holdall_diagnostics::{
    Diagnostic, SarifTool, escape_foreign, github_commands, render_text, sarif,
};
use holdall_tree::stage::StageError;
use serde_json::{Value, json};

use crate::cli::{Format, Global, Refused};
use crate::codes;
use crate::outcome::{Data, Exit, Outcome, WriteError};

/// How this run prints.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Style {
    format: Format,
}

impl Style {
    /// The style that the options ask for.
    pub(crate) fn of(global: &Global) -> Self {
        Self { format: global.format() }
    }
}

/// Says something while a command is at work; with `--json` too, since it is on standard error.
pub(crate) fn notice(text: &str) {
    let _ = writeln!(stderr(), "{}", escape_foreign(text));
}

/// Shows lines and asks a question on a terminal; anything but a yes is a no.
pub(crate) fn ask(lines: &[String], question: &str) -> bool {
    for line in lines {
        notice(line);
    }
    let _ = write!(stderr(), "{} [y/N] ", escape_foreign(question));
    let _ = stderr().flush();
    let mut answer = String::new();
    let read = io::stdin().read_line(&mut answer);
    read.is_ok() && matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes")
}

/// Prints an outcome and says how to exit.
pub(crate) fn print(outcome: Outcome, style: Style) -> ExitCode {
    let outcome = outcome.settled();
    let exit = outcome.exit;
    let printed = match style.format {
        Format::Json => print_json(&outcome),
        Format::Text => print_text(outcome),
        Format::Sarif | Format::Github if !outcome.findings_are_data => print_text(outcome),
        Format::Sarif => print_sarif(&outcome),
        Format::Github => write_out(github_commands(&outcome.diagnostics).as_bytes()),
    };
    finish(exit, printed)
}

/// Prints what clap says: help and version as data, an error as an error.
pub(crate) fn refused(refused: &Refused) -> ExitCode {
    let exit = if refused.error.exit_code() == 0 { Exit::Done } else { Exit::Usage };
    if !refused.json {
        return finish(exit, refused.error.print().map_err(WriteError::from));
    }
    let text = refused.error.render().to_string();
    if exit == Exit::Done {
        return print(Outcome::new("help").fact("help", text), Style { format: Format::Json });
    }
    let text = text.trim().trim_start_matches("error: ");
    let (message, help) = text.split_once("\n\n").unwrap_or((text, ""));
    let diagnostic = Diagnostic::new(&codes::USAGE, message);
    let mut outcome = Outcome::new("usage");
    outcome.diagnostics.push(if help.is_empty() { diagnostic } else { diagnostic.help(help) });
    outcome.exit = Exit::Usage;
    print(outcome, Style { format: Format::Json })
}

/// The exit code after printing. A reader that went away is no error; a full disk is one.
fn finish(exit: Exit, printed: Result<(), WriteError>) -> ExitCode {
    let diagnostic = match printed {
        Ok(()) => return ExitCode::from(exit.code()),
        Err(WriteError::Write(error)) if error.kind() == io::ErrorKind::BrokenPipe => {
            return ExitCode::from(exit.code());
        }
        Err(WriteError::Write(error)) => {
            let error = StageError::from_io("standard output".as_ref(), &error);
            Diagnostic::new(&codes::OUTPUT, format!("standard output: {}", error.told()))
        }
        Err(WriteError::Read(diagnostic)) => *diagnostic,
    };
    // Nothing is left to be done if standard error is closed as well.
    let _ = stderr().write_all(render_text([&diagnostic], colour_on_stderr()).as_bytes());
    ExitCode::from(if exit == Exit::Done { Exit::Failed.code() } else { exit.code() })
}

fn print_json(outcome: &Outcome) -> Result<(), WriteError> {
    let mut object = outcome.facts.clone();
    object.insert("schemaVersion".to_owned(), json!(1));
    object.insert("kind".to_owned(), json!(outcome.kind));
    object.insert("diagnostics".to_owned(), json!(outcome.diagnostics));
    write_json(&Value::Object(object))
}

fn print_sarif(outcome: &Outcome) -> Result<(), WriteError> {
    let tool = SarifTool { name: "holdall", version: env!("CARGO_PKG_VERSION") };
    write_json(&sarif(&outcome.diagnostics, &codes::registry(), tool))
}

/// One object, indented for eyes only.
fn write_json(value: &Value) -> Result<(), WriteError> {
    let for_eyes = stdout().is_terminal();
    let mut out = BufWriter::new(stdout().lock());
    let written = if for_eyes {
        serde_json::to_writer_pretty(&mut out, value)
    } else {
        serde_json::to_writer(&mut out, value)
    };
    written.map_err(io::Error::from)?;
    out.write_all(b"\n")?;
    Ok(out.flush()?)
}

fn print_text(outcome: Outcome) -> Result<(), WriteError> {
    let findings = |colour| render_text(&outcome.diagnostics, colour);
    let mut for_people = String::new();
    if outcome.findings_are_data {
        write_out(findings(colour_on_stdout()).as_bytes())?;
    } else {
        for_people.push_str(&findings(colour_on_stderr()));
    }
    match outcome.data {
        Data::None => {}
        Data::Lines(lines) => write_lines(&mut BufWriter::new(stdout().lock()), &lines)?,
        Data::Text(text) => write_out(text.as_bytes())?,
        Data::Bytes { shown, raw, write } => {
            let guard = !raw && stdout().is_terminal();
            let mut out = BufWriter::new(stdout().lock());
            if guard {
                let guarded = write(&mut NoControls { out: &mut out, offset: 0, last: 0 });
                guarded.map_err(|error| match error {
                    WriteError::Write(error) if ControlByte::is_in(&error) => {
                        let what = Diagnostic::new(&codes::CONTROL_BYTES, error.to_string());
                        let help = "print it with --raw, or send it through a pipe";
                        WriteError::Read(Box::new(what.at(shown).help(help)))
                    }
                    error => error,
                })?;
            } else {
                write(&mut out)?;
            }
            out.flush()?;
        }
    }
    for note in &outcome.notes {
        for_people.push_str(&escape_foreign(note));
        for_people.push('\n');
    }
    // Words for people are a courtesy: a closed standard error fails nothing.
    let _ = stderr().write_all(for_people.as_bytes());
    Ok(())
}

fn write_lines(out: &mut dyn Write, lines: &[String]) -> Result<(), WriteError> {
    for line in lines {
        out.write_all(escape_foreign(line).as_bytes())?;
        out.write_all(b"\n")?;
    }
    Ok(out.flush()?)
}

fn write_out(bytes: &[u8]) -> Result<(), WriteError> {
    let mut out = stdout().lock();
    out.write_all(bytes)?;
    Ok(out.flush()?)
}

/// Lets text through to a terminal and stops before the first control character, C0, DEL or C1,
/// that is neither a tab nor the end of a line.
struct NoControls<'a> {
    out: &'a mut dyn Write,
    offset: u64,
    last: u8,
}

impl Write for NoControls<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut last = self.last;
        for (at, &byte) in bytes.iter().enumerate() {
            let c0 = (byte < 0x20 && !matches!(byte, b'\t' | b'\n' | b'\r')) || byte == 0x7f;
            let c1 = last == 0xc2 && (0x80..=0x9f).contains(&byte);
            if c0 || c1 {
                return Err(ControlByte { byte, offset: self.offset + at as u64 }.into());
            }
            last = byte;
        }
        self.out.write_all(bytes)?;
        self.last = last;
        self.offset += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// The control byte at which [`NoControls`] stopped.
#[derive(Debug)]
struct ControlByte {
    byte: u8,
    offset: u64,
}

impl ControlByte {
    fn is_in(error: &io::Error) -> bool {
        error.get_ref().and_then(|inner| inner.downcast_ref::<Self>()).is_some()
    }
}

impl std::fmt::Display for ControlByte {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the control byte 0x{:02x} at byte {} is not shown", self.byte, self.offset)
    }
}

impl std::error::Error for ControlByte {}

impl From<ControlByte> for io::Error {
    fn from(byte: ControlByte) -> Self {
        Self::other(byte)
    }
}

#[expect(clippy::disallowed_methods, reason = "this is the one place that prints")]
fn stdout() -> io::Stdout {
    io::stdout()
}

#[expect(clippy::disallowed_methods, reason = "this is the one place that prints")]
fn stderr() -> io::Stderr {
    io::stderr()
}

fn colour_on_stderr() -> bool {
    colour(stderr().is_terminal())
}

fn colour_on_stdout() -> bool {
    colour(stdout().is_terminal())
}

/// Colours for a terminal that has them, unless `NO_COLOR` is set to anything.
#[expect(clippy::disallowed_methods, reason = "also errors before `Env` exists are coloured")]
fn colour(is_terminal: bool) -> bool {
    let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    is_terminal && !set("NO_COLOR") && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_control_reaches_a_terminal() {
        for (chunks, stopped_at) in [
            (&[&b"a\tb\r\n"[..], "é\u{a0}".as_bytes()][..], None),
            (&[b"ab\x1b[2J"], Some(2)),
            (&[b"ab", b"\x7f"], Some(2)),
            (&[b"a\xc2", b"\x9b"], Some(2)),
        ] {
            let mut out = Vec::new();
            let mut guarded = NoControls { out: &mut out, offset: 0, last: 0 };
            let result = chunks.iter().try_for_each(|chunk| guarded.write_all(chunk));
            let offset = result.err().map(|error| {
                error.get_ref().unwrap().downcast_ref::<ControlByte>().unwrap().offset
            });
            assert_eq!(offset, stopped_at, "{chunks:?}");
            assert!(!out.contains(&0x1b));
        }
    }
}
