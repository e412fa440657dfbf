//! Tests of the checker: small made-up sources that keep the rules, and some that break them.

use super::source::{Use, tokens, uses};
use super::*;

/// The modules named by a source of the module `segment::reader`.
fn named(source: &str) -> Vec<String> {
    let is_module = |name: &str| ["error", "bits", "codec", "segment", "wal"].contains(&name);
    uses(source, &["segment", "reader"], &is_module).into_iter().map(|Use { module, .. }| module).collect()
}

#[test]
fn comments_and_literals_are_not_source() {
    let words = |source| tokens(source).into_iter().map(|token| token.text).collect::<Vec<_>>().join(" ");
    assert_eq!(words("a // crate::x\nb /* c /* d */ e */ f"), "a b f");
    assert_eq!(words("/// crate::x\n//! crate::y\na"), "a");
    assert_eq!(words(r##"a "crate::x \" b" c b"d" br#"e " f"# r"\" g"##), "a c g");
    assert_eq!(words(r"a '\'' b '{' c '\u{7b}' d b'}' e"), "a b c d e");
    assert_eq!(words("fn f<'a>(x: &'a str) -> r#type::B {}"), "fn f < a > ( x : & a str ) - > type :: B { }");
    assert_eq!(words("a \"never closed"), "a");
    let lines: Vec<usize> = tokens("a\n/*\n*/ b \"\n\" c\n\nd").iter().map(|token| token.line).collect();
    assert_eq!(lines, [1, 3, 4, 6]);
}

#[test]
fn paths_are_followed_to_a_module() {
    assert_eq!(
        named("use crate::error::Error; fn f() -> crate::bits::Reader { crate::codec::new() }"),
        ["bits", "codec", "error"]
    );
    assert_eq!(
        named("use crate::{bits, codec::{self, block::{Block, x::*}}, error::{Error}};"),
        ["bits", "codec", "error"]
    );
    assert_eq!(named("use crate::{error::{Error, Result}, wal};"), ["error", "wal"]);
    assert_eq!(named("use crate::{{bits::A, wal::B}, error::C,};"), ["bits", "error", "wal"]);
    assert_eq!(
        named("pub(crate) mod x; pub(in crate::segment) fn f(&self) { self.x; macro!($crate::wal::Y) }"),
        ["segment", "wal"]
    );
    assert!(named("macro_rules! m { () => { $crate::U256 } }").is_empty());
}

#[test]
fn super_and_self_are_resolved_where_they_stand() {
    assert_eq!(named("use super::writer::W; use self::inner::I; use super::*;"), ["segment"]);
    assert_eq!(named("use super::super::wal::W;"), ["wal"]);
    assert_eq!(named("mod tests { use super::super::super::wal::W; } use super::super::bits::B;"), ["bits", "wal"]);
    assert_eq!(named("mod tests { use super::*; fn f() { if a {} } } use super::super::wal;"), ["segment", "wal"]);
    assert_eq!(named("use self::super::super::wal::W;"), ["wal"]);
    assert_eq!(
        uses("use super::wal::W;", &["segment"], &|name| name == "wal"),
        [Use { module: "wal".into(), line: 1 }]
    );
}

#[test]
fn items_of_the_root_are_uses_of_the_root() {
    assert_eq!(named("use crate::Error;"), [""]);
    assert_eq!(named("use crate::*;"), [""]);
    assert_eq!(named("use crate as all;"), [""]);
    assert_eq!(named("use super::super as all;"), [""]);
    assert_eq!(named("use crate::{self, bits};"), ["", "bits"]);
    assert_eq!(named("use crate::{bits::Reader, Result};"), ["", "bits"]);
}

#[test]
fn a_lower_layer_may_be_used() {
    for (file, source) in [
        ("src/store.rs", "use crate::query::Query; use crate::options::Options; use crate::error::Error;"),
        ("src/store/open.rs", "use super::Store; use crate::store::x; use crate::error::Result;"),
        (
            "src/codec/gap.rs",
            "use crate::bits::Reader; use super::block::Block; #[cfg(test)] mod tests { use super::*; }",
        ),
        ("src/query/mod.rs", "use super::memtable::Memtable; use crate::env::File;"),
        ("src/segment/writer.rs", "use crate::format::footer::Footer; //! see crate::store\n/// [`crate::store`]"),
        ("src/inspect/logs.rs", "use crate::wal;\n#[cfg(test)]\nmod tests { use crate::store::Store; }"),
        ("src/lib.rs", "mod error; mod store; pub use error::Error; pub use crate::store::Store; use self::bits::X;"),
    ] {
        assert_none(layer_breaks(file, source));
    }
}

#[test]
fn a_higher_layer_may_not() {
    let broken = |file, source| layer_breaks(file, source).join("; ");
    assert_eq!(
        broken("src/codec/gap.rs", "//! Gaps.\n\nuse crate::{bits::Reader, segment::Writer};"),
        "src/codec/gap.rs:3: `codec` (layer 1) uses `segment` (layer 7)"
    );
    assert!(
        broken("src/segment.rs", "use super::memtable::M;").contains("`segment` (layer 7) uses `memtable` (layer 7)")
    );
    assert!(broken("src/bits.rs", "use crate::codec::X;").contains("`bits` (layer 1) uses `codec` (layer 1)"));
    assert!(broken("src/bits.rs", "use crate::bitset::X;").contains("`bits` (layer 1) uses `bitset` (layer 1)"));
    assert!(broken("src/bits.rs", "use crate::plan::X;").contains("`bits` (layer 1) uses `plan` (layer 2)"));
    assert!(broken("src/error.rs", "use crate::fingerprint::X;").contains("`error` (layer 0) uses `fingerprint`"));
    assert!(broken("src/env.rs", "#[cfg(test)] mod tests { use super::super::store::S; }").contains("uses `store`"));
    let tests = "#[cfg(test)]\nmod tests { use crate::store::Store; }";
    assert!(broken("src/inspect/manifest.rs", tests).contains("`inspect` (layer 13) uses `store` (layer 15)"));
    assert!(broken("src/format/page.rs", "fn f() { crate::env::open() }").contains("`format` (layer 3) uses `env`"));
    assert!(broken("src/env/mod.rs", "use crate::Result;").contains("an item of the crate's root"));
    assert!(broken("src/bits.rs", "use super::*;").contains("an item of the crate's root"));
    assert!(broken("src/attic.rs", "").contains("`attic` is not in the table"));
    assert!(broken("src/bits.rs", "\n#[path = \"store/x.rs\"] mod x;").contains("src/bits.rs:2: `#[path]` leads"));
    assert_eq!(broken("src/codec/gap.rs", "#[path = \"gap_tests.rs\"] mod tests;"), "");
}

#[test]
fn a_module_without_a_layer_is_named() {
    for known in ["lib.rs", "error.rs", "codec", "store", "wal.rs"] {
        assert_eq!(without_layer(known), None);
    }
    assert!(without_layer("attic.rs").unwrap().contains("give `attic` a layer"));
    assert!(without_layer("attic").is_some());
}

#[test]
fn a_long_file_is_named() {
    assert_eq!(too_long("src/a.rs", &"x\n".repeat(LONGEST)), None);
    assert!(too_long("src/a.rs", &"x\n".repeat(LONGEST + 1)).unwrap().starts_with("src/a.rs: 501 lines"));
}

#[test]
fn unsafe_elsewhere_is_named() {
    let source = "// unsafe\n#![allow(unsafe_code)]\nfn f() { unsafe { g(\"unsafe\") } }";
    for file in [
        "src/env/mmap.rs",
        "src/env/mmap/unix.rs",
        "src/codec/simd.rs",
        "src/codec/simd/mod.rs",
        "src/codec/simd/avx2.rs",
    ] {
        assert_none(misplaced_unsafe(file, source));
    }
    for file in [
        "src/env/mod.rs",
        "src/codec/gap.rs",
        "src/codec/simd_more.rs",
        "tests/env/mmap.rs",
        "tools/src/main.rs",
        "src/lib.rs",
    ] {
        assert_eq!(misplaced_unsafe(file, source), [format!("{file}:3: `unsafe` belongs in env::mmap or codec::simd")]);
    }
}

#[test]
fn unsafe_that_is_not_explained_is_named() {
    fn unsaid(file: &str, source: &str) -> String {
        unexplained_unsafe(file, source).join("; ")
    }
    let why = "//! Maps files, which is `unsafe`.\n";
    let explained = "fn f() {\n    // SAFETY: it is\n    // sound.\n    let a = unsafe { g() };\n}\n";
    let tests = "#[cfg(all(test, unix))]\nmod tests { fn f() { unsafe { g() } } }\n";
    assert_none(unexplained_unsafe("src/env/mmap.rs", &[why, explained, tests].concat()));
    assert_none(unexplained_unsafe("src/codec/simd/avx2.rs", &["//! Wide registers.\n", explained, tests].concat()));
    for file in ["src/env/mmap.rs", "src/codec/simd.rs", "src/codec/simd/mod.rs"] {
        let text = "the module's text does not say why there is `unsafe`";
        assert_eq!(unsaid(file, &["//! Maps files.\n", explained].concat()), format!("{file}: {text}"));
        assert_eq!(unsaid(file, "// `unsafe`\n"), format!("{file}: {text}"));
    }
    let place = |line| format!("src/codec/simd/avx2.rs:{line}: `unsafe` without a comment `SAFETY:` above");
    let bare = "fn f() {\n    unsafe { g() };\n}\n";
    for (source, line) in [
        (bare.to_owned(), 2),
        ([explained, bare].concat(), 7),
        ([bare, tests].concat(), 2),
        ("// SAFETY: far away\n\nunsafe fn f() {}".to_owned(), 3),
        ("// It is sound.\nunsafe fn f() {}".to_owned(), 2),
        ("let a = 5; // SAFETY: not above\nunsafe { g() }".to_owned(), 2),
    ] {
        assert_eq!(unsaid("src/codec/simd/avx2.rs", &source), place(line), "{source}");
    }
    assert_eq!(unsaid("src/bits.rs", bare), "");
}
