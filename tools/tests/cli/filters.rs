//! Prefix filters: their memory limit, and warnings about filters that do not fit.

use crate::support::{Place, Random, fails, fpdump, fpload, fpquery, json_object, lines, stdout};

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
            "wanted_bytes": 2 * ONE, "built_bytes": built, "refused_bytes": 2 * ONE - built, "failed_bytes": 0,
            "budget_bytes": memory,
        });
        assert_eq!(report["filters"], expected);
    }
    let report = json_object(&stdout(fpdump().args(["stats", "--json"]).arg(&store)));
    assert_eq!((&report["filter_bytes"], &report["filters"]["wanted_bytes"]), (&(2 * ONE).into(), &(2 * ONE).into()));
    assert_eq!(report["filters"]["built_bytes"], 0, "fpdump makes none");
    assert!(report["filters"]["budget_bytes"].as_u64().unwrap() > 0, "{report}");
    assert!(stdout(fpdump().arg("stats").arg(&store)).contains("prefix filters"));
}
