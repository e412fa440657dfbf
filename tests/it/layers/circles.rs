//! No two files use each other, directly or indirectly, because a cycle of files can only be understood as a whole.
//!
//! A file uses another one if it names something that the other one defines, through any number of `pub use`. A
//! re-export by a `mod.rs` is not a use of the `mod.rs`.

use super::source::{Token, tokens};
use super::{File, untested};
use std::collections::{BTreeMap, BTreeSet};

/// A path as written, and its name in the file.
#[derive(Clone, Debug)]
struct Import {
    path: Vec<String>,
    name: String,
}

/// The definitions, declarations and names in a file.
#[derive(Debug, Default)]
struct Module {
    file: String,
    defines: BTreeSet<String>,
    declares: BTreeSet<String>,
    imports: Vec<Import>,
    /// Paths in the code.
    paths: BTreeSet<Vec<String>>,
}

/// The modules of one crate by their paths below its root.
type Crate = BTreeMap<Vec<String>, Module>;

/// The cycles among the files of a crate with its root in the folder: each the names of its files.
pub(super) fn circles(files: &[File], folder: &str) -> Vec<String> {
    let roots: Vec<&str> = files.iter().filter_map(|file| file.name.strip_suffix("/main.rs")).collect();
    let is_own = |name: &str| {
        let inner = |root: &&str| root.len() > folder.len() && name.starts_with(&format!("{root}/"));
        name.starts_with(&format!("{folder}/")) && !roots.iter().any(inner)
    };
    let is_test = |name: &str| name.ends_with("tests.rs") || name.ends_with("/testing.rs") || name.contains("/tests/");
    let own = files.iter().filter(|file| is_own(&file.name) && file.name.ends_with(".rs") && !is_test(&file.name));
    let modules: Crate = own.map(|file| (path_below(folder, &file.name), read(file))).collect();
    let mut uses: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (place, module) in &modules {
        let named = module.imports.iter().map(|import| &import.path).chain(&module.paths);
        let files = named.filter_map(|path| resolve(&modules, place, path, &mut BTreeSet::new()));
        uses.entry(&module.file).or_default().extend(files.filter(|file| *file != module.file));
    }
    groups(&uses).into_iter().map(|group| group.join(" ")).collect()
}

/// `src/a/b.rs` and `src/a/b/mod.rs` are `["a", "b"]`; `lib.rs` and `main.rs` are the root.
fn path_below(folder: &str, name: &str) -> Vec<String> {
    let name = name.strip_prefix(folder).unwrap_or(name).trim_start_matches('/');
    let mut path: Vec<String> = name.strip_suffix(".rs").unwrap_or(name).split('/').map(str::to_owned).collect();
    if path.last().is_some_and(|last| ["mod", "lib", "main"].contains(&last.as_str())) {
        path.pop();
    }
    path
}

fn read(file: &File) -> Module {
    let tokens = tokens(untested(&file.text));
    let text = |i: usize| tokens.get(i).map_or("", |token: &Token| token.text.as_str());
    let mut module = Module { file: file.name.clone(), ..Module::default() };
    // The depths of braces at which the modules within the file were opened.
    let (mut i, mut depth, mut inner) = (0, 0, Vec::new());
    while i < tokens.len() {
        match text(i) {
            "{" => depth += 1,
            "}" => {
                depth -= 1;
                if inner.last() == Some(&depth) {
                    inner.pop();
                }
            }
            "mod" if text(i + 2) == "{" => inner.push(depth),
            "use" => {
                let end = (i..tokens.len()).find(|&at| text(at) == ";").unwrap_or(tokens.len());
                let mut found = Vec::new();
                import(&tokens[i + 1..end], &[], &mut found);
                found.iter_mut().for_each(|import| outward(&mut import.path, inner.len()));
                module.imports.append(&mut found);
                i = end;
            }
            "mod" if text(i + 2) == ";" => _ = module.declares.insert(text(i + 1).to_owned()),
            "struct" | "enum" | "trait" | "fn" | "const" | "static" | "type" | "union" => {
                module.defines.insert(text(i + 1).to_owned());
            }
            // `pub(in path)` is not a use.
            "in" if text(i.wrapping_sub(1)) == "(" => i = (i..tokens.len()).find(|&at| text(at) == ")").unwrap_or(i),
            word if text(i + 1) == "::" && text(i.wrapping_sub(1)) != "::" && !word.is_empty() => {
                let mut path = vec![word.to_owned()];
                while text(i + 1) == "::" && text(i + 2).starts_with(|c: char| c == '_' || c.is_alphanumeric()) {
                    path.push(text(i + 2).to_owned());
                    i += 2;
                }
                outward(&mut path, inner.len());
                module.paths.insert(path);
            }
            _ => {}
        }
        i += 1;
    }
    module
}

/// A path from within `inner` nested modules of a file, in the form it would have outside them.
fn outward(path: &mut [String], inner: usize) {
    let supers = path.iter_mut().take(inner).take_while(|word| *word == "super");
    supers.for_each(|word| "self".clone_into(word));
}

