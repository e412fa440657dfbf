//! Key indexes: loading, asking and looking at them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::PathBuf;

use crate::by_id::stderr;
use crate::points::every;
use crate::support::*;

/// Records with some common keys: families of five share most of them.
fn records(count: u64) -> BTreeMap<u64, BTreeSet<u64>> {
    let mut random = Random::new(5);
    let mut keys: Vec<u64> = Vec::new();
    let mut all = BTreeMap::new();
    for number in 0..count {
        if number % 5 == 0 {
            keys = (0..8).map(|_| random.next() >> 16 << 16).collect();
        }
        let place = random.below(8) as usize;
        keys[place] = random.next() >> 16 << 16;
        all.insert(1000 - number, keys.iter().copied().collect());
    }
    all
}

fn ndjson(records: &BTreeMap<u64, BTreeSet<u64>>) -> String {
    records.iter().fold(String::new(), |mut text, (id, keys)| {
        let keys: Vec<String> = keys.iter().map(u64::to_string).collect();
        writeln!(text, "{{\"id\":{id},\"keys\":[{}]}}", keys.join(",")).unwrap();
        text
    })
}

/// The lines of a query for these records: most shared keys first, then id.
fn answer(all: &BTreeMap<u64, BTreeSet<u64>>, query: u64, least: usize, not_self: bool) -> String {
    let mut found: Vec<(usize, u64)> = Vec::new();
    for (id, keys) in all {
        let shared = keys.intersection(&all[&query]).count();
        if shared >= least && !(not_self && *id == query) {
            found.push((shared, *id));
        }
    }
    found.sort_by_key(|&(shared, id)| (std::cmp::Reverse(shared), id));
    found.iter().fold(String::new(), |mut text, (shared, id)| {
        writeln!(text, "{query}\t{id}\t{shared}\t").unwrap();
        text
    })
}

fn index(dir: &Place, text: &str) -> PathBuf {
    let store = dir.path("index");
    let input = dir.file("keys.ndjson", text);
    stdout(fpload().args(["--quiet", "--create", "--kind", "keys"]).arg(&store).arg(input));
    store
}

#[test]
fn a_dry_run_writes_nothing_whatever_it_says() {
    let dir = Place::new();
    let store = index(&dir, &ndjson(&records(20)));
    let before = contents(&store);
    let more = dir.file("more.ndjson", "{\"id\":7,\"keys\":[1]}\n");
    for (options, act) in [
        (&["--id-index"][..], "would get an index of its ids"),
        (&["--compact"], "would be compacted"),
        (&["--replace"], "would be replaced in"),
    ] {
        let mut run = fpload();
        run.args(options).arg("--dry-run").arg(&store).args((options == ["--replace"]).then_some(&more));
        let said = stderr(&mut run, 0);
        assert!(said.contains(act) && said.contains("nothing: this is a dry run"), "{said}");
        assert!(contents(&store) == before, "{options:?}");
    }
    let said = stderr(fpload().arg("--id-index").arg(&store), 0);
    assert!(said.contains("id index  made") && contents(&store) != before, "{said}");
}

