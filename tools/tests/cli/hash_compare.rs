//! `fphash compare`: two documents, or two fingerprints.

use serde_json::{Value, json};

use crate::hash_vectors::{hashed, ndjson, vectors};
use crate::support::{Place, fails, fphash, json_object, stdout};

/// Returns the output and the exit code.
fn compared(arguments: &[&str]) -> (String, i32) {
    let assert = fphash().arg("compare").args(arguments).assert();
    let output = assert.get_output();
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    (String::from_utf8(output.stdout.clone()).unwrap(), output.status.code().unwrap())
}

fn object(arguments: &[&str]) -> (Value, i32) {
    let (text, code) = compared(&[arguments, &["--json"]].concat());
    (json_object(&text), code)
}

#[test]
fn fingerprints_by_their_bits() {
    let (a, b) = ("00000000000000ff", "0X0000000000000F0F");
    assert_eq!(compared(&[a, b]), ("8\t0.875\tdifferent\n".to_owned(), 1));
    assert_eq!(compared(&[a, b, "--threshold", "0.875"]), ("8\t0.875\tsimilar\n".to_owned(), 0));
    assert_eq!(compared(&[a, b, "--threshold", "0.876"]).1, 1);
    // 61 equal bits of 64 are enough, 60 are not.
    assert_eq!(compared(&[a, "00000000000000f8"]), ("3\t0.953125\tsimilar\n".to_owned(), 0));
    assert_eq!(compared(&[a, "00000000000000f0"]).1, 1);
    let (report, code) = object(&[a, b]);
    assert_eq!(code, 1);
    assert_eq!(
        report,
        json!({
            "schema_version": 1, "preset": "native", "width": 64, "a": a, "b": "0000000000000f0f", "distance": 8,
            "similarity": 0.875, "threshold": 0.95, "similar": false, "verdict": "different"
        })
    );
    let wide = "0".repeat(32);
    assert_eq!(compared(&["--width", "128", &wide, &wide]), ("0\t1\tsimilar\n".to_owned(), 0));
}

/// The bits that the Java classes computed for news, and their verdicts.
#[test]
fn bkdr_as_the_java_classes_compare() {
    let mut seen = 0;
    for line in vectors("bkdr_simhash.ndjson").iter().filter(|line| line["kind"] == "news_pair") {
        let width = line["hash_bit_num"].as_u64().unwrap();
        let digits = usize::try_from(width.div_ceil(4)).unwrap();
        let hex = |key: &str| format!("{:0digits$x}", u64::from_str_radix(line[key].as_str().unwrap(), 2).unwrap());
        let (a, b, bits) = (hex("bits_first"), hex("bits_second"), width.to_string());
        let bkdr = ["--preset", "bkdr", "--width", &bits, &a, &b];
        let (same, share) = (line["same_bits"].as_u64().unwrap(), line["similarity"].as_f64().unwrap());
        // More than the threshold, not as much.
        for (threshold, similar) in [(share, false), (share - 1e-9, true)] {
            let (report, code) = object(&[&bkdr[..], &["--threshold", &threshold.to_string()]].concat());
            assert_eq!(
                (report["distance"].as_u64().unwrap(), report["similarity"].as_f64().unwrap()),
                (width - same, share)
            );
            assert_eq!((&report["similar"], code), (&json!(similar), i32::from(!similar)), "{line}");
        }
        seen += 1;
    }
    assert!(seen >= 6, "{seen}");
}

#[test]
fn bkdr_joins_the_lines_of_a_file() {
    let place = Place::new();
    let words = "教育/v 公平/an 是/vshi 社会/n 公平/a 重要/a 基础/n";
    let one = place.file("one.txt", words);
    let two = place.file("two.txt", words.replace("公平/an", "公\r\n平/a\nn") + "\n");
    let (one, two) = (one.to_str().unwrap(), two.to_str().unwrap());
    let bkdr = ["--preset", "bkdr", one];
    let (report, code) = object(&[&bkdr[..], &[two]].concat());
    assert_eq!((&report["a"], &report["b"], code), (&json!("00000000000a3a87"), &json!("00000000000a3a87"), 0));
    // A document and a fingerprint.
    assert_eq!(compared(&[&bkdr[..], &["00000000000a3a86"]].concat()).0, "1\t0.984375\tsimilar\n");
}

/// Distances and ratios of the Python class of the article.
#[test]
fn string_hash_by_the_ratio_of_its_article() {
    let place = Place::new();
    let lines = vectors("string_hash_simhash.ndjson");
    let mut seen = 0;
    for line in lines.iter().filter(|line| line["kind"] == "pair") {
        let of = |side: &str| {
            let is_it = |other: &&Value| {
                other["kind"] == "fingerprint" && other["id"] == line[side] && other["hashbits"] == line["hashbits"]
            };
            let text = lines.iter().find(is_it).unwrap()["text"].as_str().unwrap();
            place.file(side, text).to_str().unwrap().to_owned()
        };
        let (width, a, b) = (line["hashbits"].to_string(), of("first"), of("second"));
        // One of the texts is empty, with a warning.
        let (report, code) = object(&["--quiet", "--preset", "string-hash", "--width", &width, &a, &b]);
        assert_eq!(report["distance"], line["hamming"], "{line}");
        let (found, expected) = (report["similarity"].as_f64().unwrap(), line["similarity"].as_f64().unwrap());
        assert!((found - expected).abs() < 1e-12, "{line}: {found}");
        assert_eq!(code, i32::from(expected < 0.95));
        seen += 1;
    }
    assert!(seen > 5, "{seen}");
}

