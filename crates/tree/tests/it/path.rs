use holdall_tree::{PathError, TreePath};
use proptest::prelude::*;

use crate::p;

#[test]
fn refuses_what_is_not_a_path_in_a_tree() {
    for (text, error) in [
        ("/a", PathError::Absolute("/a".into())),
        ("/", PathError::Absolute("/".into())),
        ("..", PathError::Escapes("..".into())),
        ("a/../b", PathError::Escapes("a/../b".into())),
        ("a//b", PathError::NotNormalised("a//b".into())),
        ("a/", PathError::NotNormalised("a/".into())),
        ("./a", PathError::NotNormalised("./a".into())),
        ("a\0b", PathError::Nul("a\0b".into())),
    ] {
        assert_eq!(TreePath::new(text), Err(error));
    }
    assert_eq!(TreePath::normalise("./a//b/."), Ok(p("a/b")));
    assert_eq!(TreePath::normalise("a/../b"), Err(PathError::Escapes("a/../b".into())));
    assert_eq!(p("a/b").strip_prefix(&p("a")), Some(p("b")));
    assert_eq!(p("ab").strip_prefix(&p("a")), None);
    assert_eq!(p("a").child("b/c"), Err(PathError::NotNormalised("b/c".into())));
    assert_eq!(p("a").child(""), Err(PathError::NotNormalised(String::new())));
}

proptest! {
    #[test]
    fn takes_any_text_without_panic(text in any::<String>()) {
        if let Ok(path) = TreePath::new(text.clone()) {
            prop_assert_eq!(path.as_str(), &text);
            prop_assert_eq!(TreePath::normalise(&text), Ok(path.clone()));
            // It is what the standard library would call a relative path without oddities.
            let std: Vec<_> = std::path::Path::new(&text).components().collect();
            prop_assert_eq!(path.components().count(), std.len());
            prop_assert!(std.iter().all(|c| matches!(c, std::path::Component::Normal(_))));
        }
        if let Ok(path) = TreePath::normalise(&text) {
            prop_assert_eq!(TreePath::new(path.as_str()), Ok(path.clone()));
        }
    }

    #[test]
    fn parts_make_the_whole(a in "[a-c./]{0,8}", b in "[a-c./]{0,8}") {
        let (Ok(a), Ok(b)) = (TreePath::normalise(&a), TreePath::normalise(&b)) else {
            return Ok(());
        };
        let whole = a.join(&b);
        prop_assert_eq!(whole.strip_prefix(&a), Some(b.clone()));
        prop_assert_eq!(whole.components().count(), a.components().count() + b.components().count());
        match (whole.parent(), whole.file_name()) {
            (Some(parent), Some(name)) => prop_assert_eq!(parent.child(name), Ok(whole)),
            (None, None) => prop_assert!(whole.is_root()),
            other => prop_assert!(false, "{other:?}"),
        }
    }
}