#[test]
fn what_is_loaded_is_found_changed_and_printed() {
    let dir = Place::new();
    let mut all = records(200);
    let store = index(&dir, &ndjson(&all));
    let input = dir.file("queries.ndjson", ndjson(&all));
    for (options, least, not_self) in [(&[][..], 1, false), (&["--min-shared", "4", "--not-self"][..], 4, true)] {
        let expected: String = all.keys().map(|&query| answer(&all, query, least, not_self)).collect();
        let found = stdout(fpquery().args(options).arg("--input").arg(&input).arg(&store));
        assert_eq!(found, expected, "{options:?}");
    }
    let nearest = stdout(fpquery().args(["--nearest", "1", "--not-self", "--input"]).arg(&input).arg(&store));
    let expected: String = all
        .keys()
        .filter_map(|&query| answer(&all, query, 1, true).lines().next().map(|line| format!("{line}\n")))
        .collect();
    assert_eq!(nearest, expected);
    // The keys of one query on the command line.
    let (id, keys) = all.iter().next().unwrap();
    let digits: Vec<String> = keys.iter().map(|key| format!("{key:016x}")).collect();
    let found = stdout(fpquery().arg(&store).args(&digits));
    let columns = |text: &str| text.lines().map(|line| line.split_once('\t').unwrap().1.to_owned()).collect::<Vec<_>>();
    assert_eq!(columns(&found), columns(&answer(&all, *id, 1, false)));

    // Ids are unique: a known one is counted, or replaced.
    let summary = json_object(&stdout(fpload().arg("--json").arg(&store).arg(&input)));
    assert_eq!((&summary["added"], &summary["already_present"]), (&0.into(), &200.into()));
    let changed: BTreeMap<_, _> =
        all.iter().step_by(3).map(|(id, keys)| (*id, keys.iter().take(3).copied().collect())).collect();
    let changes = dir.file("changed.ndjson", ndjson(&changed));
    let summary = json_object(&stdout(fpload().args(["--json", "--replace"]).arg(&store).arg(changes)));
    assert_eq!((&summary["added"], &summary["removed"]), (&67.into(), &67.into()));
    all.extend(changed);
    let gone: Vec<u64> = all.keys().copied().step_by(4).collect();
    let list = dir.file("gone.txt", gone.iter().map(|id| format!("{id}\n")).collect::<String>());
    let summary =
        json_object(&stdout(fpload().args(["--json", "--remove", "--by-id", "--compact"]).arg(&store).arg(list)));
    assert_eq!(summary["removed"], 50);
    gone.iter().for_each(|id| _ = all.remove(id));
    let scanned: BTreeSet<String> = stdout(fpdump().arg("scan").arg(&store)).lines().map(str::to_owned).collect();
    assert_eq!(scanned, ndjson(&all).lines().map(str::to_owned).collect());
    let statistics = json_object(&stdout(fpdump().args(["stats", "--json"]).arg(&store)));
    let keys: usize = all.values().map(BTreeSet::len).sum();
    assert_eq!(
        (&statistics["kind"], &statistics["records"], &statistics["keys"]),
        (&"keys".into(), &150.into(), &keys.into())
    );
    assert!(statistics["bits_per_key"].as_f64().unwrap() > 0.0);
    assert!(stdout(fpdump().arg("verify").arg(&store)).contains("sound"));
    // What is printed loads again.
    let again = dir.path("again");
    let text = stdout(fpdump().arg("scan").arg(&store));
    stdout(fpload().args(["--quiet", "--create", "--kind", "keys"]).arg(&again).arg(dir.file("scan.ndjson", &text)));
    assert_eq!(stdout(fpdump().arg("scan").arg(&again)), text);
}

