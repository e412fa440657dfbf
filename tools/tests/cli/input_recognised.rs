//! The content of an input decides about its format before its name, so a wrong name does not cause a misreading.

use std::fs;
use std::io::Write;
use std::path::Path;
#[cfg(unix)]
use std::process::Command as Process;

use crate::support::{Pair, Place, fails, families, fpdump, fphash, fpload, lines, stdout, without_trailer};

pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// Creates a store of inputs and returns its records, sorted.
pub(crate) fn loaded(place: &Place, options: &[&str], inputs: &[&Path]) -> Vec<Pair> {
    let store = place.path("loaded");
    let _ = fs::remove_dir_all(&store);
    fpload().args(["--create", "--quiet"]).args(options).arg(&store).args(inputs).assert().success();
    records(&store)
}

fn records(store: &Path) -> Vec<Pair> {
    let mut records: Vec<Pair> = stdout(fpdump().arg("scan").arg(store))
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| {
            let (hex, id) = line.split_once('\t').unwrap();
            (u64::from_str_radix(hex, 16).unwrap(), id.parse().unwrap())
        })
        .collect();
    records.sort_unstable();
    records
}

fn sorted(mut records: Vec<Pair>) -> Vec<Pair> {
    records.sort_unstable();
    records
}

fn objects(records: &[Pair]) -> Vec<String> {
    records
        .iter()
        .map(|(fingerprint, id)| format!("{{\"id\": {id}, \"fingerprint\": \"{fingerprint:016x}\", \"x\": [\"}}\"]}}"))
        .collect()
}

/// Creates a Parquet file with columns `id` and `cluster` of this store.
#[cfg(feature = "parquet")]
fn parquet(place: &Place, store: &Path) -> std::path::PathBuf {
    let path = place.path("labels.parquet");
    crate::support::fpdedup().args(["clusters", "--quiet", "--output"]).arg(&path).arg(store).assert().success();
    path
}

#[test]
fn compression_is_told_by_the_content() {
    let place = Place::new();
    let records = families(3000, 1);
    let text = lines(&records);
    let csv: String = records
        .iter()
        .fold("fingerprint,id\n".to_owned(), |csv, (fingerprint, id)| csv + &format!("{fingerprint:016x},{id}\n"));
    let expected = sorted(records);
    let zstd = |text: &str| zstd::encode_all(text.as_bytes(), 1).unwrap();
    for (name, bytes) in [
        ("a.tsv", gzip(text.as_bytes())),
        ("b", zstd(&text)),
        ("c.csv", zstd(&csv)),
        ("d.csv", gzip(csv.as_bytes())),
        ("e.tsv.gz", zstd(&text)),
        ("f.hex.zst", gzip(text.as_bytes())),
        // Every member and frame is read.
        ("g.tsv", [gzip(&text.as_bytes()[..1000]), gzip(b""), gzip(&text.as_bytes()[1000..])].concat()),
        ("h.tsv.zst", [zstd(&text[..1000]), zstd(&text[1000..])].concat()),
    ] {
        assert!(loaded(&place, &[], &[&place.file(name, bytes)]) == expected, "{name}");
    }
    for (n, bytes) in [gzip(text.as_bytes()), zstd(&text)].into_iter().enumerate() {
        let store = place.path(&format!("piped{n}"));
        let dash = if n == 0 { "-" } else { "/dev/stdin" };
        fpload().args(["--create", "--quiet"]).arg(&store).arg(dash).write_stdin(bytes).assert().success();
        assert!(self::records(&store) == expected);
    }
    // A file with a compressed name and uncompressed content was mixed up, or cut.
    let plain = place.file("plain.tsv.gz", text);
    fails(
        fpload().arg("--create").arg(place.path("x")).arg(plain),
        &["plain.tsv.gz: line 1: the name promises compression", "neither gzip nor zstd; rename"],
    );
    // Raw integers may begin with anything.
    let raw = place.file("a.u64", [0x1f, 0x8b, 8, 0, 0, 0, 0, 0]);
    assert_eq!(loaded(&place, &[], &[&raw]), [(0x0008_8b1f, 0)]);
}

