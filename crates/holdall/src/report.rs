//! Facts as people read them: a head line, then labels with their values in a column.

/// Lines for standard output, made label by label.
#[derive(Debug, Default)]
pub(crate) struct Report {
    lines: Vec<String>,
}

impl Report {
    /// A line of its own, without indentation.
    pub(crate) fn head(&mut self, line: impl Into<String>) {
        self.lines.push(line.into());
    }

    /// A label and its value.
    pub(crate) fn row(&mut self, label: &str, value: impl AsRef<str>) {
        self.lines.push(format!("  {label:<9} {}", value.as_ref()));
    }

    /// A label and its values, one a line; `otherwise` stands for none.
    pub(crate) fn rows<S: AsRef<str>>(
        &mut self,
        label: &str,
        values: impl IntoIterator<Item = S>,
        otherwise: &str,
    ) {
        let mut next = label;
        for value in values {
            self.row(next, value);
            next = "";
        }
        if !next.is_empty() {
            self.row(next, otherwise);
        }
    }

    /// All lines.
    pub(crate) fn into_lines(self) -> Vec<String> {
        self.lines
    }
}

/// A number of bytes with three digits at most, in powers of 1000.
#[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
pub(crate) fn size(bytes: u64) -> String {
    const UNITS: [&str; 6] = ["kB", "MB", "GB", "TB", "PB", "EB"];
    if bytes < 1000 {
        return format!("{bytes} B");
    }
    let mut value = bytes as f64 / 1000.0;
    let mut unit = UNITS[0];
    for next in &UNITS[1..] {
        if value < 999.5 {
            break;
        }
        value /= 1000.0;
        unit = next;
    }
    if value < 9.95 { format!("{value:.1} {unit}") } else { format!("{value:.0} {unit}") }
}

/// `1 file`, `2 files`.
pub(crate) fn count(number: usize, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {}", plural(noun)) }
}

fn plural(noun: &str) -> String {
    match noun.strip_suffix('y') {
        Some(stem) => format!("{stem}ies"),
        None => format!("{noun}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_at_most_three_digits() {
        for (bytes, text) in [
            (0, "0 B"),
            (999, "999 B"),
            (1000, "1.0 kB"),
            (9_949, "9.9 kB"),
            (9_950, "10 kB"),
            (999_499, "999 kB"),
            (999_500, "1.0 MB"),
            (65_700_000, "66 MB"),
            (u64::MAX, "18 EB"),
        ] {
            assert_eq!(size(bytes), text, "{bytes}");
        }
    }

    #[test]
    fn nouns_are_counted() {
        assert_eq!(
            (count(1, "directory"), count(2, "directory")),
            ("1 directory".into(), "2 directories".into())
        );
        assert_eq!(count(0, "file"), "0 files");
    }
}
