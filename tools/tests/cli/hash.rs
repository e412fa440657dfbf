//! `fphash simhash` and its presets: the values are those of the systems they are named after.

use std::collections::HashMap;

use serde_json::{Value, json};

use crate::hash_vectors::{hashed, ndjson, objects, of_id, real_documents, short_texts, vectors};
use crate::support::{Place, fails, fphash, json_lines, stdout, without_trailer};

#[test]
fn simhash_of_1e0ng() {
    let place = Place::new();
    let (texts, tokens) = short_texts(&place);
    let mut results: HashMap<(String, u64), Vec<Value>> = HashMap::new();
    let mut seen = 0;
    for line in vectors("simhash_1e0ng.ndjson") {
        let (input, f) = (line["input"].as_str().unwrap(), line["f"].as_u64().unwrap());
        let results = results.entry((input.to_owned(), f)).or_insert_with(|| {
            let options = ["simhash", "--preset", "1e0ng", "--id-column", "text_id", "--width", &f.to_string()];
            match input {
                "text" => hashed(&options, &texts),
                // The count of a token is its number of occurrences.
                _ => hashed(&[&options[..], &["--tokens-column", "tokens"]].concat(), &tokens),
            }
        });
        assert_eq!(of_id(results, &line["text_id"])["fingerprint"], line["value_hex"], "{line}");
        seen += 1;
    }
    assert!(seen > 80 && results.len() > 4, "{seen} {}", results.len());
}

#[test]
fn simhash_of_seomoz() {
    let place = Place::new();
    let (texts, tokens) = short_texts(&place);
    let options = ["simhash", "--preset", "seomoz", "--id-column", "text_id"];
    let of_token = hashed(&[&options[..], &["--features", "tokens"]].concat(), &texts);
    let of_tokens = hashed(&[&options[..], &["--tokens-column", "tokens"]].concat(), &tokens);
    assert_eq!(of_token, of_tokens);
    let of_shingles = hashed(&options, &texts);
    let lines = vectors("simhash_seomoz.ndjson");
    let compute: Vec<&Value> = lines.iter().filter(|line| line["kind"] == "compute").collect();
    assert_eq!(compute.len(), 26);
    for line in compute {
        let results = if line["features"] == "token" { &of_token } else { &of_shingles };
        assert_eq!(of_id(results, &line["text_id"])["fingerprint"], line["simhash_hex"], "{line}");
    }
}

#[test]
fn bkdr_of_every_width() {
    let place = Place::new();
    let lines: Vec<Value> =
        vectors("bkdr_simhash.ndjson").into_iter().filter(|line| line["kind"] == "string").collect();
    let input =
        place.file("bkdr.ndjson", ndjson(lines.iter().map(|line| (line["id"].clone(), line["content"].clone()))));
    for width in ["8", "16", "24", "31", "32", "48", "64"] {
        let results = hashed(&["simhash", "--preset", "bkdr", "--width", width], &input);
        assert_eq!(results.len(), lines.len());
        for (result, line) in results.iter().zip(&lines) {
            let bits = line["simhash"][width].as_str().unwrap();
            let digits = width.parse::<usize>().unwrap().div_ceil(4);
            let hex = format!("{:0digits$x}", u64::from_str_radix(bits, 2).unwrap());
            assert_eq!((&result["id"], &result["fingerprint"]), (&line["id"], &json!(hex)), "{width}");
            // The bits themselves, because digits do not tell their number.
            assert_eq!(result.get("bits").cloned(), (width == "31").then(|| json!(bits)), "{width}");
        }
    }
    let refused = ["simhash", "--preset", "bkdr", "--width", "65"];
    fails(fphash().args(refused).arg(&input), &["--width", "possible are 1 to 64"]);
    let refused = ["simhash", "--preset", "bkdr", "--features", "tokens"];
    fails(fphash().args(refused).arg(&input), &["--features", "bkdr are fixed"]);
}

