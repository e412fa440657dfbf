//! `fpdump scan --output`: files of every format hold all records, and `fpload` reads them.

use crate::support::{Place, fails, fpdump, fpload, stdout};
use crate::wide::{Kind, Sort};

const NAMES: &[&str] = &[
    "a.tsv",
    "a.txt.gz",
    "a.csv",
    "a.csv.zst",
    "a.ndjson",
    #[cfg(feature = "parquet")]
    "a.parquet",
];

#[test]
fn files_of_every_format_are_read_back() {
    for sort in Sort::all() {
        let place = Place::new();
        let records = sort.families(1200, 3);
        let store = sort.store(&place, "store", &records);
        let printed = stdout(fpdump().arg("scan").arg(&store));
        assert!(printed == sort.scan(&records), "{sort:?}");
        for name in NAMES {
            let (file, copy) = (place.path(name), place.path(&format!("copy of {name}")));
            fpdump().arg("scan").arg(&store).arg("-o").arg(&file).assert().success().stdout("");
            let mut load = fpload();
            load.arg("--create").args([&copy, &file]);
            // Lines with TABs have a header, the other formats do not.
            if !name.starts_with("a.t") {
                load.args(["--width", &sort.width.to_string(), "--ids", sort.kind.name()]);
            }
            load.assert().success();
            assert!(stdout(fpdump().arg("scan").arg(&copy)) == printed, "{sort:?} {name}");
        }
    }
}

#[test]
fn files_have_names_of_columns() {
    let place = Place::new();
    let line = |file: &str| std::fs::read_to_string(place.path(file)).unwrap().lines().next().unwrap().to_owned();
    for (kind, names) in [(Kind::Text, "fingerprint,id"), (Kind::None, "fingerprint")] {
        let sort = Sort::new(64, kind);
        let store = sort.store(&place, kind.name(), &sort.families(10, 1));
        fpdump().arg("scan").arg(&store).arg("-o").arg(place.path("a.csv")).assert().success();
        assert_eq!(line("a.csv"), names);
    }
    // The same with an empty store, whose header is all there is.
    let empty = place.path("empty");
    fpload().args(["--create", "--width", "128"]).arg(&empty).arg("-").write_stdin("").assert().success();
    for (name, text) in [("b.csv", "fingerprint,id\n"), ("b.tsv", "#fpstore width=128\n"), ("b.ndjson", "")] {
        fpdump().arg("scan").arg(&empty).arg("-o").arg(place.path(name)).assert().success();
        assert_eq!(std::fs::read_to_string(place.path(name)).unwrap(), text);
    }
}

#[test]
fn what_cannot_be_written_is_said() {
    let place = Place::new();
    let store = place.store(&[(1, 1)]);
    for (name, part) in [
        ("a.xls", "use .tsv, .txt, .csv, .ndjson or .jsonl, each also with .gz or .zst, or .parquet"),
        ("a", "the ending of the name tells the format"),
        ("a.parquet.gz", "leave the second ending off"),
        ("no/a.csv", "no/a.csv"),
    ] {
        fails(fpdump().arg("scan").arg(&store).arg("-o").arg(place.path(name)), &[part]);
    }
    let before: Vec<_> = std::fs::read_dir(place.path("")).unwrap().collect();
    assert_eq!(before.len(), 1, "only the store: {before:?}");
}
