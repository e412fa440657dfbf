//! The rules of the source that a program can check: the modules that a module may use, the length of a file, the
//! places of `unsafe`.
//!
//! A module uses only modules of lower layers, so each can be read, tested and replaced without those above it.
//! ARCHITECTURE.md describes the layers.

mod circles;
mod made_up;
mod source;

use crate::support::root;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use source::{tokens, uses};

/// The modules of each layer, the lowest first. `lib` is `src/lib.rs`, the root.
const LAYERS: &[&[&str]] = &[
    &["error", "fingerprint"],
    &["bits", "bitset", "codec", "executor"],
    &["plan"],
    &["format"],
    &["env", "query_stats"],
    &["options", "wal"],
    &["extsort"],
    &["memtable", "segment"],
    &["version"],
    &["query"],
    &["db"],
    &["join", "load"],
    &["admin", "cluster"],
    &["inspect"],
    &["repair"],
    &["store"],
    &["fuzzing", "lib"],
];

/// Modules of one layer, the first of which may use the second.
const NEIGHBOURS: &[(&str, &str)] =
    &[("fingerprint", "error"), ("codec", "bits"), ("lib", "fuzzing"), ("fuzzing", "lib")];

/// Files whose unit tests, at their end, use the library's public interface.
const TESTED_AS_USERS_DO: &[&str] = &["src/db/combining.rs", "src/db/next_memtable.rs", "src/inspect/logs.rs"];

/// The only modules with `unsafe`, folders with all their files. Each module text explains why it needs `unsafe`, and a
/// comment at every place explains why it is sound.
const UNSAFE: &[&[&str]] = &[&["env", "mmap"], &["codec", "simd"]];

/// The maximum number of lines of a source file.
const LONGEST: usize = 500;

/// The folders of the project's own sources.
const FOLDERS: &[&str] = &["src", "tests", "ring", "sketch", "tools", "bindings", "benches", "examples", "format-spec"];

#[test]
fn modules_use_lower_layers_only() {
    let files = sources(&["src"]);
    assert!(files.iter().any(|file| file.name == "src/lib.rs"), "the sources of the library were not found");
    assert_none(files.iter().flat_map(|file| layer_breaks(&file.name, &file.text)).collect());
}

/// The root folder of each crate of the project.
const CRATES: &[&str] = &[
    "src",
    "ring/src",
    "sketch/src",
    "bindings/common/src",
    "bindings/python/src",
    "tools/src",
    "tools/src/bin/fpdedup",
    "tools/src/bin/fpdump",
    "tools/src/bin/fphash",
    "tools/src/bin/fpload",
    "tools/src/bin/fpquery",
    "tools/src/bin/fprepair",
    "tools/src/bin/fpring",
    "tools/xtask/src",
];

#[test]
fn no_two_files_use_each_other() {
    let files = sources(&["src", "ring", "sketch", "bindings", "tools"]);
    assert!(CRATES.iter().all(|folder| files.iter().any(|file| file.name.starts_with(folder))));
    assert_none(CRATES.iter().flat_map(|folder| circles::circles(&files, folder)).collect());
}

#[test]
fn the_map_names_files_that_are_there() {
    let map = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let named = map.split('`').filter(|word| word.contains('/') && !word.contains([' ', '<', '*']));
    let is_missing = |path: &&str| !root().join(path).exists();
    assert_none(named.filter(is_missing).map(|path| format!("ARCHITECTURE.md names {path}")).collect());
}

#[test]
fn every_module_has_its_layer() {
    let src = root().join("src");
    let names = fs::read_dir(src).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    assert_none(names.filter_map(|name| without_layer(&name)).collect());
    let is_missing =
        |name: &&str| ![format!("src/{name}"), format!("src/{name}.rs")].iter().any(|path| root().join(path).exists());
    assert_none(
        LAYERS.concat().into_iter().filter(is_missing).map(|name| format!("there is no module `{name}`")).collect(),
    );
}

#[test]
fn no_source_file_is_too_long() {
    assert_none(sources(FOLDERS).iter().filter_map(|file| too_long(&file.name, &file.text)).collect());
}

#[test]
fn unsafe_stays_where_it_is_explained() {
    // The peers' benchmark is a separate workspace; it must call a C library. Bindings exchange pointers with others.
    let foreign = |file: &File| ["benches/peers/", "bindings/"].iter().any(|folder| file.name.starts_with(folder));
    let files: Vec<_> = sources(FOLDERS).into_iter().filter(|file| !foreign(file)).collect();
    assert_none(files.iter().flat_map(|file| misplaced_unsafe(&file.name, &file.text)).collect());
    assert_none(files.iter().flat_map(|file| unexplained_unsafe(&file.name, &file.text)).collect());
    for allowed in UNSAFE {
        let is_there = files.iter().any(|file| file.name.starts_with("src/") && module_path(&file.name) == *allowed);
        assert!(is_there, "there is no module {}: take it off the list", allowed.join("::"));
    }
}

/// The violations of the layer rule in the file, one line of text each.
fn layer_breaks(file: &str, source: &str) -> Vec<String> {
    let module = module_path(file);
    let own = module.first().copied().unwrap_or("lib");
    let Some(own_layer) = layer(own) else { return vec![format!("{file}: `{own}` is not in the table of layers")] };
    let source = if TESTED_AS_USERS_DO.contains(&file) { untested(source) } else { source };
    let mut breaks = Vec::new();
    for named in uses(source, &module, &|name| name != "lib" && layer(name).is_some()) {
        let other = if named.module.is_empty() { "lib" } else { named.module.as_str() };
        let other_layer = layer(other).unwrap_or(usize::MAX);
        if other == own || may_use((own, own_layer), (other, other_layer)) {
            continue;
        }
        let mut text = format!("{file}:{}: `{own}` (layer {own_layer}) uses ", named.line);
        match other {
            "lib" => text += "an item of the crate's root; name the module that defines it",
            _ => write!(text, "`{other}` (layer {other_layer})").unwrap(),
        }
        breaks.push(text);
    }
    breaks.extend(foreign_paths(file, source));
    breaks
}

