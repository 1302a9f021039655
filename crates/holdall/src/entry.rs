//! An entry of a tree as `ls` and `stat` show it.

use holdall_tree::{FileKind, Metadata, Tree, TreeError, TreePath};
use serde_json::{Value, json};
use time::OffsetDateTime;

/// An entry: where it is and what is known of it.
#[derive(Debug)]
pub(crate) struct Entry {
    /// The path in the tree.
    pub(crate) path: TreePath,
    /// What is known of it.
    pub(crate) metadata: Metadata,
    /// The target, of a link.
    pub(crate) link: Option<String>,
}

impl Entry {
    /// Asks a tree; links are not followed.
    pub(crate) fn of(tree: &dyn Tree, path: &TreePath) -> Result<Self, TreeError> {
        let metadata = tree.metadata(path)?;
        let link = match metadata.kind {
            FileKind::Symlink => Some(tree.read_link(path)?),
            _ => None,
        };
        Ok(Self { path: path.clone(), metadata, link })
    }

    /// The word for its kind.
    pub(crate) const fn kind(&self) -> &'static str {
        match self.metadata.kind {
            FileKind::File => "file",
            FileKind::Directory => "directory",
            FileKind::Symlink => "symlink",
            FileKind::Other => "other",
        }
    }

    /// Its row of `entries[]`; `mode` is octal text, as everybody writes it.
    pub(crate) fn fact(&self) -> Value {
        let mut fact = json!({
            "path": self.path.as_str(),
            "kind": self.kind(),
            "size": self.metadata.size,
            "mode": format!("{:04o}", self.metadata.mode),
        });
        if let (Some(link), Some(object)) = (&self.link, fact.as_object_mut()) {
            object.insert("link".to_owned(), json!(link));
        }
        fact
    }

    /// Its line in a listing, under the given name.
    pub(crate) fn line(&self, name: &str, long: bool) -> String {
        let slash = if self.metadata.kind == FileKind::Directory { "/" } else { "" };
        if !long {
            return format!("{name}{slash}");
        }
        let arrow = self.link.as_ref().map(|link| format!(" -> {link}")).unwrap_or_default();
        format!(
            "{} {:>10} {} {name}{slash}{arrow}",
            self.mode(),
            self.metadata.size,
            date(self.metadata.mtime)
        )
    }

    /// The mode as `ls -l` writes it.
    pub(crate) fn mode(&self) -> String {
        let mode = self.metadata.mode;
        let mut text = String::with_capacity(10);
        text.push(match self.metadata.kind {
            FileKind::File => '-',
            FileKind::Directory => 'd',
            FileKind::Symlink => 'l',
            FileKind::Other => '?',
        });
        for (shift, special, set, unset) in
            [(6, 0o4000, 's', 'S'), (3, 0o2000, 's', 'S'), (0, 0o1000, 't', 'T')]
        {
            let bits = mode >> shift;
            text.push(if bits & 4 == 0 { '-' } else { 'r' });
            text.push(if bits & 2 == 0 { '-' } else { 'w' });
            text.push(match (bits & 1 != 0, mode & special != 0) {
                (true, false) => 'x',
                (false, false) => '-',
                (true, true) => set,
                (false, true) => unset,
            });
        }
        text
    }
}

/// Seconds since 1970 as a date in UTC; a number where no date can be made of it.
pub(crate) fn date(seconds: i64) -> String {
    OffsetDateTime::from_unix_timestamp(seconds).map_or_else(
        |_| format!("@{seconds}"),
        |at| {
            let (year, month, day) = at.to_calendar_date();
            format!("{year:04}-{:02}-{day:02} {:02}:{:02}", u8::from(month), at.hour(), at.minute())
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_read_as_in_ls() {
        let mode = |kind, mode| {
            let metadata = Metadata { kind, size: 0, mode, mtime: 0 };
            Entry { path: TreePath::root(), metadata, link: None }.mode()
        };
        assert_eq!(mode(FileKind::File, 0o644), "-rw-r--r--");
        assert_eq!(mode(FileKind::Directory, 0o1777), "drwxrwxrwt");
        assert_eq!(mode(FileKind::File, 0o6754), "-rwsr-sr--");
        assert_eq!(mode(FileKind::File, 0o5640), "-rwSr----T");
    }

    #[test]
    fn dates_are_in_utc() {
        assert_eq!(date(0), "1970-01-01 00:00");
        assert_eq!(date(1_700_000_000), "2023-11-14 22:13");
        assert_eq!(date(i64::MAX), format!("@{}", i64::MAX));
    }
}