#[test]
fn one_by_one_and_merged_write_the_same() {
    let dir = Place::new();
    let all = records(900);
    let store = index(&dir, &ndjson(&all));
    let gone: Vec<u64> = all.keys().copied().step_by(7).collect();
    let list = dir.file("gone.txt", gone.iter().map(|id| format!("{id}\n")).collect::<String>());
    stdout(fpload().args(["--remove", "--by-id"]).arg(&store).arg(list));
    let mut left = all.clone();
    left.retain(|id, _| !gone.contains(id));
    let input = dir.file("queries.ndjson", ndjson(&all));
    let ask = |batch: &str, options: &[&str]| {
        stdout(fpquery().args(["--batch", batch]).args(options).arg("--input").arg(&input).arg(&store))
    };
    let options: [&[&str]; 5] = [
        &[],
        &["--min-shared", "4", "--not-self"],
        &["--nearest", "2", "--not-self", "--threads", "1"],
        &["--json", "--memory", "64MiB"],
        &["--read", "pread"],
    ];
    for options in every(5, options) {
        let never = ask("never", options);
        assert!(never.lines().count() >= 1000);
        for batch in ["auto", "always"] {
            assert!(ask(batch, options) == never, "{batch} {options:?}");
        }
        let text = std::fs::read(&input).unwrap();
        let piped = stdout(fpquery().args(["--batch", "always"]).args(options).arg(&store).write_stdin(text));
        assert!(piped == never, "{options:?}");
    }
    let expected: String = left.keys().step_by(10).map(|&query| answer(&left, query, 1, false)).collect();
    let some: BTreeMap<_, _> = left.iter().step_by(10).map(|(id, keys)| (*id, keys.clone())).collect();
    let some = dir.file("some.ndjson", ndjson(&some));
    assert_eq!(stdout(fpquery().args(["--batch", "always", "--input"]).arg(some).arg(&store)), expected);

    // Queries before a wrong one are answered.
    let (first, keys) = left.iter().next().unwrap();
    let good = ndjson(&BTreeMap::from([(*first, keys.clone())]));
    let wrong = format!("{good}{{\"id\":77,\"keys\":[1],\"sketch\":\"00\"}}\n{good}");
    for (name, text, message) in
        [("line.ndjson", format!("{good}no\n"), "line 2"), ("sketch.ndjson", wrong, "query 77")]
    {
        let input = dir.file(name, text);
        for batch in ["never", "always"] {
            let failed = fpquery().args(["--batch", batch, "--input"]).arg(&input).arg(&store).assert().code(2);
            let output = failed.get_output();
            assert_eq!(String::from_utf8_lossy(&output.stdout), answer(&left, *first, 1, false), "{batch}");
            let error = String::from_utf8_lossy(&output.stderr);
            assert!(error.contains(message), "{error}");
        }
    }
}

