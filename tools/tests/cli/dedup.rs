//! `fpdedup`: pairs, clusters and ids to keep, compared with brute force.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use assert_cmd::Command;
use serde_json::Value;

use crate::support::{Pair, Place, fpdedup, fpload, lines};

/// Families of near fingerprints; many records share a fingerprint.
pub(crate) fn records(count: u64) -> Vec<Pair> {
    let mut state = 7u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state >> 33 ^ state << 20
    };
    let mut centre = 0;
    let mut record = |number: u64| {
        if number.is_multiple_of(9) {
            centre = next();
        }
        let flips = (0..next() % 4).fold(0, |flips, _| flips | 1u64 << (next() % 64));
        (centre ^ flips, 10 * count - 3 * number)
    };
    (0..count).map(&mut record).collect()
}

/// Returns all pairs of records within distance `k` as lines, sorted as `--sort` does.
fn brute(records: &[Pair], k: u32) -> Vec<String> {
    let records: BTreeSet<Pair> = records.iter().copied().collect();
    let mut pairs = Vec::new();
    for (number, a) in records.iter().enumerate() {
        for b in records.iter().skip(number + 1) {
            if (a.0 ^ b.0).count_ones() <= k {
                pairs.push((a.0, b.0, a.1, b.1));
            }
        }
    }
    pairs.sort_unstable();
    let line = |(a, b, id_a, id_b): (u64, u64, u64, u64)| {
        format!("{a:016x}\t{b:016x}\t{}\t{id_a}\t{id_b}", (a ^ b).count_ones())
    };
    pairs.into_iter().map(line).collect()
}

/// Returns the label of every record, in the order of the store.
pub(crate) fn clusters(records: &[Pair], k: u32) -> Vec<(u64, u64)> {
    let records: Vec<Pair> = records.iter().copied().collect::<BTreeSet<Pair>>().into_iter().collect();
    let mut label: Vec<u64> = records.iter().map(|record| record.1).collect();
    loop {
        let before = label.clone();
        for (a, one) in records.iter().enumerate() {
            for (b, other) in records.iter().enumerate() {
                if (one.0 ^ other.0).count_ones() <= k {
                    label[a] = label[a].min(label[b]);
                }
            }
        }
        if before == label {
            return records.iter().map(|record| record.1).zip(label).collect();
        }
    }
}

pub(crate) fn text(command: &mut Command) -> String {
    String::from_utf8(command.assert().success().get_output().stdout.clone()).unwrap()
}

fn sorted(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    lines.sort_unstable();
    lines
}

#[test]
fn pairs_are_those_of_brute_force_in_an_order_that_does_not_depend_on_threads() {
    let place = Place::new();
    let records = records(600);
    let store = place.store(&records);
    for k in ["0", "2", "3", "5"] {
        let expected = brute(&records, k.parse().unwrap());
        let pairs = |threads| text(fpdedup().args(["pairs", "-q", "--threads", threads, "--distance", k]).arg(&store));
        let found = pairs("1");
        assert_eq!(found, pairs("3"));
        assert_eq!(sorted(&found), {
            let mut expected = expected.clone();
            expected.sort_unstable();
            expected
        });
        let in_order = text(fpdedup().args(["pairs", "-q", "--sort", "-k", k]).arg(&store));
        assert_eq!(in_order.lines().collect::<Vec<_>>(), expected);
    }
    let distinct = text(fpdedup().args(["pairs", "--distinct", "--sort"]).arg(&store));
    let cut = |line: &String| line.rsplitn(3, '\t').last().unwrap().to_owned();
    let expected: BTreeSet<String> = brute(&records, 3).iter().map(cut).filter(|line| !line.ends_with("\t0")).collect();
    assert_eq!(distinct.lines().collect::<Vec<_>>(), expected.iter().collect::<Vec<_>>());
}

