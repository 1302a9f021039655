//! Medians of alternating runs, and the table of them.

use std::fmt;

/// Runs each measurement `rounds` times, taking turns, and gives the medians.
pub(crate) fn interleaved<const N: usize>(rounds: usize, runs: &[&dyn Fn() -> f64; N]) -> [f64; N] {
    let mut all = [(); N].map(|()| Vec::new());
    for _ in 0..rounds {
        for (run, times) in runs.iter().zip(&mut all) {
            times.push(run());
        }
    }
    all.map(|mut times| median(&mut times))
}

pub(crate) fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// 10000 as `10,000`.
pub(crate) fn thousands(number: usize) -> String {
    if number < 1000 {
        number.to_string()
    } else {
        format!("{},{:03}", number / 1000, number % 1000)
    }
}

#[derive(Clone, Copy)]
pub(crate) enum Unit {
    /// Seconds.
    Time,
    Bytes,
}

impl Unit {
    fn show(self, value: f64) -> String {
        let steps: &[(f64, &str)] = match self {
            Self::Time => &[(1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (0.0, "ns")],
            Self::Bytes => &[(1e9, "GB"), (1e6, "MB"), (0.0, "kB")],
        };
        let (least, unit) = steps.iter().find(|(least, _)| value >= *least).expect("the last is 0");
        let scale = match (*unit, *least) {
            ("ns", _) => 1e-9,
            ("kB", _) => 1e3,
            (_, least) => least,
        };
        let scaled = value / scale;
        let digits = if scaled < 10.0 { 2 } else { usize::from(scaled < 100.0) };
        format!("{scaled:.digits$} {unit}")
    }
}

/// One measured thing.
pub(crate) struct Row {
    what: String,
    package: String,
    unit: Unit,
    /// Ours, on version 2 where there is a choice.
    own: f64,
    /// 0.4.7 on version 2, and how many times ours it is.
    four: Option<(f64, f64)>,
    /// 0.2.7 on version 1, and how many times ours on version 1 it is.
    two: Option<(f64, f64)>,
    bare: Option<(&'static str, f64)>,
}

impl Row {
    pub(crate) fn own(what: &str, package: &str, unit: Unit, own: f64) -> Self {
        let (what, package) = (what.to_owned(), package.to_owned());
        Self { what, package, unit, own, four: None, two: None, bare: None }
    }

    /// Ours and the peer's on version 2, then the same on version 1.
    pub(crate) fn peers(what: &str, package: &str, unit: Unit, values: [f64; 4]) -> Self {
        let [own2, four, own1, two] = values;
        let mut row = Self::own(what, package, unit, own2);
        row.four = Some((four, four / own2));
        row.two = Some((two, two / own1));
        row
    }

    pub(crate) fn bare(mut self, name: &'static str, value: f64) -> Self {
        self.bare = Some((name, value));
        self
    }
}

#[derive(Default)]
pub(crate) struct Table(Vec<Row>);

impl Table {
    pub(crate) fn add(&mut self, row: Row) {
        // A run of everything takes minutes; each row is told as it is known.
        eprint_row(&row);
        self.0.push(row);
    }
}

#[expect(clippy::print_stderr, reason = "progress of a benchmark")]
fn eprint_row(row: &Row) {
    eprintln!("{row}");
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let own = self.unit.show(self.own);
        write!(f, "| {} | {} | {own} |", self.what, self.package)?;
        for peer in [self.four, self.two] {
            match peer {
                Some((value, ratio)) => write!(f, " {} | {ratio:.2} |", self.unit.show(value))?,
                None => write!(f, " – | – |")?,
            }
        }
        match self.bare {
            Some((name, value)) => {
                let percent = value / self.own * 100.0;
                write!(f, " {name} {}: {percent:.0} % |", self.unit.show(value))
            }
            None => write!(f, " – |"),
        }
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "| What | Package | Holdall | agentos-vfs-core 0.4.7 (version 2) | times | \
             agentos-vfs-core 0.2.7 (version 1) | times | bare loop and our speed in % of it |"
        )?;
        writeln!(f, "|---|---|--:|--:|--:|--:|--:|--:|")?;
        self.0.iter().try_for_each(|row| writeln!(f, "{row}"))
    }
}
