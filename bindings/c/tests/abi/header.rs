//! The header is made of the sources, and the checked-in one is current.

use std::fs;
use std::path::{Path, PathBuf};

/// The sources, in the order of the header.
const SOURCES: [&str; 18] = [
    "border",
    "options",
    "store",
    "admin",
    "id",
    "ids",
    "columns",
    "load",
    "query",
    "write",
    "pairs",
    "clusters",
    "keys/create",
    "keys/columns",
    "keys/load",
    "keys/pairs",
    "keys/query",
    "keys/clusters",
];

pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn made() -> String {
    let config = cbindgen::Config::from_file(root().join("cbindgen.toml")).unwrap();
    let mut builder = cbindgen::Builder::new().with_config(config);
    for source in SOURCES {
        builder = builder.with_src(root().join(format!("src/{source}.rs")));
    }
    let mut header = Vec::new();
    builder.generate().unwrap().write(&mut header);
    String::from_utf8(header).unwrap()
}

#[test]
fn the_header_is_current() {
    let path: PathBuf = root().join("include/fpstore.h");
    let made = made();
    if std::env::var_os("FPSTORE_BLESS").is_some() {
        fs::write(&path, &made).unwrap();
    }
    let checked_in = fs::read_to_string(&path).unwrap_or_default();
    let differs = checked_in.lines().zip(made.lines()).position(|(old, new)| old != new);
    assert!(checked_in == made, "{} differs in line {differs:?}: FPSTORE_BLESS=1 makes it anew", path.display());
}

/// All sources, those of the header and others.
fn sources(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { sources(&path) } else { vec![path] }).collect()
}

/// Every function of the sources is in the header, and behind the border that keeps panics within.
#[test]
fn every_function_keeps_its_panics() {
    let header = made();
    let mut functions = 0;
    for source in sources(&root().join("src")) {
        let source = fs::read_to_string(source).unwrap();
        for function in source.split("#[unsafe(no_mangle)]").skip(1) {
            let end = function.find("\n}\n").unwrap();
            let (function, _) = function.split_at(end);
            let name = function.split("fn ").nth(1).and_then(|rest| rest.split('(').next()).unwrap();
            assert!(header.contains(&format!(" {name}(")) || header.contains(&format!("*{name}(")), "{name}");
            let computes = !["fps_abi_version", "fps_version"].contains(&name);
            assert!(!computes || function.contains("border(") || function.contains("border_or("), "{name}");
            functions += 1;
        }
    }
    assert!(functions > 60, "{functions} functions were found");
}
