//! `fpring rebalance`: what moves, what stays, what is refused, and steps that an interruption may leave.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use fpring::file::former_path;
use fpstore::Options;
use fpstore_tools::sharded::Rebalance;

use crate::support::{Place, Random, fails, families, fpdump, fpload, fpquery, fpring, json_object, stdout};

/// A sharded store: its ring file, and the lines of all records.
pub(crate) struct Sharded {
    pub(crate) place: Place,
    pub(crate) ring: PathBuf,
    pub(crate) lines: BTreeSet<String>,
}

impl Sharded {
    /// Creates a ring of these nodes, and their stores with the records.
    pub(crate) fn new(lines: BTreeSet<String>, ring: &[&str], load: &[&str]) -> Self {
        let place = Place::new();
        let file = place.path("ring.json");
        let (options, nodes): (Vec<&str>, Vec<&str>) = ring.iter().partition(|argument| argument.starts_with("--"));
        stdout(fpring().args(["--quiet", "create"]).args(options).arg(&file).args(nodes));
        let sharded = Self { place, ring: file, lines };
        for (node, lines) in sharded.shares(&sharded.ring) {
            let store = sharded.place.path(&node);
            let lines: String = lines.into_iter().map(|line| line + "\n").collect();
            fpload().args(["--quiet", "--create"]).args(load).arg(store).arg("-").write_stdin(lines).assert().success();
        }
        sharded
    }

    /// Returns the records that belong to each node.
    pub(crate) fn shares(&self, ring: &Path) -> BTreeMap<String, BTreeSet<String>> {
        let ring = fpring::file::read(ring).unwrap();
        let mut shares: BTreeMap<String, BTreeSet<String>> =
            ring.nodes().iter().map(|node| (node.name().to_owned(), BTreeSet::new())).collect();
        for line in &self.lines {
            for node in ring.locate(line.split_once('\t').unwrap().1.as_bytes()) {
                shares.get_mut(node.name()).unwrap().insert(line.clone());
            }
        }
        shares
    }

    /// Writes the ring, changed by `fpring COMMAND ARGUMENTS`, to another file.
    pub(crate) fn next(&self, changes: &[&[&str]]) -> PathBuf {
        let next = self.place.path("next.json");
        fs::copy(&self.ring, &next).unwrap();
        for change in changes {
            let (command, nodes) = change.split_first().unwrap();
            stdout(fpring().args(["--quiet", command]).arg(&next).args(nodes));
        }
        next
    }

    pub(crate) fn scan(&self, node: &str) -> BTreeSet<String> {
        let text = stdout(fpdump().arg("scan").arg(self.place.path(node)));
        text.lines().filter(|line| !line.starts_with('#')).map(str::to_owned).collect()
    }

    /// Checks that the nodes of the ring file have all records together.
    pub(crate) fn check_union(&self) {
        let ring = fpring::file::read(&self.ring).unwrap();
        let all: BTreeSet<String> = ring.nodes().iter().flat_map(|node| self.scan(node.name())).collect();
        assert!(all == self.lines, "{} of {} records", all.len(), self.lines.len());
    }

    /// Checks that each node of the ring file has exactly the records that belong to it.
    pub(crate) fn check_exact(&self) {
        for (node, lines) in self.shares(&self.ring) {
            assert!(self.scan(&node) == lines, "node {node}");
        }
    }

    fn rebalanced(&self, next: &Path) -> serde_json::Value {
        json_object(&stdout(fpring().args(["rebalance", "--json"]).arg(&self.ring).arg(next)))
    }
}

pub(crate) fn records(number: usize) -> BTreeSet<String> {
    families(number, 11).into_iter().map(|(fingerprint, id)| format!("{fingerprint:016x}\t{id}")).collect()
}

/// The records that each ring places on a node and the other does not.
fn moved(before: &BTreeMap<String, BTreeSet<String>>, after: &BTreeMap<String, BTreeSet<String>>) -> (usize, usize) {
    let none = BTreeSet::new();
    let more = |a: &BTreeMap<String, BTreeSet<String>>, b: &BTreeMap<String, BTreeSet<String>>| {
        a.iter().map(|(node, lines)| lines.difference(b.get(node).unwrap_or(&none)).count()).sum()
    };
    (more(after, before), more(before, after))
}

