//! The scripts of `examples/`, at small size, compared with brute force.

#![cfg(all(unix, feature = "parquet"))]

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::path::Path;
use std::process::Command;

use arrow_array::cast::AsArray;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use crate::support::{Place, Random, fpdump, stdout};

/// Runs a script, which finds the programs in its path.
fn run(script: &str, arguments: &[&OsStr]) {
    let programs = Path::new(env!("CARGO_BIN_EXE_fpload")).parent().unwrap();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths([programs.to_owned()].into_iter().chain(std::env::split_paths(&path))).unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples").join(script);
    let output = Command::new(script).args(arguments).env("PATH", path).env("MEMORY", "64MiB").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Returns a text column of a Parquet file.
fn texts(file: &Path, column: &str) -> Vec<String> {
    let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(file).unwrap()).unwrap().build().unwrap();
    reader
        .flat_map(|batch| {
            let batch = batch.unwrap();
            let column = batch.column_by_name(column).unwrap().as_string::<i32>().clone();
            column.iter().map(|text| text.unwrap().to_owned()).collect::<Vec<_>>()
        })
        .collect()
}

fn crawl(pages: &BTreeMap<String, u64>) -> String {
    pages.iter().fold("url,status,simhash\n".to_owned(), |mut text, (url, simhash)| {
        writeln!(text, "{url},200,{simhash:016x}").unwrap();
        text
    })
}

#[test]
fn nightly_urls() {
    let place = Place::new();
    let mut random = Random::new(3);
    let mut pages = BTreeMap::new();
    for number in 0..500 {
        pages.insert(format!("https://a.example/{number},x"), random.next());
    }
    // As in CSV, a URL with a comma is quoted.
    let quoted = |pages: &BTreeMap<String, u64>| {
        crawl(&pages.iter().map(|(url, simhash)| (format!("\"{url}\""), *simhash)).collect())
    };
    let (store, out) = (place.path("store"), place.path("out"));
    let night = |crawl: &Path, gone: &Path| run("nightly_urls.sh", &[&store, crawl, gone, &out].map(AsRef::as_ref));
    night(&place.file("night-1.csv", quoted(&pages)), &place.file("gone-1.txt", ""));

    // Of ten pages, one has changed slightly, one completely, and one is gone; one in ten is new, half of these are
    // copies.
    let (mut tonight, mut gone, known) = (BTreeMap::new(), String::new(), pages.clone());
    for (number, (url, simhash)) in known.iter().enumerate() {
        match number % 10 {
            0 => drop(tonight.insert(url.clone(), random.flipped(*simhash, 2))),
            1 => drop(tonight.insert(url.clone(), random.next())),
            2 => {
                pages.remove(url);
                writeln!(gone, "{url}").unwrap();
            }
            3 => drop(tonight.insert(format!("https://b.example/{number}"), random.next())),
            4 => drop(tonight.insert(format!("https://b.example/{number}"), random.flipped(*simhash, 3))),
            _ => {}
        }
    }
    gone.push_str("https://never.example/\n");
    night(&place.file("night-2.csv", quoted(&tonight)), &place.file("gone-2.txt", gone));

    let near = |url: &str, simhash: u64| {
        pages.iter().filter(move |(other, stored)| *other != url && (simhash ^ **stored).count_ones() <= 3).count()
    };
    let expected: BTreeSet<&String> =
        tonight.iter().filter(|(url, simhash)| near(url, **simhash) == 0).map(|(url, _)| url).collect();
    let new = fs::read_to_string(out.join("new.tsv")).unwrap();
    let lines = new.lines().filter(|line| !line.starts_with('#'));
    let found: BTreeSet<String> = lines.map(|line| line.split_once('\t').unwrap().1.to_owned()).collect();
    assert_eq!(found.iter().collect::<BTreeSet<_>>(), expected);
    let matches = tonight.iter().map(|(url, simhash)| near(url, *simhash)).sum::<usize>();
    assert!(matches > 0);
    assert_eq!(texts(&out.join("near.parquet"), "id").len(), matches);

    pages.extend(tonight);
    let scan = stdout(fpdump().arg("scan").arg(&store));
    let stored: BTreeMap<String, u64> = scan
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| line.split_once('\t').unwrap())
        .map(|(hex, url)| (url.to_owned(), u64::from_str_radix(hex, 16).unwrap()))
        .collect();
    assert_eq!(stored, pages);
}

