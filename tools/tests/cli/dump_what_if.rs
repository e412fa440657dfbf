//! `fpdump what-if`: its numbers are those of a store with these parameters.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::points::every;
use crate::support::{Place, Random, fails, fpdump, fpload, fpquery, hex_lines, json_object, stdout, store_files};

/// Returns 85,364 fingerprints of real documents; see tests/data/README.md.
fn real() -> Vec<u8> {
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/data/real_simhash64.u64")).unwrap()
}

/// Creates a store of the real fingerprints, loaded in two parts.
fn real_store(place: &Place, name: &str, options: &[&str]) -> PathBuf {
    let store = place.path(name);
    let real = real();
    let (first, second) = real.split_at(8 * 50_000);
    let parts = [place.file("1.u64", first), place.file("2.u64", second)];
    fpload().arg("--create").args(options).arg(&store).arg(&parts[0]).assert().success();
    fpload().arg(&store).arg(&parts[1]).assert().success();
    store
}

fn uniform_store(place: &Place, count: usize) -> PathBuf {
    let mut random = Random::new(17);
    let fingerprints: Vec<u8> = (0..count).flat_map(|_| random.next().to_le_bytes()).collect();
    let (store, input) = (place.path("uniform"), place.file("uniform.u64", fingerprints));
    fpload().arg("--create").arg(&store).arg(&input).assert().success();
    store
}

fn what_if(path: &Path, options: &[&str]) -> Value {
    json_object(&stdout(fpdump().args(["what-if", "--json"]).args(options).arg(path)))
}

fn stats(path: &Path) -> Value {
    json_object(&stdout(fpdump().args(["stats", "--json", "--draw", "never"]).arg(path)))
}

fn rows(report: &Value) -> &Vec<Value> {
    report["alternatives"].as_array().unwrap()
}

/// Returns plan, codec and block size.
fn kind(row: &Value) -> (&str, &str, u64) {
    (row["plan"].as_str().unwrap(), row["codec"].as_str().unwrap(), row["block_size"].as_u64().unwrap())
}

fn row<'a>(report: &'a Value, wanted: (&str, &str, u64)) -> &'a Value {
    let kinds: Vec<_> = rows(report).iter().map(kind).collect();
    let place = kinds.iter().position(|kind| *kind == wanted).unwrap_or_else(|| panic!("no {wanted:?} in {kinds:?}"));
    &rows(report)[place]
}

/// Returns the only row that describes the current store.
fn current(report: &Value) -> &Value {
    let current: Vec<&Value> = rows(report).iter().filter(|row| row["current"] == true).collect();
    assert_eq!(current.len(), 1, "{report}");
    current[0]
}

fn table_bytes(stats: &Value) -> u64 {
    let tables = stats["tables"].as_array().unwrap();
    let fields = ["data_bytes", "index_bytes", "code_bytes"];
    tables.iter().flat_map(|table| fields.map(|field| table[field].as_u64().unwrap())).sum()
}

/// Checks that the row agrees with `stats` on every table of the store.
fn assert_same(row: &Value, stats: &Value) {
    assert_eq!(row["by_table"], stats["tables"]);
    assert_eq!(row["resident_bytes"], stats["resident_bytes"], "{row}");
    assert_eq!(row["filter_bytes"], stats["filter_bytes"], "{row}");
    assert_eq!(row["bytes"], table_bytes(stats), "{row}");
    assert_eq!(row["estimated"], false);
    let bits = table_bytes(stats) as f64 * 8.0
        / (stats["fingerprints"].as_f64().unwrap() * stats["tables"].as_array().unwrap().len() as f64);
    assert!((row["bits_per_fingerprint"].as_f64().unwrap() - bits).abs() < 1e-9, "{row}");
    assert_eq!(row["information_bound_bits"], stats["tables"][0]["information_bound_bits"]);
}

#[test]
fn the_row_of_the_store_is_what_stats_says() {
    let place = Place::new();
    let stores = [
        ("default", ["--plan", "tables-2", "--codec", "adaptive", "--block-size", "512"]),
        ("other", ["--plan", "choose-2-of-5", "--codec", "xor", "--block-size", "2048"]),
    ];
    let cases = stores.into_iter().flat_map(|store| [(store, ""), (store, "00000002.segment")]);
    // A short run takes one of the stores, or one of its segments.
    for ((name, options), part) in every(4, cases) {
        let store = real_store(&place, &format!("{name}{part}"), &options);
        let path = &if part.is_empty() { store } else { store.join(part) };
        let (report, stats) = (what_if(path, &[]), stats(path));
        let current = current(&report);
        assert_eq!(kind(current), (options[1], options[3], options[5].parse().unwrap()));
        assert_same(current, &stats);
        assert_eq!(current["bytes_ratio"], 1.0);
        assert_eq!(report["bytes"], table_bytes(&stats));
        assert_eq!((&report["fingerprints"], &report["segments"]), (&stats["fingerprints"], &stats["segments"]));
    }
}