#[test]
fn json_in_any_layout_under_any_name() {
    let place = Place::new();
    let records = families(300, 2);
    let objects = objects(&records);
    let expected = sorted(records);
    let array = format!("[\n{}\n]\n", objects.join(",\n"));
    let one_line = format!("[{}]", objects.join(","));
    let pretty = objects.join("\n").replace("{\"", "{\n  \"").replace(", ", ",\n  ");
    let plain = objects.join("\n");
    for (n, text) in [array, one_line, pretty, plain].into_iter().enumerate() {
        for name in ["a.json", "a.txt", "a.tsv", "a.csv", "a.unknown", "a", "a.json.gz"] {
            let name = format!("{n}{name}");
            let bytes = if name.ends_with("gz") { gzip(text.as_bytes()) } else { text.clone().into_bytes() };
            assert!(loaded(&place, &[], &[&place.file(&name, bytes)]) == expected, "{name}");
        }
        let store = place.path(&format!("piped{n}"));
        fpload().args(["--create", "--quiet"]).arg(&store).arg("-").write_stdin(text).assert().success();
        assert!(self::records(&store) == expected);
    }
    for (text, parts) in [
        ("[{\"fingerprint\":1},\n\n{\"fingerprint\":\n\"x\"}]", ["a.json: line 3: ", "16 hexadecimal digits"]),
        ("[{\"fingerprint\":1}\n", ["a.json: line 2: ", "ends inside an array"]),
        ("[{\"fingerprint\":1}]\nx", ["a.json: line 2: ", "expected value"]),
        ("{\"fingerprint\":1}\n{\"id\":2}", ["a.json: line 2: ", "no \"fingerprint\""]),
    ] {
        fails(fpload().arg("--create").arg(place.path("x")).arg(place.file("a.json", text)), &parts);
    }
    let long = format!("[{{\"fingerprint\":1,\"x\":\"{}\"}}]", "x".repeat(2 << 20));
    fails(
        fpload().arg("--create").arg(place.path("x")).arg(place.file("a.json", long)),
        &["a.json: line 1: the object is longer than 1 MiB"],
    );
}

#[cfg(feature = "parquet")]
#[test]
fn parquet_under_any_name_and_from_a_pipe() {
    let place = Place::new();
    let store = place.store(&families(300, 3));
    let labels = fs::read(parquet(&place, &store)).unwrap();
    let columns = ["--fingerprint-column", "id", "--id-column", "cluster"];
    let expected = loaded(&place, &columns, &[&place.path("labels.parquet")]);
    assert_eq!(expected.len(), 300);
    for name in ["a", "a.csv", "a.bin.x", "a.ndjson", "a.gz.txt"] {
        assert_eq!(loaded(&place, &columns, &[&place.file(name, &labels)]), expected, "{name}");
    }
    assert_eq!(loaded(&place, &columns, &[&place.file("packed", gzip(&labels))]), expected);
    let piped = place.path("piped");
    fpload().args(["--create", "--quiet"]).args(columns).arg(&piped).arg("-").write_stdin(labels).assert().success();
    assert_eq!(records(&piped), expected);
}

const DOCUMENTS: &str = "{\"id\":1,\"text\":\"the first of two\"}\n{\"id\":2,\"text\":\"the second of two\"}\n";

fn hashed(input: &Path) -> String {
    stdout(fphash().arg("simhash").arg(input))
}

