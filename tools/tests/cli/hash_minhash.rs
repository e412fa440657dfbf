//! `fphash minhash` and `fphash bands`.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use crate::hash_vectors::{hashed, ndjson, of_id, real_documents, short_texts, vectors};
use crate::support::{Place, fails, fphash, fpload, fpquery, json_lines, json_object, stdout, without_trailer};

#[test]
fn signatures_of_datasketch() {
    let place = Place::new();
    let (texts, _) = short_texts(&place);
    let mut results: HashMap<(String, String), Vec<Value>> = HashMap::new();
    let lines = vectors("datasketch_minhash.ndjson");
    for line in &lines {
        let (scheme, features) = (line["scheme"].as_str().unwrap(), line["features"].as_str().unwrap());
        assert!(line["num_perm"] == 128 && line["seed"] == 1);
        let results = results.entry((scheme.to_owned(), features.to_owned())).or_insert_with(|| {
            let preset = if scheme == "affine32" { "datasketch" } else { "datasketch-legacy" };
            let features = if features == "word" { "tokens" } else { "words:5" };
            hashed(&["minhash", "--preset", preset, "--features", features, "--id-column", "text_id"], &texts)
        });
        assert_eq!(of_id(results, &line["text_id"])["signature"], line["hashvalues"], "{} {scheme}", line["text_id"]);
    }
    assert_eq!((lines.len(), results.len()), (52, 4));
}

#[test]
fn terms_of_lucene() {
    let place = Place::new();
    let lines = vectors("lucene_minhash.ndjson.gz");
    let mut seen = 0;
    for (hash_count, bucket_count, hash_set_size, rotation, shingle) in [
        (1, 512, 1, true, true),
        (1, 512, 1, false, true),
        (5, 16, 1, true, false),
        (2, 2, 4, true, true),
        (1, 1, 2, false, false),
    ] {
        let is_it = |line: &&Value| {
            line["hash_count"] == hash_count
                && line["bucket_count"] == bucket_count
                && line["hash_set_size"] == hash_set_size
                && line["with_rotation"] == rotation
                && line["shingle"] == shingle
        };
        let some: Vec<&Value> = lines.iter().filter(is_it).collect();
        let input = place
            .file("lucene.ndjson", ndjson(some.iter().map(|line| (line["text_id"].clone(), line["text"].clone()))));
        let (hash_count, bucket_count) = (hash_count.to_string(), bucket_count.to_string());
        let (hash_set_size, rotation) = (hash_set_size.to_string(), rotation.to_string());
        let features = if shingle { "words:5" } else { "tokens" };
        let sizes = ["--hash-count", &hash_count, "--bucket-count", &bucket_count, "--hash-set-size", &hash_set_size];
        let others = ["--with-rotation", &rotation, "--features", features];
        let results = hashed(&[&["minhash", "--preset", "lucene"][..], &sizes, &others].concat(), &input);
        assert_eq!(results.len(), some.len());
        for (result, line) in results.iter().zip(some) {
            let terms = result["terms_hex"].as_array().unwrap();
            let expected = line["terms_hex"].as_array().unwrap();
            assert_eq!(terms.len() as u64, line["count"].as_u64().unwrap(), "{line}");
            assert_eq!(&terms[..expected.len()], expected, "{}", line["text_id"]);
            seen += 1;
        }
    }
    assert_eq!(seen, 5 * 13);
    let input = place.file("a.ndjson", "{\"text\":\"a\"}\n");
    fails(fphash().args(["minhash", "--hash-count", "2"]).arg(&input), &["--preset lucene"]);
    fails(fphash().args(["minhash", "--preset", "lucene", "--bucket-count", "0"]).arg(&input), &["greater than zero"]);
}

