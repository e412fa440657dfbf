//! Warnings of `fpdedup` about inputs without effect, and about records left out although they are far from the kept
//! one.

use crate::dedup::{clusters, records};
use crate::support::{Place, fpdedup, fpload, json_object, stdout};
use assert_cmd::Command;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Returns the standard error of a program that succeeds, without the closing line.
fn said(command: &mut Command) -> String {
    let output = command.assert().success().get_output().clone();
    let text = String::from_utf8(output.stderr).unwrap();
    text.lines().filter(|line| line.contains("warning")).fold(String::new(), |mut said, line| {
        writeln!(said, "{line}").unwrap();
        said
    })
}

#[test]
fn priorities_that_are_of_no_record() {
    let place = Place::new();
    let store = place.store(&[(0, 10), (1, 20), (u64::MAX, 30)]);
    let texts = place.path("texts");
    let input = "0000000000000000\thttp://a\n0000000000000001\thttp://b\n";
    fpload().arg("--create").arg(&texts).arg("-").write_stdin(input).assert().success();
    for (store, listed, expected, kept) in [
        (&store, "20\n30\n", "", "20\n30\n"),
        // An id alone at its fingerprint, and alone in its cluster, was found as well.
        (&store, "30\n", "", "10\n30\n"),
        (&store, "20\n7\n9\n", "not in the store: 2 of its 3 ids\n", "20\n30\n"),
        (&store, "7\n9\n", "none of its 2 ids is in the store; the smallest id of each cluster is kept", "10\n30\n"),
        (&store, "\n", "lists no ids; the smallest id of each cluster is kept", "10\n30\n"),
        (&texts, "http://b\n", "", "http://b\n"),
        (&texts, "https://b\n", "none of its 1 id is in the store", "http://a\n"),
    ] {
        let file = place.file("priority.txt", listed);
        let keep = || {
            let mut keep = fpdedup();
            keep.args(["keep", "--keep"]).arg(&file).arg(store);
            keep
        };
        let said = said(&mut keep());
        assert_eq!(expected.is_empty(), said.is_empty(), "{listed}: {said}");
        assert!(said.contains(expected) && (said.is_empty() || said.contains("priority.txt")), "{listed}: {said}");
        assert_eq!(stdout(&mut keep()), kept);
        assert_eq!(self::said(keep().arg("-q")), "");
    }
}

#[test]
fn labels_that_are_of_no_record() {
    let place = Place::new();
    let all = records(200);
    let store = place.store(&all);
    let expected = stdout(fpdedup().arg("clusters").arg(&store));
    let other = expected.lines().fold(String::new(), |text, line| text + "9" + line + "\n");
    let some: String =
        expected.lines().map(|line| format!("{line}\n")).skip(5).chain(["999999\t999999\n".to_owned()]).collect();
    for (labels, part) in [
        (expected.as_str(), ""),
        (&other, "no record of the store has one of its 200 labels; all records are compared"),
        (&some, "1 of its 196 labels are of records that are no longer in the store"),
        ("", "it has no labels; all records are compared"),
    ] {
        let file = place.file("labels.tsv", labels);
        let run = || {
            let mut run = fpdedup();
            run.args(["clusters", "--previous"]).args([&file, &store]);
            run
        };
        let said = said(&mut run());
        assert_eq!(part.is_empty(), said.is_empty(), "{said}");
        assert!(said.contains(part), "{said}");
        assert_eq!(stdout(&mut run()), expected);
        assert_eq!(self::said(run().arg("-q")), "");
    }
}

#[test]
fn new_inputs_without_records() {
    let place = Place::new();
    let store = place.store(&records(50));
    let plain = stdout(fpdedup().arg("clusters").arg(&store));
    let empty = place.path("empty");
    fpload().arg("--create").arg(&empty).arg("-").write_stdin("").assert().success();
    for new in [place.file("new.tsv", "# nothing today\n"), empty] {
        let run = || {
            let mut run = fpdedup();
            run.args(["clusters", "--new"]).args([&new, &store]);
            run
        };
        let said = said(&mut run());
        assert!(said.contains("it has no records") && said.contains(new.to_str().unwrap()), "{said}");
        assert_eq!(stdout(&mut run()), plain);
    }
}

/// Returns the number of records left out, and of those farther than `k` from the kept one.
fn far(records: &[(u64, u64)], k: u32, kept: impl Fn(&[u64]) -> u64) -> (usize, usize) {
    let of: BTreeMap<u64, u64> = records.iter().map(|&(fingerprint, id)| (id, fingerprint)).collect();
    let mut members: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    clusters(records, k).into_iter().for_each(|(id, label)| members.entry(label).or_default().push(id));
    let far = |ids: &Vec<u64>| {
        let keeper = of[&kept(ids)];
        ids.iter().filter(|id| (of[id] ^ keeper).count_ones() > k).count()
    };
    (records.len() - members.len(), members.values().map(far).sum())
}

#[test]
fn records_left_out_that_are_far_from_the_one_that_is_kept() {
    let place = Place::new();
    let records = records(600);
    let line = |(fingerprint, id): &(u64, u64)| format!("{fingerprint:016x}\thttp://{id:05}/\n");
    let texts: String = records.iter().map(line).collect();
    let stores = [place.store(&records), place.path("texts")];
    fpload().arg("--create").arg(&stores[1]).arg("-").write_stdin(texts).assert().success();
    let least = |ids: &[u64]| *ids.iter().min().unwrap();
    let most = |ids: &[u64]| *ids.iter().max().unwrap();
    for k in [0, 2, 3] {
        for store in &stores {
            for (keep, (left, far)) in [("smallest", far(&records, k, least)), ("largest", far(&records, k, most))] {
                let k = k.to_string();
                let said = said(fpdedup().args(["keep", "--linkage", "single", "-k", &k, "--keep", keep]).arg(store));
                let expected = format!(
                    "fpdedup: warning: {far} of {left} records that are left out differ in more than {k} bits from the one that is kept"
                );
                assert_eq!(said.starts_with(&expected), far > 0, "{k} {keep}: {said} instead of {expected}");
                assert_eq!(said.is_empty(), far == 0);
                assert_eq!(self::said(fpdedup().args(["keep", "--linkage", "single", "-q", "-k", &k]).arg(store)), "");
            }
        }
        let (left, far) = far(&records, k, least);
        let mut report = fpdedup();
        report.args(["clusters", "--report", "--json", "-k", &k.to_string()]).arg(&stores[1]);
        assert_eq!(json_object(&stdout(&mut report))["far_records"], far);
        let said = said(&mut report);
        assert_eq!(said.contains(&format!("{far} of {left} records")), far > 0, "{said}");
    }
    assert!(far(&records, 3, least).1 > 10, "there are chains");
}

#[test]
fn chains_where_there_are_no_ids() {
    let place = Place::new();
    let store = place.path("store");
    // The last record is counted twice, and 6 bits from the first; the record before it 3 bits.
    let input = "0000000000000000\n0000000000000007\n000000000000003f\n000000000000003f\n";
    fpload().args(["--create", "--ids", "none"]).arg(&store).arg("-").write_stdin(input).assert().success();
    let said = said(fpdedup().args(["keep", "--linkage", "single"]).arg(&store));
    assert!(said.contains("2 of 3 records that are left out differ in more than 3 bits"), "{said}");
}