/// The branches of a tree of `use`, with the path before them.
fn import(tree: &[Token], before: &[String], found: &mut Vec<Import>) {
    if tree.is_empty() {
        // After the last comma.
        return;
    }
    let (mut path, mut i) = (before.to_vec(), 0);
    while let Some(token) = tree.get(i) {
        match token.text.as_str() {
            "::" => {}
            "{" => {
                let (mut from, mut depth) = (i + 1, 0);
                for at in i + 1..tree.len() {
                    match tree[at].text.as_str() {
                        "}" if depth == 0 => return import(&tree[from..at], &path, found),
                        "}" => depth -= 1,
                        "{" => depth += 1,
                        "," if depth == 0 => {
                            import(&tree[from..at], &path, found);
                            from = at + 1;
                        }
                        _ => {}
                    }
                }
                return;
            }
            "as" => {
                let name = tree.get(i + 1).map(|token| token.text.clone()).unwrap_or_default();
                return found.push(Import { path, name });
            }
            "self" if !path.is_empty() => {}
            word => path.push(word.to_owned()),
        }
        i += 1;
    }
    if let Some(name) = path.last().cloned() {
        found.push(Import { path, name });
    }
}

/// The file that defines the item of a path, if it is in the crate.
fn resolve<'a>(
    modules: &'a Crate,
    place: &[String],
    path: &[String],
    seen: &mut BTreeSet<(Vec<String>, String)>,
) -> Option<&'a str> {
    let mut base = place.to_vec();
    let mut rest = path;
    match rest.first()?.as_str() {
        "crate" => (base, rest) = (Vec::new(), &rest[1..]),
        "self" | "super" => {
            while rest.first().is_some_and(|word| word == "self") {
                rest = &rest[1..];
            }
            while rest.first().is_some_and(|word| word == "super") {
                base.pop();
                rest = &rest[1..];
            }
        }
        word if modules.get(place)?.declares.contains(word) => {}
        word => {
            let import =
                modules.get(place)?.imports.iter().find(|import| import.name == word && import.path.len() > 1)?;
            if !seen.insert((place.to_vec(), word.to_owned())) {
                return None;
            }
            let whole: Vec<String> = import.path.iter().chain(&rest[1..]).cloned().collect();
            return resolve(modules, place, &whole, seen);
        }
    }
    let passes_on = |module: &Module, name: &str| {
        module.defines.contains(name)
            || module.imports.iter().any(|import| import.name == name && import.path.len() > 1 && import.path != [name])
    };
    while let Some(word) = rest.first() {
        let module = modules.get(&base)?;
        if !module.declares.contains(word) || rest.len() == 1 && passes_on(module, word) {
            break;
        }
        base.push(word.clone());
        rest = &rest[1..];
    }
    let module = modules.get(&base)?;
    let Some(name) = rest.first() else { return Some(&module.file) };
    if module.defines.contains(name) {
        return Some(&module.file);
    }
    let import = module.imports.iter().find(|import| import.name == *name && import.path != path);
    match import {
        Some(import) if seen.insert((base.clone(), name.clone())) => {
            let whole: Vec<String> = import.path.iter().chain(&rest[1..]).cloned().collect();
            resolve(modules, &base, &whole, seen)
        }
        _ => Some(&module.file),
    }
}

/// Files that reach each other.
fn groups<'a>(uses: &BTreeMap<&'a str, BTreeSet<&'a str>>) -> Vec<Vec<&'a str>> {
    let reached = |from: &'a str| {
        let (mut found, mut next) = (BTreeSet::new(), vec![from]);
        while let Some(file) = next.pop() {
            next.extend(uses.get(file).into_iter().flatten().copied().filter(|other| found.insert(*other)));
        }
        found
    };
    let reaches: BTreeMap<&str, BTreeSet<&str>> = uses.keys().map(|&file| (file, reached(file))).collect();
    let mut found: BTreeSet<Vec<&str>> = BTreeSet::new();
    for (file, others) in reaches.iter().filter(|(file, others)| others.contains(*file)) {
        found.insert(
            others.iter().copied().filter(|other| reaches.get(other).is_some_and(|back| back.contains(file))).collect(),
        );
    }
    found.into_iter().collect()
}

#[test]
fn a_circle_is_found_through_what_a_mod_rs_passes_on() {
    let file = |name: &str, text: &str| File { name: name.to_owned(), text: text.to_owned() };
    let sources = [
        file("x/lib.rs", "mod a; mod b; mod c; pub use a::A;"),
        file("x/a/mod.rs", "mod one; mod two; pub use one::A; pub(crate) use two::B;"),
        file("x/a/one.rs", "use super::two::B; pub struct A(B);"),
        file("x/a/two.rs", "pub struct B;"),
        file("x/b.rs", "use crate::a::{A, B}; use crate::c; pub struct C(A, B); fn f() { c::g() }"),
        file("x/c.rs", "pub fn g() {} #[cfg(test)]\nmod tests { use crate::b::C; }"),
    ];
    assert_eq!(circles(&sources, "x"), [""; 0]);
    let with = |name: &str, text: &str| {
        let mut changed: Vec<File> = sources.iter().map(|one| file(&one.name, &one.text)).collect();
        changed.iter_mut().filter(|one| one.name == name).for_each(|one| text.clone_into(&mut one.text));
        circles(&changed, "x")
    };
    assert_eq!(with("x/a/two.rs", "use crate::b::C; pub struct B(C);"), ["x/a/one.rs x/a/two.rs x/b.rs"]);
    assert_eq!(with("x/c.rs", "use super::b::{self as other}; pub fn g() { other::f() }"), ["x/b.rs x/c.rs"]);
    assert_eq!(
        with("x/a/two.rs", "pub struct B; pub(in crate::a) fn f() { crate::a::A::new() }"),
        ["x/a/one.rs x/a/two.rs"]
    );
}
