//! `fpring create`, `add`, `remove`, `weight`, `locate` and `diff`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::support::{Place, fails, fpring, json_lines, json_object, stdout};

/// Creates a ring file of these nodes.
fn ring(place: &Place, name: &str, arguments: &[&str]) -> PathBuf {
    let file = place.path(name);
    let (options, nodes): (Vec<&str>, Vec<&str>) = arguments.iter().partition(|argument| argument.starts_with("--"));
    stdout(fpring().arg("create").args(options).arg(&file).args(nodes));
    file
}

/// Returns the nodes of each key.
fn located(file: &Path, keys: u64) -> BTreeMap<String, String> {
    let lines: String = (0..keys).map(|key| format!("{key}\n")).collect();
    let text = stdout(fpring().arg("locate").arg(file).arg("-").write_stdin(lines));
    text.lines().map(|line| line.split_once('\t').unwrap()).map(|(a, b)| (a.to_owned(), b.to_owned())).collect()
}

#[test]
fn a_ring_is_created_once_and_changed() {
    let place = Place::new();
    let file = place.path("ring.json");
    let text = stdout(fpring().args(["create", "--virtual", "8"]).arg(&file).args(["a", "b=2", "c"]));
    assert_eq!(text, format!("{}: 3 nodes, 32 virtual nodes, 1 replica, xxh64\n", file.display()));
    let before = fs::read(&file).unwrap();
    fails(fpring().arg("create").arg(&file).args(["a"]), &["ring.json", "there is a file already"]);
    assert!(fs::read(&file).unwrap() == before);
    let object = json_object(&stdout(fpring().args(["add", "--json", "--path", "d=x/y"]).arg(&file).arg("d=0.5")));
    assert_eq!(object["nodes"][3], serde_json::json!({"name": "d", "weight": 0.5, "virtual_nodes": 4}));
    let written: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    assert_eq!(written["nodes"][3], serde_json::json!({"name": "d", "weight": 0.5, "path": "x/y"}));
    stdout(fpring().arg("weight").arg(&file).args(["a=3", "b=1"]));
    stdout(fpring().args(["--quiet", "remove"]).arg(&file).args(["c", "d"]));
    let written: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    let nodes = serde_json::json!([{"name": "a", "weight": 3.0}, {"name": "b", "weight": 1.0}]);
    assert_eq!((&written["nodes"], &written["virtual"], &written["version"]), (&nodes, &8.into(), &1.into()));
    assert_eq!(fs::read_dir(place.path("")).unwrap().count(), 1, "nothing stays beside the file");
}

#[test]
fn wrong_use() {
    let place = Place::new();
    let file = ring(&place, "ring.json", &["--replicas=2", "a", "b"]);
    let none = place.path("none.json");
    let change = |command: &str, nodes: &[&str], parts: &[&str]| {
        fails(fpring().arg(command).arg(&file).args(nodes), parts);
    };
    change("add", &["a"], &["node a already", "fpring weight"]);
    change("add", &["c", "c"], &["node c is there twice"]);
    change("add", &["c=0"], &["has the weight 0"]);
    change("add", &["c=x"], &["'x' is no weight"]);
    change("add", &["c#1"], &["the character '#'"]);
    change("add", &[], &["NODE"]);
    change("remove", &["x"], &["no node 'x'", "a, b"]);
    change("remove", &["a"], &["2 replicas need as many nodes"]);
    change("weight", &["a"], &["a: which weight? use a=WEIGHT"]);
    change("weight", &["x=2"], &["no node 'x'"]);
    change("locate", &["a\tb"], &["no TAB"]);
    fails(fpring().args(["add", "--path", "x=y"]).arg(&file).arg("c"), &["the command names no node x"]);
    for command in [&["add", "x"][..], &["remove", "x"], &["locate", "1"], &["report"], &["weight", "x=1"]] {
        let (name, rest) = command.split_first().unwrap();
        fails(fpring().arg(name).arg(&none).args(rest), &["none.json", "there is no ring file here"]);
    }
    fails(fpring().args(["create", "--hash", "sha1"]).arg(&none).arg("a"), &["there is no hash 'sha1'"]);
    fails(fpring().args(["create", "--virtual", "0"]).arg(&none).arg("a"), &["0 virtual nodes"]);
    fails(fpring().args(["create", "--replicas", "3"]).arg(&none).args(["a", "b"]), &["3 replicas need"]);
    fails(fpring().arg("create").arg(&none), &["NODE"]);
    fpring().assert().code(2);
    assert!(!none.exists());
    let damaged = place.file("damaged.json", "{\"format\":\"fpstore ring\",\"version\":7}");
    fails(fpring().arg("report").arg(&damaged), &["damaged.json", "version 7"]);
    // Answers come while lines are read.
    let output = fpring().arg("locate").arg(&file).write_stdin("a\nb\tc\n").assert().code(2).get_output().clone();
    assert!(String::from_utf8(output.stderr).unwrap().contains("standard input, line 2: a key has no TAB"));
    assert_eq!(String::from_utf8(output.stdout).unwrap().lines().count(), 1);
    assert!(stdout(fpring().args(["--generate", "man"])).contains("fpring"));
}