#[test]
fn joining_leaving_and_weights_move_exactly_what_they_must() {
    for replicas in ["--replicas=1", "--replicas=2"] {
        let sharded = Sharded::new(records(4000), &[replicas, "a", "b", "c"], &["--max-distance", "5"]);
        sharded.check_exact();
        for changes in [
            &[&["add", "d"][..]][..],
            &[&["remove", "b"]],
            &[&["weight", "a=2"]],
            &[&["add", "e", "f=0.5"], &["remove", "a"]],
        ] {
            let next = sharded.next(changes);
            let (before, after) = (sharded.shares(&sharded.ring), sharded.shares(&next));
            let (copied, removed) = moved(&before, &after);
            let report = sharded.rebalanced(&next);
            assert_eq!((&report["copied"], &report["removed"]), (&copied.into(), &removed.into()), "{changes:?}");
            assert_eq!(report["is_replaced"], true);
            assert_eq!(fs::read(&sharded.ring).unwrap(), fs::read(&next).unwrap());
            sharded.check_exact();
            sharded.check_union();
            assert!(!former_path(&sharded.ring).unwrap().exists());
            // Once more, there is nothing to do.
            let report = sharded.rebalanced(&next);
            assert_eq!((&report["copied"], &report["removed"]), (&0.into(), &0.into()));
            assert_eq!(report["is_replaced"], false);
        }
        // The store of a node that left is empty, that of a new one like the others.
        assert!(sharded.scan("b").is_empty());
        let info = json_object(&stdout(fpdump().args(["info", "--json"]).arg(sharded.place.path("d"))));
        let first = json_object(&stdout(fpdump().args(["info", "--json"]).arg(sharded.place.path("c"))));
        for field in ["width", "max_distance", "plan", "ids"] {
            assert_eq!(info[field], first[field], "{field}");
        }
        fpdump().arg("verify").arg(sharded.place.path("d")).assert().success();
    }
}

/// The answers of all nodes together are those of one store of all records.
#[test]
fn all_nodes_answer_as_one_store() {
    let sharded = Sharded::new(records(3000), &["a", "b"], &[]);
    let all: String = sharded.lines.iter().map(|line| line.clone() + "\n").collect();
    let one = sharded.place.path("one");
    fpload().args(["--quiet", "--create"]).arg(&one).arg("-").write_stdin(all).assert().success();
    stdout(fpring().arg("rebalance").arg(&sharded.ring).arg(sharded.next(&[&["add", "c", "d"]])));
    let mut random = Random::new(5);
    let queries = families(300, 11).into_iter().map(|(fingerprint, _)| random.flipped(fingerprint, 2));
    let queries = queries.fold(String::new(), |mut text, query| {
        writeln!(text, "{query:016x}").unwrap();
        text
    });
    let answers = |store: &Path| -> BTreeSet<String> {
        let output = fpquery().arg(store).write_stdin(queries.clone()).output().unwrap();
        String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
    };
    let of_nodes: BTreeSet<String> =
        ["a", "b", "c", "d"].iter().flat_map(|node| answers(&sharded.place.path(node))).collect();
    assert!(!of_nodes.is_empty() && of_nodes == answers(&one));
}

#[test]
fn wide_fingerprints_text_ids_and_small_memory() {
    let mut random = Random::new(3);
    let lines =
        (0..2000).map(|number| format!("{:016x}{:016x}\thttp://a.example/{number}", random.next(), random.next()));
    let sharded = Sharded::new(lines.collect(), &["--hash=murmur3-32", "a", "b"], &["--width", "128", "--hasher", "h"]);
    let next = sharded.next(&[&["add", "c"]]);
    let temporary = sharded.place.path("temporary");
    fs::create_dir(&temporary).unwrap();
    let mut command = fpring();
    command.args(["rebalance", "--memory", "64MiB", "--tmp-dir"]).arg(&temporary).arg(&sharded.ring).arg(&next);
    let text = stdout(&mut command);
    assert!(text.contains("has the ring of") && text.contains("2,000 on all nodes"), "{text}");
    sharded.check_exact();
    assert_eq!(json_object(&stdout(fpdump().args(["info", "--json"]).arg(sharded.place.path("c"))))["hasher"], "h");
}

