//! `fphash health`: which bits of fingerprints are useful.

use std::path::Path;

use serde_json::{Value, json};

use crate::hash_vectors::{real_documents, repository};
use crate::support::{Place, Random, fails, fphash, hex_lines, json_object, lines, stdout};

/// Returns the report and the exit code.
fn report(options: &[&str], input: &Path) -> (Value, i32) {
    let assert = fphash().args(["health", "--json"]).args(options).arg(input).assert();
    let output = assert.get_output();
    (json_object(&String::from_utf8(output.stdout.clone()).unwrap()), output.status.code().unwrap())
}

fn kinds(report: &Value) -> Vec<&str> {
    report["findings"].as_array().unwrap().iter().map(|finding| finding["kind"].as_str().unwrap()).collect()
}

fn even(number: usize, seed: u64) -> Vec<u64> {
    let mut random = Random::new(seed);
    (0..number).map(|_| random.next()).collect()
}

fn real() -> Vec<u64> {
    let bytes = std::fs::read(repository("tests/data/real_simhash64.u64")).unwrap();
    bytes.as_chunks::<8>().0.iter().map(|bytes| u64::from_le_bytes(*bytes)).collect()
}

/// Compares every number with another way of counting.
#[test]
fn real_fingerprints_are_biased() {
    let (report, code) = report(&[], &repository("tests/data/real_simhash64.u64"));
    let all = real();
    assert_eq!((code, &report["records"], &report["sound"]), (1, &json!(85_364), &json!(false)));
    assert_eq!((&report["distinct_values"], &report["distinct_exact"]), (&json!(44_751), &json!(true)));
    assert_eq!((&report["zeros"], &report["all_ones"], &report["width"]), (&json!(0), &json!(0), &json!(64)));
    let ones: Vec<u64> =
        (0..64).map(|bit| all.iter().filter(|one| *one >> (63 - bit) & 1 == 1).count() as u64).collect();
    let records = all.len() as f64;
    let shares: Vec<f64> = ones.iter().map(|ones| *ones as f64 / records).collect();
    for (bit, found) in report["bits"].as_array().unwrap().iter().enumerate() {
        assert_eq!((&found["bit"], &found["ones"]), (&json!(bit), &json!(ones[bit])));
        assert!((found["share"].as_f64().unwrap() - shares[bit]).abs() < 1e-12);
    }
    // Well beyond the limit; no bit is close to it.
    let biased: Vec<usize> = (0..64).filter(|bit| (shares[*bit] - 0.5).abs() > 0.257).collect();
    assert_eq!((&report["biased"], kinds(&report)), (&json!(biased), vec!["biased_bits"]));
    assert!(biased.len() > 10);
    let entropy: f64 = shares.iter().map(|p| -p * p.log2() - (1.0 - p) * (1.0 - p).log2()).sum();
    assert!((report["entropy_bits"].as_f64().unwrap() - entropy).abs() < 1e-9);
    let pairs = records * (records - 1.0) / 2.0;
    let mean = ones.iter().map(|ones| *ones as f64 * (records - *ones as f64)).sum::<f64>() / pairs;
    assert!((report["mean_distance"].as_f64().unwrap() - mean).abs() < 1e-9, "{mean}");
    assert_eq!(report["expected_distance"], 32.0);
    // The most frequent value of a sample.
    let frequent = u64::from_str_radix(report["most_frequent"]["fingerprint"].as_str().unwrap(), 16).unwrap();
    assert_eq!(all.iter().filter(|one| **one == frequent).count(), 260);
    assert!((report["most_frequent"]["share"].as_f64().unwrap() - 260.0 / records).abs() < 0.001);
}

#[test]
fn even_bits_of_every_width_are_sound() {
    let place = Place::new();
    let raw: Vec<u8> = even(20_000, 1).iter().flat_map(|word| word.to_le_bytes()).collect();
    for (width, ending) in [(64, "u64"), (128, "u128"), (256, "u256")] {
        let (found, code) = report(&[], &place.file(&format!("a.{ending}"), &raw));
        assert_eq!((code, &found["sound"], &found["findings"]), (0, &json!(true), &json!([])), "{width}");
        let records = 20_000 * 64 / width;
        assert_eq!((&found["width"], &found["records"]), (&json!(width), &json!(records)));
        assert!(found["entropy_bits"].as_f64().unwrap() > f64::from(width) - 0.2);
        let deviation = found["standard_deviation"].as_f64().unwrap();
        assert!((deviation - f64::from(width).sqrt() / 2.0).abs() < 0.3, "{deviation}");
        let told = report(&["--format", "le", "--width", &width.to_string()], &place.file("a.raw", &raw)).0;
        assert_eq!(told, found);
    }
}

