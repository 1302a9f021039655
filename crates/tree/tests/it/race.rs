//! Somebody swaps directories and files for links to the outside while a tree is read.

use std::fs;
use std::os::unix::fs::symlink;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use holdall_tree::{DirTree, Tree, TreePath};

use crate::p;

fn swap_while_reading(tree: &DirTree, base: &std::path::Path, outside: &std::path::Path) {
    let stop = AtomicBool::new(false);
    let (inside, refused) = (AtomicUsize::new(0), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                let (dir, aside) = (base.join("d"), base.join("aside"));
                fs::rename(&dir, &aside).unwrap();
                symlink(outside, &dir).unwrap();
                std::thread::yield_now();
                fs::remove_file(&dir).unwrap();
                fs::rename(&aside, &dir).unwrap();
                std::thread::yield_now();
            }
        });
        let until = Instant::now() + Duration::from_millis(700);
        while Instant::now() < until {
            for path in ["d/f", "d/e/f"] {
                match tree.read(&p(path), 100) {
                    Ok(bytes) => {
                        assert_eq!(bytes, b"inside");
                        inside.fetch_add(1, Ordering::Relaxed);
                    }
                    Err(_) => {
                        refused.fetch_add(1, Ordering::Relaxed);
                    }
                }
            }
            if let Ok(entries) = tree.read_dir(&p("d")) {
                assert!(entries.iter().all(|entry| entry.name.as_bytes() != b"only-outside"));
            }
            if let Ok(meta) = tree.metadata(&p("d/f")) {
                assert_eq!(meta.size, 6);
            }
            if let Ok(target) = tree.read_link(&p("d/l")) {
                assert_eq!(target, "inside");
            }
            if let Ok(path) = tree.resolve(&p("d/e/f")) {
                assert_ne!(path, TreePath::root());
            }
        }
        stop.store(true, Ordering::Relaxed);
    });
    // Both sides of the race were seen, else nothing was tested.
    assert!(inside.into_inner() > 10 && refused.into_inner() > 10);
}

#[test]
fn nothing_outside_is_ever_read() {
    for openat2 in [true, false] {
        let dir = tempfile::tempdir().unwrap();
        let outside = tempfile::tempdir().unwrap();
        for (base, text) in [(dir.path().join("d"), "inside"), (outside.path().into(), "outside!")]
        {
            fs::create_dir_all(base.join("e")).unwrap();
            fs::write(base.join("f"), text).unwrap();
            fs::write(base.join("e/f"), text).unwrap();
            symlink(text, base.join("l")).unwrap();
        }
        fs::write(outside.path().join("only-outside"), "").unwrap();
        let tree = DirTree::open(dir.path()).unwrap();
        let tree = if openat2 { tree } else { tree.without_openat2() };
        swap_while_reading(&tree, dir.path(), outside.path());
    }
}
