//! The table of a crate's codes, written once a code.

/// Declares codes as constants and `CODES`, the table of all of them in that order.
///
/// A row is `NAME = "ID" Severity "title" "explanation";`, or without `= "ID"` where the constant
/// is named by its id. The title is a fragment; the explanation is what `holdall explain` prints.
///
/// ```
/// holdall_diagnostics::codes! {
///     MISSING = "XX0101" Error "a file is missing" "It is named by the document and not there.";
///     XX0102 Warning "a file is empty" "It is there and has no bytes.";
/// }
/// assert_eq!(MISSING.id, "XX0101");
/// assert_eq!(CODES[1].id, "XX0102");
/// ```
#[macro_export]
macro_rules! codes {
    (@id $name:ident) => { stringify!($name) };
    (@id $name:ident $id:literal) => { $id };
    ($(
        $(#[$meta:meta])*
        $name:ident $(= $id:literal)? $severity:ident $title:literal $(,)? $explain:literal;
    )*) => {
        $(
            #[doc = concat!("`", $crate::codes!(@id $name $($id)?), "`: ", $title, ".")]
            $(#[$meta])*
            pub const $name: $crate::Code = $crate::Code {
                id: $crate::codes!(@id $name $($id)?),
                severity: $crate::Severity::$severity,
                title: $title,
                explain: $explain,
            };
        )*
        /// All of them, in the order of their numbers.
        pub const CODES: &[$crate::Code] = &[$($name),*];
    };
}