#[test]
fn digits_are_the_places() {
    let place = Place::new();
    let input = place.file("a.ndjson", "{\"id\":\"x\",\"text\":\"one two three four five six\"}\n");
    let signature: Vec<u32> =
        serde_json::from_value(hashed(&["minhash", "--num-perm", "64"], &input)[0]["signature"].clone()).unwrap();
    assert_eq!(signature.len(), 64);
    let whole = stdout(fphash().args(["minhash", "--num-perm", "64"]).arg(&input));
    let digits: String = signature.iter().map(|place| format!("{place:08x}")).collect();
    let (header, line) = without_trailer(&whole).trim_end().split_once('\n').unwrap();
    assert!(header.starts_with("#fpstore width=2048 hasher=minhash/native/1,num-perm=64,seed=1,"), "{header}");
    assert_eq!(line, format!("{digits}\tx"));
    let one_bit = stdout(fphash().args(["minhash", "--num-perm", "64", "--bits", "1"]).arg(&input));
    let bits = signature.iter().fold(0_u64, |bits, place| bits << 1 | u64::from(place & 1));
    assert!(without_trailer(&one_bit).ends_with(&format!(",bits=1 end=1\n{bits:016x}\tx\n")), "{one_bit}");
    let seeded = hashed(&["minhash", "--num-perm", "64", "--seed", "2"], &input);
    assert_ne!(seeded[0]["signature"], serde_json::to_value(&signature).unwrap());
    // With one bit for each place, signatures are fingerprints that a store takes, with the ids.
    let store = place.path("store");
    let mut load = fpload();
    load.args(["--create", "--max-distance", "6"]).arg(&store).arg("-").write_stdin(one_bit).assert().success();
    let near = format!("{:016x}", bits ^ 0x8001);
    assert_eq!(stdout(fpquery().arg(&store).arg(&near)), format!("{near}\t{bits:016x}\t2\tx\n"));
}

#[test]
fn bands_and_rows_of_datasketch() {
    let lines = vectors("datasketch_lsh_params.ndjson");
    assert_eq!(lines.len(), 30);
    for line in &lines {
        let (threshold, places) = (line["threshold"].to_string(), line["num_perm"].to_string());
        let weight = line["fp_weight"].to_string();
        let options = ["--threshold", &threshold, "--num-perm", &places, "--false-positive-weight", &weight];
        let report = json_object(&stdout(fphash().args(["bands", "--curve", "--json"]).args(options)));
        assert_eq!((&report["bands"], &report["rows"]), (&line["b"], &line["r"]), "{line}");
    }
}

#[test]
fn the_curve_of_the_textbook() {
    let curve = ["bands", "--bands", "20", "--rows", "5", "--curve"];
    let report = json_object(&stdout(fphash().args(curve).arg("--json")));
    let at = |similarity: f64| {
        let points = report["curve"].as_array().unwrap().iter();
        let mut points = points.filter(|point| (point[0].as_f64().unwrap() - similarity).abs() < 1e-9);
        points.next().unwrap()[1].as_f64().unwrap()
    };
    for (similarity, expected) in [(0.2, 0.006), (0.3, 0.047), (0.4, 0.186), (0.5, 0.470), (0.6, 0.802), (0.7, 0.975)] {
        assert!((at(similarity) - expected).abs() < 6e-4, "{similarity}: {}", at(similarity));
    }
    assert!((at(0.8) - 0.999_65).abs() < 1e-5, "{}", at(0.8));
    let drawn = stdout(fphash().args(curve));
    assert!(drawn.starts_with("20 bands of 5 rows") && drawn.contains("0.80     99.964%"), "{drawn}");
    assert!(drawn.lines().all(|line| line.chars().count() <= 80), "{drawn}");
    fails(fphash().args(["bands", "--bands", "20", "--rows", "7", "--curve"]), &["--num-perm"]);
    fails(fphash().args(["bands", "--threshold", "1.5", "--curve"]), &["1.5"]);
    // Errors begin with the options that were given.
    let datatrove = ["--preset", "datatrove"];
    let none = "fphash: --bands 0 --rows 5: use at least one band of at least one row";
    let more = ": the 20 bands of 7 rows need 140 places, and a signature has ";
    let usual = "--num-perm 64: the 14 bands of 8 rows of --preset datatrove need 112 places, and a signature has 64; use \
                 --num-perm 112, or fewer --bands or --rows";
    for (options, expected) in [
        (&["--bands", "0", "--rows", "5"][..], none),
        (&[&datatrove[..], &["--bands", "0", "--rows", "5"]].concat(), none),
        (&["--bands", "20", "--rows", "7"], &format!("--bands 20 --rows 7{more}128; use --num-perm 140")),
        (&["--bands", "20", "--rows", "7", "--num-perm", "9"], &format!("--bands 20 --rows 7 --num-perm 9{more}9")),
        (&["--bands", "65", "--rows", "8", "--preset", "lucene"], "512; use --bucket-count 520, or fewer"),
        (&[&datatrove[..], &["--num-perm", "64"]].concat(), &format!("fphash: {usual}")),
        (
            &[&datatrove[..], &["--bands", "9000", "--rows", "8"]].concat(),
            "--bands 9000 --rows 8: a signature has at most",
        ),
    ] {
        fails(fphash().args(["bands", "--curve"]).args(options), &[expected]);
    }
    let none = "fpload: --bands 7 --rows 0: use at least one band of at least one row";
    let load = ["--create", "--kind", "keys", "--text", "store", "docs.ndjson"];
    fails(fpload().args(load).args(["--bands", "7", "--rows", "0"]), &[none]);
    let many = "fpload: --bands 70000 --rows 3: a signature has at most 65536 places; use fewer bands or rows";
    fails(fpload().args(load).args(["--bands", "70000", "--rows", "3"]), &[many]);
    fails(fphash().args(["bands", "--bands", "20", "--curve"]), &["--rows"]);
}