#[test]
fn documents_by_what_simhash_makes_of_them() {
    let place = Place::new();
    let texts = ["One text of some words, and more.", "<p>One text of some words, and <b>less</b>.</p>"];
    let (a, b) = (place.file("a.txt", texts[0]), place.file("b.ndjson", texts[1]));
    let (a, b) = (a.to_str().unwrap(), b.to_str().unwrap());
    let input = place.file("docs.ndjson", ndjson((0..).zip(texts).map(|(id, text)| (id.into(), text.into()))));
    for options in [
        [].as_slice(),
        &["--width", "128", "--features", "chars:5"],
        &["--normalise", "markup,lower", "--weights", "count"],
        &["--preset", "1e0ng"],
    ] {
        let results = hashed(&[&["simhash"][..], options].concat(), &input);
        let (report, code) = object(&[options, &["--threshold", "0.7", a, b]].concat());
        assert_eq!(
            (&report["a"], &report["b"]),
            (&results[0]["fingerprint"], &results[1]["fingerprint"]),
            "{options:?}"
        );
        let number = |value: &Value| u128::from_str_radix(value.as_str().unwrap(), 16).unwrap();
        let distance = (number(&report["a"]) ^ number(&report["b"])).count_ones();
        let share = 1.0 - f64::from(distance) / report["width"].as_f64().unwrap();
        assert_eq!((report["distance"].as_u64(), report["similarity"].as_f64()), (Some(distance.into()), Some(share)));
        assert_eq!(code, i32::from(share < 0.7));
    }
    let mut piped = fphash();
    piped.args(["compare", "-", a]).write_stdin(texts[0]);
    assert_eq!(stdout(&mut piped), "0\t1\tsimilar\n");
    let packed = place.file("c.txt.zst", zstd::encode_all(texts[0].as_bytes(), 1).unwrap());
    assert_eq!(compared(&[packed.to_str().unwrap(), a]).0, "0\t1\tsimilar\n");
}

#[test]
fn signatures_estimate_jaccard() {
    let place = Place::new();
    let words = |from: u32| (from..from + 300).map(|number| format!("w{number} ")).collect::<String>();
    // 200 of 400 words are in both.
    let texts = [words(0), words(100)];
    let (a, b) = (place.file("a.txt", &texts[0]), place.file("b.txt", &texts[1]));
    let (a, b) = (a.to_str().unwrap(), b.to_str().unwrap());
    let input = place.file("docs.ndjson", ndjson((0..).zip(texts).map(|(id, text)| (id.into(), text.into()))));
    for preset in ["native", "datasketch", "datasketch-legacy"] {
        let options = ["--preset", preset, "--num-perm", "256", "--features", "tokens"];
        let (report, code) = object(&[&options[..], &["--minhash", a, b]].concat());
        let signatures: Vec<Vec<u64>> = hashed(&[&["minhash"][..], &options].concat(), &input)
            .into_iter()
            .map(|result| serde_json::from_value(result["signature"].clone()).unwrap())
            .collect();
        let distance = signatures[0].iter().zip(&signatures[1]).filter(|(a, b)| a != b).count();
        let similarity = (256 - distance) as f64 / 256.0;
        let error = (similarity * (1.0 - similarity) / 256.0).sqrt();
        assert!((similarity - 0.5).abs() < 0.125, "{similarity}");
        assert_eq!((&report["distance"], &report["num_perm"], code), (&json!(distance), &json!(256), 1));
        assert!((report["similarity"].as_f64().unwrap() - similarity).abs() < 1e-12, "{report}");
        assert!((report["standard_error"].as_f64().unwrap() - error).abs() < 1e-12, "{report}");
        let (a_hex, threshold) = (report["a"].as_str().unwrap(), similarity.to_string());
        assert_eq!(compared(&[&options[..], &["--minhash", a_hex, b, "--threshold", &threshold]].concat()).1, 0);
    }
    let lucene = ["--minhash", "--preset", "lucene", "--features", "tokens", a];
    let (report, code) = object(&[&lucene[..], &[b]].concat());
    assert!((report["similarity"].as_f64().unwrap() - 0.5).abs() < 0.125 && code == 1, "{report}");
    assert_eq!(compared(&[&lucene[..], &[a]].concat()), ("0\t1\tsimilar\n".to_owned(), 0));
    fails(fphash().arg("compare").args(lucene).arg("00ff"), &["00ff: there is no such file"]);
}