#[test]
fn string_hash_in_python_and_in_java() {
    let place = Place::new();
    let lines = vectors("string_hash_simhash.ndjson");
    let documents = |width: u64| {
        let of_width = lines.iter().filter(move |line| line["kind"] == "fingerprint" && line["hashbits"] == width);
        ndjson(of_width.map(|line| (line["id"].clone(), line["text"].clone())))
    };
    for width in [64, 128] {
        let input = place.file(&format!("{width}.ndjson"), documents(width));
        for (kind, preset) in [("fingerprint", "string-hash"), ("fingerprint_java", "string-hash-java")] {
            let results = hashed(&["simhash", "--preset", preset, "--width", &width.to_string()], &input);
            let mut seen = 0;
            for line in lines.iter().filter(|line| line["kind"] == kind && line["hashbits"] == width) {
                let found = of_id(&results, &line["id"])["fingerprint"].as_str().unwrap();
                let decimal = u128::from_str_radix(found, 16).unwrap().to_string();
                assert_eq!((found.len() as u64 * 4, &json!(decimal)), (width, &line["fingerprint_dec"]), "{line}");
                seen += 1;
            }
            // For 128 bits there are values of Java only.
            assert_eq!(seen > 5, width == 128 || kind == "fingerprint", "{width} {kind}: {seen}");
        }
    }
}

/// A weight in a table has the effect of that many occurrences.
#[test]
fn weights_out_of_a_table() {
    let place = Place::new();
    let distinct = |tokens: &[&str]| {
        let mut distinct: Vec<String> = Vec::new();
        tokens.iter().for_each(|token| {
            if !distinct.iter().any(|known| known == token) {
                distinct.push((*token).to_owned());
            }
        });
        distinct
    };
    let texts = vectors("texts.ndjson");
    let mut seen = 0;
    for line in vectors("simhash_1e0ng.ndjson").iter().filter(|line| line["input"] == "token_counts" && line["f"] == 64)
    {
        let text = texts.iter().find(|text| text["text_id"] == line["text_id"]).unwrap()["text"].as_str().unwrap();
        let tokens: Vec<&str> = text.split_whitespace().collect();
        let once = distinct(&tokens);
        let count = |token: &String| tokens.iter().filter(|other| *other == token).count();
        let table: String = once.iter().map(|token| format!("{token}\t{}\n", count(token))).collect();
        let table = place.file("weights.tsv", table);
        let input = place.file("once.ndjson", json!({"id": 1, "tokens": once}).to_string());
        let options =
            ["simhash", "--preset", "1e0ng", "--tokens-column", "tokens", "--weights", table.to_str().unwrap()];
        assert_eq!(hashed(&options, &input)[0]["fingerprint"], line["value_hex"], "{line}");
        seen += 1;
    }
    assert!(seen > 5, "{seen}");
}

#[test]
fn weights_of_documents_and_stop_words() {
    let place = Place::new();
    let documents = ["the cat sat", "the dog sat", "the bird sang", "the end"];
    let input = place.file("docs.ndjson", ndjson((1..).zip(documents).map(|(id, text)| (id.into(), text.into()))));
    let table = stdout(fphash().args(["weights", "--features", "unicode:1", "--min-documents", "1"]).arg(&input));
    let rows: HashMap<&str, f64> = table
        .lines()
        .map(|line| {
            let (feature, weight) = line.split_once('\t').unwrap();
            (feature, weight.parse().unwrap())
        })
        .collect();
    assert_eq!(rows.len(), 8, "{table}");
    assert!(table.starts_with("#default\t"), "{table}");
    assert!(rows["the"] < rows["sat"] && rows["sat"] < rows["cat"] && rows["cat"] <= rows["#default"], "{table}");
    let weights = place.file("idf.tsv", &table);
    let weighted = ["simhash", "--features", "unicode:1", "--weights", weights.to_str().unwrap()];
    let plain = hashed(&["simhash", "--features", "unicode:1"], &input);
    let with_weights = hashed(&weighted, &input);
    assert_eq!(with_weights.len(), 4);
    assert_ne!(with_weights, plain);

    // A stop word is a feature of weight zero; a text without it has the same fingerprint.
    let stop = place.file("stop.txt", "the\n");
    let zero = place.file("zero.tsv", "the\t0\n");
    let count = ["simhash", "--features", "unicode:1", "--weights", "count"];
    let stopped = hashed(&[&count[..], &["--stop-words", stop.to_str().unwrap()]].concat(), &input);
    let zeroed = hashed(&["simhash", "--features", "unicode:1", "--weights", zero.to_str().unwrap()], &input);
    assert_eq!(stopped, zeroed);
    let without: Vec<String> = documents.iter().map(|text| text.replacen("the ", "", 1)).collect();
    let without = place.file("without.ndjson", ndjson((1..).zip(without).map(|(id, text)| (id.into(), text.into()))));
    assert_eq!(hashed(&count, &without), stopped);
    let broken = place.file("broken.tsv", "the\t1\nof\n");
    let refused = ["simhash", "--weights", broken.to_str().unwrap()];
    fails(fphash().args(refused).arg(&input), &["--weights", "broken.tsv: line 2", "TAB"]);
}

