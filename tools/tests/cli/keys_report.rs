//! `fpdedup keep|clusters --report`, `--picture` of a key index: compared with brute force, and with the evidence.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::dedup_report::Picture;
use crate::hash_vectors::{ndjson, objects};
use crate::support::{Place, Random, fails, fpdedup, fpload, json_lines, json_object, stdout};

type Keys = BTreeMap<u64, BTreeSet<u64>>;

/// Chains of records: each shares some keys with the one before.
fn records(count: u64) -> Keys {
    let mut random = Random::new(9);
    let mut keys: Vec<u64> = Vec::new();
    let mut all = Keys::new();
    for number in 0..count {
        if number % 7 == 0 {
            keys = (0..40).map(|_| random.next() >> 16 << 16).collect();
        }
        for _ in 0..random.below(80) {
            keys[random.below(40) as usize] = random.next() >> 16 << 16;
        }
        all.insert(random.next() >> 30, keys.iter().copied().collect());
    }
    all
}

fn shared(all: &Keys, a: u64, b: u64) -> u64 {
    all[&a].intersection(&all[&b]).count() as u64
}

/// The keeper of each record: the smallest of its component, or of the kept ones that share `least` keys with it.
fn keepers(all: &Keys, least: u64, star: bool) -> BTreeMap<u64, u64> {
    let mut keepers: BTreeMap<u64, u64> = all.keys().map(|id| (*id, *id)).collect();
    for &id in all.keys() {
        let near: Vec<u64> =
            all.keys().copied().filter(|&other| other != id && shared(all, id, other) >= least).collect();
        if star {
            let first = near.into_iter().find(|other| *other < id && keepers[other] == *other);
            first.into_iter().for_each(|first| _ = keepers.insert(id, first));
        } else {
            let labels: BTreeSet<u64> = near.iter().chain([&id]).map(|one| keepers[one]).collect();
            let first = *labels.first().unwrap();
            keepers.values_mut().filter(|label| labels.contains(label)).for_each(|label| *label = first);
        }
    }
    keepers
}

/// Numbers of records by the keys that they share with another one, as JSON has them.
fn by_shared(all: &Keys, pairs: impl Iterator<Item = (u64, u64)>) -> Value {
    let mut counts: BTreeMap<u64, u64> = BTreeMap::new();
    pairs.for_each(|(a, b)| *counts.entry(shared(all, a, b)).or_default() += 1);
    counts.into_iter().map(|(shared_keys, records)| json!({"shared_keys": shared_keys, "records": records})).collect()
}

