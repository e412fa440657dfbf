//! `fpdedup keep --report`, `--picture`: compared with brute force, and with the evidence.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::{Value, json};

use crate::dedup::{clusters, records};
use crate::dedup_linkage::greedy;
use crate::support::{Pair, Place, fails, fpdedup, fpload, json_object, lines, stdout};

/// The elements of a picture and their texts, from a parser that accepts only well-formed XML with matching tags.
pub(crate) struct Picture {
    /// Texts by the name of their element.
    texts: Vec<(String, String)>,
    elements: BTreeMap<String, usize>,
}

fn parse(svg: &str) -> Picture {
    let mut picture = Picture { texts: Vec::new(), elements: BTreeMap::new() };
    let (mut open, mut rest): (Vec<String>, _) = (Vec::new(), svg);
    while let Some((text, behind)) = rest.split_once('<') {
        assert!(!text.contains('>'), "{text}");
        assert!(text.split('&').skip(1).all(|one| ["amp;", "lt;", "gt;"].iter().any(|entity| one.starts_with(entity))));
        match open.last() {
            Some(element) => picture.texts.push((element.clone(), text.to_owned())),
            None => assert_eq!(text.trim(), ""),
        }
        let (tag, after) = behind.split_once('>').unwrap();
        rest = after;
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop().as_deref(), Some(name));
            continue;
        }
        let attributes = tag.strip_suffix('/').unwrap_or(tag);
        let (name, attributes) = attributes.split_once(' ').unwrap_or((attributes, ""));
        // Names and quoted values in turn.
        let parts: Vec<&str> = attributes.split('"').collect();
        assert_eq!(parts.len() % 2, 1, "{tag}");
        assert!(parts.iter().step_by(2).all(|part| part.is_empty() || part.ends_with('=')), "{tag}");
        let names: Vec<&str> =
            parts.iter().step_by(2).map(|part| part.trim()).filter(|part| !part.is_empty()).collect();
        assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len(), "{tag}");
        assert!(!svg.contains("NaN") && !svg.contains("inf"));
        *picture.elements.entry(name.to_owned()).or_default() += 1;
        if !tag.ends_with('/') {
            open.push(name.to_owned());
        }
    }
    assert!(open.is_empty() && rest.trim().is_empty(), "{open:?}");
    picture
}

impl Picture {
    pub(crate) fn read(path: &Path) -> Self {
        parse(&std::fs::read_to_string(path).unwrap())
    }

    pub(crate) fn has(&self, element: &str, text: &str) -> bool {
        self.texts.iter().any(|one| one.0 == element && one.1 == text)
    }
}

fn distance(a: Pair, b: Pair) -> u64 {
    (a.0 ^ b.0).count_ones().into()
}

/// The connected components, each with its keeper first, where records come by priority.
fn single(by_priority: &[Pair], k: u32) -> Vec<Vec<Pair>> {
    let label: BTreeMap<u64, u64> = clusters(by_priority, k).into_iter().collect();
    let mut members: BTreeMap<u64, Vec<Pair>> = BTreeMap::new();
    by_priority.iter().for_each(|record| members.entry(label[&record.1]).or_default().push(*record));
    members.into_values().collect()
}

/// A histogram as JSON has it, from distance 0 to `k` at least.
fn at_distances(distances: impl Iterator<Item = u64>, k: u32) -> Value {
    let mut records = vec![0; k as usize + 1];
    for distance in distances.map(|distance| distance as usize) {
        records.resize(records.len().max(distance + 1), 0);
        records[distance] += 1;
    }
    records.iter().enumerate().map(|(distance, records)| json!({"distance": distance, "records": records})).collect()
}