/// After every step, all records are there; another run takes the remaining ones.
#[test]
fn a_run_continues_after_any_step() {
    let options = Options::new();
    for steps in 1..=4 {
        let sharded = Sharded::new(records(1500), &["a", "b", "c"], &[]);
        let next = sharded.next(&[&["add", "d"], &["remove", "a"]]);
        let read = |path: &Path| fpring::file::read(path).unwrap();
        let (old, new) = (read(&sharded.ring), read(&next));
        let mut begun = Rebalance::new(&sharded.ring, old, new, &options, 64 << 20).unwrap();
        begun.prepare().unwrap();
        if steps > 1 {
            assert!(begun.copy().unwrap() > 0);
            sharded.check_union();
            begun.verify().unwrap();
        }
        if steps > 2 {
            begun.replace().unwrap();
            assert!(former_path(&sharded.ring).unwrap().exists());
        }
        if steps > 3 {
            begun.clean().unwrap();
        }
        drop(begun);
        sharded.check_union();
        let report = sharded.rebalanced(&next);
        assert_eq!(report["is_continued"], steps > 2, "{report}");
        assert!(!former_path(&sharded.ring).unwrap().exists());
        sharded.check_union();
        sharded.check_exact();
        assert!(sharded.scan("a").is_empty());
    }
}

/// Another ring than that of the interrupted run is no reason to lose records.
#[test]
fn an_interrupted_run_may_be_followed_by_another_ring() {
    let options = Options::new();
    for is_replaced in [false, true] {
        let sharded = Sharded::new(records(1500), &["a", "b", "c"], &[]);
        let read = |path: &Path| fpring::file::read(path).unwrap();
        let first = sharded.next(&[&["add", "d"]]);
        let mut begun = Rebalance::new(&sharded.ring, read(&sharded.ring), read(&first), &options, 64 << 20).unwrap();
        begun.prepare().unwrap();
        begun.copy().unwrap();
        if is_replaced {
            begun.replace().unwrap();
        }
        drop(begun);
        let next = sharded.next(&[&["weight", "b=3"], &["remove", "c"]]);
        sharded.rebalanced(&next);
        sharded.check_union();
        sharded.check_exact();
    }
}

/// Records that are on a wrong node, or on one replica only, are not lost.
#[test]
fn misplaced_records_find_their_nodes() {
    let sharded = Sharded::new(records(1000), &["--replicas=2", "a", "b", "c"], &[]);
    let strange = "0123456789abcdef\t999999999";
    let home = fpring::file::read(&sharded.ring).unwrap();
    let home: Vec<&str> = home.locate(b"999999999").iter().map(|node| node.name()).collect();
    let wrong = ["a", "b", "c"].into_iter().find(|node| !home.contains(node)).unwrap();
    fpload().arg(sharded.place.path(wrong)).arg("-").write_stdin(strange).assert().success();
    sharded.rebalanced(&sharded.next(&[&["add", "d"]]));
    let mut sharded = sharded;
    sharded.lines.insert(strange.to_owned());
    sharded.check_exact();
}

/// A removal while a run is interrupted does not reach the copies on joining nodes.
#[test]
fn what_was_removed_after_an_interrupted_copy_stays_removed() {
    let mut sharded = Sharded::new(records(500), &["a", "b"], &[]);
    let next = sharded.next(&[&["add", "c"]]);
    let read = |path: &Path| fpring::file::read(path).unwrap();
    let rings = (read(&sharded.ring), read(&next));
    let mut begun = Rebalance::new(&sharded.ring, rings.0, rings.1, &Options::new(), 64 << 20).unwrap();
    begun.prepare().unwrap();
    begun.copy().unwrap();
    drop(begun);
    let line = sharded.scan("c").pop_first().unwrap();
    for node in ["a", "b"] {
        let store = sharded.place.path(node);
        fpload().args(["--quiet", "--remove"]).arg(store).arg("-").write_stdin(line.clone()).assert().success();
    }
    assert!(sharded.lines.remove(&line));
    sharded.check_union();
    sharded.rebalanced(&next);
    sharded.check_exact();
}

