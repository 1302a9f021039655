//! The `record!` macro: a closed object declared once.

/// Declares a closed object of the format: its type with private fields and getters, its reader,
/// its writer, and its table for the schema.
///
/// A field is `"key" name: NEED MODE Type`. NEED is `req` or `opt`. MODE says what the getter
/// returns: `text` a `&str`, `path` a `&TreePath`, `number` a `u64`, `copy` the value, `get` a
/// reference, `has` whether it is there, `hidden` no getter. Fields stand in the order in which
/// they are checked; they are written in the order of their keys.
macro_rules! record {
    (
        $(#[$meta:meta])*
        $vis:vis $name:ident $doc:literal {
            $( $(#[$fmeta:meta])* $key:literal $field:ident: $need:ident $mode:ident $ty:ty ),* $(,)?
        }
        $(when [ $($condition:expr),* $(,)? ])?
        $(reserved [ $($rkey:literal = $meaning:literal),* $(,)? ])?
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq)]
        #[allow(clippy::struct_field_names, reason = "fields are named as the format names them")]
        $vis struct $name { $( $field: record!(@type $need $ty) ),* }

        impl $name {
            $( record!(@getter [$(#[$fmeta])* $vis] $field $need $mode $ty); )*

            const FIELDS: &'static [$crate::shape::Field] = &[
                $( $crate::shape::Field { key: $key, required: record!(@required $need) } ),*
            ];

            /// Reads every field by itself; the flag says whether the object as such is in order.
            #[allow(clippy::type_complexity, reason = "one part a field, for callers inside")]
            pub(crate) fn parts(
                node: $crate::json::Node<'_>,
                cx: &mut $crate::checker::Checker<'_>,
            ) -> (bool, ($(Option<record!(@type $need $ty)>,)*)) {
                let mut slots = [None; Self::FIELDS.len()];
                let whole = $crate::shape::read_members(
                    node,
                    cx,
                    Self::FIELDS,
                    &[$($( $crate::shape::Reserved { key: $rkey, meaning: $meaning } ),*)?],
                    &[$($($condition),*)?],
                    &mut slots,
                );
                let mut slots = slots.into_iter();
                let parts = ($( record!(@read $need $ty, slots.next().flatten(), cx), )*);
                (whole, parts)
            }

            /// The record of its parts, if each was in order.
            #[allow(clippy::type_complexity, reason = "what `parts` gives")]
            pub(crate) fn assemble(
                parts: ($(Option<record!(@type $need $ty)>,)*),
            ) -> Option<Self> {
                let ($($field,)*) = parts;
                Some(Self { $($field: $field?),* })
            }
        }

        impl $crate::fields::Json for $name {
            fn shape() -> $crate::shape::Shape {
                $crate::shape::Shape::Record(|| $crate::shape::Table {
                    name: stringify!($name),
                    doc: $doc,
                    fields: Self::FIELDS,
                    shapes: vec![$( <$ty as $crate::fields::Json>::shape() ),*],
                    conditions: &[$($($condition),*)?],
                })
            }

            fn read(
                node: $crate::json::Node<'_>,
                cx: &mut $crate::checker::Checker<'_>,
            ) -> Option<Self> {
                let (whole, parts) = Self::parts(node, cx);
                if whole { Self::assemble(parts) } else { None }
            }

            fn write(&self, out: &mut Vec<u8>) {
                let mut members: [(&str, Option<&dyn $crate::fields::Write>); Self::FIELDS.len()] =
                    [$( ($key, record!(@member $need self $field)) ),*];
                members.sort_unstable_by_key(|(key, _)| *key);
                $crate::fields::write_members(&members, out);
            }
        }
    };
    (@type req $ty:ty) => { $ty };
    (@type opt $ty:ty) => { Option<$ty> };
    (@required req) => { true };
    (@required opt) => { false };
    (@read req $ty:ty, $slot:expr, $cx:ident) => {
        $slot.and_then(|node| <$ty as $crate::fields::Json>::read(node, $cx))
    };
    (@read opt $ty:ty, $slot:expr, $cx:ident) => {
        match $slot {
            None => Some(None),
            Some(node) => <$ty as $crate::fields::Json>::read(node, $cx).map(Some),
        }
    };
    (@member req $self:ident $field:ident) => { Some(&$self.$field) };
    (@member opt $self:ident $field:ident) => {
        $self.$field.as_ref().map(|value| value as &dyn $crate::fields::Write)
    };
    (@getter [$($m:tt)*] $field:ident req text $ty:ty) => {
        $($m)* fn $field(&self) -> &str { &self.$field }
    };
    (@getter [$($m:tt)*] $field:ident opt text $ty:ty) => {
        $($m)* fn $field(&self) -> Option<&str> { self.$field.as_deref() }
    };
    (@getter [$($m:tt)*] $field:ident req path $ty:ty) => {
        $($m)* fn $field(&self) -> &holdall_tree::TreePath { self.$field.tree_path() }
    };
    (@getter [$($m:tt)*] $field:ident opt path $ty:ty) => {
        $($m)* fn $field(&self) -> Option<&holdall_tree::TreePath> {
            self.$field.as_ref().map(|path| path.tree_path())
        }
    };
    (@getter [$($m:tt)*] $field:ident req number $ty:ty) => {
        $($m)* fn $field(&self) -> u64 { self.$field.get() }
    };
    (@getter [$($m:tt)*] $field:ident opt number $ty:ty) => {
        $($m)* fn $field(&self) -> Option<u64> { self.$field.map(|number| number.get()) }
    };
    (@getter [$($m:tt)*] $field:ident req copy $ty:ty) => {
        $($m)* fn $field(&self) -> $ty { self.$field }
    };
    (@getter [$($m:tt)*] $field:ident opt copy $ty:ty) => {
        $($m)* fn $field(&self) -> Option<$ty> { self.$field }
    };
    (@getter [$($m:tt)*] $field:ident req get $ty:ty) => {
        $($m)* fn $field(&self) -> &$ty { &self.$field }
    };
    (@getter [$($m:tt)*] $field:ident opt get $ty:ty) => {
        $($m)* fn $field(&self) -> Option<&$ty> { self.$field.as_ref() }
    };
    (@getter [$($m:tt)*] $field:ident opt has $ty:ty) => {
        $($m)* fn $field(&self) -> bool { self.$field.is_some() }
    };
    (@getter [$($m:tt)*] $field:ident $need:ident hidden $ty:ty) => {};
}
pub(crate) use record;