#[test]
fn the_report_of_brute_force() {
    let place = Place::new();
    let all: Vec<Pair> = records(700).into_iter().collect::<BTreeSet<_>>().into_iter().collect();
    let store = place.store(&all);
    let mut by_id = all.clone();
    by_id.sort_by_key(|record| record.1);
    let largest: Vec<Pair> = by_id.iter().rev().copied().collect();
    let orders = [("smallest", &by_id), ("largest", &largest)];
    let cases = [("single", 3), ("star", 2), ("star", 4), ("complete", 3), ("complete", 5)];
    for ((keep, order), (linkage, k)) in orders.into_iter().flat_map(|order| cases.map(|case| (order, case))) {
        let components = single(order, k);
        let made = if linkage == "single" { components.clone() } else { greedy(order, k, linkage) };
        let k_text = k.to_string();
        let picture = place.path("picture.svg");
        let run = |threads: &str, subcommand: &str| {
            let mut run = fpdedup();
            run.args([subcommand, "--report", "--json", "--linkage", linkage, "-k", &k_text, "--keep", keep]);
            let report = stdout(run.args(["--threads", threads, "--picture"]).args([&picture, &store]));
            (json_object(&report), std::fs::read_to_string(&picture).unwrap())
        };
        let (report, svg) = run("1", "keep");
        assert_eq!(run("4", "keep"), (report.clone(), svg.clone()), "threads change nothing");
        assert_eq!(run("2", "clusters"), (report.clone(), svg), "clusters are the same");

        let kept: BTreeSet<Pair> = made.iter().map(|cluster| cluster[0]).collect();
        let numbers = [all.len(), made.len(), made.len(), all.len() - made.len()];
        assert_eq!(
            ["records", "clusters", "kept", "removed"].map(|name| report[name].as_u64().unwrap() as usize),
            numbers
        );
        assert_eq!((&report["linkage"], &report["distance"]), (&linkage.into(), &k.into()));
        let distances =
            |cluster: &Vec<Pair>| cluster[1..].iter().map(|one| distance(*one, cluster[0])).collect::<Vec<_>>();
        let removed = at_distances(made.iter().flat_map(distances), k);
        assert_eq!(report["distances"], removed, "{linkage} {k} {keep}");
        if linkage == "single" {
            assert_eq!((&report["chains"], &report["single_linkage"]), (&Value::Null, &Value::Null));
        } else {
            let more = |component: &Vec<Pair>| {
                let more = component[1..].iter().filter(|one| kept.contains(one));
                more.map(|one| distance(*one, component[0])).collect::<Vec<_>>()
            };
            let found = &report["single_linkage"];
            assert_eq!(found["distances"], at_distances(components.iter().flat_map(more), k), "{linkage} {k} {keep}");
            assert_eq!(found["more_removed"], made.len() - components.len());
            let far = components.iter().flat_map(more).filter(|distance| *distance > k.into()).count();
            assert_eq!(found["far_records"], far);
            let divided: Vec<_> = components.iter().filter(|one| !more(one).is_empty()).collect();
            assert!(!divided.is_empty(), "there are chains");
            let chains = &report["chains"];
            assert_eq!(chains["components"], divided.len());
            let most = divided.iter().map(|one| one.len()).max().unwrap();
            let shown = &chains["largest"];
            assert_eq!(shown["records"], most);
            let shown_is = |one: &&&Vec<Pair>| shown["keeper"] == one[0].1;
            assert_eq!(shown["clusters"], more(divided.iter().find(shown_is).unwrap()).len() + 1);
        }
        let mut sizes: Vec<usize> = made.iter().map(Vec::len).collect();
        sizes.sort_unstable_by(|a, b| b.cmp(a));
        let large = report["largest"].as_array().unwrap();
        assert!(large.iter().map(|one| one["records"].as_u64().unwrap() as usize).eq(sizes.into_iter().take(10)));
        for one in large {
            let cluster = made.iter().find(|cluster| one["keeper"] == cluster[0].1).unwrap();
            assert_eq!(one["cluster"], cluster.iter().map(|record| record.1).min().unwrap());
            let mut gone = cluster[1..].to_vec();
            gone.sort_unstable();
            let sample = |one: &Pair| json!({"id": one.1, "distance": distance(*one, cluster[0])});
            assert_eq!(one["removed"], gone.iter().take(3).map(sample).collect::<Value>());
        }
    }
}