#[test]
fn a_replica_that_lost_records_gets_them_back() {
    let sharded = Sharded::new(records(500), &["--replicas=2", "a", "b", "c"], &[]);
    let lost: Vec<String> = sharded.scan("a").into_iter().take(100).map(|line| line + "\n").collect();
    let store = sharded.place.path("a");
    fpload().args(["--quiet", "--remove"]).arg(store).arg("-").write_stdin(lost.concat()).assert().success();
    assert_eq!(sharded.rebalanced(&sharded.next(&[]))["copied"], 100);
    sharded.check_exact();
}

/// The records of a store that joins are in no node of the ring.
#[test]
fn a_joining_store_with_records_is_refused() {
    let sharded = Sharded::new(records(100), &["a", "b"], &[]);
    let (c, line) = (sharded.place.path("c"), "0123456789abcdef\t7777777\n");
    fpload().args(["--quiet", "--create"]).arg(&c).arg("-").write_stdin(line).assert().success();
    let next = sharded.next(&[&["add", "c"]]);
    fails(fpring().arg("rebalance").arg(&sharded.ring).arg(next), &["node c joins", "has 1 records"]);
    assert_eq!(sharded.scan("c").len(), 1);
    sharded.check_exact();
}

#[test]
fn a_ring_that_is_locked_is_left_alone() {
    let sharded = Sharded::new(records(100), &["a", "b"], &[]);
    let next = sharded.next(&[&["add", "c"]]);
    let lock = fpring::file::Lock::take(&sharded.ring).unwrap();
    fails(fpring().arg("rebalance").arg(&sharded.ring).arg(next), &["ring.json.lock", "try again later"]);
    drop(lock);
    sharded.check_exact();
}

#[test]
fn what_cannot_be_moved_is_refused() {
    let sharded = Sharded::new(records(100), &["a", "b"], &[]);
    let (ring, next) = (&sharded.ring, sharded.next(&[&["add", "c"]]));
    let refused = |parts: &[&str]| fails(fpring().arg("rebalance").arg(ring).arg(&next), parts);
    let (a, aside) = (sharded.place.path("a"), sharded.place.path("aside"));
    fs::rename(&a, &aside).unwrap();
    refused(&["node a has no store at", a.to_str().unwrap()]);
    let load = |options: &[&str], line: &str| {
        let _ = fs::remove_dir_all(&a);
        fpload().args(["--quiet", "--create"]).args(options).arg(&a).arg("-").write_stdin(line).assert().success();
    };
    load(&["--ids", "none"], "0123456789abcdef\n");
    refused(&["node a", "has no ids"]);
    load(&[], "0123456789abcdef\n");
    refused(&["node a", "numbers its records itself"]);
    load(&["--width", "128"], "0123456789abcdef0123456789abcdef\t1\n");
    refused(&["nodes a and b differ in their width: 128 and 64"]);
    load(&["--hasher", "other"], "0123456789abcdef\t1\n");
    refused(&["differ in their hasher: other and none"]);
    fs::remove_dir_all(&a).unwrap();
    fs::rename(&aside, &a).unwrap();
    assert!(!sharded.place.path("c").exists(), "nothing was created");

    let far = Place::new();
    let elsewhere = far.path("next.json");
    fs::copy(&next, &elsewhere).unwrap();
    fails(fpring().arg("rebalance").arg(ring).arg(&elsewhere), &["is in another directory than"]);
    let same = sharded.place.path("same.json");
    stdout(fpring().args(["create", "--path", "c=./a"]).arg(&same).args(["a", "c"]));
    fails(fpring().arg("rebalance").arg(ring).arg(&same), &["nodes a and c have one directory"]);
    let other = sharded.place.path("other.json");
    stdout(fpring().args(["create", "--path", "a=x"]).arg(&other).args(["a", "b"]));
    fails(fpring().arg("rebalance").arg(ring).arg(&other), &["node a has the path"]);
    fails(fpring().arg("rebalance").arg(ring).arg(sharded.place.path("none")), &["there is no ring file here"]);
    fails(fpring().arg("rebalance").arg(ring), &["NEW"]);
    sharded.check_exact();
}
