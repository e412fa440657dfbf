//! `fpdedup --keep-by`: priorities from a column, compared with the greedy definition, for every format and type.
#![cfg(feature = "parquet")]

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use arrow_array::{
    ArrayRef, BooleanArray, Date32Array, Decimal128Array, Float64Array, Int64Array, RecordBatch, StringArray,
    TimestampMicrosecondArray, UInt64Array,
};

use crate::dedup::records;
use crate::dedup_linkage::{greedy, sorted};
use crate::memory::peak;
use crate::support::{Pair, Place, Random, fails, fpdedup, fpload, stdout};

/// A value of a column.
#[derive(Clone, Debug)]
enum Value {
    Number(i128),
    Float(f64),
    Bool(bool),
    Text(String),
}

use Value::{Bool, Float, Number, Text};

impl Value {
    fn json(&self) -> String {
        match self {
            Number(number) => number.to_string(),
            Float(float) => format!("{float:?}"),
            Bool(is_true) => is_true.to_string(),
            Text(text) => serde_json::to_string(text).unwrap(),
        }
    }

    fn cell(&self) -> String {
        match self {
            Text(text) => text.clone(),
            other => other.json(),
        }
    }

    /// Numbers here are exact as floats, or are compared with others of their type alone.
    fn compare(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Number(a), Number(b)) => a.cmp(b),
            (Bool(a), Bool(b)) => a.cmp(b),
            (Text(a), Text(b)) => a.as_bytes().cmp(b.as_bytes()),
            (Float(a), Float(b)) => a.partial_cmp(b).unwrap(),
            (Number(a), Float(b)) => (*a as f64).partial_cmp(b).unwrap(),
            (Float(_), Number(_)) => other.compare(self).reverse(),
            other => panic!("{other:?}"),
        }
    }
}

/// The rows of a table: ids with values, some without, some twice, some of no record.
type Row = (u64, Option<Value>);

fn rows(records: &[Pair], value: impl Fn(u64) -> Value) -> Vec<Row> {
    let mut random = Random::new(3);
    let mut rows = Vec::new();
    for (_, id) in records {
        match random.below(8) {
            0 => {}
            1 => rows.push((*id, None)),
            2 => rows.extend([(*id, Some(value(random.next()))), (*id, None), (*id, Some(value(random.next())))]),
            _ => rows.push((*id, Some(value(random.next())))),
        }
    }
    rows.push((1 << 40, Some(value(random.next()))));
    rows
}

/// Orders records by the values of their ids.
fn by_priority(records: &[Pair], rows: &[Row], is_max: bool) -> Vec<Pair> {
    let better = |a: &Value, b: &Value| if is_max { b.compare(a) } else { a.compare(b) };
    let mut of: BTreeMap<u64, &Value> = BTreeMap::new();
    for (id, value) in rows.iter().filter_map(|(id, value)| Some((*id, value.as_ref()?))) {
        let best = of.entry(id).or_insert(value);
        if better(value, best).is_lt() {
            *best = value;
        }
    }
    let mut records = records.to_vec();
    records.sort_by(|a, b| match (of.get(&a.1), of.get(&b.1)) {
        (Some(x), Some(y)) => better(x, y).then(a.1.cmp(&b.1)),
        (x, y) => y.is_some().cmp(&x.is_some()).then(a.1.cmp(&b.1)),
    });
    records
}

fn ndjson(rows: &[Row]) -> String {
    rows.iter().fold(String::new(), |mut text, (id, value)| {
        match value {
            Some(value) => writeln!(text, "{{\"x\":[1],\"crawled\":{},\"id\":{id}}}", value.json()),
            // A key that is missing is the same as one that is null.
            None if id % 2 == 0 => writeln!(text, "{{\"id\":\"{id}\"}}"),
            None => writeln!(text, "{{\"id\":{id},\"crawled\":null}}"),
        }
        .unwrap();
        text
    })
}

