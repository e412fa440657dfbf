//! The drawings of `fpdump stats`, and the numbers behind them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::support::{Pair, Place, Random, fails, fpdump, fpload, json_lines, json_object, lines, stdout};

/// Pairs of a value and its count.
type Counts = BTreeMap<u64, u64>;

/// Returns records with 30,000 real fingerprints (see tests/data/README.md) and 10,000 evenly and closely spaced ones,
/// for which blocks of another kind are used.
fn records() -> Vec<Pair> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/data/real_simhash64.u64");
    let bytes = std::fs::read(path).unwrap();
    let real = bytes.chunks_exact(8).take(30_000).map(|chunk| u64::from_le_bytes(chunk.try_into().unwrap()));
    let mut random = Random::new(5);
    real.chain((0..10_000).map(|_| random.below(1 << 30))).zip(0..).collect()
}

/// Creates a store of two segments; returns also the fingerprints of each, sorted and distinct.
fn mixed_store(place: &Place) -> (PathBuf, [Vec<u64>; 2]) {
    let records = records();
    let (first, second) = records.split_at(20_000);
    let store = place.store_with(first, &["--plan", "tables-2", "--block-size", "512"]);
    fpload().arg(&store).arg("-").write_stdin(lines(second)).assert().success();
    let distinct = |records: &[Pair]| {
        let mut fingerprints: Vec<u64> = records.iter().map(|(fingerprint, _)| *fingerprint).collect();
        fingerprints.sort_unstable();
        fingerprints.dedup();
        fingerprints
    };
    (store, [distinct(first), distinct(second)])
}

fn counted(values: impl IntoIterator<Item = u64>) -> Counts {
    values.into_iter().fold(Counts::new(), |mut counts, value| {
        *counts.entry(value).or_default() += 1;
        counts
    })
}

fn counts(pairs: &Value) -> Counts {
    let pairs = pairs.as_array().unwrap().iter().map(|pair| (pair[0].as_u64().unwrap(), pair[1].as_u64().unwrap()));
    let counts: Counts = pairs.clone().collect();
    assert_eq!(counts.len(), pairs.count(), "no value twice");
    assert!(counts.values().all(|&count| count > 0));
    counts
}

fn distributions(path: &Path) -> Value {
    json_object(&stdout(fpdump().args(["stats", "--json", "--draw", "always"]).arg(path)))["distributions"].clone()
}

#[test]
fn the_numbers_are_those_of_the_blocks_and_of_the_fingerprints() {
    let place = Place::new();
    let (store, fingerprints) = mixed_store(&place);
    let found = distributions(&store);

    let blocks = json_lines(&stdout(fpdump().args(["blocks", "--json"]).arg(&store)));
    let number = |block: &Value, field: &str| block[field].as_u64().unwrap();
    assert_eq!(counts(&found["fingerprints_per_block"]), counted(blocks.iter().map(|block| number(block, "count"))));
    let kinds = blocks.iter().fold(BTreeMap::<&str, u64>::new(), |mut kinds, block| {
        *kinds.entry(block["kind"].as_str().unwrap()).or_default() += 1;
        kinds
    });
    assert!(kinds.len() > 1, "{kinds:?}");
    assert_eq!(found["block_kinds"], serde_json::to_value(kinds).unwrap());
    // Eight blocks share 4,092 bytes of a page; a block may extend to the end of its share.
    let mut used = 0;
    let fill = blocks.iter().map(|block| {
        let slot = number(block, "block") % 8;
        used = if slot == 0 { 0 } else { used };
        let room = (slot + 1) * 4092 / 8 - used;
        used += number(block, "bytes");
        number(block, "bytes") * 100 / room
    });
    assert_eq!(counts(&found["fill_percent"]), counted(fill));

    let neighbours = || fingerprints.iter().flat_map(|sorted| sorted.windows(2));
    let gaps = neighbours().map(|pair| u64::from(64 - (pair[1] - pair[0]).leading_zeros()));
    assert_eq!(counts(&found["gap_bits"]), counted(gaps));
    let distances = neighbours().map(|pair| u64::from((pair[1] ^ pair[0]).count_ones()));
    assert_eq!(counts(&found["neighbour_distances"]), counted(distances));
}

#[test]
fn code_lengths_are_those_of_the_files() {
    let place = Place::new();
    for (codec, code) in [("adaptive", "flips"), ("xor", "positions")] {
        let store = place.path(codec);
        let records = records();
        let input = place.file("first.tsv", lines(&records[..20_000]));
        fpload().args(["--create", "--codec", codec]).arg(&store).arg(&input).assert().success();
        fpload().arg(&store).arg("-").write_stdin(lines(&records[20_000..])).assert().success();
        let codes = distributions(&store)["code_lengths"].clone();
        assert_eq!(codes.as_object().unwrap().len(), 1, "{codes}");
        let found = counts(&codes[code]);
        // Complete codes use the whole code space of both segments.
        assert_eq!(found.iter().map(|(length, count)| count << (12 - length)).sum::<u64>(), 2 * 4096);
        // Only for this code the file has the lengths of all symbols, a digit each.
        if code != "positions" {
            continue;
        }
        let lengths = ["00000001.segment", "00000002.segment"].map(|segment| {
            let fields = json_lines(&stdout(fpdump().args(["hex", "--json"]).arg(store.join(segment))));
            let field = fields.into_iter().find(|field| field["name"] == "code lengths").unwrap();
            let digits: Vec<char> = field["bytes"].as_str().unwrap().chars().collect();
            digits.into_iter().map(|digit| u64::from(digit.to_digit(16).unwrap())).filter(|length| *length > 0)
        });
        assert_eq!(found, counted(lengths.into_iter().flatten()), "{code}");
    }
}