#[test]
fn clusters_and_what_to_keep() {
    let place = Place::new();
    let records = records(400);
    let store = place.store(&records);
    for k in [1, 3] {
        let distance = k.to_string();
        let expected = clusters(&records, k);
        let line = |(id, label): &(u64, u64)| format!("{id}\t{label}\n");
        let found = text(fpdedup().args(["clusters", "--distance", &distance]).arg(&store));
        assert_eq!(found, expected.iter().map(line).collect::<String>());

        let mut sizes: BTreeMap<u64, usize> = BTreeMap::new();
        expected.iter().for_each(|(_, label)| *sizes.entry(*label).or_default() += 1);
        let large: String = expected.iter().filter(|(_, label)| sizes[label] >= 4).map(line).collect();
        assert_eq!(text(fpdedup().args(["clusters", "--min-size", "4", "-k", &distance]).arg(&store)), large);

        let kept = |options: &[&str]| -> BTreeSet<u64> {
            let text = text(fpdedup().args(["keep", "--linkage", "single", "-k", &distance]).args(options).arg(&store));
            assert_eq!(text.lines().count(), sizes.len());
            text.lines().map(|line| line.parse().unwrap()).collect()
        };
        assert_eq!(kept(&[]), sizes.keys().copied().collect());
        let best = |of: &dyn Fn(Vec<u64>) -> u64| -> BTreeSet<u64> {
            let members = |label| expected.iter().filter(move |one| one.1 == label).map(|one| one.0).collect();
            sizes.keys().map(|&label| of(members(label))).collect()
        };
        assert_eq!(kept(&["--keep", "largest"]), best(&|ids| ids.into_iter().max().unwrap()));
        let listed: Vec<u64> = expected.iter().map(|one| one.0).rev().step_by(3).collect();
        let file = place.file("priority.txt", listed.iter().map(|id| format!("{id}\r\n")).collect::<String>());
        let ranked = best(&|ids| {
            let rank = |id: &u64| listed.iter().position(|one| one == id).unwrap_or(usize::MAX);
            ids.into_iter().min_by_key(|id| (rank(id), *id)).unwrap()
        });
        assert_eq!(kept(&["--keep", file.to_str().unwrap()]), ranked);
    }
}

#[test]
fn a_report_for_people_and_for_programs() {
    let place = Place::new();
    let records = records(400);
    let store = place.store(&records);
    let labels = clusters(&records, 3);
    let report: Value =
        serde_json::from_str(&text(fpdedup().args(["clusters", "--report", "--json"]).arg(&store))).unwrap();
    assert_eq!(report["schema_version"], 1);
    assert_eq!(report["records"], labels.len());
    assert_eq!(report["clusters"], labels.iter().map(|one| one.1).collect::<BTreeSet<_>>().len());
    let largest = &report["largest"][0];
    let size = labels.iter().filter(|one| largest["cluster"] == one.1).count();
    assert_eq!(largest["records"], size);
    assert!(largest["diameter"].as_u64().is_some_and(|diameter| (1..=64).contains(&diameter)));
    let people = text(fpdedup().args(["clusters", "--report"]).arg(&store));
    assert!(
        people.contains("near-duplicates") && people.contains("far ones") && people.contains("pairs beyond 3"),
        "{people}"
    );
    // With a file for the labels, both are written.
    let file = place.path("labels.tsv");
    let both = text(fpdedup().args(["clusters", "--report", "--output"]).args([&file, &store]));
    assert_eq!(both, people);
    assert_eq!(std::fs::read_to_string(file).unwrap().lines().count(), labels.len());
}

#[test]
fn stores_without_ids_and_with_texts() {
    let place = Place::new();
    let counted = place.path("counted");
    let input = "0000000000000000\n0000000000000000\n0000000000000001\nff00000000000000\n";
    fpload().args(["--create", "--ids", "none"]).arg(&counted).arg("-").write_stdin(input).assert().success();
    let zero = "0000000000000000";
    let one = "0000000000000001";
    let pairs = text(fpdedup().args(["pairs", "--sort"]).arg(&counted));
    assert_eq!(pairs, format!("{zero}\t{zero}\t0\t2\t2\n{zero}\t{one}\t1\t2\t1\n"));
    let labels = text(fpdedup().arg("clusters").arg(&counted));
    assert_eq!(labels, format!("{zero}\t{zero}\n{one}\t{zero}\nff00000000000000\tff00000000000000\n"));
    assert_eq!(text(fpdedup().arg("keep").arg(&counted)), format!("{zero}\nff00000000000000\n"));

    let texts = place.path("texts");
    let input = "0000000000000001\thttp://b\n0000000000000000\thttp://c\n0000000000000000\thttp://a\"\n";
    fpload().arg("--create").arg(&texts).arg("-").write_stdin(input).assert().success();
    let labels = text(fpdedup().arg("clusters").arg(&texts));
    assert_eq!(labels, "http://a\"\thttp://a\"\nhttp://c\thttp://a\"\nhttp://b\thttp://a\"\n");
    let objects = text(fpdedup().args(["pairs", "--json", "--sort"]).arg(&texts));
    let first: Value = serde_json::from_str(objects.lines().next().unwrap()).unwrap();
    let expected = serde_json::json!({
        "schema_version": 1, "fp_a": zero, "fp_b": zero, "distance": 0, "id_a": "http://a\"", "id_b": "http://c",
    });
    assert_eq!((first, objects.lines().count()), (expected, 3));
}