fn delimited(rows: &[Row], delimiter: char) -> String {
    rows.iter().fold(format!("crawled{delimiter}id{delimiter}x\n"), |mut text, (id, value)| {
        let cell = value.as_ref().map(Value::cell).unwrap_or_default();
        writeln!(text, "{cell}{delimiter}{id}{delimiter}").unwrap();
        text
    })
}

fn parquet(columns: Vec<(&str, ArrayRef)>) -> Vec<u8> {
    let batch =
        RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, column)| (name, column, true)));
    let batch = batch.unwrap();
    let mut writer = parquet::arrow::ArrowWriter::try_new(Vec::new(), batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.into_inner().unwrap()
}

fn ids_of(rows: &[Row]) -> ArrayRef {
    Arc::new(UInt64Array::from(rows.iter().map(|row| row.0).collect::<Vec<_>>()))
}

fn zipped(bytes: &[u8]) -> Vec<u8> {
    let mut writer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    writer.write_all(bytes).unwrap();
    writer.finish().unwrap()
}

/// Compares what `keep` keeps with the greedy definition, for both orders.
fn keeps(store: &Path, file: &Path, records: &[Pair], rows: &[Row]) {
    for order in ["min", "max"] {
        let mut keep = fpdedup();
        keep.args(["keep", "-k", "3", "--keep-by", "crawled", "--keep-order", order, "--keep"]).args([file, store]);
        let expected = greedy(&by_priority(records, rows, order == "max"), 3, "star");
        let expected: Vec<String> = expected.iter().map(|cluster| cluster[0].1.to_string()).collect();
        assert_eq!(sorted(&stdout(&mut keep)), sorted(&expected.join("\n")), "{} {order}", file.display());
    }
}

