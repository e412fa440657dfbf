//! `fpquery --memory`: in every mode, and for any number of matches.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::memory::peak;
use crate::points::every;
use crate::support::{Place, Random, brute_force, fails, families, fpload, fpquery, hex_lines, lines, stdout};

const HEAVY: u64 = 0x0123_4567_89ab_cdef;
const RECORDS: u64 = 1_000_000;

/// Creates a store in which one fingerprint has a million records, among families of others.
fn heavy_store(place: &Place) -> PathBuf {
    let mut records: Vec<_> = (0..RECORDS).map(|id| (HEAVY, 10_000_000 + id)).collect();
    records.extend(families(200_000, 1));
    place.store(&records)
}

/// Queries within a memory limit, and returns the output.
fn ask(place: &Place, mib: u64, store: &Path, input: &Path, options: &[&str]) -> String {
    let found = place.path("found.tsv");
    let mut run = Command::new(env!("CARGO_BIN_EXE_fpquery"));
    run.args(["--quiet", "--threads", "8"]).arg(format!("--memory={mib}MiB")).args(options);
    run.arg("--input").arg(input).arg(store);
    let most = peak(run.stdout(File::create(&found).unwrap()));
    assert!(most <= mib << 20, "{options:?}: {most} bytes of memory");
    fs::read_to_string(found).unwrap()
}

#[test]
fn a_fingerprint_with_a_million_records() {
    let place = Place::new();
    let store = heavy_store(&place);
    let many = place.file("many.tsv", hex_lines((0..1000).map(|n| HEAVY ^ (1 << (n % 64)))));
    for batch in every(3, ["never", "auto", "always"]) {
        let found = ask(&place, 64, &store, &many, &["--count", "--batch", batch]);
        assert_eq!(found.lines().count(), 1000);
        assert!(found.lines().all(|line| line.ends_with("\t1000000")), "{batch}");
    }
    // The cache of pages is a part of the memory.
    let found = ask(&place, 64, &store, &many, &["--count", "--batch", "never", "--read", "pread"]);
    assert!(found.lines().count() == 1000 && found.lines().all(|line| line.ends_with("\t1000000")));
    let found = ask(&place, 64, &store, &many, &["--first"]);
    assert_eq!(found.lines().filter(|line| line.contains("\t0123456789abcdef\t1\t")).count(), 1000);
    let found = ask(&place, 64, &store, &many, &["--nearest", "3"]);
    let ids: Vec<&str> = found.lines().map(|line| line.rsplit('\t').next().unwrap()).collect();
    assert!(ids.len() == 3000 && ids.chunks(3).all(|ids| ids == ["10000000", "10000001", "10000002"]));

    // Three large answers among short ones.
    let mut queries: Vec<u64> = families(3000, 2).into_iter().map(|(fingerprint, _)| fingerprint).collect();
    [0, 1500, 1501].into_iter().for_each(|at| queries[at] = HEAVY ^ 2);
    let few = place.file("few.tsv", hex_lines(queries.iter().copied()));
    for batch in every(2, ["never", "always"]) {
        let found = ask(&place, 64, &store, &few, &["--batch", batch]);
        let prefix = format!("{:016x}\t{HEAVY:016x}\t1\t", HEAVY ^ 2);
        let ids = found.lines().filter_map(|line| line.strip_prefix(&prefix)).map(|id| id.parse::<u64>().unwrap());
        assert!(ids.eq((0..3).flat_map(|_| 10_000_000..10_000_000 + RECORDS)), "{batch}");
    }
}

/// Every fingerprint is a match: more than memory holds, for one query.
#[test]
fn one_query_that_everything_is_near() {
    let place = Place::new();
    let mut random = Random::new(3);
    let records: Vec<_> = (0..600_000).map(|id| (random.next(), id)).collect();
    let store = place.store(&records);
    let query = place.file("query.tsv", hex_lines([0]));
    let mut expected = String::new();
    for (distance, fingerprint, id) in brute_force(&records, 0, 64) {
        writeln!(expected, "0000000000000000\t{fingerprint:016x}\t{distance}\t{id}").unwrap();
    }
    for options in every(3, [&["-k", "64"][..], &["-k", "64", "--scan"], &["--nearest", "600000"]]) {
        assert!(ask(&place, 64, &store, &query, options) == expected, "{options:?}");
    }
}

/// A large batch whose queries have many matches each, with ids of both kinds, prefix filters and every output.
#[test]
fn families_without_end() {
    let place = Place::new();
    let mut random = Random::new(4);
    let centres: Vec<u64> = (0..3000).map(|_| random.next()).collect();
    let mut of_centre = |most| {
        let centre = centres[random.below(3000) as usize];
        random.flipped(centre, most)
    };
    let records: Vec<_> = (0..300_000).map(|id| (of_centre(2), id)).collect();
    let texts = records.iter().fold(String::new(), |mut text, (fingerprint, id)| {
        writeln!(text, "{fingerprint:016x}\thttps://example.org/pages/of/some/length/{id}").unwrap();
        text
    });
    let queries = place.file("queries.tsv", hex_lines((0..12_000).map(|_| of_centre(1))));
    for (name, text) in every(2, [("numbers", lines(&records)), ("texts", texts)]) {
        let (input, store) = (place.file("records.tsv", text), place.path(name));
        fpload().arg("--create").arg(&store).arg(&input).assert().success();
        let never = ask(&place, 64, &store, &queries, &["--batch", "never", "--filter", "on"]);
        assert!(never.lines().count() > 400_000);
        let other_ways: [&dyn Fn(); 3] = [
            &|| assert!(ask(&place, 64, &store, &queries, &["--batch", "always"]) == never, "{name}"),
            &|| {
                let roomy = stdout(fpquery().args(["--batch", "always", "--input"]).arg(&queries).arg(&store));
                assert!(roomy == never, "{name}");
            },
            &|| {
                let file = place.path("found.parquet");
                ask(&place, 128, &store, &queries, &["--output", file.to_str().unwrap()]);
            },
        ];
        every(3, other_ways).for_each(|way| way());
    }
}

#[test]
fn an_index_that_does_not_fit() {
    let place = Place::new();
    let store = place.store(&[(1, 1)]);
    fails(fpquery().args(["--memory", "63MiB"]).arg(&store).arg("0000000000000001"), &["64MiB is the least"]);
    fpquery().args(["--memory", "64MiB"]).arg(&store).arg("0000000000000001").assert().success();
}
