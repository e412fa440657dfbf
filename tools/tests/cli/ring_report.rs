//! `fpring report`: its measurements, and the goals that they have to reach.

use serde_json::Value;

use crate::support::{Place, fails, fpring, json_object, stdout};

/// Creates a ring file of ten nodes.
fn ten(place: &Place) -> std::path::PathBuf {
    let file = place.path("ring.json");
    let nodes = (0..10).map(|number| format!("n{number}"));
    stdout(fpring().arg("create").arg(&file).args(nodes));
    file
}

fn row<'a>(report: &'a Value, placement: &str, virtual_nodes: Option<u64>) -> &'a Value {
    let is_it = |row: &&Value| row["placement"] == placement && row["virtual"].as_u64() == virtual_nodes;
    report["rows"].as_array().unwrap().iter().find(is_it).unwrap()
}

#[test]
fn the_goals_are_reached() {
    let place = Place::new();
    let file = ten(&place);
    let report = json_object(&stdout(fpring().args(["report", "--json"]).arg(&file)));
    assert_eq!((&report["nodes"], &report["keys"], &report["views"]), (&10.into(), &100_000.into(), &16.into()));
    let number = |row: &Value, path: &str| row.pointer(path).unwrap().as_f64().unwrap();

    let best = row(&report, "ring", Some(1024));
    assert!(number(best, "/balance/deviation") <= 0.04 && number(best, "/balance/exact_deviation") <= 0.04, "{best}");
    for (change, ideal) in [("joins", 1.0 / 11.0), ("leaves", 0.1)] {
        let of = |what: &str| number(best, &format!("/monotonicity/{change}/{what}"));
        assert!((of("ideal") - ideal).abs() < 1e-9 && (of("moved") / ideal - 1.0).abs() <= 0.05, "{best}");
    }
    // No ring, nor rendezvous hashing, moves a key between other nodes; the remainder moves nearly all.
    let rings = [1, 4, 16, 64, 128, 256, 1024].map(|virtual_nodes| row(&report, "ring", Some(virtual_nodes)));
    let rendezvous = row(&report, "rendezvous", None);
    for row in rings.into_iter().chain([rendezvous]) {
        assert_eq!(number(row, "/monotonicity/joins/between_others"), 0.0, "{row}");
        assert_eq!(number(row, "/monotonicity/leaves/between_others"), 0.0, "{row}");
        assert_eq!(number(row, "/monotonicity/broken"), 0.0, "{row}");
        assert!(number(row, "/spread/mean") < 5.0 && number(row, "/spread/most") <= 10.0, "{row}");
        assert!(number(row, "/load/mean") >= 1.0, "{row}");
    }
    let modulo = row(&report, "hash mod N", None);
    assert!((number(modulo, "/monotonicity/joins/moved") - 10.0 / 11.0).abs() < 0.01, "{modulo}");
    assert!((number(modulo, "/monotonicity/leaves/moved") - 0.9).abs() < 0.01, "{modulo}");
    assert!(number(modulo, "/spread/mean") > number(best, "/spread/mean"), "{modulo}");
    let jump = row(&report, "jump", None);
    assert_eq!(number(jump, "/monotonicity/joins/between_others"), 0.0, "{jump}");
    assert!(number(jump, "/balance/deviation") < 0.02, "{jump}");
    let deviations = rings.map(|row| number(row, "/balance/deviation"));
    assert!(deviations[0] > 0.3 && deviations[0] > deviations[3] && deviations[3] > deviations[6], "{deviations:?}");
}

#[test]
fn the_report_for_people_and_its_picture() {
    let place = Place::new();
    let (file, picture) = (ten(&place), place.path("ring.svg"));
    let command = |more: &[&str]| stdout(fpring().args(["report", "--keys", "5000"]).args(more).arg(&file));
    let text = command(&["--picture", picture.to_str().unwrap()]);
    assert!(text.contains("5,000 keys on 10 nodes, placed by xxh64"), "{text}");
    assert_eq!(text.lines().filter(|line| line.starts_with("ring 1,024 ")).count(), 2, "{text}");
    assert_eq!(text.lines().filter(|line| line.starts_with("hash mod N ")).count(), 2, "{text}");
    assert!(text.lines().all(|line| line.len() <= 100), "{text}");
    let svg = std::fs::read_to_string(picture).unwrap();
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n") && svg.matches("rendezvous").count() >= 3);
    // The same seed gives the same views, for any number of threads.
    assert_eq!(command(&[]), command(&["--threads", "1"]));
    assert_ne!(command(&[]), command(&["--seed", "2"]));
    assert!(!command(&["--quiet"]).contains("placed by"));
    fails(fpring().args(["report", "--picture", "a.png"]).arg(&file), &["--picture a.png", ".svg"]);
    fails(fpring().args(["report", "--keys", "0"]).arg(&file), &["--keys"]);
    let single = place.path("single.json");
    stdout(fpring().arg("create").arg(&single).arg("a"));
    let report = json_object(&stdout(fpring().args(["report", "--json", "--keys", "100"]).arg(&single)));
    assert!(row(&report, "ring", Some(1))["monotonicity"]["leaves"].is_null());
}