#[test]
fn bands_of_documents_and_sketches() {
    let dir = Place::new();
    let text = |number: u64| {
        let words: Vec<String> = (0..60).map(|word| format!("w{}", word + number / 4 * 100)).collect();
        format!("{} end{number}", words.join(" "))
    };
    let documents: String =
        (0..40).map(|number| format!("{{\"id\":\"d{number:02}\",\"text\":\"{}\"}}\n", text(number))).collect();
    let documents = dir.file("documents.ndjson", documents);
    let (json, parquet) = (dir.path("bands.ndjson"), dir.path("bands.parquet"));
    for output in [&json, &parquet] {
        stdout(fphash().args(["bands", "--threshold", "0.7", "--output"]).arg(output).arg(&documents));
    }
    let mut answers = Vec::new();
    for input in [&json, &parquet] {
        let store = dir.path(&format!("of-{}", input.extension().unwrap().to_string_lossy()));
        stdout(fpload().args(["--quiet", "--create", "--kind", "keys"]).arg(&store).arg(input));
        answers.push(stdout(fpquery().args(["--not-self", "--input"]).arg(input).arg(&store)));
    }
    assert_eq!(answers[0], answers[1]);
    // Each document resembles the three others of its four.
    assert_eq!(answers[0].lines().count(), 120);
    assert!(answers[0].lines().all(|line| {
        let numbers: Vec<u64> = line.split('\t').take(2).map(|id| id[1..].parse().unwrap()).collect();
        numbers[0] / 4 == numbers[1] / 4
    }));

    // Keys made by fpload are those of fphash, and the store remembers how they were made.
    let of_text = dir.path("of-text");
    let text_options = ["--quiet", "--create", "--kind", "keys", "--text", "--threshold", "0.7", "--sketch", "128"];
    stdout(fpload().args(text_options).arg(&of_text).arg(&documents));
    let keys = |store: &PathBuf| -> Vec<serde_json::Value> {
        let text = stdout(fpdump().arg("scan").arg(store));
        let records = text.lines().filter(|line| !line.starts_with('#'));
        records
            .map(|line| serde_json::from_str(line).unwrap())
            .map(|one: serde_json::Value| one["keys"].clone())
            .collect()
    };
    assert_eq!(keys(&of_text), keys(&dir.path("of-parquet")));
    let near = stdout(fpdedup().args(["pairs", "--min-jaccard", "0.6"]).arg(&of_text));
    assert_eq!(near.lines().count(), 60);
    let again =
        fpload().args(["--json", "--text", "--threshold", "0.7"]).arg(&of_text).arg(&documents).assert().success();
    let summary = json_object(&String::from_utf8(again.get_output().stdout.clone()).unwrap());
    assert_eq!((&summary["added"], &summary["already_present"]), (&0.into(), &40.into()));
    // Documents are asked as the index records, and added so.
    let ask = |batch: &str| {
        let options = ["--text", "--not-self", "--min-jaccard", "0.6", "--batch", batch, "--input"];
        stdout(fpquery().args(options).arg(&documents).arg(&of_text))
    };
    let asked = ask("always");
    assert_eq!(asked, ask("never"));
    assert_eq!(asked.lines().count(), 120);
    assert!(asked.lines().all(|line| line.split('\t').nth(3).unwrap().parse::<f64>().unwrap() >= 0.6));
    let again = fpload().args(["--json", "--text"]).arg(&of_text).arg(&documents).assert().success();
    let summary = json_object(&String::from_utf8(again.get_output().stdout.clone()).unwrap());
    assert_eq!((&summary["added"], &summary["already_present"]), (&0.into(), &40.into()));
    fails(
        fpquery().args(["--text", "--features", "words:2", "--input"]).arg(&documents).arg(&of_text),
        &["as the index records"],
    );
    // Keys of the user's own have no hasher.
    let own = dir.path("own");
    let input = dir.file("own.ndjson", "{\"id\":\"a\",\"keys\":[1]}\n");
    stdout(fpload().args(["--quiet", "--create", "--kind", "keys"]).arg(&own).arg(&input));
    fails(fpquery().args(["--text", "--input"]).arg(&documents).arg(&own), &["does not record"]);
    fails(
        fpload().args(["--text", "--bands", "16", "--rows", "8"]).arg(&of_text).arg(&documents),
        &["bands=16,rows=8", "must not be mixed"],
    );
    fails(
        fpload().args(text_options).args(["--sketch", "8192"]).arg(dir.path("x")).arg(&documents),
        &["cannot be used multiple times"],
    );
    fails(
        fpload().args(["--create", "--kind", "keys", "--text", "--sketch", "8192"]).arg(dir.path("x")).arg(&documents),
        &["--sketch 8192: a signature of 128 places"],
    );
    fails(
        fpload().args(["--create", "--text", "--preset", "lucene"]).arg(dir.path("x")).arg(&documents),
        &["it makes signatures, not fingerprints"],
    );

    let sketched = dir.file(
        "sketched.ndjson",
        "{\"id\":1,\"keys\":[1],\"sketch\":\"00ff\"}\n{\"id\":2,\"keys\":[1],\"sketch\":\"00fe\"}\n{\"id\":3,\"keys\":[1],\"sketch\":\"ff00\"}\n",
    );
    let store = dir.path("sketched");
    stdout(
        fpload()
            .args(["--quiet", "--create", "--kind", "keys", "--key-bits", "64", "--sketch", "16"])
            .arg(&store)
            .arg(&sketched),
    );
    let found = stdout(fpquery().args(["--min-jaccard", "0.5", "--input"]).arg(&sketched).arg(&store));
    assert_eq!(found, "1\t1\t1\t1\n1\t2\t1\t0.875\n2\t1\t1\t0.875\n2\t2\t1\t1\n3\t3\t1\t1\n");
    let json = json_lines(&stdout(fpquery().args(["--json", "--nearest", "1", "--input"]).arg(&sketched).arg(&store)));
    assert_eq!((&json[0]["query"], &json[0]["id"], &json[0]["shared"]), (&1.into(), &1.into(), &1.into()));
}