#[test]
fn the_report_of_brute_force() {
    let place = Place::new();
    let all = records(300);
    let store = place.path("store");
    let text: String = all.iter().map(|(id, keys)| format!("{}\n", json!({"id": id, "keys": keys}))).collect();
    let input = place.file("keys.ndjson", text);
    stdout(fpload().args(["--quiet", "--create", "--kind", "keys"]).arg(&store).arg(input));
    let picture = place.path("picture.svg");
    for (least, linkage) in [(1, "single"), (1, "star"), (6, "single"), (6, "star")] {
        let keepers = keepers(&all, least, linkage == "star");
        let min_shared = least.to_string();
        let run = |subcommand: &str, threads: &str| {
            let mut run = fpdedup();
            run.args([subcommand, "--report", "--json", "--linkage", linkage, "--threads", threads, "--picture"]);
            let report = run.arg(&picture).args(if least > 1 { vec!["--min-shared", &min_shared] } else { vec![] });
            (json_object(&stdout(report.arg(&store))), std::fs::read_to_string(&picture).unwrap())
        };
        let (report, svg) = run("keep", "1");
        assert_eq!(run("keep", "4"), (report.clone(), svg.clone()), "threads change nothing");
        assert_eq!(run("clusters", "2"), (report.clone(), svg), "clusters are the same");
        let kept: BTreeSet<u64> = keepers.values().copied().collect();
        let numbers = [all.len(), kept.len(), kept.len(), all.len() - kept.len()];
        let found = ["records", "clusters", "kept", "removed"].map(|name| report[name].as_u64().unwrap() as usize);
        assert_eq!(found, numbers);
        assert_eq!((&report["min_shared"], &report["min_jaccard"]), (&least.into(), &0.0.into()));
        assert!(report.get("distances").is_none() && report.get("distance").is_none());
        let gone = || keepers.iter().filter(|(id, keeper)| id != keeper).map(|(id, keeper)| (*id, *keeper));
        assert_eq!(report["shared_keys"], by_shared(&all, gone()), "{least} {linkage}");
        let far = gone().filter(|(a, b)| shared(&all, *a, *b) < least).count();
        assert_eq!((&report["far_records"], far > 0), (&far.into(), linkage == "single"));
        if linkage == "star" && least == 1 {
            let connected = self::keepers(&all, least, false);
            let more = || kept.iter().map(|id| (*id, connected[id])).filter(|(id, first)| id != first);
            assert_eq!(report["single_linkage"]["shared_keys"], by_shared(&all, more()));
            assert_eq!(report["single_linkage"]["more_removed"], more().count());
            assert_eq!(report["chains"]["components"], more().map(|(_, first)| first).collect::<BTreeSet<_>>().len());
            assert!(more().count() > 10, "there are chains");
        } else {
            assert_eq!((&report["chains"], &report["single_linkage"]), (&Value::Null, &Value::Null));
        }
        let mut sizes: BTreeMap<u64, u64> = BTreeMap::new();
        keepers.values().for_each(|keeper| *sizes.entry(*keeper).or_default() += 1);
        let mut large: Vec<u64> = sizes.values().copied().collect();
        large.sort_unstable_by(|a, b| b.cmp(a));
        let found = report["largest"].as_array().unwrap();
        assert!(found.iter().map(|one| one["records"].as_u64().unwrap()).eq(large.into_iter().take(10)));
        for one in found {
            let keeper = one["keeper"].as_u64().unwrap();
            assert_eq!((one["records"].as_u64(), one.get("diameter")), (Some(sizes[&keeper]), None));
            let first = gone().filter(|(_, other)| *other == keeper).take(3);
            let first: Value = first.map(|(a, b)| json!({"id": a, "shared_keys": shared(&all, a, b)})).collect();
            assert_eq!(one["removed"], first);
        }
        // The bars of the picture have the same numbers.
        let picture = Picture::read(&picture);
        let mut classes: BTreeMap<String, u64> = BTreeMap::new();
        for one in report["shared_keys"].as_array().unwrap() {
            let [shared, records] = ["shared_keys", "records"].map(|name| one[name].as_u64().unwrap());
            let class = match shared {
                1 => "1 shared key".to_owned(),
                33..=64 => "33 to 64 shared keys".to_owned(),
                _ => format!("{shared} shared keys"),
            };
            *classes.entry(class).or_default() += records;
        }
        assert!(classes.contains_key("33 to 64 shared keys"));
        for (class, records) in classes {
            let tip = format!("{class}: {records} record{} removed", if records == 1 { "" } else { "s" });
            assert!(picture.has("title", &tip), "{tip}");
        }
        assert!(
            picture.has("text", &format!("M = {least}")) && !picture.has("text", "estimated Jaccard similarity, %")
        );
        assert_eq!(picture.has("text", "removed, fewer than M"), far > 0);
    }
}

/// Real documents: the report says what the evidence does.
#[test]
fn the_report_of_the_evidence() {
    let place = Place::new();
    let (store, gone, kept, picture) =
        (place.path("store"), place.path("gone.ndjson"), place.path("kept.txt"), place.path("picture.svg"));
    let texts = objects("tests/data/rust-book-documents.ndjson.gz").into_iter().zip(0u64..);
    let documents = ndjson(texts.map(|(document, number)| (number.into(), document["text"].clone())));
    let documents = place.file("documents.ndjson", documents);
    let mut load = fpload();
    load.args(["--quiet", "--create", "--kind", "keys", "--text", "--bands", "20", "--rows", "5", "--sketch", "128"]);
    stdout(load.arg(&store).arg(documents));
    for (linkage, limit) in [("star", "0"), ("star", "0.72"), ("complete", "0.72"), ("single", "0.72")] {
        let mut run = fpdedup();
        run.args(["keep", "--report", "--json", "--linkage", linkage, "--min-jaccard", limit, "--evidence"]).arg(&gone);
        let report = stdout(run.arg("--output").arg(&kept).arg("--picture").arg(&picture).arg(&store));
        let report = json_object(&report);
        let evidence = json_lines(&std::fs::read_to_string(&gone).unwrap());
        assert_eq!(report["removed"], evidence.len());
        assert_eq!(report["kept"], std::fs::read_to_string(&kept).unwrap().lines().count());
        let (mut keys, mut alike, mut far): (BTreeMap<u64, u64>, _, u64) = (BTreeMap::new(), vec![0u64; 20], 0);
        for row in &evidence {
            let [shared, jaccard] = ["shared_keys", "jaccard"].map(|name| row[name].as_f64().unwrap());
            *keys.entry(shared as u64).or_default() += 1;
            // Evidence has four digits; no multiple of a twentieth is within them of another estimate.
            alike[((jaccard * 20.0 + 1e-9) as usize).min(19)] += 1;
            far += u64::from(shared == 0.0 || jaccard < limit.parse().unwrap());
        }
        let keys: Value = keys.iter().map(|(shared, all)| json!({"shared_keys": shared, "records": all})).collect();
        assert_eq!(report["shared_keys"], keys);
        let found = report["jaccard"].as_array().unwrap();
        assert!(found.iter().map(|one| one["records"].as_u64().unwrap()).eq(alike.iter().copied()), "{found:?}");
        assert_eq!((&found[3]["from"], &found[19]["to"]), (&0.15.into(), &1.0.into()));
        assert_eq!((&report["far_records"], far > 0), (&far.into(), linkage == "single"));
        let picture = Picture::read(&picture);
        for (at, records) in (0..20).zip(alike).filter(|one| one.1 > 0) {
            let class = format!("{:.2} to {:.2}", f64::from(at) / 20.0, f64::from(at + 1) / 20.0);
            let tip = format!("similarity {class}: {records} record{} removed", if records == 1 { "" } else { "s" });
            assert!(picture.has("title", &tip), "{tip}");
        }
        assert_eq!(picture.has("text", "T = 0.72"), limit != "0");
        let knows_chains = linkage == "complete" || limit == "0";
        assert_eq!(report["chains"].is_null(), !knows_chains);
        let mut people = fpdedup();
        people.args(["clusters", "--report", "--linkage", linkage, "--min-jaccard", limit]).arg(&store);
        let people = stdout(&mut people);
        assert_eq!(people.contains("unknown: with --min-shared"), linkage == "star" && limit != "0", "{people}");
        assert!(people.contains("removed (shared keys, jaccard)"), "{people}");
    }
}

