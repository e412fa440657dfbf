//! `fphash --output`: the same output as on standard output, in a file that appears when it is complete.

use std::fs;
use std::io::Read;
use std::path::Path;

use crate::hash_vectors::real_documents;
use crate::support::{Place, fails, fpdump, fphash, fpload, stdout, without_trailer};
#[cfg(feature = "parquet")]
use crate::support::{json_lines, json_object};

const DOCUMENTS: &str = "{\"id\":1,\"text\":\"one two three\"}\n{\"id\":\"a,\\\"b\\\"\",\"text\":\"two three four\"}\n\
                         {\"text\":\"three four five\"}\n";

fn read(path: &Path) -> String {
    let file = fs::File::open(path).unwrap();
    let mut text = String::new();
    let name = path.to_str().unwrap();
    let mut bytes: Box<dyn Read> = if name.ends_with(".gz") {
        Box::new(flate2::read::MultiGzDecoder::new(file))
    } else if name.ends_with(".zst") {
        Box::new(zstd::Decoder::new(file).unwrap())
    } else {
        Box::new(file)
    };
    bytes.read_to_string(&mut text).unwrap();
    text
}

#[test]
fn files_hold_what_standard_output_has() {
    let place = Place::new();
    let input = place.file("a.ndjson", DOCUMENTS);
    let output = |command: &[&str], name: &str| {
        let path = place.path(name);
        assert_eq!(stdout(fphash().args(command).arg("-o").args([&path, &input])), "");
        read(&path)
    };
    let commands: [&[&str]; 4] = [
        &["simhash"],
        &["minhash", "--num-perm", "8"],
        &["minhash", "--preset", "lucene", "--bucket-count", "4"],
        &["bands", "--bands", "2", "--rows", "4"],
    ];
    for command in commands {
        let command = &[command, &["--min-features", "0"]].concat()[..];
        let lines = stdout(fphash().args(command).arg(&input));
        let json = stdout(fphash().args(command).arg("--json").arg(&input));
        for name in ["a.tsv", "a.txt", "a.hex", "a.tsv.gz", "a.hex.zst"] {
            assert_eq!(output(command, name), lines, "{command:?} {name}");
        }
        for name in ["b.ndjson", "b.jsonl.gz"] {
            assert_eq!(output(command, name), json, "{command:?} {name}");
        }
        let csv = output(command, "a.csv");
        let mut rows = csv::Reader::from_reader(csv.as_bytes());
        let key = rows.headers().unwrap().len() - 2;
        let names: Vec<&str> = rows.headers().unwrap().iter().collect();
        assert!(matches!(names[..], ["fingerprint" | "terms", "id"] | ["band", "key", "id"]), "{names:?}");
        let rows: Vec<csv::StringRecord> = rows.records().map(Result::unwrap).collect();
        let lines = without_trailer(&lines);
        assert_eq!(rows.len(), lines.lines().count() - 1);
        for (row, line) in rows.iter().zip(lines.lines().skip(1)) {
            let mut cells: Vec<&str> = line.split('\t').collect();
            cells.resize(row.len(), "");
            assert_eq!(row.iter().collect::<Vec<_>>(), cells, "{key}");
        }
    }
    // Fingerprints in CSV are read like those in lines.
    let load = |name: &str, ids: &str| {
        let store = place.path(&format!("store of {name}"));
        let input = place.path(name);
        fpload().args(["--create", "--quiet", "--ids", ids]).args([&store, &input]).assert().code(0);
        stdout(fpdump().arg("scan").arg(store)).lines().filter(|line| !line.starts_with('#')).collect::<String>()
    };
    let real = real_documents();
    for name in ["r.tsv", "r.csv", "r.ndjson"] {
        fphash().args(["simhash", "--id-column", "path", "-o"]).args([&place.path(name), &real]).assert().success();
    }
    let stores = ["r.tsv", "r.csv", "r.ndjson"].map(|name| load(name, "text"));
    assert!(stores[0] == stores[1] && stores[0] == stores[2] && stores[0].len() > 100_000);
}

#[test]
fn a_file_appears_when_it_is_whole() {
    let place = Place::new();
    let bad = place.file("bad.ndjson", "{\"text\":\"one two\"}\n{\"text\":null}\n");
    for name in ["a.tsv", "a.csv.gz", "a.parquet"] {
        fails(fphash().args(["simhash", "-o"]).args([&place.path(name), &bad]), &["line 2: the text is null"]);
    }
    assert_eq!(fs::read_dir(place.path("")).unwrap().count(), 1, "no file and no part of one");
    for name in ["a", "a.u64", "a.parquet.gz"] {
        fails(fphash().args(["simhash", "-o"]).args([&place.path(name), &bad]), &["--output", name]);
    }
    let old = place.file("old.tsv", "as it was");
    fails(fphash().args(["simhash", "-o"]).args([&old, &bad]), &["line 2"]);
    assert_eq!(read(&old), "as it was");
}

