//! Reading JavaScript and TypeScript without running it.
//!
//! For now one question is answered: what does a module import? [`imports`] finds static imports,
//! re-exports, `import()` and `require()` with a literal, and [`is_node_builtin`] says whether
//! Node.js itself provides what is asked for. The parser is oxc's.

mod builtin;
mod depth;
mod imports;

pub use builtin::is_node_builtin;
pub use imports::{Import, ImportKind, Language, SyntaxError, imports};