#[test]
fn every_format_and_type() {
    type Of = (&'static str, fn(u64) -> Value);
    let place = Place::new();
    let all: Vec<Pair> = records(400).into_iter().collect::<BTreeSet<_>>().into_iter().collect();
    let store = place.store(&all);
    let types: [Of; 8] = [
        ("small", |n| Number(i128::from(n % 40) - 20)),
        ("signed", |n| Number(i128::from(n.cast_signed()))),
        ("unsigned", |n| Number(n.into())),
        ("float", |n| Float((n % 64) as f64 / 4.0 - 8.0)),
        ("both", |n| if n % 3 == 0 { Number((n % 9).into()) } else { Float((n % 64) as f64 / 8.0) }),
        ("bool", |n| Bool(n % 2 == 0)),
        ("date", |n| Text(format!("20{:02}-{:02}-17T08:00:00Z", n % 20, n % 12 + 1))),
        ("text", |n| Text(["é", "Z", "a", "a b", "10", "9", "-"][usize::try_from(n % 7).unwrap()].to_owned())),
    ];
    for (name, value) in types {
        let rows = rows(&all, value);
        let file = |ending: &str, bytes: Vec<u8>| place.file(&format!("{name}.{ending}"), bytes);
        let array = format!("[{}]", ndjson(&rows).trim_end().replace('\n', ","));
        for file in [
            file("ndjson", ndjson(&rows).into()),
            file("jsonl.zst", zstd::encode_all(ndjson(&rows).as_bytes(), 1).unwrap()),
            file("json", array.into()),
            file("csv", delimited(&rows, ',').into()),
            file("csv.gz", zipped(delimited(&rows, ',').as_bytes())),
            file("tsv", delimited(&rows, '\t').into()),
        ] {
            keeps(&store, &file, &all, &rows);
        }
    }
}

#[test]
fn every_type_of_parquet() {
    let place = Place::new();
    let all: Vec<Pair> = records(400).into_iter().collect::<BTreeSet<_>>().into_iter().collect();
    let store = place.store(&all);
    let rows = rows(&all, |n| Number(i128::from(n % 50) - 25));
    let numbers: Vec<Option<i64>> = rows
        .iter()
        .map(|row| row.1.as_ref().map(|value| if let Number(n) = value { i64::try_from(*n).unwrap() } else { 0 }))
        .collect();
    let small = || numbers.iter().map(|n| n.map(|n| i32::try_from(n).unwrap()));
    let wide = numbers.iter().map(|n| n.map(|n| i128::from(n) << 70)).collect::<Decimal128Array>();
    let columns: [ArrayRef; 9] = [
        Arc::new(Int64Array::from(numbers.clone())),
        Arc::new(numbers.iter().map(|n| n.map(|n| (n as f64) / 3.0)).collect::<Float64Array>()),
        Arc::new(numbers.iter().map(|n| Some(n.map_or(f64::NAN, |n| n as f64))).collect::<Float64Array>()),
        Arc::new(numbers.iter().map(|n| n.map(|n| (u64::MAX - 24).wrapping_add_signed(n))).collect::<UInt64Array>()),
        Arc::new(small().collect::<Date32Array>()),
        Arc::new(numbers.iter().copied().collect::<TimestampMicrosecondArray>().with_timezone("UTC")),
        Arc::new(wide.with_precision_and_scale(38, 4).unwrap()),
        Arc::new(small().collect::<arrow_array::Int32Array>()),
        Arc::new(numbers.iter().map(|n| n.map(|n| format!("{:03}", n + 25))).collect::<StringArray>()),
    ];
    for (number, column) in columns.into_iter().enumerate() {
        let bytes = parquet(vec![("crawled", column), ("id", ids_of(&rows))]);
        keeps(&store, &place.file(&format!("{number}.parquet"), &bytes), &all, &rows);
        if number == 0 {
            keeps(&store, &place.file("a.parquet.gz", zipped(&bytes)), &all, &rows);
        }
    }
    let odd = |row: &Row| row.1.as_ref().map(|value| matches!(value, Number(n) if n % 2 != 0));
    let odd_rows: Vec<Row> = rows.iter().map(|row| (row.0, odd(row).map(Bool))).collect();
    let column = Arc::new(rows.iter().map(odd).collect::<BooleanArray>());
    let bytes = parquet(vec![("id", ids_of(&rows)), ("crawled", column)]);
    keeps(&store, &place.file("odd.parquet", bytes), &all, &odd_rows);
}

#[test]
fn texts_as_ids_and_labels_of_clusters() {
    let place = Place::new();
    let all: Vec<Pair> = records(300).into_iter().collect::<BTreeSet<_>>().into_iter().collect();
    let store = place.path("store");
    let name = |id: u64| format!("http://{id:06}/");
    let lines: String = all.iter().map(|(fingerprint, id)| format!("{fingerprint:016x}\t{}\n", name(*id))).collect();
    fpload().arg("--create").arg(&store).arg("-").write_stdin(lines).assert().success();
    let rows = rows(&all, |n| Number((n % 40).into()));
    let table: String = rows
        .iter()
        .map(|(id, value)| {
            let value = value.as_ref().map_or("null".to_owned(), Value::json);
            format!("{{\"url\":{:?},\"crawled\":{value}}}\n", name(*id))
        })
        .collect();
    let file = place.file("pages.ndjson", table);
    for (order, linkage) in [("min", "star"), ("max", "star"), ("max", "complete")] {
        let clusters = greedy(&by_priority(&all, &rows, order == "max"), 3, linkage);
        let with = |what: &str| {
            let mut run = fpdedup();
            run.args([what, "--linkage", linkage, "--keep-by", "crawled", "--keep-order", order]);
            run.args(["--id-column", "url", "--keep"]).args([&file, &store]);
            stdout(&mut run)
        };
        let kept: Vec<String> = clusters.iter().map(|cluster| name(cluster[0].1)).collect();
        assert_eq!(sorted(&with("keep")), sorted(&kept.join("\n")), "{order} {linkage}");
        let labels = clusters.iter().flat_map(|cluster| {
            let smallest = cluster.iter().map(|record| record.1).min().unwrap();
            cluster.iter().map(move |record| format!("{}\t{}", name(record.1), name(smallest)))
        });
        let labels: Vec<String> = labels.collect();
        assert_eq!(sorted(&with("clusters")), sorted(&labels.join("\n")), "{order} {linkage}");
    }
}

#[test]
fn single_linkage_keeps_the_best_of_each_component() {
    let place = Place::new();
    // A chain, and one alone.
    let store = place.store(&[(0, 1), (7, 2), (0x3f, 3), (u64::MAX, 4)]);
    let file = place.file("a.csv", "id,crawled\n1,5\n3,10\n");
    for (order, kept) in [("min", "1\n4\n"), ("max", "3\n4\n")] {
        let mut keep = fpdedup();
        keep.args(["keep", "--linkage", "single", "--keep-by", "crawled", "--keep-order", order, "--keep"]);
        assert_eq!(stdout(keep.args([&file, &store])), kept);
    }
    let mut by_default = fpdedup();
    by_default.args(["keep", "--linkage", "single", "--keep-by", "crawled", "--keep"]).args([&file, &store]);
    assert_eq!(stdout(&mut by_default), "1\n4\n", "the smallest comes first");
}

#[test]
fn ids_of_no_record() {
    let place = Place::new();
    let store = place.store(&[(0, 10), (1, 20), (u64::MAX, 30)]);
    for (table, expected) in [
        ("id,crawled\n10,1\n20,\n30,3\n", ""),
        ("id,crawled\n10,1\n11,\n12,3\n11,4\n", "a.csv: not in the store: 2 of its 3 ids"),
        ("id,crawled\n11,1\n", "none of its 1 id is in the store"),
        ("id,crawled\n", "a.csv lists no ids"),
    ] {
        let file = place.file("a.csv", table);
        let output =
            fpdedup().args(["keep", "--keep-by", "crawled", "--keep"]).args([&file, &store]).assert().success();
        let said = String::from_utf8(output.get_output().stderr.clone()).unwrap();
        assert_eq!(said.contains("warning"), !expected.is_empty(), "{said}");
        assert!(said.contains(expected), "{said}");
    }
}

#[test]
fn wrong_use_and_wrong_tables() {
    let place = Place::new();
    let store = place.store(&[(0, 10), (1, 20)]);
    let run = |arguments: &[&str], parts: &[&str]| fails(fpdedup().args(arguments).arg(&store), parts);
    run(&["keep", "--keep-by", "crawled"], &["--keep-by names a column of a file", "--keep FILE"]);
    run(&["keep", "--keep", "largest", "--keep-by", "crawled"], &["--keep FILE"]);
    run(&["keep", "--keep-order", "max"], &["--keep-by"]);
    run(&["keep", "--id-column", "url"], &["--keep-by"]);
    run(&["keep", "--keep-order", "best", "--keep-by", "x"], &["min, max"]);
    run(&["clusters", "--keep", "a.csv", "--keep-by", "x"], &["--keep-by: it orders the records of --linkage star"]);
    run(&["clusters", "--id-column", "x"], &["--new, which was not given"]);

    let ids: ArrayRef = Arc::new(UInt64Array::from(vec![10]));
    let lists: ArrayRef =
        Arc::new(arrow_array::ListArray::from_iter_primitive::<arrow_array::types::Int64Type, _, _>([Some(vec![
            Some(1),
        ])]));
    for (name, table, parts) in [
        ("a.csv", b"id,date\n10,1\n".to_vec(), ["a.csv: line 1: there is no column \"crawled\"", "'id', 'date'"]),
        ("a.csv", b"url,crawled\n10,1\n".to_vec(), ["a.csv: line 1: there is no column \"id\"", "'url', 'crawled'"]),
        ("a.csv", b"id,crawled\n10,1\n,2\n".to_vec(), ["a.csv: line 3: ", "there is no \"id\""]),
        ("a.csv", b"id,crawled\nx,1\n".to_vec(), ["a.csv: line 2: the id 'x'", "not a decimal number"]),
        ("a.tsv", b"id\tdate\n10\t1\n".to_vec(), ["a.tsv: line 1: there is no column \"crawled\"", "'id', 'date'"]),
        (
            "a.ndjson",
            b"{\"id\":10,\"date\":1}\n".to_vec(),
            ["a.ndjson: line 1: there is no \"crawled\"", "the columns are 'date', 'id'"],
        ),
        (
            "a.ndjson",
            b"{\"id\":10,\"crawled\":1}\n{\"id\":20,\"crawled\":\"x\"}\n".to_vec(),
            ["a.ndjson: line 2: the values before are numbers, this is the text 'x'", "one type"],
        ),
        (
            "a.ndjson",
            b"{\"id\":10,\"crawled\":\"x\"}\n\n{\"id\":20,\"crawled\":1.5}\n".to_vec(),
            ["a.ndjson: line 3: the values before are texts, this is the number 1.5", "one type"],
        ),
        ("a.ndjson", b"{\"crawled\":1}\n".to_vec(), ["a.ndjson: line 1: there is no id", "\"id\""]),
        (
            "a.ndjson",
            b"{\"id\":10,\"crawled\":[1]}\n".to_vec(),
            ["a.ndjson: line 1: ", "a number, a string, a boolean"],
        ),
        (
            "a.parquet",
            parquet(vec![("id", ids.clone()), ("date", ids.clone())]),
            ["a.parquet: there is no column \"crawled\"", "'id', 'date'"],
        ),
        ("a.parquet", parquet(vec![("id", ids), ("crawled", lists)]), ["column \"crawled\": expected numbers", "List"]),
        ("a.txt", b"10\n20\n".to_vec(), ["a.txt: columns with names are in .parquet", ".csv or .tsv"]),
    ] {
        let file = place.file(name, table);
        run(&["keep", "--keep-by", "crawled", "--keep", file.to_str().unwrap()], &parts);
    }
    let file = place.file("a.csv", "id\n10\n");
    run(&["keep", "--keep-by", "id", "--keep", file.to_str().unwrap()], &["\"id\" is the column of the ids"]);
    run(&["keep", "--keep-by", "x", "--keep", "no-such.csv"], &["no-such.csv: neither smallest nor largest"]);
}

#[test]
fn memory_is_counted_and_is_enough_when_it_is_as_much_as_was_said() {
    let place = Place::new();
    let store = place.store(&records(100));
    let count = 2_500_000u64;
    let (mut list, mut table) = (String::new(), String::from("id,crawled\n"));
    for id in (0..count).rev() {
        writeln!(list, "{id}").unwrap();
        writeln!(table, "{id},{:05}-x", id * 7919 % 100_003).unwrap();
    }
    for (name, text, by) in [("list.txt", list, None), ("table.csv", table, Some(["--keep-by", "crawled"]))] {
        let file = place.file(name, text);
        let options = |memory: &str| {
            let mut all = vec!["keep".to_owned(), "-q".to_owned(), "--memory".to_owned(), memory.to_owned()];
            all.extend(by.iter().flatten().map(ToString::to_string));
            all.push("--keep".to_owned());
            all
        };
        let refused = fpdedup().args(options("64MiB")).args([&file, &store]).assert().code(2).get_output().clone();
        let said = String::from_utf8(refused.stderr).unwrap();
        assert!(said.contains("--memory 64.0 MiB: the priorities in") && said.contains(name), "{said}");
        let (_, needed) = said.trim_end().rsplit_once("say --memory ").unwrap();
        let most = needed.strip_suffix("MiB").unwrap().parse::<u64>().unwrap();
        assert!((64..110).contains(&most), "{said}");
        let used = peak(
            Command::new(env!("CARGO_BIN_EXE_fpdedup"))
                .args(options(needed))
                .args([&file, &store])
                .stdout(std::process::Stdio::null()),
        );
        assert!(used <= most << 20, "{used} bytes of {needed} for {name}");
    }
}