#[test]
fn documents_are_records_under_every_name_of_records() {
    let place = Place::new();
    let expected = hashed(&place.file("docs.ndjson", DOCUMENTS));
    let array = format!("[{}]", DOCUMENTS.trim_end().replace('\n', ",\n"));
    let tsv = "id\ttext\n1\tthe first of two\n2\t\"the second of two\"\n";
    for (name, bytes) in [
        ("docs.json", DOCUMENTS.into()),
        ("array.json", array.clone().into_bytes()),
        ("docs.json.gz", gzip(DOCUMENTS.as_bytes())),
        ("docs.csv", gzip(tsv.replace('\t', ",").as_bytes())),
        ("t.tsv", tsv.into()),
        ("t.tsv.gz", gzip(tsv.as_bytes())),
        ("docs", DOCUMENTS.into()),
        ("docs.gz", gzip(array.as_bytes())),
    ] {
        assert_eq!(hashed(&place.file(name, bytes)), expected, "{name}");
    }
    for name in ["-", "/dev/stdin"] {
        for bytes in [DOCUMENTS.into(), array.clone().into_bytes(), gzip(DOCUMENTS.as_bytes())] {
            assert_eq!(stdout(fphash().args(["simhash", name]).write_stdin(bytes)), expected);
        }
        let told = stdout(fphash().args(["simhash", "--format", "tsv", name]).write_stdin(tsv));
        assert_eq!(told, expected);
        let text = "# Notes\n\nThis is a text of some words.\n";
        fails(
            fphash().args(["simhash", "--json", name]).write_stdin(text),
            &["standard input: what comes is neither JSON nor Parquet", "--format csv", "--format file"],
        );
        let whole = stdout(fphash().args(["simhash", "--format", "file", name]).write_stdin(text));
        assert!(without_trailer(&whole).ends_with("\t-\n"), "{whole}");
    }
    let config = place.file("package.json", "{\n  \"name\": \"x\",\n  \"version\": 1\n}\n");
    fails(
        fphash().args(["simhash", "--json"]).arg(&config),
        &["package.json: there is no \"text\"", "'name', 'version'", "--text-column", "--format file"],
    );
    let notes = hashed(&place.file("notes.md", DOCUMENTS));
    assert_eq!(without_trailer(&notes).lines().count(), 2, "a text, whatever it begins with");
}

#[cfg(unix)]
#[test]
fn pipes_with_names_are_looked_into() {
    let place = Place::new();
    let expected = hashed(&place.file("docs.ndjson", DOCUMENTS));
    let fifo = place.path("fifo");
    assert!(Process::new("mkfifo").arg(&fifo).status().unwrap().success());
    let through = |bytes: &'static str, command: &mut assert_cmd::Command| {
        let path = fifo.clone();
        let writer = std::thread::spawn(move || fs::write(path, bytes));
        let output = command.arg(&fifo).output().unwrap();
        let _ = writer.join().unwrap();
        output
    };
    let output = through(DOCUMENTS, fphash().arg("simhash"));
    assert_eq!(String::from_utf8(output.stdout).unwrap(), expected);
    let output = through("a text", fphash().args(["simhash", "--json"]));
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(2) && message.contains("fifo: what comes is neither"), "{message}");
}

#[test]
fn fpload_reads_texts_the_same_way() {
    let place = Place::new();
    let array = format!("[{}]", DOCUMENTS.trim_end().replace('\n', ",\n"));
    let load = |name: &str, options: &[&str]| {
        let mut load = fpload();
        load.args(["--create", "--text", "--quiet"]).args(options).arg(place.path(name)).arg("-");
        load
    };
    load("a", &[]).write_stdin(array).assert().success();
    load("b", &["--format", "tsv"])
        .write_stdin("id\ttext\n1\tthe first of two\n2\tthe second of two\n")
        .assert()
        .success();
    load("c", &["--delimiter", ";"])
        .write_stdin("id;text\n1;the first of two\n2;the second of two\n")
        .assert()
        .success();
    load("d", &["--format", "file"]).write_stdin("the first of two").assert().success();
    assert!(records(&place.path("a")) == records(&place.path("b")));
    assert!(records(&place.path("a")) == records(&place.path("c")));
    let plain = ["--create", "--format", "file"];
    fails(fpload().args(plain).arg(place.path("e")).arg("-").write_stdin(""), &["--format file: it is of documents"]);
}

#[test]
fn a_quote_that_is_not_closed_is_named() {
    let place = Place::new();
    let rows = |bad: &str| {
        let mut csv = "id,text\n".to_owned();
        for id in 0..1000 {
            csv += &if id == 5 { format!("5,{bad}\n") } else { format!("{id},\"some words, {id}\"\n") };
        }
        csv
    };
    let open = place.file("open.csv", rows("\"an open quote"));
    let hash = fphash().args(["simhash", "--json"]).arg(&open).assert().code(2);
    let message = String::from_utf8(hash.get_output().stderr.clone()).unwrap();
    let expected = "open.csv: line 7: the quote that opens a cell on this line is closed on line 8, where 's' follows";
    assert!(message.contains(expected), "{message}");
    let last = place.file("last.csv", "fingerprint,id\n0000000000000001,1\n0000000000000002,\"2\n0000000000000003,3\n");
    fails(
        fpload().arg("--create").arg(place.path("x")).arg(&last),
        &["last.csv: line 3: the quote that opens a cell on this line is not closed before the input ends"],
    );
    fphash().args(["simhash"]).arg(place.file("fine.csv", rows("a 5\"\" disk"))).assert().success();
    fphash().args(["simhash"]).arg(place.file("fine2.csv", rows("\"a 5\"\" disk\""))).assert().success();
}