/// The Python package made the fingerprints of tests/data.
#[test]
fn real_documents_as_another_program_hashed_them() {
    let place = Place::new();
    let all = objects("tests/data/rust-book-documents.ndjson.gz");
    let documents: Vec<&Value> = all.iter().step_by(11).collect();
    let lines: String = documents.iter().map(|line| line.to_string() + "\n").collect();
    let input = place.file("some.ndjson", lines);
    let results = hashed(&["simhash", "--preset", "1e0ng", "--id-column", "n"], &input);
    let expected = objects("tests/data/rust-book.ndjson");
    assert_eq!(results.len(), documents.len());
    for (result, document) in results.iter().zip(documents) {
        let of_it = &expected[usize::try_from(document["n"].as_u64().unwrap()).unwrap()];
        assert_eq!((&result["id"], &result["fingerprint"]), (&document["n"], &of_it["fingerprint"]));
    }
}

#[test]
fn presets_say_what_a_store_records() {
    let presets = json_lines(&stdout(fphash().args(["presets", "--json"])));
    assert_eq!(presets.len(), 14);
    let table = stdout(fphash().arg("presets"));
    for preset in &presets {
        let (command, name) = (preset["command"].as_str().unwrap(), preset["preset"].as_str().unwrap());
        let hasher = preset["hasher"].as_str().unwrap();
        assert!(table.lines().any(|line| line.contains(name) && line.contains(hasher)), "{name}: {table}");
        let made = stdout(fphash().args([command, "--preset", name, "-"]).write_stdin("{\"text\":\"a/n b/v\"}\n"));
        let header = made.lines().next().unwrap();
        let end = if command == "bands" { "" } else { " end=1" };
        assert!(header.ends_with(&format!(" hasher={hasher}{end}")), "{header} {hasher}");
    }
    let unknown = ["simhash", "--preset", "nativ", "-"];
    fails(fphash().args(unknown), &["nativ", "the presets are native, 1e0ng"]);
}

/// The native preset changes with its version only.
#[test]
fn native_fingerprints_stay() {
    let place = Place::new();
    let input = place.file("a.ndjson", ndjson([(json!(7), json!("The quick brown fox, the lazy dog."))]));
    let one = stdout(fphash().arg("simhash").arg(&input));
    let two = stdout(fphash().args(["simhash", "--width", "128"]).arg(&input));
    let header = "hasher=simhash/native/2,width=64,features=unicode:2,weights=distinct,normalise=lower";
    assert_eq!(one, format!("#fpstore width=64 {header} end=1\n{NATIVE}\t7\n#end records=1\n"));
    let header = header.replace("width=64", "width=128");
    assert_eq!(two, format!("#fpstore width=128 {header} end=1\n{NATIVE_WIDE}\t7\n#end records=1\n"));
    // The lower half of the wide fingerprint is the narrow one.
    assert!(NATIVE_WIDE.ends_with(NATIVE));
}

const NATIVE: &str = "87e0e262316df576";
const NATIVE_WIDE: &str = "c772ff659e679ab487e0e262316df576";

#[test]
fn output_does_not_depend_on_threads() {
    let one = stdout(fphash().args(["simhash", "--threads", "1"]).arg(real_documents()));
    assert_eq!(without_trailer(&one).lines().count(), 3001);
    for options in [["--threads", "7"].as_slice(), &["--threads", "3", "--memory", "64MiB"], &["--quiet"]] {
        assert!(stdout(fphash().arg("simhash").args(options).arg(real_documents())) == one, "{options:?}");
    }
}
