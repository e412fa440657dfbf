//! Fingerprints in decimal and as signed integers, explicit widths, and sizes.

use std::path::Path;

use crate::support::{Place, fails, fpdump, fpload, fpquery, stdout};
use crate::wide::fails_unchanged;

const RECORDS: &str = "0000000000000007\t1\nffffffffffffffff\t2\n";

fn loaded(place: &Place, name: &str, content: &str, options: &[&str]) -> String {
    let (store, input) = (place.path(&format!("{name}.store")), place.file(name, content));
    fpload().arg("--create").args(options).arg(&store).arg(input).assert().success();
    stdout(fpdump().arg("scan").arg(store))
}

#[test]
fn every_format_reads_them() {
    let place = Place::new();
    let signed = ["--fingerprint-format", "signed"];
    let dec = ["--fingerprint-format", "dec"];
    assert_eq!(loaded(&place, "a.csv", "id,fingerprint\n1,7\n2,-1\n", &signed), RECORDS);
    assert_eq!(loaded(&place, "b.csv", "id,fingerprint\n1,7\n2,18446744073709551615\n", &dec), RECORDS);
    let json = |two: &str| format!("{{\"id\":1,\"fingerprint\":7}}\n{{\"id\":2,\"fingerprint\":{two}}}\n");
    assert_eq!(loaded(&place, "a.ndjson", &json("-1"), &signed), RECORDS);
    assert_eq!(loaded(&place, "b.ndjson", &json("\"-1\""), &signed), RECORDS);
    assert_eq!(loaded(&place, "c.ndjson", &json("\"18446744073709551615\""), &dec), RECORDS);
    assert_eq!(loaded(&place, "d.ndjson", &json("18446744073709551615"), &[]), RECORDS);
    assert_eq!(loaded(&place, "a.tsv", "7\t1\n-1\t2\n", &signed), RECORDS);
    assert_eq!(loaded(&place, "b.tsv", "7\t1\n18446744073709551615\t2\n", &dec), RECORDS);
    let store = place.path("a.csv.store");
    let answer = stdout(fpquery().args(signed).args(["-k", "0"]).arg(&store).write_stdin("-1\n"));
    assert_eq!(answer, "ffffffffffffffff\tffffffffffffffff\t0\t2\n");
}

#[test]
fn what_is_not_as_told_is_refused_with_the_remedy() {
    let place = Place::new();
    for (name, content, options, parts) in [
        (
            "a.csv",
            "fingerprint\n1234567890123456789\n",
            &[][..],
            &["line 2", "found 19", "--fingerprint-format dec"][..],
        ),
        ("b.csv", "fingerprint\n-1234567890123456789\n", &[], &["line 2", "--fingerprint-format signed"]),
        ("c.csv", "fingerprint\n-7\n", &["--fingerprint-format", "dec"], &["line 2", "--fingerprint-format signed"]),
        ("a.ndjson", "{\"fingerprint\":-7}\n", &[], &["line 1", "--fingerprint-format signed"]),
        ("b.ndjson", "{\"fingerprint\":7}\n", &["--fingerprint-format", "hex"], &["line 1", "texts are expected"]),
        ("a.tsv", "9223372036854775808\n", &["--fingerprint-format", "signed"], &["line 1", "signed decimal number"]),
        ("a.u64", "12345678", &["--fingerprint-format", "dec"], &["a.u64", "raw integers have no digits"]),
        ("b.tsv", "7\n", &["--format", "dec", "--fingerprint-format", "hex"], &["contradicts --format dec"]),
        (
            "c.tsv",
            "-1\n",
            &["--width", "128", "--fingerprint-format", "signed"],
            &["line 1", "128-bit ones are expected"],
        ),
    ] {
        let store = place.path("store");
        fails(fpload().arg("--create").args(options).arg(&store).arg(place.file(name, content)), parts);
        assert!(!store.exists());
    }
}

#[test]
fn digits_of_another_width_say_so() {
    let place = Place::new();
    let wide = |digits: usize| format!("{:0>digits$}", "ff");
    let create = |line: &str| {
        let mut load = fpload();
        load.arg("--create").arg(place.path("new")).arg("-").write_stdin(format!("{line}\t1\n"));
        load
    };
    fails(&mut create(&wide(32)), &["line 1", "found 32", "128-bit", "--width 128"]);
    fails(&mut create(&wide(64)), &["line 1", "found 64", "256-bit", "--width 256"]);
    fails(&mut create(&format!("0x{}", wide(64))), &["--width 256"]);
    let store = place.store(&[(1, 1)]);
    let parts = ["expected 16 hexadecimal digits (a 64-bit fingerprint), found 64", "created with --width 256"];
    fails_unchanged(&store, fpload().arg(&store).arg("-").write_stdin(wide(64)), &parts);
    fails(fpquery().arg(&store).arg(wide(64)), &parts);
    fails(fpdump().arg("get").arg(wide(64)).arg(&store), &parts);
}

#[test]
fn sizes_as_they_are_spelled() {
    let place = Place::new();
    let block_size = |store: &Path| stdout(fpdump().args(["info", "--json"]).arg(store));
    for (number, size) in ["4096", "4K", "4kb", "4KiB", "4 KiB", "0.00390625M"].iter().enumerate() {
        let store = place.path(&number.to_string());
        fpload().args(["--create", "--memory", "0.25G", "--block-size", size]).arg(&store).assert().success();
        assert!(block_size(&store).contains("\"block_size\":4096"), "{size}");
    }
    let store = place.path("0");
    fpquery().args(["--filter-memory", "1.5GB"]).arg(&store).arg("00000000000000ff").assert().code(1);
    fails(fpquery().args(["--filter-memory", "1.5X"]).arg(&store), &["1.5X", "1.5GiB"]);
}
