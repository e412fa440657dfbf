//! `fpload --plan list`; every plan and codec gives the same answers.

use crate::points::every;
use crate::support::{
    Place, Random, brute_force_lines, fails, families, fpdump, fpload, fpquery, hex_lines, json_lines, json_object,
    lines, stdout,
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
    fails(fpload().args(["--plan", "list"]).arg(&store), &["store"]);
    fails(fpload().args(["--plan", "list", "--create"]), &["leave out --create"]);
    fails(fpload().args(["--plan", "list"]).arg(place.file("none.tsv", "")), &["no records"]);
    fails(fpload().args(["--plan", "list", "--width", "127"]), &["expected 64, 128 or 256"]);
    for (width, distance) in [("128", "6"), ("256", "31")] {
        let wide = ["--plan", "list", "--json", "--width", width, "--max-distance", distance];
        assert!(json_lines(&stdout(fpload().args(wide))).len() > 1);
    }
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

/// Compares predicted and measured work of a query: `fpload --plan list INPUT`, `fpdump plan` and `fpquery --stats`.
fn agree(values: &[u64], factor: f64) {
    let place = Place::new();
    let input = place.file("a.txt", hex_lines(values.iter().copied()));
    let list = json_lines(&stdout(fpload().args(["--plan", "list", "--json"]).arg(&input)));
    let listed = list.iter().find(|plan| plan["plan"] == "tables-2").unwrap();
    assert_eq!(listed["from_data"], true);
    let store = place.path("store");
    fpload().args(["--create", "--plan", "tables-2"]).arg(&store).arg(&input).assert().success();
    let predicted = &json_object(&stdout(fpdump().args(["plan", "--json"]).arg(&store)))["predicted"];
    let mut random = Random::new(3);
    let near: Vec<u64> =
        (0..1000).map(|_| random.below(values.len() as u64)).map(|i| values[usize::try_from(i).unwrap()]).collect();
    let near = hex_lines(near.into_iter().map(|value| random.flipped(value, 3)));
    for (filter, listed, dumped) in
        [("on", listed, &predicted["with_filters"]), ("off", &listed["without_filters"], &predicted["without_filters"])]
    {
        let mut query = fpquery();
        query.args(["--stats", "--json", "--threads", "1", "--filter", filter]).arg(&store);
        let output = query.write_stdin(near.clone()).assert().success().get_output().clone();
        let measured = json_object(String::from_utf8(output.stderr).unwrap().lines().last().unwrap());
        for part in ["probes", "blocks_read", "candidates"] {
            let (said, is) = (listed[part].as_f64().unwrap(), measured[part].as_f64().unwrap() / 1000.0);
            assert!((is / factor..=is * factor).contains(&said), "{filter} {part}: {said} for {is}");
            assert_eq!(listed[part], dumped[part], "{filter} {part}");
        }
    }
}

#[test]
fn the_list_and_the_dump_agree_with_what_queries_did() {
    let mut random = Random::new(1);
    let uniform = (0..100_000).map(|_| random.next()).collect::<Vec<_>>();
    let real = std::fs::read("../tests/data/real_simhash64.u64").unwrap();
    let real: Vec<u64> = real.chunks_exact(8).map(|bytes| u64::from_le_bytes(bytes.try_into().unwrap())).collect();
    // Enough fingerprints for filters.
    let more = real.iter().flat_map(|&value| [value, random.flipped(value, 6)]).collect::<Vec<_>>();
    // A short run takes one of the sets.
    every(3, [(uniform, 1.5), (real, 2.5), (more, 2.5)]).for_each(|(values, factor)| agree(&values, factor));
}

#[test]
fn a_list_for_data_may_be_for_more_of_it() {
    let place = Place::new();
    let input = place.file("a.tsv", lines(&families(3000, 5)));
    let list = |more: &[&str]| stdout(fpload().args(["--plan", "list"]).args(more).arg(&input));
    let text = list(&["--records", "50000000"]);
    assert!(text.contains("50,000,000 fingerprints like") && text.contains("near nothing costs less"), "{text}");
    for plan in json_lines(&list(&["--json", "--records", "50000000"])) {
        assert_eq!(plan["fingerprints"], 50_000_000);
        assert!(plan["filter_bytes"].as_f64().unwrap() > 4e7, "{plan}");
    }
}
