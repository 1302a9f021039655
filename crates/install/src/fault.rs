//! Faults on demand, to show that a kill at any point leaves nothing half-done.

/// Aborts the process here if `HOLDALL_FAULT` counts down to this point. Without the feature
/// `fault` it is nothing.
#[cfg(feature = "fault")]
pub(crate) fn point() {
    use std::sync::atomic::{AtomicUsize, Ordering};
    static PASSED: AtomicUsize = AtomicUsize::new(0);
    let passed = PASSED.fetch_add(1, Ordering::SeqCst) + 1;
    let wanted = std::env::var("HOLDALL_FAULT").ok().and_then(|text| text.parse().ok());
    if wanted == Some(passed) {
        std::process::abort();
    }
}

/// Nothing.
#[cfg(not(feature = "fault"))]
pub(crate) const fn point() {}
