//! Amp's plugin: an executable entry and no JSON document (build reference 4.5).

/// Characters of the description that Amp shows.
pub const AMP_ENTRY_LIMIT: usize = 300;

/// Checks a plugin name, which becomes one directory: `^[A-Za-z0-9][A-Za-z0-9._-]*$`, portable.
pub fn amp_plugin_name(name: &str) -> Result<(), String> {
    let first = name.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric());
    let rest = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte));
    if first && rest && holdall_artifact::check_segment(name).is_ok() {
        return Ok(());
    }
    Err(format!("`{name}` is not a plugin name for Amp: one portable path segment"))
}