#[test]
fn a_store_made_like_another_row_has_exactly_its_sizes() {
    let place = Place::new();
    let store = real_store(&place, "store", &["--plan", "tables-2", "--block-size", "512"]);
    let report = what_if(&store, &[]);
    let named = what_if(&store, &["--plan", "nested-3x2", "--codec", "xor", "--block-size", "64KiB"]);
    let all = [
        (&report, ("tables-2", "xor", 256)),
        (&report, ("tables-2", "adaptive", 16384)),
        (&report, ("tables-3", "adaptive", 512)),
        (&report, ("choose-3-of-6", "adaptive", 512)),
        (&named, ("nested-3x2", "xor", 65536)),
    ];
    for (report, wanted) in every(5, all) {
        let (plan, codec, block_size) = (wanted.0, wanted.1, wanted.2.to_string());
        let options = ["--plan", plan, "--codec", codec, "--block-size", &block_size];
        let made = real_store(&place, &format!("{plan}-{codec}-{block_size}"), &options);
        let (row, stats) = (row(report, wanted), stats(&made));
        assert_same(row, &stats);
        let ratio = table_bytes(&stats) as f64 / report["bytes"].as_f64().unwrap();
        assert!((row["bytes_ratio"].as_f64().unwrap() - ratio).abs() < 1e-9, "{row}");
        let files: u64 = store_files(&made).iter().map(|(_, bytes)| bytes.len() as u64).sum();
        let ids = stats["id_bytes"].as_u64().unwrap();
        assert!((1..9000).contains(&(files - ids - row["bytes"].as_u64().unwrap())), "headers, footers, manifest");
    }
}

#[test]
fn a_sample_estimates_what_all_would_give() {
    let place = Place::new();
    let real = real_store(&place, "real", &[]);
    let uniform = uniform_store(&place, 300_000);
    let options = ["--plan", "tables-2", "--plan", "nested-4x4", "--codec", "adaptive", "--codec", "xor"];
    // Real fingerprints vary from one end of a table to the other; uniform ones do not.
    for (store, sample, tolerance) in every(2, [(&real, "12000", 0.02), (&uniform, "30000", 0.002)]) {
        let exact = what_if(store, &options);
        let sampled = what_if(store, &[options.as_slice(), &["--sample", sample]].concat());
        assert_eq!(rows(&exact).len(), 4);
        for (exact, sampled) in rows(&exact).iter().zip(rows(&sampled)) {
            assert_eq!((kind(exact), &exact["current"]), (kind(sampled), &sampled["current"]));
            assert_eq!((&exact["estimated"], &sampled["estimated"]), (&false.into(), &true.into()));
            // Every chunk of an index takes 256 bytes for searching, however few its blocks.
            for (field, tolerance) in [("bytes", tolerance), ("resident_bytes", 0.2), ("blocks_read", 0.02)] {
                let [exact, sampled] = [exact, sampled].map(|row| row[field].as_f64().unwrap());
                assert!((sampled / exact - 1.0).abs() < tolerance, "{field}: {exact} {sampled}");
            }
            assert_eq!(exact["by_table"][0]["fingerprints"], sampled["by_table"][0]["fingerprints"]);
        }
    }
    let text = stdout(fpdump().args(["what-if", "--sample", "1"]).arg(&uniform));
    assert!(text.contains("as it is, estimate"), "{text}");
}

#[test]
fn queries_do_about_what_is_predicted() {
    let place = Place::new();
    let store = uniform_store(&place, 100_000);
    let mut random = Random::new(23);
    let queries = hex_lines((0..500).map(|_| random.next()));
    let mut blocks = Vec::new();
    for filter in ["on", "off"] {
        let report = what_if(&store, &["--filter", filter, "--plan", "tables-2", "--plan", "tables-4"]);
        assert_eq!(report["filter"], filter == "on");
        assert_same(current(&report), &stats(&store));
        assert!(current(&report)["filter_bytes"].as_u64() > Some(100_000), "{report}");
        let output = fpquery()
            .args(["--filter", filter, "--stats", "--json"])
            .arg(&store)
            .write_stdin(queries.clone())
            .output()
            .unwrap();
        let done = json_object(&String::from_utf8(output.stderr).unwrap());
        for field in ["probes", "blocks_read", "candidates"] {
            let (predicted, done) = (current(&report)[field].as_f64().unwrap(), done[field].as_f64().unwrap() / 500.0);
            assert!((0.7..1.4).contains(&(predicted / done)), "{field}, filter {filter}: {predicted} and {done}");
        }
        blocks.push(current(&report)["blocks_read"].as_f64().unwrap());
    }
    assert!(blocks[0] < blocks[1] / 3.0, "{blocks:?}");
}