#[test]
fn what_is_written_where() {
    let place = Place::new();
    let store = place.store(&records(300));
    let [kept, gone, picture, plain] =
        ["kept.tsv", "gone.tsv", "picture.svg", "plain.svg"].map(|name| place.path(name));
    let rows = stdout(fpdedup().arg("keep").arg(&store));
    let report = stdout(fpdedup().args(["keep", "--report"]).arg(&store));
    // Rows go to the file beside a report, and evidence and picture go beside both.
    let mut all = fpdedup();
    all.args(["keep", "--report", "--output"]).arg(&kept).arg("--evidence").arg(&gone).arg("--picture").arg(&picture);
    assert_eq!(stdout(all.arg(&store)), report);
    assert_eq!(std::fs::read_to_string(&kept).unwrap(), rows);
    let evidence = std::fs::read_to_string(&gone).unwrap();
    let object = json_object(&stdout(fpdedup().args(["keep", "--report", "--json"]).arg(&store)));
    let distances = evidence.lines().map(|line| line.rsplit('\t').next().unwrap().parse().unwrap());
    assert_eq!(object["distances"], at_distances(distances, 3));
    // A picture alone leaves standard output to the rows.
    assert_eq!(stdout(fpdedup().args(["keep", "--picture"]).args([&plain, &store])), rows);
    assert_eq!(std::fs::read(&picture).unwrap(), std::fs::read(&plain).unwrap());
    let labels = stdout(fpdedup().arg("clusters").arg(&store));
    assert_eq!(stdout(fpdedup().args(["clusters", "--picture"]).args([&plain, &store])), labels);
    assert!(Picture::read(&plain).has("title", "Near-duplicates within 3 bits by single linkage"));
    // Labels of an earlier run, and a picture of what they become.
    let before = place.file("before.tsv", &labels);
    let mut again = fpdedup();
    again.args(["clusters", "--previous"]).arg(&before).arg("--picture").args([&picture, &store]);
    assert_eq!(stdout(&mut again), labels);
    assert_eq!(std::fs::read(&picture).unwrap(), std::fs::read(&plain).unwrap());
}

#[test]
fn earlier_stars_leave_chains_unknown() {
    let place = Place::new();
    let mut all: Vec<Pair> = records(700).into_iter().collect::<BTreeSet<_>>().into_iter().collect();
    all.sort_by_key(|record| record.1);
    let [gone, next, picture] = ["gone.tsv", "next.tsv", "picture.svg"].map(|name| place.path(name));
    let store = place.store(&all[..500]);
    let new = place.file("new.tsv", lines(&all[500..]));
    for keep in ["smallest", "largest"] {
        let run = |options: &[&str]| {
            let mut run = fpdedup();
            run.args(["keep", "--keep", keep, "--report"]).args(options).arg(&store);
            run
        };
        let anew = json_object(&stdout(run(&["--json"]).arg("--new").arg(&new)));
        assert!(anew["chains"]["components"].as_u64().unwrap() > 0, "there are chains");
        let _ = stdout(run(&[]).arg("--evidence").arg(&gone));
        let go_on = |options: &[&str]| {
            let mut run = run(options);
            run.arg("--previous").arg(&gone).arg("--new").arg(&new).arg("--evidence").arg(&next);
            run.arg("--picture").arg(&picture);
            run
        };
        let report = json_object(&stdout(&mut go_on(&["--json"])));
        assert_eq!((&report["chains"], &report["single_linkage"]), (&Value::Null, &Value::Null));
        let evidence = std::fs::read_to_string(&next).unwrap();
        let distances = evidence.lines().map(|line| line.rsplit('\t').next().unwrap().parse().unwrap());
        assert_eq!(report["distances"], at_distances(distances, 3));
        assert_eq!(report["removed"], evidence.lines().count());
        // No new record has priority over an old one: all else is as in a run from scratch.
        if keep == "smallest" {
            let mut expected = anew;
            (expected["chains"], expected["single_linkage"]) = (Value::Null, Value::Null);
            assert_eq!(report, expected);
        }
        let output = go_on(&[]).assert().success().get_output().clone();
        let people = String::from_utf8(output.stdout).unwrap();
        assert!(people.contains("\nchains    unknown: with --previous, only new records are compared\n"), "{people}");
        assert!(!people.contains("single linkage"), "{people}");
        let (kept, removed) = (&report["kept"], &report["removed"]);
        assert!(Picture::read(&picture).has("text", &format!("records: 700, kept: {kept}, removed: {removed}")));
        // The warning comes without a list of what is kept, too.
        let warned = String::from_utf8(output.stderr).unwrap();
        assert_eq!(warned.contains("been removed by earlier keepers"), keep == "largest", "{warned}");
    }
}

