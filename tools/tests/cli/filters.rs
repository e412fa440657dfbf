//! Prefix filters: their memory limit, warnings about filters that do not fit, and saving them.

use crate::support::{Place, Random, fails, fpdump, fpload, fpquery, json_object, lines, stdout};

use std::fs;
use std::path::{Path, PathBuf};

/// Bytes of the filter of one table of [`store`].
const ONE: u64 = 65_664;

/// Creates a store of two tables, each large enough for a filter.
fn store(place: &Place) -> PathBuf {
    let mut random = Random::new(61);
    let records: Vec<_> = (0..70_000).map(|id| (random.next(), id)).collect();
    let store = place.path("store");
    fpload()
        .args(["--create", "--plan", "tables-2"])
        .arg(&store)
        .arg("-")
        .write_stdin(lines(&records))
        .assert()
        .success();
    store
}

/// Returns the standard error of so many queries.
fn told_by(queries: usize, store: &Path, options: &[&str]) -> String {
    let queries = vec!["0000000000000001"; queries];
    let assert = fpquery().args(options).arg(store).args(queries).assert().code(1).stdout("");
    String::from_utf8(assert.get_output().stderr.clone()).unwrap()
}

/// Returns the standard error of a query.
fn told(store: &Path, options: &[&str]) -> String {
    told_by(1, store, options)
}

#[test]
fn filters_that_do_not_fit_are_told_with_the_remedy() {
    let place = Place::new();
    let store = store(&place);
    // By default, a few queries make none.
    for (queries, options) in [(257, &["--batch", "never"][..]), (1, &["--filter", "on"])] {
        let warning = told_by(queries, &store, &[options, &["--filter-memory", "64KiB"]].concat());
        let expected = "fpquery: warning: prefix filters take 128.2 KiB and may take 64.0 KiB: 64.2 KiB are left out, \
                        so queries read more blocks; --filter-memory 129KiB allows all\n";
        assert_eq!(warning, expected, "{options:?}");
        let told = |more: &[&str]| told_by(queries, &store, &[options, more].concat());
        assert_eq!(told(&["--filter-memory", "129KiB"]), "", "{options:?}");
        assert_eq!(told(&["--filter-memory", "64KiB", "--quiet"]), "");
    }
    assert_eq!(told_by(256, &store, &["--batch", "never", "--filter-memory", "0"]), "");
    for options in [&[][..], &["--filter", "off"], &["--scan"], &["--batch", "always"]] {
        assert_eq!(told(&store, &[options, &["--filter-memory", "0"]].concat()), "", "{options:?}");
    }
    fails(
        fpquery().args(["--filter-memory", "much"]).arg(&store).arg("0000000000000001"),
        &["--filter-memory", "512M"],
    );
    fails(fpquery().args(["--filter-memory", "1MiB", "--corpus", "-", "0000000000000001"]), &["--filter-memory"]);
}

#[test]
fn statistics_tell_what_is_made_and_what_is_left_out() {
    let place = Place::new();
    let store = store(&place);
    // Filters have whole lines of 64 bytes.
    let half = ONE / 2 / 64 * 64;
    for (memory, built) in [(0, 0), (ONE, 2 * half), (2 * ONE - 1, 2 * ONE - 128), (2 * ONE, 2 * ONE)] {
        let memory_option = memory.to_string();
        let told = told(&store, &["--filter", "on", "--filter-memory", &memory_option, "--quiet", "--stats", "--json"]);
        let report = json_object(&told);
        assert_eq!(report["filter_bytes"], built, "{report}");
        let expected = serde_json::json!({
            "wanted_bytes": 2 * ONE, "built_bytes": built, "saved_bytes": 0, "refused_bytes": 2 * ONE - built,
            "failed_bytes": 0, "budget_bytes": memory,
        });
        assert_eq!(report["filters"], expected);
    }
    let report = json_object(&stdout(fpdump().args(["stats", "--json"]).arg(&store)));
    assert_eq!((&report["filter_bytes"], &report["filters"]["wanted_bytes"]), (&(2 * ONE).into(), &(2 * ONE).into()));
    assert_eq!(report["filters"]["built_bytes"], 0, "fpdump makes none");
    assert!(report["filters"]["budget_bytes"].as_u64().unwrap() > 0, "{report}");
    assert!(stdout(fpdump().arg("stats").arg(&store)).contains("prefix filters"));
}

#[test]
fn saved_filters_are_used_and_go_with_their_segment() {
    let place = Place::new();
    let store = store(&place);
    let file = store.join("00000001.filters");
    let save = |options: &[&str], saved: u64| {
        let report = json_object(&stdout(fpload().args(["--save-filters", "--json"]).args(options).arg(&store)));
        assert_eq!((&report["filter_bytes_saved"], &report["records"]), (&saved.into(), &0.into()), "{report}");
    };
    let dry = fpload().args(["--save-filters", "--dry-run"]).arg(&store).assert().success();
    let said = String::from_utf8_lossy(&dry.get_output().stderr).into_owned();
    assert!(said.contains("would get files of its prefix filters") && !file.exists(), "{said}");
    save(&[], 2 * ONE + 64);
    save(&[], 0);
    let again = fpload().args(["--save-filters", "--memory", "64MiB"]).arg(&store).assert().success();
    let said = String::from_utf8_lossy(&again.get_output().stderr).into_owned();
    assert!(said.contains("nothing to do: 128.2 KiB are saved") && !said.contains("records a second"), "{said}");
    let used = |saved: u64| {
        let report = json_object(&told(&store, &["--filter", "on", "--quiet", "--stats", "--json"]));
        assert_eq!(report["filters"]["built_bytes"], 2 * ONE);
        assert_eq!(report["filters"]["saved_bytes"], saved, "{report}");
    };
    used(2 * ONE);
    stdout(fpdump().arg("verify").arg(&store));
    stdout(fpdump().arg("verify").arg(&file));
    assert!(stdout(fpdump().arg("hex").arg(&file)).contains("table 1 words"));
    // Damage is reported, and changes no answer.
    let mut bytes = fs::read(&file).unwrap();
    bytes[1000] ^= 1;
    fs::write(&file, &bytes).unwrap();
    used(ONE);
    for damaged in [&store, &file] {
        let report = fpdump().arg("verify").arg(damaged).assert().code(1).get_output().stdout.clone();
        let report = String::from_utf8(report).unwrap();
        assert!(
            report.contains("00000001.filters: filters, offset 64") && report.contains("remove the file"),
            "{report}"
        );
    }
    save(&[], 2 * ONE + 64);
    // Loads save those of the new segment too; compaction removes the files.
    let report = json_object(&stdout(
        fpload()
            .args(["--save-filters", "--compact", "--json"])
            .arg(&store)
            .arg("-")
            .write_stdin("0123456789abcdef\t70001\n"),
    ));
    assert!(report["filter_bytes_saved"].as_u64() > Some(2 * ONE), "{report}");
    assert!(!file.exists() && store.join("00000003.filters").exists());
    fails(fpload().args(["--create", "--kind", "keys", "--save-filters"]).arg(place.path("keys")), &["--save-filters"]);
}