#[test]
fn what_is_tried() {
    let place = Place::new();
    let store = place.path("store");
    let mut random = Random::new(3);
    let input = hex_lines((0..3000).map(|_| random.next()));
    fpload()
        .args(["--create", "--plan", "tables-3", "--block-size", "2KiB"])
        .arg(&store)
        .arg("-")
        .write_stdin(input)
        .assert()
        .success();
    let report = what_if(&store, &[]);
    let kinds: Vec<_> = rows(&report).iter().map(kind).collect();
    let sizes = |codec, sizes: &[u64]| sizes.iter().map(|&size| ("tables-3", codec, size)).collect::<Vec<_>>();
    let plans = ["tables-1", "tables-2", "tables-4", "choose-2-of-5", "nested-4x4", "choose-3-of-6"];
    let mut expected = sizes("adaptive", &[256, 512, 1024, 2048, 4096, 16384]);
    expected.extend(sizes("xor", &[256, 512, 1024, 4096, 16384]));
    expected.extend(plans.map(|plan| (plan, "adaptive", 2048)));
    assert_eq!(kinds, expected);
    assert_eq!(report["max_distance"], 3);

    // Plans whose tables would not all be probed are left out.
    let report = what_if(&store, &["--max-distance", "1"]);
    let plans: Vec<&str> = rows(&report)[11..].iter().map(|row| kind(row).0).collect();
    assert_eq!(plans, ["tables-1", "tables-2", "choose-2-of-5", "choose-3-of-6"]);
    let cost = |report: &Value| current(report)["blocks_read"].as_f64().unwrap();
    assert!(cost(&report) < cost(&what_if(&store, &["--max-distance", "6"])));

    // Every combination of the named values, and the current store.
    let options = ["--codec", "xor", "--block-size", "1KiB", "--block-size", "256", "--block-size", "1024"];
    let kinds = |report: &Value| -> Vec<String> { rows(report).iter().map(|row| format!("{:?}", kind(row))).collect() };
    let expected = [("adaptive", 2048), ("xor", 256), ("xor", 1024)].map(|(codec, size)| ("tables-3", codec, size));
    assert_eq!(kinds(&what_if(&store, &options)), expected.map(|kind| format!("{kind:?}")));
    let expected = [("tables-3", "adaptive", 2048), ("choose-1-of-2", "adaptive", 2048)];
    assert_eq!(kinds(&what_if(&store, &["--plan", "choose-1-of-2"])), expected.map(|kind| format!("{kind:?}")));
}

#[test]
fn for_people() {
    let place = Place::new();
    let store = uniform_store(&place, 2000);
    let text = stdout(fpdump().arg("what-if").arg(&store));
    for part in [
        "2,000 fingerprints",
        "within distance 3, with filters",
        "bits each",
        "beside now",
        "candidates",
        "choose-2-of-5",
    ] {
        assert!(text.contains(part), "no '{part}' in {text}");
    }
    let marked: Vec<&str> = text.lines().filter(|line| line.ends_with("as it is")).collect();
    assert_eq!(marked.len(), 1, "{text}");
    assert!(marked[0].starts_with("tables-2") && marked[0].contains(" 1.000 "), "{text}");
    let quiet = stdout(fpdump().args(["what-if", "--quiet"]).arg(&store));
    assert!(quiet.starts_with("plan ") && text.ends_with(&quiet), "{quiet}");
    let threads = |n| stdout(fpdump().args(["what-if", "--json", "--threads", n]).arg(&store));
    assert_eq!(threads("1"), threads("5"));
}

#[test]
fn an_empty_store_has_nothing_in_every_row() {
    let place = Place::new();
    let store = place.path("store");
    fpload().arg("--create").arg(&store).assert().success();
    let report = what_if(&store, &[]);
    assert_eq!(rows(&report).len(), 16);
    assert_eq!(current(&report)["by_table"], stats(&store)["tables"]);
    for row in rows(&report) {
        assert_eq!((&row["bytes"], &row["bits_per_fingerprint"]), (&0.into(), &0.0.into()));
        assert!(row["bytes_ratio"].is_null() && row["information_bound_bits"].is_null(), "{row}");
    }
}