const CHAIN: &str = "\
linkage         star
distance        1
records         5
kept            3
removed         2
far ones        0
chains          1; the largest has 4 records in 2 clusters, keeper a
single linkage  would remove 1 more, 1 of them far

distance  removed  of removed  single linkage
       0        0        0.0%              +0
       1        2      100.0%              +0
       2        0        0.0%              +1

records  clusters  of all records
      1         1           20.0%
      2         2           80.0%

largest  records  fingerprints  diameter  pairs beyond 1  removed (distance)
a              2             2         1            0.0%  b (1)
c              2             2         1            0.0%  d (1)
";

#[test]
fn a_chain_for_people() {
    let place = Place::new();
    let store = place.path("store");
    let input =
        "0000000000000000\ta\n0000000000000001\tb\n0000000000000003\tc\n0000000000000007\td\nffffffffffffffff\te\n";
    fpload().args(["--create", "--max-distance", "1"]).arg(&store).arg("-").write_stdin(input).assert().success();
    assert_eq!(stdout(fpdedup().args(["keep", "--report"]).arg(&store)), CHAIN);
    let people = stdout(fpdedup().args(["clusters", "--report", "--linkage", "star"]).arg(&store));
    assert_eq!(people.lines().nth(3), Some("clusters         3"));
    let single = stdout(fpdedup().args(["keep", "--report", "--linkage", "single"]).arg(&store));
    assert!(!single.contains("chains") && single.contains("far ones  2\n"), "{single}");
    assert!(single.contains("\n       3        1       33.3%\n"), "{single}");
    assert!(
        single.contains("\na              4             4         3           50.0%  b (1)  c (2)  d (3)\n"),
        "{single}"
    );
}

#[test]
fn without_ids_fingerprints_are_named() {
    let place = Place::new();
    let (store, empty) = (place.path("store"), place.path("empty"));
    let input = "0000000000000000\n0000000000000000\n0000000000000000\n0000000000000007\nff00000000000000\n";
    fpload().args(["--create", "--ids", "none"]).arg(&store).arg("-").write_stdin(input).assert().success();
    let report = json_object(&stdout(fpdedup().args(["keep", "--report", "--json"]).arg(&store)));
    assert_eq!([&report["kept"], &report["removed"]], [2, 3]);
    let (zero, seven) = ("0000000000000000", "0000000000000007");
    let samples =
        json!([{"fingerprint": zero, "count": 2, "distance": 0}, {"fingerprint": seven, "count": 1, "distance": 3}]);
    let largest = &report["largest"][0];
    assert_eq!((&largest["keeper"], &largest["removed"]), (&zero.into(), &samples));
    let people = stdout(fpdedup().args(["keep", "--report"]).arg(&store));
    assert!(people.contains(&format!("{zero} (0)  {seven} (3)\n")), "{people}");
    // Nothing at all is a report, too.
    fpload().arg("--create").arg(&empty).arg("-").write_stdin("").assert().success();
    let picture = place.path("empty.svg");
    let report = stdout(fpdedup().args(["keep", "--report", "--json", "--picture"]).args([&picture, &empty]));
    assert_eq!([&json_object(&report)["records"], &json_object(&report)["chains"]["components"]], [0, 0]);
    assert!(Picture::read(&picture).has("text", "records: 0, kept: 0, removed: 0; single linkage would remove 0 more"));
}