/// Documents share a band exactly if their signatures do.
#[test]
fn candidates_have_a_band_in_common() {
    let place = Place::new();
    let input = place.file("some.ndjson", {
        let all = crate::hash_vectors::objects("tests/data/rust-book-documents.ndjson.gz");
        ndjson(all.iter().take(120).map(|line| (line["n"].clone(), line["text"].clone())))
    });
    let options = ["--num-perm", "60", "--features", "words:3"];
    let signatures: Vec<Vec<u32>> = hashed(&[&["minhash"][..], &options].concat(), &input)
        .into_iter()
        .map(|result| serde_json::from_value(result["signature"].clone()).unwrap())
        .collect();
    let bands = |form: &[&str]| {
        stdout(fphash().args(["bands", "--bands", "20", "--rows", "3"]).args(options).args(form).arg(&input))
    };
    let text = bands(&[]);
    let (header, lines) = without_trailer(&text).split_once('\n').unwrap();
    assert!(
        header.starts_with("#fpstore hasher=minhash/native/1,num-perm=60,") && header.ends_with(",bands=20,rows=3"),
        "{header}"
    );
    let mut members: HashMap<(&str, &str), Vec<usize>> = HashMap::new();
    for line in lines.lines() {
        let [band, key, id] = line.split('\t').collect::<Vec<&str>>()[..] else { panic!("{line}") };
        members.entry((band, key)).or_default().push(id.parse().unwrap());
    }
    let mut found: HashSet<(usize, usize)> = HashSet::new();
    for ids in members.values() {
        for (i, a) in ids.iter().enumerate() {
            found.extend(ids[i + 1..].iter().map(|b| (*a, *b)));
        }
    }
    let share = |a: usize, b: usize| signatures[a].chunks(3).zip(signatures[b].chunks(3)).any(|(a, b)| a == b);
    let expected: HashSet<(usize, usize)> =
        (0..120).flat_map(|a| (a + 1..120).map(move |b| (a, b))).filter(|(a, b)| share(*a, *b)).collect();
    assert!(found == expected && found.len() > 50, "{} {}", found.len(), expected.len());
    let objects = json_lines(&bands(&["--json"]));
    assert_eq!((objects.len(), objects[5]["bands"].as_array().unwrap().len()), (120, 20));
    assert_eq!(
        lines.lines().nth(5 * 20 + 3),
        Some(format!("3\t{}\t5", objects[5]["bands"][3].as_str().unwrap()).as_str())
    );
}

#[test]
fn keys_of_the_longest_sentences() {
    let place = Place::new();
    let long = "This sentence is long enough to be the longest one of its text.";
    let texts = [format!("Short. {long} And so on."), format!("Other words. {long}"), "Nothing of it.".to_owned()];
    let input = place.file("a.ndjson", ndjson((0..).zip(texts).map(|(id, text)| (id.into(), text.into()))));
    let results = hashed(&["bands", "--sentences=1"], &input);
    assert_eq!(results[0]["bands"], results[1]["bands"]);
    assert_ne!(results[0]["bands"], results[2]["bands"]);
    assert_eq!(results[0]["bands"].as_array().unwrap().len(), 1);
    fails(fphash().args(["bands", "--sentences=0"]).arg(&input), &["--sentences"]);
}

#[test]
fn output_does_not_depend_on_threads() {
    for command in [["minhash", "--num-perm", "16"].as_slice(), &["bands", "--num-perm", "32"]] {
        let run = |threads: &str| stdout(fphash().args(command).args(["--threads", threads]).arg(real_documents()));
        assert!(run("1") == run("6"), "{command:?}");
    }
}