#[test]
fn wrong_use_and_damage() {
    let place = Place::new();
    let store = uniform_store(&place, 2000);
    for (options, part) in [
        (["--codec", "zip"], "there is no codec 'zip'"),
        (["--block-size", "500"], "block size 500 is not possible"),
        (["--block-size", "64"], "power of two from 128"),
        (["--block-size", "128KiB"], "block size 131072 is not possible"),
        (["--block-size", "1000GiB"], "too large"),
        (["--plan", "list"], "there is no plan 'list'"),
        (["--plan", "tables-65"], "does not fit 64-bit fingerprints"),
        (["--plan", "choose-9-of-64"], "does not fit 64-bit fingerprints"),
        (["--max-distance", "65"], "65"),
        (["--filter", "maybe"], "maybe"),
        (["--sample", "0"], "0"),
        (["--sample", "all"], "all"),
    ] {
        fails(fpdump().arg("what-if").args(options).arg(&store), &[part]);
    }
    fails(fpdump().args(["what-if", "--codec", "xor"]), &["PATH"]);
    fails(fpdump().arg("what-if").arg(place.path("none")), &["none"]);

    let (segment, mut bytes) = store_files(&store).into_iter().max_by_key(|(_, bytes)| bytes.len()).unwrap();
    bytes[100] ^= 1;
    std::fs::write(&segment, bytes).unwrap();
    fails(fpdump().arg("what-if").arg(&store), &["00000001.segment", "checksum of a page", "fpdump verify"]);
}

/// Creates a key index of 2,000 records with ten keys each, some of which are equal in their first 20 bits.
fn key_index(place: &Place, name: &str, options: &[&str]) -> PathBuf {
    let mut random = Random::new(23);
    let mut key = || if random.below(2) == 0 { random.next() } else { random.below(1 << 30) << 24 };
    let line = |id: u32, keys: Vec<String>| format!("{{\"id\":{id},\"keys\":[{}]}}\n", keys.join(","));
    let lines: String = (0..2000).map(|id| line(id, (0..10).map(|_| key().to_string()).collect())).collect();
    let (store, input) = (place.path(name), place.file("keys.ndjson", lines));
    fpload().args(["--quiet", "--create", "--kind", "keys"]).args(options).arg(&store).arg(input).assert().success();
    store
}

#[test]
fn a_key_index_with_shorter_keys_and_other_blocks_has_the_predicted_tables() {
    let place = Place::new();
    let store = key_index(&place, "index", &["--key-bits", "44"]);
    let report = what_if(&store, &[]);
    assert_eq!(current(&report)["key_bits"], 44);
    let mut tried = 0;
    for row in rows(&report) {
        let [bits, size] = ["key_bits", "block_size"].map(|field| row[field].to_string());
        let other = key_index(&place, &format!("{bits}-{size}"), &["--key-bits", &bits, "--block-size", &size]);
        let views = fpstore::inspect::open(other.join("00000002.segment"), &fpstore::Options::new()).unwrap();
        let of_table =
            |section: &fpstore::inspect::Section| section.name.starts_with("table").then_some(section.length);
        let bytes: u64 = views[0].sections().iter().filter_map(of_table).sum();
        assert_eq!(row["bytes"], bytes, "{row}");
        assert_eq!(row["by_table"][0]["fingerprints"], stats(&other)["distinct_keys"], "{row}");
        tried += 1;
    }
    assert_eq!(tried, 8, "{report}");
    let shorter = what_if(&store, &["--key-bits", "20", "--key-bits", "32"]);
    let bits: Vec<u64> = rows(&shorter).iter().map(|row| row["key_bits"].as_u64().unwrap()).collect();
    assert_eq!(bits, [44, 32, 20]);
    let text = stdout(fpdump().args(["what-if", "--key-bits", "32"]).arg(&store));
    assert!(text.contains("key bits") && text.contains("without numbers of records and sketches"), "{text}");
    fails(fpdump().args(["what-if", "--key-bits", "45"]).arg(&store), &["keys of 45 bits", "44"]);
    fails(
        fpdump().args(["what-if", "--plan", "tables-2"]).arg(&store),
        &["--plan and --codec are not for key indexes"],
    );
    let fingerprints = uniform_store(&place, 10);
    fails(fpdump().args(["what-if", "--key-bits", "32"]).arg(&fingerprints), &["--key-bits is for key indexes"]);
    // The blocks of an index are those of its records and of its keys.
    let text = stdout(fpdump().arg("blocks").arg(&store));
    assert!(text.contains("00000001.segment, table 0") && text.contains("00000002.segment, table 0"), "{text}");
    // The segment of keys alone.
    let segment = store.join("00000002.segment");
    assert_eq!(current(&what_if(&segment, &[]))["bytes"], current(&report)["bytes"]);
}