#[test]
fn the_picture_has_the_numbers_of_the_report() {
    let place = Place::new();
    let store = place.store(&records(700));
    let number_of = |count: u64, thing: &str| format!("{count} {thing}{}", if count == 1 { "" } else { "s" });
    for linkage in ["single", "star", "complete"] {
        let path = place.path("picture.svg");
        let mut run = fpdedup();
        run.args(["keep", "-k", "5", "--report", "--json", "--linkage", linkage, "--picture"]).args([&path, &store]);
        let report = json_object(&stdout(&mut run));
        let picture = Picture::read(&path);
        let mut bars = 0;
        for class in report["sizes"].as_array().unwrap() {
            let [from, to, clusters] = ["from", "to", "clusters"].map(|name| class[name].as_u64().unwrap());
            let size = if from == to { number_of(to, "record") } else { format!("{from} to {to} records") };
            assert!(picture.has("title", &format!("{size}: {}", number_of(clusters, "cluster"))), "{linkage} {class}");
            bars += 1;
        }
        let series = [(&report, "removed"), (&report["single_linkage"], "that single linkage would remove")];
        for (object, what) in series {
            for one in object["distances"].as_array().into_iter().flatten() {
                let [distance, records] = ["distance", "records"].map(|name| one[name].as_u64().unwrap());
                let tip = format!("{}: {} {what}", number_of(distance, "bit"), number_of(records, "record"));
                assert_eq!(picture.has("title", &tip), records > 0, "{linkage}: {tip}");
                bars += usize::from(records > 0);
            }
        }
        // One tip for each bar, and the title of the picture.
        assert_eq!(picture.elements["title"], bars + 1);
        assert!(picture.has("text", "K = 5") && picture.has("text", "100") && picture.has("text", "bits"));
        let legend = ["removed", "removed, beyond K", "kept; single linkage would remove them"];
        let shown = legend.map(|name| picture.has("text", name));
        assert_eq!(shown, if linkage == "single" { [true, true, false] } else { [true, false, true] });
    }
}

#[test]
fn wrong_use() {
    let place = Place::new();
    let store = place.store(&records(50));
    let fails_with = |arguments: &[&str], parts: &[&str]| fails(fpdedup().args(arguments).arg(&store), parts);
    let path = |name: &str| place.path(name).to_str().unwrap().to_owned();
    for subcommand in ["keep", "clusters"] {
        for name in ["x.png", "x", "x.svg.gz"] {
            fails_with(&[subcommand, "--picture", &path(name)], &["--picture", name, "use a name that ends in .svg"]);
        }
        let (same, none) = (path("same.svg"), path("none/x.svg"));
        let said = ["--picture", "this is the file of --output, too"];
        fails_with(&[subcommand, "--picture", &same, "--output", &same], &said);
        fails_with(&[subcommand, "--picture", &none], &["--picture", "none/x.svg", "not found"]);
    }
    let same = path("same.tsv.svg");
    let said = ["--picture", "this is the file of --evidence, too"];
    fails_with(&["keep", "--picture", &same, "--evidence", &same], &said);
    let listed = place.file("listed.svg", "1\n");
    let listed = listed.to_str().unwrap();
    fails_with(&["keep", "--picture", listed, "--keep", listed], &["--picture", "this is an input"]);
    assert_eq!(std::fs::read_dir(place.path("")).unwrap().count(), 2, "no picture was begun");
    // A search that fails leaves the picture of before.
    let picture = place.file("x.svg", "before");
    fails_with(&["keep", "--picture", picture.to_str().unwrap(), "-k", "65"], &["--distance"]);
    assert_eq!(std::fs::read_to_string(picture).unwrap(), "before");
}