#[test]
fn wrong_use_is_refused() {
    let dir = Place::new();
    let store = index(&dir, "{\"id\":\"a\",\"keys\":[1]}\n");
    let fingerprints = dir.store(&[(1, 1)]);
    let more = |name: &str, text: &str| dir.file(name, text);
    fails(fpload().arg(&store).arg(more("x.hex", "0000000000000001\n")), &["records with keys are in .ndjson"]);
    fails(
        fpload().arg(&store).arg(more("a.ndjson", "{\"id\":\"b\"}\n")),
        &["a.ndjson: line 1", "neither \"keys\" nor \"bands\""],
    );
    fails(fpload().arg(&store).arg(more("b.ndjson", "{\"id\":\"b\",\"keys\":[-1]}\n")), &["b.ndjson: line 1", "u64"]);
    fails(
        fpload().arg(&store).arg(more("c.ndjson", "{\"id\":\"b\",\"keys\":[1],\"sketch\":\"00\"}\n")),
        &["c.ndjson: line 1", "a sketch of 1 bytes"],
    );
    fails(fpload().args(["--key-bits", "40"]).arg(&store).arg(more("d.ndjson", "")), &["--key-bits 40 contradicts"]);
    fails(fpload().args(["--create", "--key-bits", "40"]).arg(dir.path("new")), &["go with --kind keys"]);
    fails(
        fpload().args(["--create", "--kind", "keys", "--plan", "tables-2"]).arg(dir.path("new")),
        &["--plan does not go with keys"],
    );
    fails(
        fpload().args(["--kind", "keys"]).arg(&fingerprints).arg(more("d.ndjson", "")),
        &["the store is of fingerprints"],
    );
    fails(
        fpload().arg("--remove").arg(&store).arg(more("e.ndjson", "{\"id\":\"a\",\"keys\":[1]}\n")),
        &["--remove --by-id"],
    );
    fails(fpquery().args(["--min-shared", "2"]).arg(&fingerprints).arg("0000000000000001"), &["for a key index"]);
    fails(
        fpquery().args(["--distance", "2"]).arg(&store).arg("0000000000000001"),
        &["--distance does not go with a key index"],
    );
    fails(fpquery().args(["--min-jaccard", "0.5"]).arg(&store).arg("0000000000000001"), &["no sketches"]);
    fails(
        fpquery().args(["--min-jaccard", "2"]).arg(&store).arg("0000000000000001"),
        &["expected a number from 0 to 1"],
    );
    fails(fpquery().arg(&store).arg("xyz"), &["a key: "]);
    fails(fpdump().arg("get").arg("0000000000000001").arg(&store), &["a key index has no fingerprints"]);
    assert!(!dir.path("new").exists());
    fpquery().arg(&store).arg("00000000ffffffff").assert().code(1).stdout("");
}

/// The pairs that share at least `least` keys.
fn pairs(all: &BTreeMap<u64, BTreeSet<u64>>, least: usize) -> BTreeMap<(u64, u64), usize> {
    let mut pairs = BTreeMap::new();
    for (a, keys) in all {
        for (b, others) in all.range(a + 1..) {
            let shared = keys.intersection(others).count();
            if shared >= least {
                pairs.insert((*a, *b), shared);
            }
        }
    }
    pairs
}