#[test]
fn documents() {
    let place = Place::new();
    let mut random = Random::new(8);
    let mut text = String::new();
    for number in 0..60 {
        let words: Vec<String> = (0..200).map(|_| format!("word{}", random.below(5000))).collect();
        // Each text three times: unchanged, with one more word, in capitals.
        let copies = [words.join(" "), format!("{} more", words.join(" ")), words.join(" ").to_uppercase()];
        for (copy, words) in copies.iter().enumerate() {
            writeln!(text, "{{\"id\":\"{number}-{copy}\",\"text\":\"{words}\"}}").unwrap();
        }
    }
    text.push_str("{\"id\":\"bad\",\"text\":null}\n{\"id\":\"empty\",\"text\":\"\"}\n");
    let out = place.path("out");
    run("documents.sh", &[out.as_ref(), place.file("documents.ndjson", text).as_ref()]);
    let kept: BTreeSet<String> = texts(&out.join("kept.parquet"), "id").into_iter().collect();
    assert_eq!(kept, (0..60).map(|number| format!("{number}-0")).collect());
    assert_eq!(texts(&out.join("labels.parquet"), "id").len(), 180);
    let rejects = fs::read_to_string(out.join("rejects.tsv")).unwrap();
    assert!(rejects.contains("181\t") && rejects.contains("182\t") && rejects.lines().count() <= 3, "{rejects}");
}

#[test]
fn image_hashes() {
    let place = Place::new();
    let mut random = Random::new(21);
    let mut images: Vec<([u64; 4], u64)> = Vec::new();
    for number in 0..300_usize {
        let mut hash = [(); 4].map(|()| random.next());
        if number % 3 == 2 {
            hash = images[number / 2].0;
            for _ in 0..random.below(45) {
                hash[usize::try_from(random.below(4)).unwrap()] ^= 1 << random.below(64);
            }
        }
        images.push((hash, random.below(101)));
    }
    let table = |images: &[([u64; 4], u64)], first: usize| {
        images.iter().zip(first..).fold("image,hash,quality\n".to_owned(), |mut text, ((hash, quality), number)| {
            let hash: String = hash.iter().map(|word| format!("{word:016x}")).collect();
            writeln!(text, "image-{number:03}.jpg,{hash},{quality}").unwrap();
            text
        })
    };
    let (known, new) = images.split_at(250);
    let out = place.path("out");
    let (hashes, asked) = (place.file("known.csv", table(known, 0)), place.file("new.csv", table(new, 250)));
    run("image_hashes.sh", &[&out, &hashes, &asked].map(AsRef::as_ref));

    let good = |number: usize| images[number].1 >= 50;
    let distance = |a: usize, b: usize| (0..4).map(|i| (images[a].0[i] ^ images[b].0[i]).count_ones()).sum::<u32>();
    let mut found = BTreeSet::new();
    for query in (250..300).filter(|&number| good(number)) {
        for number in (0..250).filter(|&number| good(number) && distance(query, number) <= 31) {
            found.insert((format!("image-{query:03}.jpg"), format!("image-{number:03}.jpg")));
        }
    }
    let text = fs::read_to_string(out.join("found.tsv")).unwrap();
    let answers: BTreeSet<_> = text
        .lines()
        .map(|line| line.split('\t').collect::<Vec<_>>())
        .map(|cells| (cells[0].to_owned(), cells[4].to_owned()))
        .collect();
    assert!(!found.is_empty());
    assert_eq!(answers, found);
    let near = |a: &usize| (0..250).filter(|&b| b > *a && good(b) && distance(*a, b) <= 31).count();
    let pairs: usize = (0..250).filter(|&number| good(number)).map(|a| near(&a)).sum();
    assert_eq!(texts(&out.join("pairs.parquet"), "id_a").len(), pairs);
    assert!(fs::read_to_string(out.join("labels.tsv")).unwrap().lines().count() > 1);
}
