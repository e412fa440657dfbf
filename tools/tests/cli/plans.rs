//! `fpload --plan list`, and that every plan and codec answers the same.

use crate::support::{
    Place, brute_force_lines, fails, families, fpload, fpquery, hex_lines, json_lines, json_object, lines, stdout,
};

#[test]
fn the_list_needs_no_store() {
    let text = stdout(fpload().args(["--plan", "list", "--records", "20000000", "--width", "64"]));
    for part in ["20,000,000", "within distance 3", "tables-2", "choose-2-of-5", "nested-4x4", "auto:space"] {
        assert!(text.contains(part), "no '{part}' in {text}");
    }
    let quiet = stdout(fpload().args(["--plan", "list", "--quiet"]));
    assert!(quiet.starts_with("plan "), "{quiet}");
}

#[test]
fn the_list_for_programs() {
    let text = stdout(fpload().args(["--plan", "list", "--json", "--records", "1000000", "--max-distance", "4"]));
    let plans = json_lines(&text);
    let chosen: Vec<&str> = plans
        .iter()
        .flat_map(|plan| plan["chosen_by"].as_array().unwrap())
        .map(|goal| goal.as_str().unwrap())
        .collect();
    for goal in ["auto", "auto:space", "auto:latency", "auto:disk"] {
        assert_eq!(chosen.iter().filter(|chosen| **chosen == goal).count(), 1, "{goal}");
    }
    for plan in &plans {
        assert!(plan["bytes"].as_f64().unwrap() > 1e6 && plan["probes"].as_f64().unwrap() >= 1.0, "{plan}");
    }
}

#[test]
fn the_list_loads_nothing() {
    let place = Place::new();
    let store = place.path("store");
    fails(fpload().args(["--plan", "list"]).arg(&store), &["leave out STORE"]);
    fails(fpload().args(["--plan", "list", "--create"]), &["leave out STORE"]);
    fails(fpload().args(["--plan", "list", "--width", "128"]), &["not supported yet"]);
    assert!(!store.exists());
}

#[test]
fn every_plan_and_codec_answers_the_same() {
    let place = Place::new();
    let records = families(2000, 1);
    let input = place.file("a.tsv", lines(&records));
    let queries: Vec<u64> = records.iter().step_by(5).map(|(fingerprint, _)| fingerprint ^ (1 << 40) ^ 1).collect();
    let text = hex_lines(queries.iter().copied());
    let mut plans: Vec<String> = json_lines(&stdout(fpload().args(["--plan", "list", "--json"])))
        .iter()
        .map(|plan| plan["plan"].as_str().unwrap().to_owned())
        .collect();
    plans.extend(["auto:space", "auto:latency", "auto:disk", "tables-7"].map(str::to_owned));
    let expected = brute_force_lines(&records, &queries, 3);
    for plan in plans {
        for codec in ["adaptive", "xor"] {
            let store = place.path(&format!("{plan}-{codec}"));
            let mut load = fpload();
            load.args(["--create", "--json", "--codec", codec, "--plan", &plan]).arg(&store).arg(&input);
            let report = json_object(&stdout(&mut load));
            assert_eq!(report["codec"], codec);
            assert!(plan.starts_with("auto") || report["plan"] == plan.as_str(), "{report}");
            assert_eq!(stdout(fpquery().arg(&store).write_stdin(text.clone())), expected, "{plan} {codec}");
        }
    }
}
