//! The modules that Node.js provides.

/// Modules that can be asked for with and without `node:`, as Node.js 22 lists them; sorted.
const PLAIN: &[&str] = &[
    "assert",
    "assert/strict",
    "async_hooks",
    "buffer",
    "child_process",
    "cluster",
    "console",
    "constants",
    "crypto",
    "dgram",
    "diagnostics_channel",
    "dns",
    "dns/promises",
    "domain",
    "events",
    "fs",
    "fs/promises",
    "http",
    "http2",
    "https",
    "inspector",
    "inspector/promises",
    "module",
    "net",
    "os",
    "path",
    "path/posix",
    "path/win32",
    "perf_hooks",
    "process",
    "punycode",
    "querystring",
    "readline",
    "readline/promises",
    "repl",
    "stream",
    "stream/consumers",
    "stream/promises",
    "stream/web",
    "string_decoder",
    "sys",
    "timers",
    "timers/promises",
    "tls",
    "trace_events",
    "tty",
    "url",
    "util",
    "util/types",
    "v8",
    "vm",
    "wasi",
    "worker_threads",
    "zlib",
];

/// Modules that can only be asked for with `node:`; sorted.
const PREFIXED: &[&str] = &["sea", "sqlite", "test", "test/reporters"];

/// Whether a request names a module of Node.js, with or without `node:`.
pub fn is_node_builtin(request: &str) -> bool {
    match request.strip_prefix("node:") {
        Some(name) => PLAIN.binary_search(&name).is_ok() || PREFIXED.binary_search(&name).is_ok(),
        None => PLAIN.binary_search(&request).is_ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lists_are_sorted_and_asked_with_and_without_prefix() {
        assert!(PLAIN.is_sorted() && PREFIXED.is_sorted());
        for request in ["fs", "node:fs", "node:fs/promises", "node:test", "path/posix"] {
            assert!(is_node_builtin(request), "{request}");
        }
        for request in ["test", "sqlite", "left-pad", "node:left-pad", "./fs", "fs/", "node:", ""] {
            assert!(!is_node_builtin(request), "{request}");
        }
    }
}