#[test]
fn pairs_clusters_and_kept_records() {
    let dir = Place::new();
    let all = records(300);
    let store = index(&dir, &ndjson(&all));
    for least in [1, 5] {
        let least_shared = least.to_string();
        let expected = pairs(&all, least);
        let found = stdout(fpdedup().args(["pairs", "--min-shared", &least_shared]).arg(&store));
        let mut lines: Vec<String> = found.lines().map(str::to_owned).collect();
        lines.sort();
        let mut wanted: Vec<String> = expected.iter().map(|((a, b), shared)| format!("{a}\t{b}\t{shared}\t")).collect();
        wanted.sort();
        assert_eq!(lines, wanted);
        // Star: by id, a record is removed by the first kept one that it is near.
        let mut kept: Vec<u64> = Vec::new();
        for id in all.keys() {
            if !kept.iter().any(|keeper| expected.contains_key(&(*keeper, *id))) {
                kept.push(*id);
            }
        }
        let (removed, parquet) = (dir.path("removed.tsv"), dir.path("removed.parquet"));
        let mut keep = fpdedup();
        keep.args(["keep", "--min-shared", &least_shared, "--evidence"]).arg(&removed).arg(&store);
        let mut ids: Vec<u64> = stdout(&mut keep).lines().map(|line| line.parse().unwrap()).collect();
        ids.sort_unstable();
        assert_eq!(ids, kept);
        // A row for every other record, with its keeper, the smallest id of the cluster, and the shared keys.
        let mut rows: Vec<String> = std::fs::read_to_string(&removed).unwrap().lines().map(str::to_owned).collect();
        rows.sort();
        let mut wanted: Vec<String> = all
            .keys()
            .filter(|id| !kept.contains(id))
            .map(|id| {
                let keeper = kept.iter().find(|keeper| expected.contains_key(&(**keeper, *id))).unwrap();
                format!("{id}\t{keeper}\t{keeper}\t{}\t", expected[&(*keeper, *id)])
            })
            .collect();
        wanted.sort();
        assert_eq!(rows, wanted);
        stdout(fpdedup().args(["keep", "--min-shared", &least_shared, "--evidence"]).arg(&parquet).arg(&store));
        assert!(parquet.metadata().unwrap().len() > 0);
        // With another record kept, the label of a cluster is still its smallest id.
        let largest = ["clusters", "--linkage", "star", "--keep", "largest", "--min-shared", &least_shared];
        let found = stdout(fpdedup().args(largest).arg(&store));
        assert!(found.lines().all(|line| {
            line.split_once('\t').is_some_and(|(id, label)| label.parse::<u64>().unwrap() <= id.parse().unwrap())
        }));
        let found = stdout(fpdedup().args(["clusters", "--min-shared", &least_shared]).arg(&store));
        let labels: BTreeMap<u64, u64> = found
            .lines()
            .map(|line| line.split_once('\t').map(|(id, label)| (id.parse().unwrap(), label.parse().unwrap())).unwrap())
            .collect();
        assert_eq!(labels.len(), all.len());
        assert!(expected.keys().all(|(a, b)| labels[a] == labels[b] && labels[a] <= *a));
        assert!(labels.values().all(|label| labels[label] == *label));
    }
    let found = fpdedup().args(["pairs", "--max-key-frequency", "1"]).arg(&store).assert().code(1).stdout("");
    let message = String::from_utf8(found.get_output().stderr.clone()).unwrap();
    assert!(message.contains("keys of more than 1 record"), "{message}");
    let fingerprints = dir.store(&[(1, 1)]);
    fails(fpdedup().args(["pairs", "--min-shared", "2"]).arg(&fingerprints), &["are for a key index"]);
    fails(fpdedup().args(["pairs", "--min-jaccard", "0.5"]).arg(&store), &["without sketches"]);
    fails(fpdedup().args(["pairs", "--distance", "2"]).arg(&store), &["have no distance"]);
}

#[test]
fn joined_with_another_index_or_a_file() {
    let dir = Place::new();
    let all = records(120);
    let store = index(&dir, &ndjson(&all));
    let half: BTreeMap<u64, BTreeSet<u64>> =
        all.iter().filter(|(id, _)| *id % 2 == 0).map(|(id, keys)| (id + 5000, keys.clone())).collect();
    let (file, other) = (dir.file("half.ndjson", ndjson(&half)), dir.path("other"));
    stdout(fpload().args(["--quiet", "--create", "--kind", "keys"]).arg(&other).arg(&file));
    let mut expected = Vec::new();
    for (a, own) in &all {
        for (b, keys) in &half {
            let shared = own.intersection(keys).count();
            if shared >= 3 {
                expected.push(format!("{a}\t{b}\t{shared}\t"));
            }
        }
    }
    expected.sort();
    for other in [&file, &other] {
        let found = stdout(fpdedup().args(["join", "--min-shared", "3"]).arg(&store).arg(other));
        let mut lines: Vec<String> = found.lines().map(str::to_owned).collect();
        lines.sort();
        assert_eq!(lines, expected);
    }
    let fingerprints = dir.store(&[(1, 1)]);
    fails(fpdedup().arg("join").args([&store, &fingerprints]), &["fingerprints"]);
    fails(fpdedup().args(["join", "--sort"]).args([&store, &file]), &["--sort are for fingerprints"]);
}