/// A line of a drawing.
struct Bar {
    label: String,
    bar: String,
    count: u64,
}

/// Returns the titles and bars of the drawings in a text.
fn drawings(text: &str) -> Vec<(String, Vec<Bar>)> {
    let drawings = text.split("\n\n").skip(2).map(|part| {
        let (title, bars) = part.split_once('\n').unwrap();
        let bars = bars.lines().map(|line| {
            assert!(line.ends_with('%'), "{line}");
            let (label, rest) = line.trim_start().split_once("  ").unwrap();
            let numbers: Vec<&str> = rest.split_whitespace().collect();
            let [.., count, _share] = numbers[..] else { panic!("{line}") };
            let bar = if numbers.len() == 3 { numbers[0] } else { "" };
            Bar { label: label.to_owned(), bar: bar.to_owned(), count: count.replace(',', "").parse().unwrap() }
        });
        (title.to_owned(), bars.collect())
    });
    drawings.collect()
}

#[test]
fn what_is_drawn_adds_up() {
    let place = Place::new();
    let (store, fingerprints) = mixed_store(&place);
    let found = distributions(&store);
    let text = stdout(fpdump().env("LC_ALL", "C.UTF-8").args(["stats", "--draw", "always"]).arg(&store));
    let drawings = drawings(&text);
    let sum = |pairs: &Value| counts(pairs).values().sum::<u64>();
    let blocks = sum(&found["fill_percent"]);
    let neighbours = fingerprints.iter().map(|sorted| sorted.len() as u64 - 1).sum();
    let expected = [
        ("by fill", blocks),
        ("by number of fingerprints", blocks),
        ("by kind", blocks),
        ("code 'flips'", sum(&found["code_lengths"]["flips"])),
        ("by gap", neighbours),
        ("by Hamming distance", neighbours),
    ];
    assert_eq!(drawings.len(), expected.len(), "{text}");
    for ((title, bars), (part, total)) in drawings.iter().zip(expected) {
        assert!(title.contains(part), "{title}");
        assert_eq!(bars.iter().map(|bar| bar.count).sum::<u64>(), total, "{title}");
        let most = bars.iter().map(|bar| bar.count).max().unwrap();
        for Bar { label, bar, count } in bars {
            assert_eq!(*bar == "█".repeat(40), *count == most, "{title}: {label}");
            assert_eq!(bar.is_empty(), *count == 0, "{title}: {label}");
        }
    }
    let columns = |line: &str| line.chars().count();
    assert!(text.lines().skip_while(|line| !line.starts_with("blocks of")).all(|line| columns(line) < 80), "{text}");
}

#[test]
fn the_locale_and_the_pipe_are_respected() {
    let place = Place::new();
    let (store, _) = mixed_store(&place);
    let run = |locale: [(&str, &str); 3], draw: &str| {
        stdout(fpdump().env_remove("NO_COLOR").envs(locale).args(["stats", "--draw", draw]).arg(&store))
    };
    let [c, utf8, none] = ["C", "de_DE.utf8", ""];
    let unicode = run([("LC_ALL", none), ("LC_CTYPE", none), ("LANG", utf8)], "always");
    assert!(unicode.contains('█'), "{unicode}");
    assert_eq!(run([("LC_ALL", utf8), ("LC_CTYPE", c), ("LANG", c)], "always"), unicode);
    for locale in [[c, utf8, utf8], [none, c, utf8], [none, none, none]] {
        let [all, ctype, lang] = locale;
        let ascii = run([("LC_ALL", all), ("LC_CTYPE", ctype), ("LANG", lang)], "always");
        assert!(ascii.is_ascii() && ascii.contains("####"), "{ascii}");
    }
    // Without a terminal there is no colour, and no drawing unless requested.
    assert!(!unicode.contains('\x1b'));
    let plain = run([("LC_ALL", utf8), ("LC_CTYPE", c), ("LANG", c)], "auto");
    assert_eq!(plain, run([("LC_ALL", c), ("LC_CTYPE", c), ("LANG", c)], "never"));
    assert!(unicode.starts_with(&plain) && !plain.contains("by kind"), "{plain}");
}

#[test]
fn without_drawings_no_block_is_read() {
    let place = Place::new();
    let store = place.store(&[(1, 1), (2, 2)]);
    let report = json_object(&stdout(fpdump().args(["stats", "--json"]).arg(&store)));
    assert!(report["distributions"].is_null() && report["records"] == 2, "{report}");
    let segment = store.join("00000001.segment");
    let mut bytes = std::fs::read(&segment).unwrap();
    bytes[17] ^= 1;
    std::fs::write(&segment, bytes).unwrap();
    fpdump().args(["stats", "--draw", "never"]).arg(&store).assert().success();
    fpdump().args(["stats", "--json"]).arg(&store).assert().success();
    fails(fpdump().args(["stats", "--json", "--draw", "always"]).arg(&store), &["00000001.segment", "checksum"]);
    fails(fpdump().args(["stats", "--draw", "sometimes"]).arg(&store), &["sometimes", "auto"]);
}

#[test]
fn an_empty_store_has_nothing_to_draw() {
    let place = Place::new();
    let store = place.path("store");
    fpload().arg("--create").arg(&store).assert().success();
    let nothing = serde_json::json!({
        "fill_percent": [], "fingerprints_per_block": [], "block_kinds": {}, "code_lengths": {}, "gap_bits": [],
        "neighbour_distances": []
    });
    assert_eq!(distributions(&store), nothing);
    let text = stdout(fpdump().args(["stats", "--draw", "always"]).arg(&store));
    assert!(!text.contains("by kind"), "{text}");
}