#[test]
fn a_hash_that_is_too_short() {
    let place = Place::new();
    // A 32-bit hash in a column of 64 looks like this.
    let (found, code) = report(&[], &place.file("a.hex", hex_lines(even(3000, 2).iter().map(|word| word >> 32))));
    assert_eq!((code, &found["dead"], kinds(&found)), (1, &json!((0..32).collect::<Vec<u32>>()), vec!["dead_bits"]));
    let advice = found["findings"][0]["advice"].as_str().unwrap();
    assert!(advice.contains("the hasher makes 32 bits") && advice.contains("bkdr"), "{advice}");
    // bkdr on real texts whose words were tagged.
    let mut documents = String::new();
    for document in crate::hash_vectors::objects("tests/data/rust-book-documents.ndjson.gz").iter().step_by(5) {
        let text: Vec<String> = document["text"]
            .as_str()
            .unwrap()
            .split_whitespace()
            .map(|word| format!("{}/n", word.replace('/', "")))
            .collect();
        documents += &(json!({"id": document["n"], "text": text.join(" ")}).to_string() + "\n");
    }
    let hashes = stdout(fphash().args(["simhash", "--preset", "bkdr", "-"]).write_stdin(documents));
    let (found, code) = report(&[], &place.file("bkdr.hex", hashes));
    let dead: Vec<u64> = found["dead"].as_array().unwrap().iter().map(|bit| bit.as_u64().unwrap()).collect();
    assert_eq!((code, &dead[..32]), (1, &(0..32).collect::<Vec<u64>>()[..]));
    let advice = found["findings"].to_string();
    assert!(advice.contains("--preset native"), "{advice}");
}

#[test]
fn bits_that_mirror_others() {
    let place = Place::new();
    let repeated = even(2000, 3).into_iter().map(|word| (word >> 48) * 0x0001_0001_0001_0001);
    let (found, code) = report(&[], &place.file("a.hex", hex_lines(repeated)));
    let expected: Vec<Value> = (16..64).map(|bit| json!({"bit": bit, "of": bit % 16, "opposite": false})).collect();
    assert_eq!((code, &found["mirrored"]), (1, &json!(expected)));
    assert_eq!((kinds(&found), &found["correlated_pairs"]), (vec!["mirrored_bits"], &json!(0)));
    assert!(found["findings"][0]["advice"].as_str().unwrap().contains("a hash of 16 bits was written several times"));
    // The last bit is the opposite of the first, and the one before it mostly repeats the second.
    let mut random = Random::new(5);
    let spoilt = even(5000, 4).into_iter().map(|word| {
        let second = (word >> 62 & 1) ^ u64::from(random.below(10) == 0);
        word & !3 | second << 1 | (!word >> 63)
    });
    let (found, code) = report(&[], &place.file("b.hex", hex_lines(spoilt)));
    assert_eq!((code, &found["mirrored"]), (1, &json!([{"bit": 63, "of": 0, "opposite": true}])));
    let pair = &found["correlated"][0];
    assert_eq!((&pair["a"], &pair["b"], &found["correlated_pairs"]), (&json!(1), &json!(62), &json!(1)));
    assert!((pair["phi"].as_f64().unwrap() - 0.8).abs() < 0.05, "{pair}");
}

#[test]
fn values_that_too_many_have() {
    let place = Place::new();
    let with = |value: u64, every: usize| {
        let values = even(3000, 6).into_iter().enumerate().map(|(i, word)| if i % every == 0 { value } else { word });
        report(&[], &place.file("a.hex", hex_lines(values)))
    };
    for (value, every, kind, count) in [(0, 20, "zeros", "zeros"), (u64::MAX, 20, "all_ones", "all_ones")] {
        let (found, code) = with(value, every);
        assert_eq!((code, kinds(&found), &found[count]), (1, vec![kind], &json!(150)));
    }
    let (found, code) = with(0xabc, 7);
    assert_eq!((code, kinds(&found)), (1, vec!["frequent_value"]));
    assert_eq!(found["most_frequent"]["fingerprint"], "0000000000000abc");
    assert_eq!(with(0xabc, 20).1, 0);
    let (found, code) = report(&[], &place.file("b.hex", hex_lines([7; 500])));
    assert_eq!((code, kinds(&found)[0], &found["distinct_values"]), (1, "few_values", &json!(1)));
}

/// Two features each, half of whose votes are even: ties become 0 with seomoz; with native a feature decides.
#[test]
fn texts_with_few_features() {
    let place = Place::new();
    let mut random = Random::new(12);
    let mut documents = String::new();
    for id in 0..3000 {
        let words: Vec<String> = (0..5).map(|_| format!("w{}", random.below(20_000))).collect();
        documents += &(json!({"id": id, "text": words.join(" ")}).to_string() + "\n");
    }
    let health = |options: &[&str]| {
        let hashes = stdout(fphash().arg("simhash").args(options).arg("-").write_stdin(documents.as_str()));
        report(&[], &place.file("a.hex", hashes))
    };
    let (found, code) = health(&["--preset", "seomoz"]);
    assert_eq!((code, kinds(&found)[0], &found["zeros"]), (1, "few_ones", &json!(0)));
    let first = &found["findings"][0];
    let what = first["what"].as_str().unwrap();
    let (share, rest) = what.split_once('%').unwrap();
    assert!(share.parse::<f64>().unwrap() > 70.0, "{what}");
    assert_eq!(rest, " of the distinct values have only 1 to 19 ones");
    assert!(first["advice"].as_str().unwrap().contains("--min-features"), "{first}");
    let (found, code) = health(&["--features", "words:4"]);
    assert_eq!((code, &found["findings"]), (0, &json!([])));
    // Manuals in several languages, many of them short.
    let hashes = stdout(fphash().arg("simhash").arg(repository("tests/data/manuals.ndjson.gz")));
    let (found, _) = report(&[], &place.file("b.hex", hashes));
    assert!(!kinds(&found).contains(&"few_ones") && !kinds(&found).contains(&"few_zeros"), "{}", found["findings"]);
}