/// The metadata hold the hasher, which a load keeps and checks.
#[cfg(feature = "parquet")]
#[test]
fn parquet_says_what_made_it() {
    let place = Place::new();
    let input = real_documents();
    let write_from = |input: &Path, name: &str, arguments: &[&str]| {
        let path = place.path(name);
        fphash().args(arguments).arg("-o").arg(&path).arg(input).assert().success();
        path
    };
    let write = |name: &str, arguments: &[&str]| write_from(&input, name, arguments);
    for (name, arguments) in [
        ("narrow", &["simhash", "--id-column", "path"][..]),
        ("wide", &["simhash", "--id-column", "n", "--width", "128"]),
        ("bits", &["minhash", "--id-column", "n", "--num-perm", "256", "--bits", "1"]),
    ] {
        let (parquet, lines) = (write(&format!("{name}.parquet"), arguments), write(&format!("{name}.tsv"), arguments));
        let stores = [&parquet, &lines].map(|input| {
            let store = place.path(&format!("{name}-{}", input.extension().unwrap().to_str().unwrap()));
            let report = json_object(&stdout(fpload().args(["--create", "--json"]).args([&store, input])));
            assert_eq!(report["records"], 3000, "{name}");
            (stdout(fpdump().arg("scan").arg(store)), report["hasher"].clone())
        });
        assert_eq!(stores[0], stores[1], "{name}");
        assert!(stores[0].1.as_str().unwrap().starts_with(&format!("{}/native/", arguments[0])), "{}", stores[0].1);
    }
    let one = place.file("one.ndjson", "{\"path\":\"a\",\"text\":\"one two three\"}\n");
    let other = write_from(&one, "other.parquet", &["simhash", "--id-column", "path", "--preset", "1e0ng"]);
    let mut load = fpload();
    fails(load.args([place.path("narrow-tsv"), other]), &["simhash/1e0ng/", "must not be mixed"]);
    let few = place.file("few.ndjson", DOCUMENTS);
    let narrow = write_from(&few, "n.parquet", &["simhash", "--preset", "bkdr", "--width", "31"]);
    fails(
        fpload().arg("--create").args([place.path("new"), narrow]),
        &["n.parquet: its metadata: the header says 31-bit"],
    );
}

#[cfg(feature = "parquet")]
#[test]
fn ids_and_keys_in_parquet() {
    use arrow_array::cast::AsArray;
    use arrow_array::types::UInt64Type;
    use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
    let place = Place::new();
    let input = place.file(
        "a.ndjson",
        DOCUMENTS.lines().nth(1).unwrap().to_owned() + "\n{\"id\":7,\"text\":\"one\"}\n{\"text\":\"two\"}\n",
    );
    let path = place.path("keys.parquet");
    let bands = ["bands", "--bands", "2", "--rows", "4"];
    fphash().args(bands).arg("-o").args([&path, &input]).assert().success();
    let json = json_lines(&stdout(fphash().args(bands).arg("--json").arg(&input)));
    let mut batches =
        ParquetRecordBatchReaderBuilder::try_new(fs::File::open(&path).unwrap()).unwrap().build().unwrap();
    let batch = batches.next().unwrap().unwrap();
    assert_eq!(batch.schema().fields().iter().map(|field| field.name().as_str()).collect::<Vec<_>>(), ["keys", "id"]);
    let ids: Vec<Option<&str>> = batch.column(1).as_string::<i32>().iter().collect();
    assert_eq!(ids, [Some("a,\"b\""), Some("7"), None]);
    for (keys, object) in batch.column(0).as_list::<i32>().iter().zip(json) {
        let keys: Vec<String> =
            keys.unwrap().as_primitive::<UInt64Type>().values().iter().map(|key| format!("{key:016x}")).collect();
        assert_eq!(serde_json::json!(keys), object["bands"]);
    }
    // A column of numbers cannot hold a later text.
    let mixed = place.file("mixed.ndjson", DOCUMENTS);
    let mut run = fphash();
    fails(run.args(["simhash", "-o"]).args([&path, &mixed]), &["mixed.ndjson: line 2: the id is a text", "write .tsv"]);
    // No documents: an empty file that loads.
    let (none, empty) = (place.file("none.ndjson", ""), place.path("empty.parquet"));
    fphash().args(["simhash", "-o"]).args([&empty, &none]).assert().success();
    fpload().arg("--create").args([place.path("empty"), empty]).assert().success();
}