#[test]
fn delimiters() {
    let place = Place::new();
    let semicolon = place.file("a.csv", "id;fingerprint\n7;0000000000000001\n");
    for name in [";", "tab", "\\t", "|"] {
        let byte = if name == "tab" || name == "\\t" { "\t" } else { name };
        let text = format!("id{byte}fingerprint\n7{byte}0000000000000001\n");
        let input = place.file("b.csv", &text);
        assert_eq!(loaded(&place, &["--delimiter", name], &[&input]), [(1, 7)], "{name}");
        assert_eq!(loaded(&place, &["--delimiter", name], &[&place.file("b.txt", text)]), [(1, 7)], "{name}");
    }
    let create = |options: &[&str]| {
        let mut load = fpload();
        load.arg("--create").args(options).arg(place.path("x")).arg(&semicolon);
        load
    };
    fails(&mut create(&[]), &["a.csv: line 1: there is no column \"fingerprint\"", "say --delimiter ';'"]);
    fails(&mut create(&["--delimiter", "ab"]), &["--delimiter", "one character"]);
    fails(&mut create(&["--delimiter", ";", "--format", "hex"]), &["--delimiter is of --format csv"]);
}

/// A program that reads from a terminal says what it waits for.
#[cfg(target_os = "linux")]
#[test]
fn a_terminal_gets_a_hint() {
    use std::process::Stdio;

    // `script` runs a program at a terminal; not every machine has it.
    if Process::new("script").arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_err() {
        return;
    }
    let place = Place::new();
    let store = place.store(&families(5, 4));
    let typed = |command: String| {
        let mut script = Process::new("script");
        script.args(["--quiet", "--return", "--command", &command, "/dev/null"]);
        let mut child = script.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        // Ctrl-D.
        child.stdin.take().unwrap().write_all(b"\x04").unwrap();
        String::from_utf8_lossy(&child.wait_with_output().unwrap().stdout).into_owned()
    };
    let (query, load, hash) =
        (env!("CARGO_BIN_EXE_fpquery"), env!("CARGO_BIN_EXE_fpload"), env!("CARGO_BIN_EXE_fphash"));
    let store = store.display();
    for (command, what) in [
        (format!("{query} {store}"), "fpquery: reading fingerprints from the terminal; end with Ctrl-D"),
        (format!("{load} {store} -"), "fpload: reading fingerprints from the terminal"),
        (format!("{hash} simhash -"), "fphash: reading documents from the terminal"),
    ] {
        let shown = typed(command.clone());
        assert!(shown.contains(what), "{command}: {shown}");
        let quiet = typed(format!("{command} --quiet"));
        assert!(!quiet.contains("terminal"), "{command}: {quiet}");
    }
}

/// The name says that a file is one text, and its content that it is several.
#[test]
fn records_that_are_read_as_a_whole_are_told() {
    let place = Place::new();
    let lines: String = (0..20).map(|id| format!("{{\"id\":{id},\"text\":\"some good words\"}}\n")).collect();
    for (name, text) in [("docs.txt", lines.clone()), ("docs.dat", lines.replace("text", "body"))] {
        let input = place.file(name, text);
        let run = fphash().arg("simhash").arg(&input).assert().success();
        let told = String::from_utf8_lossy(&run.get_output().stderr).into_owned();
        assert!(
            told.contains(&format!("{name} holds JSON objects, but is read as one document; --format ndjson")),
            "{told}"
        );
        let run = fphash().args(["simhash", "--format", "file"]).arg(&input).assert().success().stderr("");
        assert_eq!(String::from_utf8_lossy(&run.get_output().stdout).lines().count(), 3);
    }
    // One object is a text like any other.
    fphash().arg("simhash").arg(place.file("one.txt", "{\"a\":\"some good words\"}\n")).assert().success().stderr("");
}