#[test]
fn too_few_records_do_not_tell() {
    let place = Place::new();
    for number in [0, 1, 99] {
        let input = place.file("a.hex", hex_lines(vec![0; number]));
        let (found, code) = report(&[], &input);
        assert_eq!((code, &found["sound"], &found["records"]), (0, &Value::Null, &json!(number)));
        let said = stdout(fphash().arg("health").arg(&input));
        assert!(said.contains("too few to tell"), "{said}");
    }
    assert_eq!(report(&[], &place.file("a.hex", hex_lines(vec![0; 100]))).1, 1);
}

#[test]
fn inputs_of_every_kind() {
    let place = Place::new();
    let all = even(3000, 7);
    let records: Vec<(u64, u64)> = all.iter().copied().zip(0..).collect();
    let one = report(&[], &place.file("a.hex", hex_lines(all.iter().copied()))).0;
    for (name, bytes) in [
        ("a.tsv", lines(&records).into_bytes()),
        ("a.tsv.zst", zstd::encode_all(lines(&records).as_bytes(), 1).unwrap()),
        ("a.u64", all.iter().flat_map(|word| word.to_le_bytes()).collect()),
        (
            "a.ndjson",
            all.iter().map(|word| format!("{{\"fingerprint\":\"{word:016x}\"}}\n")).collect::<String>().into_bytes(),
        ),
    ] {
        assert_eq!(report(&[], &place.file(name, bytes)).0, one, "{name}");
    }
    let mut piped = fphash();
    piped.args(["health", "--json", "-"]).write_stdin(hex_lines(all.iter().copied()));
    assert_eq!(json_object(&stdout(&mut piped)), one);
    // Several inputs count as one; the first one determines the width.
    let wide =
        |words: &[u64]| words.chunks(2).map(|pair| format!("{:016x}{:016x}\n", pair[0], pair[1])).collect::<String>();
    let whole = place.file("whole.hex", format!("#fpstore width=128 hasher=x\n{}", wide(&all)));
    let first = place.file("1.hex", format!("#fpstore width=128 hasher=x\n{}", wide(&all[..1000])));
    let second = place.file("2.hex", wide(&all[1000..]));
    let mut both = fphash();
    both.args(["health", "--json"]).args([first, second.clone()]);
    assert_eq!(json_object(&stdout(&mut both)), report(&["--threads", "3"], &whole).0);
    fails(fphash().arg("health").arg(&second), &["2.hex: line 1", "16 hexadecimal digits"]);
    fails(fphash().args(["health", "--width", "64"]).arg(&whole), &["whole.hex: line 1", "128-bit"]);
    fails(fphash().args(["health", "--width", "96", "-"]), &["64, 128 or 256"]);
    fails(fphash().args(["health", "-", "-"]), &["standard input can be read only once"]);
    fails(fphash().arg("health").arg(place.path("none.hex")), &["none.hex", "No such file"]);
}

#[test]
fn output_does_not_depend_on_threads() {
    let input = repository("tests/data/real_simhash64.u64");
    let one = report(&["--threads", "1"], &input);
    assert_eq!(report(&["--threads", "6"], &input), one);
}

/// From documents to the report for people.
#[test]
fn a_drawing_that_fits_a_terminal() {
    let hashes = stdout(fphash().arg("simhash").arg(real_documents()));
    let draw = |locale: &str, hashes: &str| {
        let mut health = fphash();
        health.env("LC_ALL", locale).args(["health", "-"]).write_stdin(hashes);
        String::from_utf8(health.output().unwrap().stdout).unwrap()
    };
    let (unicode, ascii) = (draw("C.UTF-8", &hashes), draw("C", &hashes));
    assert!(unicode.contains('▄') && ascii.is_ascii(), "{unicode}");
    let biased = hex_lines(real());
    for text in [&unicode, &ascii, &draw("C.UTF-8", &biased), &draw("C", &biased)] {
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        assert!(text.contains("bit 0 is the most significant") && text.contains("\n  56 -  63 "), "{text}");
    }
    assert!(unicode.ends_with("Sound: nothing is wrong with these bits.\n"), "{unicode}");
    let biased = draw("C", &biased);
    assert!(biased.contains("12b") && biased.contains("90b") && biased.contains("--stop-words"), "{biased}");
}
