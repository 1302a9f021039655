//! What a plain scalar means: here, and to other parsers.
//!
//! [`Scalar::reading`] is the YAML 1.2 core schema. [`Scalar::elsewhere`] is the union of what
//! YAML 1.1 parsers (js-yaml 3, `PyYAML`) make of the same text where that is not a text:
//! `pack-v1` section 1.5.

use super::{CoreTag, Scalar, Style};

/// A scalar by the YAML 1.2 core schema.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Reading {
    /// `~`, `null`, or nothing at all.
    Null,
    /// `true`, `false` and their capitalised forms.
    Bool(bool),
    /// Any number; `.inf` and `.nan` too.
    Number(f64),
    /// Everything else.
    Text,
}

/// What some parser reads where a text may have been meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Elsewhere {
    /// Nothing.
    Null,
    /// A boolean to every parser.
    Bool,
    /// A number to at least one of the two dialects.
    Number,
    /// A date to YAML 1.1.
    Date,
    /// `yes`, `no`, `on`, `off`: a boolean to YAML 1.1 as written, though not to js-yaml.
    Word,
    /// `=` and `<<`, which YAML 1.1 gives a meaning of their own.
    Indicator,
}

impl Elsewhere {
    /// What is read, with its article.
    pub const fn noun(self) -> &'static str {
        match self {
            Self::Null => "nothing",
            Self::Bool | Self::Word => "a boolean",
            Self::Number => "a number",
            Self::Date => "a date",
            Self::Indicator => "an indicator",
        }
    }
}

impl Scalar {
    /// The value by the YAML 1.2 core schema; quoted and block scalars are texts.
    pub fn reading(&self) -> Reading {
        match self.tag {
            Some(CoreTag::Str) => return Reading::Text,
            Some(CoreTag::Null) => return Reading::Null,
            None if self.style != Style::Plain => return Reading::Text,
            _ => {}
        }
        core(&self.text)
    }

    /// What the two dialects read, if any of them reads another type than a text.
    pub fn elsewhere(&self) -> Option<Elsewhere> {
        if self.style != Style::Plain || self.tag == Some(CoreTag::Str) {
            return None;
        }
        match core(&self.text) {
            Reading::Null => Some(Elsewhere::Null),
            Reading::Bool(_) => Some(Elsewhere::Bool),
            Reading::Number(_) => Some(Elsewhere::Number),
            Reading::Text => yaml11(&self.text),
        }
    }

    /// A decimal number written as both dialects read it: sign, digits, fraction, exponent.
    pub fn portable_number(&self) -> Option<f64> {
        let ok = self.style == Style::Plain && is_decimal(&self.text);
        let digits = self.text.trim_start_matches(['-', '+']);
        let octal =
            digits.len() > 1 && digits.starts_with('0') && !digits.contains(['.', 'e', 'E']);
        if ok && !octal { self.text.parse().ok() } else { None }
    }
}

/// The number as JSON, an integer where it is written as one.
pub(super) fn json_number(text: &str, value: f64) -> serde_json::Value {
    if let Ok(whole) = text.trim_start_matches('+').parse::<i64>() {
        return whole.into();
    }
    serde_json::Number::from_f64(value).map_or(serde_json::Value::Null, Into::into)
}

fn core(text: &str) -> Reading {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Reading::Null,
        "true" | "True" | "TRUE" => return Reading::Bool(true),
        "false" | "False" | "FALSE" => return Reading::Bool(false),
        ".nan" | ".NaN" | ".NAN" => return Reading::Number(f64::NAN),
        _ => {}
    }
    let (sign, digits) = match text.as_bytes() {
        [b'-', ..] => (-1.0, &text[1..]),
        [b'+', ..] => (1.0, &text[1..]),
        _ => (1.0, text),
    };
    if matches!(digits, ".inf" | ".Inf" | ".INF") {
        return Reading::Number(sign * f64::INFINITY);
    }
    for (prefix, radix) in [("0o", 8), ("0x", 16)] {
        if let Some(rest) = text.strip_prefix(prefix)
            && !rest.is_empty()
            && rest.chars().all(|c| c.is_digit(radix))
        {
            let value = rest.chars().fold(0.0, |sum, c| {
                sum * f64::from(radix) + f64::from(c.to_digit(radix).unwrap_or(0))
            });
            return Reading::Number(value);
        }
    }
    if is_decimal(text) {
        return text.parse().map_or(Reading::Text, Reading::Number);
    }
    Reading::Text
}

/// `[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?`
fn is_decimal(text: &str) -> bool {
    let text = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (mantissa, exponent) = match text.find(['e', 'E']) {
        Some(at) => (&text[..at], Some(&text[at + 1..])),
        None => (text, None),
    };
    let all_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let mantissa_ok = match mantissa.split_once('.') {
        Some((whole, fraction)) => {
            all_digits(whole) && all_digits(fraction) && !(whole.is_empty() && fraction.is_empty())
        }
        None => !mantissa.is_empty() && all_digits(mantissa),
    };
    let exponent_ok = exponent.is_none_or(|exponent| {
        let digits = exponent.strip_prefix(['-', '+']).unwrap_or(exponent);
        !digits.is_empty() && all_digits(digits)
    });
    mantissa_ok && exponent_ok
}