const CHAIN: &str = "\
linkage         star
shared keys     at least 1
records         5
kept            3
removed         2
far ones        0
chains          1; the largest has 4 records in 2 clusters, keeper a
single linkage  would remove 1 more, 1 of them far

shared keys  removed  of removed  single linkage
          0        0        0.0%              +1
          1        2      100.0%              +0

records  clusters  of all records
      1         1           20.0%
      2         2           80.0%

largest  records  removed (shared keys)
a              2  b (1)
c              2  d (1)
";

#[test]
fn a_chain_for_people() {
    let place = Place::new();
    let store = place.path("store");
    let keys = [("a", [1, 2]), ("b", [2, 3]), ("c", [3, 4]), ("d", [4, 5]), ("e", [8, 9])];
    let keys = keys.map(|(id, keys)| format!("{}\n", json!({"id": id, "keys": keys.map(|key: u64| key << 50)})));
    let input = place.file("keys.ndjson", keys.concat());
    stdout(fpload().args(["--quiet", "--create", "--kind", "keys"]).arg(&store).arg(input));
    assert_eq!(stdout(fpdedup().args(["keep", "--report"]).arg(&store)), CHAIN);
    let single = fpdedup().args(["clusters", "--report"]).arg(&store).assert().success().get_output().clone();
    let text = String::from_utf8(single.stdout).unwrap();
    assert!(text.contains("\nnear-duplicates  3\nfar ones         2\n") && !text.contains("chains"), "{text}");
    // The warning comes without rows, too.
    let said = String::from_utf8(single.stderr).unwrap();
    assert!(said.contains("2 of 3 records that are left out are not near"), "{said}");
    // Rows go to the file beside a report.
    let labels = stdout(fpdedup().args(["clusters", "--linkage", "star"]).arg(&store));
    let file = place.path("labels.tsv");
    let mut both = fpdedup();
    both.args(["clusters", "--linkage", "star", "--report", "--output"]).arg(&file);
    assert!(stdout(both.arg(&store)).starts_with("linkage  "));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), labels);
    // Nothing at all is a report, too.
    let (empty, picture) = (place.path("empty"), place.path("empty.svg"));
    let nothing = place.file("nothing.ndjson", "");
    stdout(fpload().args(["--quiet", "--create", "--kind", "keys", "--sketch", "64"]).arg(&empty).arg(nothing));
    let report = stdout(fpdedup().args(["keep", "--report", "--json", "--picture"]).args([&picture, &empty]));
    let report = json_object(&report);
    assert_eq!([&report["records"], &report["far_records"]], [0, 0]);
    assert_eq!((&report["shared_keys"], report["jaccard"].as_array().unwrap().len()), (&json!([]), 20));
    assert!(Picture::read(&picture).has("text", "records: 0, kept: 0, removed: 0; single linkage would remove 0 more"));
    let name = place.path("x.png");
    fails(fpdedup().args(["keep", "--picture"]).args([&name, &store]), &["use a name that ends in .svg"]);
}
