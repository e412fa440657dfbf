//! `fpdedup --linkage` and `--evidence`: compared with the greedy definition, for every source of priorities.

use std::collections::{BTreeMap, BTreeSet};

use crate::dedup::records;
use crate::support::{Pair, Place, fails, fpdedup, fpload, json_lines, stdout};

/// The clusters of records that come by priority: the keeper first.
pub(crate) fn greedy(by_priority: &[Pair], k: u32, linkage: &str) -> Vec<Vec<Pair>> {
    let mut clusters: Vec<Vec<Pair>> = Vec::new();
    for &record in by_priority {
        let is_near = |member: &Pair| (member.0 ^ record.0).count_ones() <= k;
        let joined = clusters.iter_mut().find(|cluster| match linkage {
            "star" => is_near(&cluster[0]),
            _ => cluster.iter().all(is_near),
        });
        match joined {
            Some(cluster) => cluster.push(record),
            None => clusters.push(vec![record]),
        }
    }
    clusters
}

/// The lines of evidence, in the order of the store.
fn evidence(clusters: &[Vec<Pair>]) -> Vec<String> {
    let mut rows = BTreeMap::new();
    for cluster in clusters {
        let smallest = cluster.iter().map(|record| record.1).min().unwrap();
        for &record in &cluster[1..] {
            let distance = (record.0 ^ cluster[0].0).count_ones();
            rows.insert(record, format!("{}\t{}\t{smallest}\t{distance}", record.1, cluster[0].1));
        }
    }
    rows.into_values().collect()
}

pub(crate) fn sorted(text: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    lines
}

#[test]
fn what_stays_what_goes_and_why() {
    let place = Place::new();
    let all: Vec<Pair> = records(500).into_iter().collect::<BTreeSet<_>>().into_iter().collect();
    let store = place.store(&all);
    let mut by_id = all.clone();
    by_id.sort_by_key(|record| record.1);
    let listed: Vec<u64> = by_id.iter().map(|record| record.1 * 7 % 5003).collect();
    let file = place.file("priority.txt", listed.iter().map(|id| format!("{id}\n")).collect::<String>());
    let mut ranked = by_id.clone();
    ranked.sort_by_key(|record| listed.iter().position(|id| *id == record.1).unwrap_or(usize::MAX));
    let largest: Vec<Pair> = by_id.iter().rev().copied().collect();
    for (keep, order) in [("smallest", &by_id), ("largest", &largest), (file.to_str().unwrap(), &ranked)] {
        for (linkage, k) in [("star", 3), ("star", 5), ("complete", 3), ("complete", 6)] {
            let expected = greedy(order, k, linkage);
            let removed = place.path("removed.tsv");
            let run = |threads: &str| {
                let mut keep_run = fpdedup();
                keep_run.args([
                    "keep",
                    "--linkage",
                    linkage,
                    "-k",
                    &k.to_string(),
                    "--keep",
                    keep,
                    "--threads",
                    threads,
                ]);
                (
                    stdout(keep_run.arg("--evidence").args([&removed, &store])),
                    std::fs::read_to_string(&removed).unwrap(),
                )
            };
            let (kept, gone) = run("1");
            let keepers: Vec<String> = expected.iter().map(|cluster| cluster[0].1.to_string()).collect();
            assert_eq!(sorted(&kept), sorted(&keepers.join("\n")), "{keep} {linkage} {k}");
            assert_eq!(gone.lines().collect::<Vec<_>>(), evidence(&expected), "{keep} {linkage} {k}");
            assert_eq!(run("4"), (kept, gone), "the output depends on the number of threads");

            let labels = ["clusters", "--linkage", linkage, "-k", &k.to_string(), "--keep", keep];
            let labels = stdout(fpdedup().args(labels).arg(&store));
            let of_cluster = |cluster: &Vec<Pair>| {
                let smallest = cluster.iter().map(|record| record.1).min().unwrap();
                cluster.iter().map(move |record| format!("{}\t{smallest}", record.1)).collect::<Vec<_>>()
            };
            let of_clusters: Vec<String> = expected.iter().flat_map(of_cluster).collect();
            assert_eq!(sorted(&labels), sorted(&of_clusters.join("\n")), "{keep} {linkage} {k}");
        }
    }
}