fn yaml11(text: &str) -> Option<Elsewhere> {
    if matches!(text, "=" | "<<") {
        return Some(Elsewhere::Indicator);
    }
    let word = text.to_ascii_lowercase();
    let one_case = text == word
        || text == text.to_ascii_uppercase()
        || text.starts_with(|c: char| c.is_ascii_uppercase()) && text[1..] == word[1..];
    if one_case && matches!(word.as_str(), "yes" | "no" | "on" | "off") {
        return Some(Elsewhere::Word);
    }
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    if !unsigned.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        return None;
    }
    if is_date(text) {
        return Some(Elsewhere::Date);
    }
    (is_grouped_number(unsigned) || is_sexagesimal(unsigned)).then_some(Elsewhere::Number)
}

/// Binary, octal, decimal and hexadecimal with `_` between digits.
fn is_grouped_number(text: &str) -> bool {
    let radix = |prefix: &str, radix: u32| {
        text.strip_prefix(prefix).is_some_and(|rest| {
            rest.contains(|c: char| c != '_') && rest.chars().all(|c| c == '_' || c.is_digit(radix))
        })
    };
    let plain: String = text.chars().filter(|&c| c != '_').collect();
    let starts = text.starts_with(|c: char| c.is_ascii_digit() || c == '.');
    radix("0b", 2) || radix("0x", 16) || starts && is_decimal(&plain)
}

/// Base 60: `1:30`, `190:20:30.15`.
fn is_sexagesimal(text: &str) -> bool {
    let mut parts = text.split(':');
    let first = parts.next().unwrap_or_default();
    let mut rest: Vec<&str> = parts.collect();
    let Some(last) = rest.pop() else { return false };
    let (last, fraction) = last.split_once('.').unwrap_or((last, ""));
    rest.push(last);
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'_');
    let sixty = |text: &&str| matches!(text.as_bytes(), [b'0'..=b'9'] | [b'0'..=b'5', b'0'..=b'9']);
    first.starts_with(|c: char| c.is_ascii_digit())
        && digits(first)
        && digits(fraction)
        && rest.iter().all(sixty)
}

/// `2026-01-02`, and with a time behind `T`, `t` or blanks.
fn is_date(text: &str) -> bool {
    let mut parts = text.splitn(3, '-');
    let (Some(year), Some(month), Some(rest)) = (parts.next(), parts.next(), parts.next()) else {
        return false;
    };
    let digits = |text: &str, lengths: std::ops::RangeInclusive<usize>| {
        lengths.contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
    };
    if !digits(year, 4..=4) || !digits(month, 1..=2) {
        return false;
    }
    let Some(at) = rest.find(|c: char| !c.is_ascii_digit()) else {
        return digits(rest, 2..=2) && month.len() == 2;
    };
    let (day, time) = rest.split_at(at);
    let time = time.trim_start_matches(['T', 't', ' ', '\t']);
    let mut parts = time.splitn(3, ':');
    let (Some(hour), Some(minute), Some(second)) = (parts.next(), parts.next(), parts.next())
    else {
        return false;
    };
    digits(day, 1..=2)
        && digits(hour, 1..=2)
        && digits(minute, 2..=2)
        && second.len() >= 2
        && second.bytes().take(2).all(|byte| byte.is_ascii_digit())
        && second[2..].chars().all(|c| c.is_ascii_digit() || ".:+- \tZ".contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(text: &str) -> Scalar {
        Scalar { text: text.to_owned(), style: Style::Plain, tag: None, comment: None }
    }

    /// The rows of `pack-v1` 1.5, and what `PyYAML` 6 and js-yaml 3.15 print for the others.
    #[test]
    fn the_dialects_are_told_apart() {
        use Elsewhere::{Bool, Date, Indicator, Null, Number, Word};
        let rows: &[(&str, Option<Elsewhere>)] = &[
            ("1.0", Some(Number)),
            ("1", Some(Number)),
            ("1e3", Some(Number)),
            ("1.2.0", None),
            ("1.0.0-rc.1+b", None),
            ("010", Some(Number)),
            ("0o17", Some(Number)),
            ("1_0", Some(Number)),
            ("1_000", Some(Number)),
            ("1:30", Some(Number)),
            ("190:20:30.15", Some(Number)),
            ("2026-01-02", Some(Date)),
            ("2026-1-2", None),
            ("2001-12-14t21:59:43.10-05:00", Some(Date)),
            ("2001-12-14 21:59:43.10 -5", Some(Date)),
            ("yes", Some(Word)),
            ("Off", Some(Word)),
            ("nO", None),
            ("True", Some(Bool)),
            ("TRUE", Some(Bool)),
            ("tRUE", None),
            ("0x1F", Some(Number)),
            ("0b11", Some(Number)),
            (".inf", Some(Number)),
            ("-.INF", Some(Number)),
            (".NaN", Some(Number)),
            (".5", Some(Number)),
            ("5.", Some(Number)),
            (".", None),
            ("-", None),
            ("+", None),
            ("e3", None),
            ("1e", None),
            ("~", Some(Null)),
            ("Null", Some(Null)),
            ("", Some(Null)),
            ("=", Some(Indicator)),
            ("12 monkeys", None),
            ("1.2.3.4", None),
            ("v1", None),
            ("12:75", None),
        ];
        for (text, wanted) in rows {
            assert_eq!(plain(text).elsewhere(), *wanted, "{text}");
        }
    }

    #[test]
    fn numbers_for_number_fields_are_decimal() {
        for (text, wanted) in [
            ("29", Some(29.0)),
            ("0", Some(0.0)),
            ("-1", Some(-1.0)),
            ("12.0", Some(12.0)),
            ("1e20", Some(1e20)),
            ("010", None),
            ("0x1F", None),
            ("1_000", None),
            ("1:30", None),
            (".inf", None),
        ] {
            assert_eq!(plain(text).portable_number(), wanted, "{text}");
        }
    }
}
