//! Directories and patterns stand for the files in them; those without files are reported.

use std::fs;

use crate::input_recognised::loaded;
use crate::support::{
    Pair, Place, fails, families, fpdedup, fphash, fpload, fpquery, json_object, lines, stdout, without_trailer,
};

/// Creates a directory `parts` as Spark writes it, with these records in three files.
fn parts(place: &Place, records: &[Pair]) {
    fs::create_dir_all(place.path("parts/_temporary/0")).unwrap();
    fs::create_dir_all(place.path("parts/day=2")).unwrap();
    let third = records.len() / 3;
    let json: String = records[..third].iter().fold(String::new(), |json, (fingerprint, id)| {
        json + &format!("{{\"fingerprint\":{fingerprint},\"id\":{id}}}\n")
    });
    place.file("parts/part-00000.json", json);
    place.file("parts/part-00001.tsv", lines(&records[third..2 * third]));
    place.file("parts/day=2/part-00000.hex", lines(&records[2 * third..]));
    place.file("parts/_SUCCESS", "");
    place.file("parts/.part-00000.json.crc", "crc\0");
    place.file("parts/_temporary/0/part-00002.tsv", "half a li");
}

#[test]
fn directories_of_parts() {
    let place = Place::new();
    let mut records = families(300, 1);
    parts(&place, &records);
    let directory = place.path("parts");
    let store = place.store(&records);
    records.sort_unstable();
    assert!(loaded(&place, &[], &[&directory]) == records);

    let queries =
        |input: &str| stdout(fpquery().args(["-k", "0", "--count", "--input"]).arg(place.path(input)).arg(&store));
    assert_eq!(queries("parts").lines().count(), 300);
    assert_eq!(queries("parts/part*").lines().count(), 200);
    let join = |other: &str| stdout(fpdedup().args(["join", "--quiet", "-k", "0"]).arg(&store).arg(place.path(other)));
    assert_eq!(join("parts"), join("store"));
    let health = json_object(&stdout(fphash().args(["health", "--json"]).arg(&directory)));
    assert_eq!(health["records"], 300);

    // A file of another kind is skipped, with a warning.
    place.file("parts/README", "read me");
    let mut load = fpload();
    let load = load.arg("--create").arg(place.path("said")).arg(&directory).assert().success();
    let message = String::from_utf8(load.get_output().stderr.clone()).unwrap();
    assert!(message.contains("parts: 1 of 4 files are passed over") && message.contains("README"), "{message}");
    assert!(message.contains("300 records"), "{message}");
}

#[test]
fn patterns_of_names() {
    let place = Place::new();
    let mut records = families(300, 2);
    parts(&place, &records);
    records.truncate(200);
    records.sort_unstable();
    assert!(loaded(&place, &[], &[&place.path("parts/part-*")]) == records);
    assert!(loaded(&place, &[], &[&place.path("par?s/part-0000[01].*")]) == records);
    // A file of that name takes precedence over the pattern.
    let odd = place.file("a*.tsv", "0000000000000001\t7\n");
    place.file("ab.tsv", "0000000000000002\t8\n");
    assert_eq!(loaded(&place, &[], &[&odd]), [(1, 7)]);
}

#[test]
fn nothing_to_read_is_an_error() {
    let place = Place::new();
    let store = place.store(&families(5, 3));
    fs::create_dir_all(place.path("empty/_temporary")).unwrap();
    fs::create_dir_all(place.path("others")).unwrap();
    place.file("empty/_SUCCESS", "");
    place.file("others/picture.png", b"\x89PNG\r\n");
    for (input, part) in [
        ("empty", "empty: the directory holds no files"),
        ("others", "picture.png; say what they are with --format"),
        ("no-*.tsv", "no file matches"),
        ("store", "is a store; its records are input when `fpdump scan"),
    ] {
        let input = place.path(input);
        fails(fpload().arg("--create").arg(place.path("new")).arg(&input), &[part]);
        fails(fpquery().arg("--input").arg(&input).arg(&store), &[part]);
        assert!(!place.path("new").exists());
    }
    fails(fphash().args(["simhash", "--json"]).arg(place.path("empty")), &["empty: the directory holds no files"]);
    fails(
        fphash().args(["simhash", "--json"]).arg(place.path("no-*")),
        &["no-*: there is no such file", "no file matches"],
    );
}