#[test]
fn star_is_what_keep_does_and_nothing_is_far() {
    let place = Place::new();
    let all = records(400);
    let store = place.store(&all);
    let star = stdout(fpdedup().args(["keep", "--linkage", "star"]).arg(&store));
    let said = fpdedup().arg("keep").arg(&store).assert().success();
    assert_eq!(String::from_utf8_lossy(&said.get_output().stdout), star);
    assert!(!String::from_utf8_lossy(&said.get_output().stderr).contains("warning"));
    assert_ne!(stdout(fpdedup().args(["keep", "--linkage", "single"]).arg(&store)), star, "there are chains");
    // Components, and so no record is removed twice: single linkage removes more.
    let single = stdout(fpdedup().args(["clusters"]).arg(&store));
    assert_eq!(single, stdout(fpdedup().args(["clusters", "--linkage", "single"]).arg(&store)));
}

#[test]
fn evidence_in_every_format() {
    let place = Place::new();
    let store = place.path("store");
    let input = "0000000000000000\tb\n0000000000000001\ta,\"x\n0000000000000003\tc\nffffffffffffffff\td\n";
    fpload().args(["--create", "--max-distance", "1"]).arg(&store).arg("-").write_stdin(input).assert().success();
    let run = |name: &str| {
        let file = place.path(name);
        let kept = stdout(fpdedup().args(["keep", "--evidence"]).args([&file, &store]));
        assert_eq!(sorted(&kept), ["a,\"x", "d"]);
        std::fs::read(&file).unwrap()
    };
    let text = |name: &str| String::from_utf8(run(name)).unwrap();
    assert_eq!(text("gone.tsv"), "b\ta,\"x\ta,\"x\t1\nc\ta,\"x\ta,\"x\t1\n");
    assert_eq!(
        text("gone.csv"),
        "id,keeper,cluster,distance\nb,\"a,\"\"x\",\"a,\"\"x\",1\nc,\"a,\"\"x\",\"a,\"\"x\",1\n"
    );
    let rows = json_lines(&text("gone.ndjson"));
    assert_eq!(rows[0]["schema_version"], 1);
    assert_eq!((&rows[1]["id"], &rows[1]["keeper"], &rows[1]["distance"]), (&"c".into(), &"a,\"x".into(), &1.into()));
    assert!(run("gone.parquet").starts_with(b"PAR1"));
    assert_eq!(run("gone.tsv.gz")[..2], [0x1f, 0x8b]);
}

#[test]
fn counts_of_a_store_without_ids() {
    let place = Place::new();
    let (store, gone) = (place.path("store"), place.path("gone.tsv"));
    let input = "0000000000000000\n0000000000000000\n0000000000000007\nff00000000000000\n0000000000000038\n";
    fpload().args(["--create", "--ids", "none"]).arg(&store).arg("-").write_stdin(input).assert().success();
    let kept = stdout(fpdedup().args(["keep", "--keep", "largest", "--evidence"]).args([&gone, &store]));
    let (zero, seven, thirty_eight) = ("0000000000000000", "0000000000000007", "0000000000000038");
    assert_eq!(sorted(&kept), [seven, thirty_eight, "ff00000000000000"]);
    assert_eq!(
        std::fs::read_to_string(gone).unwrap(),
        format!("{zero}\t{thirty_eight}\t{zero}\t3\t2\n"),
        "seven is six bits from the larger keeper"
    );
}

#[test]
#[cfg(target_os = "linux")]
fn a_list_of_kept_records_is_complete_or_not_there() {
    let place = Place::new();
    // The evidence on the first fingerprint fills the disk before the second one is reached.
    let all: Vec<Pair> = (0..100_000).map(|id| (0, id)).chain([(u64::MAX, 100_000)]).collect();
    let (store, kept) = (place.store(&all), place.path("kept.tsv"));
    let mut keep = fpdedup();
    keep.args(["keep", "--evidence", "/dev/full", "--output"]).args([&kept, &store]);
    fails(&mut keep, &["/dev/full", "No space left"]);
    assert!(!kept.exists());
}

#[test]
fn wrong_use() {
    let place = Place::new();
    let store = place.store(&records(50));
    let labels = place.file("labels.tsv", "1\t1\n");
    let mut continued = fpdedup();
    continued.args(["clusters", "--linkage", "star", "--previous"]).args([&labels, &store]);
    fails(&mut continued, &["--previous continues labels of --linkage single"]);
    let mut unnamed = fpdedup();
    fails(
        unnamed.args(["keep", "--evidence"]).args([&place.path("gone"), &store]),
        &["--evidence", "the ending of the name"],
    );
    let mut twice = fpdedup();
    let file = place.path("one.tsv");
    twice.arg("keep").arg("--output").arg(&file).arg("--evidence").args([&file, &store]);
    fails(&mut twice, &["this is the file of --output"]);
    let mut other = fpdedup();
    fails(other.args(["keep", "--linkage", "average"]).arg(&store), &["invalid value", "single, star, complete"]);
}
