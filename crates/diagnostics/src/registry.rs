//! All codes of a program in one place: for `holdall explain`, for the generated page, for the
//! rules of a SARIF log, and for telling a mistyped code from a known one.

use crate::Code;

/// The families of codes, in the order in which the page lists them.
const FAMILIES: [(&str, &str); 4] = [
    ("AB", "Artifacts, projects and agent hosts"),
    ("AO", "Packages"),
    ("HD", "Everything else"),
    ("PK", "Packs, apps and skills"),
];

/// The code tables of several crates, sorted by id.
#[derive(Debug, Clone)]
pub struct Registry {
    codes: Vec<&'static Code>,
}

/// No code of that name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{id}` is no diagnostic code{}", nearest.map(|near| format!("; did you mean {near}?")).unwrap_or_default())]
pub struct UnknownCode {
    /// What was asked for.
    pub id: String,
    /// The known code most like it, if one is like it at all.
    pub nearest: Option<&'static str>,
}

impl Registry {
    /// Takes the `CODES` table of each crate. Of two codes with one id the first is kept;
    /// [`Registry::duplicates`] tells.
    pub fn new(tables: &[&'static [Code]]) -> Self {
        let mut codes: Vec<_> = tables.iter().flat_map(|table| table.iter()).collect();
        codes.sort_by_key(|code| code.id);
        codes.dedup_by_key(|code| code.id);
        Self { codes }
    }

    /// The ids that several tables, or one table twice, give. For a test: there must be none.
    pub fn duplicates(tables: &[&'static [Code]]) -> Vec<&'static str> {
        let mut ids: Vec<_> = tables.iter().flat_map(|t| t.iter()).map(|code| code.id).collect();
        ids.sort_unstable();
        let mut twice: Vec<_> =
            ids.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| pair[0]).collect();
        twice.dedup();
        twice
    }

    /// Every code, sorted by id.
    pub fn all(&self) -> &[&'static Code] {
        &self.codes
    }

    /// A code by its id, upper or lower case.
    pub fn get(&self, id: &str) -> Option<&'static Code> {
        self.codes.iter().find(|code| code.id.eq_ignore_ascii_case(id)).copied()
    }

    /// A code by its id, else an error that names the one most like it.
    pub fn find(&self, id: &str) -> Result<&'static Code, UnknownCode> {
        self.get(id).ok_or_else(|| {
            let wanted = id.to_ascii_uppercase();
            let nearest = self
                .codes
                .iter()
                .map(|code| (strsim::damerau_levenshtein(code.id, &wanted), code.id))
                .min()
                .filter(|&(distance, _)| distance <= 2 && wanted.len() <= 12)
                .map(|(_, id)| id);
            UnknownCode { id: id.to_owned(), nearest }
        })
    }

    /// What `holdall explain CODE` prints: id, severity and title in a line, then the explanation.
    pub fn explain(&self, id: &str) -> Result<String, UnknownCode> {
        let code = self.find(id)?;
        Ok(format!(
            "{} {}: {}\n\n{}\n",
            code.id,
            code.severity.as_str(),
            code.title,
            code.explain.trim()
        ))
    }

    /// The page `docs/diagnostics.md`: a table a family, then every explanation.
    pub fn markdown(&self) -> String {
        let mut page = String::from(
            "# Diagnostics\n\nEvery code Holdall can report. This page is made from the code; \
             `holdall explain CODE` prints one of its sections.\n",
        );
        for (prefix, title) in FAMILIES {
            let family: Vec<_> =
                self.codes.iter().filter(|code| code.id.starts_with(prefix)).collect();
            if family.is_empty() {
                continue;
            }
            page.push_str(&format!(
                "\n## {prefix}: {title}\n\n| Code | Severity | Meaning |\n|---|---|---|\n"
            ));
            for code in &family {
                page.push_str(&format!(
                    "| [{}](#{}) | {} | {} |\n",
                    code.id,
                    code.id.to_ascii_lowercase(),
                    code.severity.as_str(),
                    code.title.replace('|', "\\|")
                ));
            }
            for code in &family {
                page.push_str(&format!(
                    "\n### {}\n\n{}: {}\n\n{}\n",
                    code.id,
                    code.severity.as_str(),
                    code.title,
                    code.explain.trim()
                ));
            }
        }
        page
    }
}