#[test]
fn keys_come_from_arguments_or_lines() {
    let place = Place::new();
    let file = ring(&place, "ring.json", &["--replicas=2", "a", "b", "c"]);
    let text = stdout(fpring().arg("locate").arg(&file).args(["17", "http://example.org/"]));
    assert_eq!(text.lines().count(), 2);
    let nodes = text.lines().next().unwrap().strip_prefix("17\t").unwrap().to_owned();
    let names: Vec<&str> = nodes.split(',').collect();
    assert!(names.len() == 2 && names[0] != names[1], "{text}");
    for argument in [&["-"][..], &[]] {
        let lines = "17\r\n\nhttp://example.org/";
        assert_eq!(stdout(fpring().arg("locate").arg(&file).args(argument).write_stdin(lines)), text);
    }
    let objects = json_lines(&stdout(fpring().args(["locate", "--json"]).arg(&file).arg("17")));
    assert_eq!((&objects[0]["key"], &objects[0]["nodes"]), (&"17".into(), &serde_json::json!(names)));
    // The library says the same.
    let library = fpring::file::read(&file).unwrap();
    assert_eq!(library.locate_id(17).iter().map(|node| node.name()).collect::<Vec<_>>(), names);
}

/// What `diff` says by arcs is what `locate` shows.
#[test]
fn differences_are_those_of_keys() {
    let place = Place::new();
    let nodes: Vec<String> = (0..10).map(|number| format!("n{number}")).collect();
    let nodes: Vec<&str> = nodes.iter().map(String::as_str).collect();
    let ten = ring(&place, "ten.json", &nodes);
    let eleven = place.path("eleven.json");
    fs::copy(&ten, &eleven).unwrap();
    stdout(fpring().arg("add").arg(&eleven).arg("n10"));
    let (before, after) = (located(&ten, 20_000), located(&eleven, 20_000));
    let moved: Vec<&String> = after.keys().filter(|key| before[*key] != after[*key]).collect();
    assert!(moved.iter().all(|key| after[*key] == "n10"));

    let object = json_object(&stdout(fpring().args(["diff", "--json", "--keys", "20000"]).arg(&ten).arg(&eleven)));
    assert_eq!((&object["keys"], &object["moved_copies"]), (&20_000.into(), &moved.len().into()));
    let number = |name: &str| object[name].as_f64().unwrap();
    assert!((number("moved") * 11.0 - 1.0).abs() < 0.05 && (number("ideal") * 11.0 - 1.0).abs() < 1e-9, "{object}");
    assert_eq!(number("between_kept"), 0.0);
    assert!((number("moved") - moved.len() as f64 / 20_000.0).abs() < 0.01);
    let rows = object["moves"].as_array().unwrap();
    assert!(rows.iter().all(|row| row["to"] == "n10"));
    assert_eq!(rows.iter().map(|row| row["copies"].as_u64().unwrap()).sum::<u64>(), moved.len() as u64);

    let text = stdout(fpring().arg("diff").arg(&ten).arg(&eleven));
    assert!(text.contains("% moves; the least for these nodes is ") && text.contains("ideal is 9.09%"), "{text}");
    assert!(stdout(fpring().arg("diff").arg(&ten).arg(&ten)).starts_with("0.00% moves"));
    let other = ring(&place, "other.json", &["--hash=md5-32", "n0", "n1"]);
    fails(fpring().arg("diff").arg(&ten).arg(&other), &["different hashes, xxh64 and md5-32", "--keys"]);
    let object = json_object(&stdout(fpring().args(["diff", "--json", "--keys", "1000"]).arg(&ten).arg(&other)));
    assert!(object["moved"].is_null() && object["moved_copies"].as_u64().unwrap() > 700, "{object}");
}