#[test]
fn texts_by_a_measure() {
    let place = Place::new();
    let (a, b) = (place.file("a", "kitten"), place.file("b", "SITTING"));
    let (a, b) = (a.to_str().unwrap(), b.to_str().unwrap());
    let by = |options: &[&str]| {
        let (text, code) = compared(&[options, &[a, b]].concat());
        let columns: Vec<String> = text.trim_end().split('\t').map(str::to_owned).collect();
        assert_eq!(columns.len(), 4, "{text}");
        (columns[2].clone(), columns[3].parse::<f64>().unwrap(), code)
    };
    let lower = ["--normalise", "lower"];
    let edit = by(&[&lower[..], &["--by", "edit"]].concat());
    assert_eq!((edit.0.as_str(), edit.2), ("different", 1));
    assert!((edit.1 - 4.0 / 7.0).abs() < 1e-12);
    assert_eq!(by(&[&lower[..], &["--by", "edit", "--threshold", "0.5"]].concat()).2, 0);
    assert!(by(&["--by", "edit"]).1.abs() < 1e-12);
    assert!((by(&[&lower[..], &["--by", "substring"]].concat()).1 - 3.0 / 7.0).abs() < 1e-12);
    // Pairs of letters: ki it tt te en, and si it tt ti in ng.
    assert!((by(&[&lower[..], &["--by", "jaccard:chars:2"]].concat()).1 - 2.0 / 9.0).abs() < 1e-12);
    let euclidean = ["--normalise", "lower", "--by", "euclidean:chars:2"];
    assert_eq!(by(&[&euclidean[..], &["--threshold", "2.7"]].concat()).0, "similar");
    assert_eq!(by(&[&euclidean[..], &["--threshold", "2.6"]].concat()).0, "different");
    let (report, _) = object(&["--by", "edit", "--threshold", "0", a, b]);
    assert_eq!((&report["by"], &report["value"], &report["similar"]), (&json!("edit"), &json!(0.0), &json!(true)));
    assert_eq!(report["threshold"], 0.0);
}

#[test]
fn what_cannot_be_compared() {
    let place = Place::new();
    let file = place.file("a.txt", "a");
    let directory = place.path("");
    let (file, directory) = (file.to_str().unwrap(), directory.to_str().unwrap());
    let hex = "00000000000000ff";
    for (arguments, parts) in [
        (&["no.txt", hex][..], &["no.txt: there is no such file", "16 hexadecimal digits"][..]),
        (&[hex, "ff"], &["ff: a fingerprint has 16 hexadecimal digits here, this has 2", "--width"]),
        (&["--preset", "bkdr", "--width", "6", "3f", "40"], &["40: a fingerprint of 6 bits"]),
        (&[file, directory], &["is a directory"]),
        (&["-", "-"], &["standard input can be read only once"]),
        (&[file], &["2 values"]),
        (&[file, file, file], &["2 values"]),
        (&[file, hex, "--by", "edit"], &["--by compares texts", hex]),
        (&[file, file, "--by", "edits"], &["edits", "the measures are edit, substring"]),
        (&[file, file, "--by", "euclidean"], &["--threshold"]),
        (&[file, file, "--threshold", "1.5"], &["--threshold 1.5", "from 0 to 1"]),
        (&[file, file, "--threshold", "nan"], &["--threshold"]),
        (&[file, file, "--preset", "datasketch"], &["--minhash"]),
        (&[file, file, "--minhash", "--preset", "seomoz"], &["--preset", "seomoz"]),
        (&[file, file, "--minhash", "--width", "128"], &["--width"]),
        (&[file, file, "--num-perm", "128"], &["--minhash"]),
        (&[file, file, "--format", "ndjson"], &["--matches"]),
        (&[file, file, "--documents", file], &["--matches"]),
    ] {
        fails(fphash().arg("compare").args(arguments), parts);
    }
    let latin = place.file("latin.txt", b"caf\xe9");
    fails(fphash().arg("compare").arg(&latin).arg(file), &["latin.txt", "not UTF-8 at byte offset 3"]);
}

/// Texts without features have the same sketch, which says nothing about their similarity.
#[test]
fn texts_without_features_are_told() {
    let place = Place::new();
    let (a, b) = (place.file("a.txt", "hello"), place.file("b.txt", "bye"));
    for options in
        [&["--features", "words:3"][..], &["--minhash", "--features", "words:5"], &["--minhash", "--preset", "lucene"]]
    {
        let run = fphash().arg("compare").args(options).args([&a, &b]).assert();
        let told = String::from_utf8_lossy(&run.get_output().stderr).into_owned();
        for name in ["a.txt", "b.txt"] {
            assert!(told.contains(&format!("{name}: it has 0 features, so it looks like other such texts")), "{told}");
        }
    }
    fphash().args(["compare", "--features", "words:3", "--by", "edit"]).args([&a, &b]).assert().code(1).stderr("");
}