#[test]
fn files_of_every_format_hold_the_same() {
    let place = Place::new();
    let store = place.store(&records(300));
    let expected = text(fpdedup().arg("pairs").arg(&store));
    let write = |name: &str| {
        let path = place.path(name);
        fpdedup().arg("pairs").arg(&store).arg("--output").arg(&path).assert().success().stdout("");
        path
    };
    assert_eq!(std::fs::read_to_string(write("a.tsv")).unwrap(), expected);
    assert_eq!(std::fs::read_to_string(write("a.txt")).unwrap(), expected);
    let csv = format!("fp_a,fp_b,distance,id_a,id_b\n{}", expected.replace('\t', ","));
    assert_eq!(std::fs::read_to_string(write("a.csv")).unwrap(), csv);
    let bytes = zstd::decode_all(std::fs::File::open(write("a.csv.zst")).unwrap()).unwrap();
    assert_eq!(bytes, csv.as_bytes());
    let unzip = |path: &Path| {
        let mut text = String::new();
        std::io::Read::read_to_string(
            &mut flate2::read::MultiGzDecoder::new(std::fs::File::open(path).unwrap()),
            &mut text,
        )
        .unwrap();
        text
    };
    assert_eq!(unzip(&write("a.tsv.gz")), expected);
    let bytes = zstd::decode_all(std::fs::File::open(write("a.tsv.zst")).unwrap()).unwrap();
    assert_eq!(bytes, expected.as_bytes());
    let objects = std::fs::read_to_string(write("a.ndjson")).unwrap();
    assert_eq!(objects, text(fpdedup().args(["pairs", "--json"]).arg(&store)));
    assert_eq!(objects.lines().count(), expected.lines().count());
    // The output is the only file.
    let names: Vec<_> = std::fs::read_dir(place.path("")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names.len(), 8, "{names:?}");
}

#[cfg(feature = "parquet")]
#[test]
fn parquet_is_read_back() {
    let place = Place::new();
    let records = records(300);
    let store = place.store(&records);
    let labels = place.path("labels.parquet");
    fpdedup().arg("clusters").arg(&store).arg("--output").arg(&labels).assert().success();
    // The column of clusters as fingerprints, with the ids: a store that holds the output.
    let read = place.path("read");
    fpload().args(["--create", "--fingerprint-column", "cluster"]).arg(&read).arg(&labels).assert().success();
    let scanned = text(crate::support::fpdump().arg("scan").arg(&read));
    let mut expected: Vec<Pair> = clusters(&records, 3).into_iter().map(|(id, label)| (label, id)).collect();
    expected.sort_unstable();
    assert_eq!(scanned, lines(&expected));
    let pairs = place.path("pairs.parquet");
    fpdedup().args(["pairs", "--distinct"]).arg(&store).arg("-o").arg(&pairs).assert().success();
    let column = place.path("column");
    fpload()
        .args(["--create", "--ids", "none", "--fingerprint-column", "fp_b"])
        .arg(&column)
        .arg(&pairs)
        .assert()
        .success();
}