#[test]
fn inputs_without_records_are_named() {
    let place = Place::new();
    for (name, content) in [
        ("a.tsv", ""),
        ("b.csv", "fingerprint,id\n"),
        ("c.json", "[]"),
        ("d.ndjson", "\n\n"),
        ("e.u64", ""),
        ("f.hex", "#fpstore width=64\n# remark\n"),
    ] {
        let (input, store) = (place.file(name, content), place.path(&format!("{name}.store")));
        let load = fpload().args(["--create", "--json"]).arg(&store).arg(&input).assert().success();
        let message = String::from_utf8(load.get_output().stderr.clone()).unwrap();
        assert!(message.contains(&format!("fpload: warning: {} holds no records", input.display())), "{message}");
        assert_eq!(json_object(&String::from_utf8(load.get_output().stdout.clone()).unwrap())["records"], 0);
        fpload().args(["--quiet"]).arg(&store).arg(&input).assert().success().stderr("");
    }
    let store = place.store(&families(5, 4));
    let query = fpquery().arg(&store).write_stdin("").assert().code(1);
    let message = String::from_utf8(query.get_output().stderr.clone()).unwrap();
    assert!(message.contains("fpquery: warning: standard input holds no records"), "{message}");
    for (name, content) in [("a.ndjson", ""), ("b.csv", "id,text\n"), ("c.json", "[ ]"), ("d.tsv", "")] {
        let hash = fphash().arg("simhash").arg(place.file(name, content)).assert().success();
        let message = String::from_utf8(hash.get_output().stderr.clone()).unwrap();
        assert!(
            message.contains("fphash: warning: ") && message.contains(&format!("{name} holds no records")),
            "{message}"
        );
    }
    fphash().args(["simhash", "-"]).write_stdin("").assert().success();
}

#[test]
fn directories_of_documents() {
    let place = Place::new();
    fs::create_dir(place.path("docs")).unwrap();
    place.file("docs/a.ndjson", "{\"id\":1,\"text\":\"the first of two\"}\n");
    place.file("docs/b.json", "[{\"id\":2,\"text\":\"the second of two\"}]");
    place.file("docs/_SUCCESS", "");
    let ids = |options: &[&str]| {
        let hash = fphash().arg("simhash").args(options).arg(place.path("docs")).assert().success();
        let (out, err) =
            (hash.get_output().stdout.clone(), String::from_utf8(hash.get_output().stderr.clone()).unwrap());
        let lines = String::from_utf8(out).unwrap();
        let records = without_trailer(&lines).lines().skip(1);
        let ids: Vec<String> = records.map(|line| line.split_once('\t').unwrap().1.to_owned()).collect();
        (ids, err)
    };
    assert_eq!(ids(&[]), (vec!["1".to_owned(), "2".to_owned()], String::new()));

    let notes = place.file("docs/notes.md", "notes of some words").display().to_string();
    let (found, message) = ids(&[]);
    assert_eq!(found, ["1", "2", &notes]);
    assert!(
        message.contains("fphash: 2 of the files were read as records, 1 as whole documents, such as ")
            && message.contains("notes.md"),
        "{message}"
    );
    assert_eq!(ids(&["--quiet"]).1, "");
    // A named column cannot be in a text.
    fails(
        fphash().args(["simhash", "--json", "--text-column", "text"]).arg(place.path("docs/notes.md")),
        &["notes.md would be read as documents that are whole files, which have no columns"],
    );
    let (found, _) = ids(&["--format", "file"]);
    assert_eq!(found.len(), 3);
    let only = stdout(fphash().arg("simhash").arg(place.path("docs/*json")));
    assert_eq!(without_trailer(&only).lines().count(), 3);
}

/// Names that are not UTF-8 match patterns like other names.
#[cfg(target_os = "linux")]
#[test]
fn names_that_are_not_utf8() {
    use std::os::unix::ffi::OsStrExt;
    let place = Place::new();
    std::fs::create_dir(place.path("odd")).unwrap();
    place.file("odd/a.txt", "a text of some words");
    std::fs::write(place.path("odd").join(std::ffi::OsStr::from_bytes(b"b\xff.txt")), "0000000000000001\n").unwrap();
    let message = fphash().arg("simhash").arg(place.path("odd/*.txt")).assert().code(2);
    let message = String::from_utf8_lossy(&message.get_output().stderr).into_owned();
    assert!(message.contains("it is not UTF-8; rename it"), "{message}");
    fpload().arg("--create").args([place.path("store"), place.path("odd/b*")]).assert().success();
    fails(
        fpload().arg("--create").args([place.path("new"), place.path("odd/*.hex")]),
        &["as a pattern no file matches it"],
    );
}

#[cfg(unix)]
#[test]
fn documents_behind_links() {
    let place = Place::new();
    std::fs::create_dir(place.path("docs")).unwrap();
    let file = place.file("a.txt", "a text of some words");
    std::os::unix::fs::symlink(&file, place.path("docs/link.txt")).unwrap();
    std::os::unix::fs::symlink(place.path("docs"), place.path("docs/loop")).unwrap();
    let out = stdout(fphash().arg("simhash").arg(place.path("docs")));
    assert_eq!(out.matches("link.txt").count(), 1, "{out}");
}
