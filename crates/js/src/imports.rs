//! What a module imports.

use std::ops::Range;

use oxc::allocator::Allocator;
use oxc::ast::ast::{
    Argument, ArrowFunctionExpression, CallExpression, ExportAllDeclaration, ExportFromDeclaration,
    Expression, FormalParameters, Function, ImportDeclaration, ImportExpression,
};
use oxc::ast_visit::{Visit, walk};
use oxc::parser::Parser;
use oxc::span::{GetSpan, SourceType, Span};
use oxc::syntax::scope::ScopeFlags;

use crate::depth;

/// How a text is to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// An ECMAScript module.
    Module,
    /// A `CommonJS` file.
    CommonJs,
    /// Either: a module if it has module syntax.
    Unknown,
}

impl Language {
    /// The language of a file by its extension; `None` when it is not JavaScript.
    pub fn of(path: &str) -> Option<Self> {
        match path.rsplit_once('.')?.1 {
            "mjs" => Some(Self::Module),
            "cjs" => Some(Self::CommonJs),
            "js" => Some(Self::Unknown),
            _ => None,
        }
    }
}

/// How something is imported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImportKind {
    /// `import … from "x"`
    Static,
    /// `export … from "x"`
    Export,
    /// `import("x")`
    Dynamic,
    /// `require("x")`
    Require,
    /// `require.resolve("x")`
    RequireResolve,
}

/// One request of a module for another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Import {
    /// What it asks for.
    pub request: String,
    /// How.
    pub kind: ImportKind,
    /// The request in the text, quotes included, in bytes.
    pub span: Range<usize>,
}

/// A text that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyntaxError {
    /// Where, in bytes.
    pub span: Range<usize>,
    /// What is wrong, in the parser's words.
    pub message: String,
}

impl std::fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for SyntaxError {}

/// Every request of a JavaScript text that stands there as a literal, in the order of the text.
/// Requests that are computed cannot be known without running the module and are left out, and so
/// are calls of a `require` that is a parameter of a function around.
///
/// # Errors
///
/// The first place that is no JavaScript, or a text that nests deeper than can be read.
pub fn imports(text: &str, language: Language) -> Result<Vec<Import>, SyntaxError> {
    let whole = |message: &str| SyntaxError { span: 0..text.len(), message: message.to_owned() };
    if u32::try_from(text.len()).is_err() {
        return Err(whole("the text is larger than 4 GiB"));
    }
    let needed = depth::bound(text);
    if needed > depth::MOST {
        return Err(whole("the text nests too deeply to be read"));
    }
    if needed <= SMALL {
        return collect(text, language);
    }
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new()
            .stack_size(depth::STACK)
            .spawn_scoped(scope, || collect(text, language));
        match thread.map(std::thread::ScopedJoinHandle::join) {
            Ok(Ok(found)) => found,
            Ok(Err(_)) => Err(whole("the parser gave up on the text")),
            Err(error) => Err(whole(&format!("no thread for a deep text: {error}"))),
        }
    })
}

/// Stack that every thread has left when it asks: half of what Rust gives a thread.
const SMALL: usize = 1 << 20;

fn collect(text: &str, language: Language) -> Result<Vec<Import>, SyntaxError> {
    match language {
        Language::Module => collect_as(text, SourceType::mjs()),
        Language::CommonJs => collect_as(text, SourceType::cjs()),
        // Without module syntax it may still be a file with `return` at its top.
        Language::Unknown => collect_as(text, SourceType::unambiguous())
            .or_else(|error| collect_as(text, SourceType::cjs()).map_err(|_| error)),
    }
}

fn collect_as(text: &str, source_type: SourceType) -> Result<Vec<Import>, SyntaxError> {
    let allocator = Allocator::default();
    let parsed = Parser::new(&allocator, text, source_type).parse();
    if let Some(error) = parsed.diagnostics.first() {
        let span = error.labels.first().map_or(0..0, |label| {
            let start = label.offset() as usize;
            start..start + label.len() as usize
        });
        return Err(SyntaxError { span, message: error.message.to_string() });
    }
    let mut collector = Collector::default();
    collector.visit_program(&parsed.program);
    collector.found.sort_by_key(|import| import.span.start);
    Ok(collector.found)
}

#[derive(Default)]
struct Collector {
    found: Vec<Import>,
    /// Functions around that have a parameter of the name `require`, as bundlers write: what they
    /// call is not the function of Node.js.
    own_require: usize,
}

impl Collector {
    fn add(&mut self, request: &str, kind: ImportKind, span: Span) {
        let span = span.start as usize..span.end as usize;
        self.found.push(Import { request: request.to_owned(), kind, span });
    }

    /// A literal string, also one in backquotes without holes.
    fn add_expression(&mut self, expression: &Expression<'_>, kind: ImportKind) {
        match expression {
            Expression::StringLiteral(text) => self.add(&text.value, kind, text.span),
            Expression::TemplateLiteral(template) => {
                if let Some(text) = template.single_quasi() {
                    self.add(&text, kind, template.span());
                }
            }
            _ => {}
        }
    }
}

fn takes_require(parameters: &FormalParameters<'_>) -> bool {
    let mut names = parameters.items.iter().filter_map(|item| item.pattern.get_identifier_name());
    names.any(|name| name == "require")
}

impl<'a> Visit<'a> for Collector {
    fn visit_function(&mut self, function: &Function<'a>, flags: ScopeFlags) {
        let own = usize::from(takes_require(&function.params));
        self.own_require += own;
        walk::walk_function(self, function, flags);
        self.own_require -= own;
    }

    fn visit_arrow_function_expression(&mut self, function: &ArrowFunctionExpression<'a>) {
        let own = usize::from(takes_require(&function.params));
        self.own_require += own;
        walk::walk_arrow_function_expression(self, function);
        self.own_require -= own;
    }

    fn visit_import_declaration(&mut self, import: &ImportDeclaration<'a>) {
        self.add(&import.source.value, ImportKind::Static, import.source.span);
    }

    fn visit_export_all_declaration(&mut self, export: &ExportAllDeclaration<'a>) {
        self.add(&export.source.value, ImportKind::Export, export.source.span);
    }

    fn visit_export_from_declaration(&mut self, export: &ExportFromDeclaration<'a>) {
        self.add(&export.source.value, ImportKind::Export, export.source.span);
    }

    fn visit_import_expression(&mut self, import: &ImportExpression<'a>) {
        self.add_expression(&import.source, ImportKind::Dynamic);
        walk::walk_import_expression(self, import);
    }

    fn visit_call_expression(&mut self, call: &CallExpression<'a>) {
        let kind = match &call.callee {
            _ if self.own_require > 0 => None,
            Expression::Identifier(name) if name.name == "require" => Some(ImportKind::Require),
            Expression::StaticMemberExpression(member)
                if member.property.name == "resolve"
                    && matches!(&member.object, Expression::Identifier(name) if name.name == "require") =>
            {
                Some(ImportKind::RequireResolve)
            }
            _ => None,
        };
        if let (Some(kind), Some(argument)) =
            (kind, call.arguments.first().and_then(Argument::as_expression))
        {
            self.add_expression(argument, kind);
        }
        walk::walk_call_expression(self, call);
    }
}