/// A `#[path]` that leads to another folder: the checker would judge its target as part of that folder.
fn foreign_paths(file: &str, source: &str) -> Vec<String> {
    let tokens = tokens(source);
    let attributes =
        tokens.windows(4).filter(|window| window.iter().map(|t| t.text.as_str()).eq(["#", "[", "path", "="]));
    let lines = attributes.filter_map(|window| window.first()).map(|token| token.line);
    let elsewhere = |&line: &usize| {
        let path = source.lines().nth(line - 1).and_then(|text| text.split('"').nth(1));
        path.is_none_or(|path| path.contains(['/', '\\']))
    };
    lines.filter(elsewhere).map(|line| format!("{file}:{line}: `#[path]` leads to another folder")).collect()
}

fn may_use((own, own_layer): (&str, usize), (other, other_layer): (&str, usize)) -> bool {
    other_layer < own_layer || own_layer == other_layer && NEIGHBOURS.contains(&(own, other))
}

/// The source without the unit tests at its end.
fn untested(source: &str) -> &str {
    source.find("#[cfg(test)]\nmod ").and_then(|end| source.get(..end)).unwrap_or(source)
}

fn layer(module: &str) -> Option<usize> {
    LAYERS.iter().position(|modules| modules.contains(&module))
}

/// Whether an entry of `src/` is a module without a layer.
fn without_layer(entry: &str) -> Option<String> {
    let module = entry.strip_suffix(".rs").unwrap_or(entry);
    layer(module)
        .is_none()
        .then(|| format!("src/{entry}: give `{module}` a layer in tests/it/layers.rs and ARCHITECTURE.md"))
}

fn too_long(file: &str, text: &str) -> Option<String> {
    let lines = text.lines().count();
    (lines > LONGEST).then(|| format!("{file}: {lines} lines; make a folder of it, {LONGEST} is the most"))
}

fn misplaced_unsafe(file: &str, source: &str) -> Vec<String> {
    if !file.ends_with(".rs") || may_be_unsafe(file) {
        return Vec::new();
    }
    let places = tokens(source).into_iter().filter(|token| token.text == "unsafe");
    places.map(|token| format!("{file}:{}: `unsafe` belongs in env::mmap or codec::simd", token.line)).collect()
}

fn may_be_unsafe(file: &str) -> bool {
    let module = module_path(file);
    file.starts_with("src/") && UNSAFE.iter().any(|allowed| module.starts_with(allowed))
}

/// The missing explanations of a module that may be `unsafe`: the reason in its text (a module within a folder of the
/// list relies on the folder's text), and a comment that begins with `SAFETY:` above every place. Test modules, at the
/// end, need no explanation.
fn unexplained_unsafe(file: &str, source: &str) -> Vec<String> {
    if !may_be_unsafe(file) {
        return Vec::new();
    }
    let lines: Vec<&str> = source.lines().map(str::trim).collect();
    let mut unsaid = Vec::new();
    let text = lines.iter().take_while(|line| line.starts_with("//!"));
    if UNSAFE.contains(&module_path(file).as_slice()) && !text.into_iter().any(|line| line.contains("`unsafe`")) {
        unsaid.push(format!("{file}: the module's text does not say why there is `unsafe`"));
    }
    let tests =
        lines.iter().position(|line| line.starts_with("#[cfg(") && line.contains("test")).unwrap_or(lines.len());
    for token in tokens(source).into_iter().filter(|token| token.text == "unsafe" && token.line <= tests) {
        let above = lines.iter().take(token.line - 1).rev().take_while(|line| line.starts_with("//"));
        if !above.into_iter().any(|line| line.starts_with("// SAFETY: ")) {
            unsaid.push(format!("{file}:{}: `unsafe` without a comment `SAFETY:` above", token.line));
        }
    }
    unsaid
}

/// `src/a/b.rs` and `src/a/b/mod.rs` are `["a", "b"]`; `src/lib.rs` is `[]`.
fn module_path(file: &str) -> Vec<&str> {
    let file = file.strip_suffix(".rs").unwrap_or(file);
    let mut path: Vec<&str> = file.split('/').skip(1).collect();
    if path == ["lib"] || path.last() == Some(&"mod") {
        path.pop();
    }
    path
}

/// A source file; its name is its path from the root of the repository, with slashes on every platform.
struct File {
    name: String,
    text: String,
}

/// The Rust and Python sources below the folders.
fn sources(folders: &[&str]) -> Vec<File> {
    let mut files = Vec::new();
    for folder in folders {
        collect(&root().join(folder), folder, &mut files);
    }
    files
}

fn collect(folder: &Path, name: &str, files: &mut Vec<File>) {
    if !folder.is_dir() {
        return;
    }
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let last = path.file_name().unwrap().to_str().unwrap();
        let name = format!("{name}/{last}");
        if path.is_dir() && last != "target" {
            collect(&path, &name, files);
        } else if path.extension().is_some_and(|extension| extension == "rs" || extension == "py") {
            files.push(File { name, text: fs::read_to_string(&path).unwrap() });
        }
    }
}

fn assert_none(breaks: Vec<String>) {
    assert!(breaks.is_empty(), "{} violations of the rules:\n{}", breaks.len(), breaks.join("\n"));
}