#[test]
fn a_store_against_another_and_against_files() {
    let place = Place::new();
    let all = records(600);
    let (old, new) = all.split_at(350);
    let store = place.store(old);
    let mut expected = Vec::new();
    for a in old {
        for b in new.iter().filter(|b| (a.0 ^ b.0).count_ones() <= 3) {
            expected.push(format!("{:016x}\t{:016x}\t{}\t{}\t{}", a.0, b.0, (a.0 ^ b.0).count_ones(), a.1, b.1));
        }
    }
    expected.sort_unstable();
    assert!(expected.len() > 5);
    let other = place.path("other");
    fpload().arg("--create").arg(&other).arg("-").write_stdin(lines(new)).assert().success();
    let file = place.file("new.tsv", lines(new));
    for other in [&other, &file] {
        let found = text(fpdedup().arg("join").args([&store, other]));
        assert_eq!(sorted(&found), expected);
    }
    let found = text(fpdedup().arg("join").arg(&store).arg("-").write_stdin(lines(new)));
    assert_eq!(sorted(&found), expected);
    // Records without ids are numbered.
    let bare: String = new.iter().map(|record| format!("{:016x}\n", record.0)).collect();
    let found = text(fpdedup().arg("join").arg(&store).arg("-").write_stdin(bare));
    assert_eq!(found.lines().count(), expected.len());
    assert!(found.lines().all(|line| line.rsplit('\t').next().unwrap().parse::<usize>().unwrap() < new.len()));
}

#[test]
fn wrong_use_is_said_and_nothing_is_left_behind() {
    let place = Place::new();
    let store = place.store(&records(30));
    let refused = |arguments: &[&str], said: &str| {
        let output = fpdedup().args(arguments).arg(&store).assert().code(2).get_output().clone();
        let message = String::from_utf8(output.stderr).unwrap();
        assert!(message.contains(said) && output.stdout.is_empty(), "{arguments:?}: {message}");
    };
    refused(&["pairs", "--distance", "65"], "no more");
    refused(&["pairs", "--memory", "1MiB"], "64MiB");
    refused(
        &["pairs", "--output", "pairs.xls"],
        ".tsv, .txt, .csv, .ndjson or .jsonl, each also with .gz or .zst, or .parquet",
    );
    refused(&["clusters", "--output", "no/such/place/a.tsv"], "no/such/place");
    refused(&["clusters", "--min-size", "0"], "min-size");
    refused(&["clusters", "--tmp-dir", "no/such/place"], "--tmp-dir");
    refused(&["keep", "--keep", "no-such-file"], "neither smallest nor largest");
    let priority = place.file("bad.txt", "1\nx\n");
    refused(&["keep", "--keep", priority.to_str().unwrap()], "line 2");
    fpdedup().args(["pairs", "no-such-store"]).assert().code(2);
    fpdedup().arg("join").args([&store, &place.path("missing.tsv")]).assert().code(2);
    let wrong = place.file("wrong.tsv", "zz\n");
    let message = fpdedup().arg("join").args([&store, &wrong]).assert().code(2).get_output().stderr.clone();
    assert!(String::from_utf8(message).unwrap().contains("wrong.tsv"));
    let wide = place.file("wide.tsv", "#fpstore width=128\n");
    fpdedup().arg("join").args([&store, &wide]).assert().code(2);
    let hasher = place.path("hasher");
    fpload().args(["--create", "--hasher", "a"]).arg(&hasher).arg("-").write_stdin("").assert().success();
    let other = place.file("other.tsv", "#fpstore width=64 hasher=b\n");
    fpdedup().arg("join").args([&hasher, &other]).assert().code(2);
}

#[test]
fn nothing_near_is_1_and_an_empty_store_is_legal() {
    let place = Place::new();
    let store = place.store(&[(1, 1), (u64::MAX, 2)]);
    fpdedup().arg("pairs").arg(&store).assert().code(1).stdout("");
    let empty = place.path("empty");
    fpload().arg("--create").arg(&empty).assert().success();
    fpdedup().arg("pairs").arg(&empty).assert().code(1).stdout("");
    fpdedup().arg("join").args([&store, &empty]).assert().code(1).stdout("");
    for what in ["clusters", "keep"] {
        fpdedup().arg(what).arg(&empty).assert().success().stdout("");
    }
    fpdedup().args(["clusters", "--report"]).arg(&empty).assert().success();
}
