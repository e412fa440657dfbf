//! `fpdedup documents --keep-by`: which documents stay, by a column.

use std::fs;

use crate::support::{Place, fails, fpdedup};

/// Three families of equal texts, with a date, a number and a mixed column.
const ROWS: [(&str, &str, &str); 8] = [
    ("one two three four", "2024-05-01", "3"),
    ("alpha beta gamma", "2024-01-09", ""),
    ("one two three four", "2025-02-03", "10"),
    ("alpha beta gamma", "2023-12-31", ""),
    ("one two three four", "2023-07-07", "-4.5"),
    ("alone in the corpus", "2020-01-01", "7"),
    ("alpha beta gamma", "", "1"),
    ("one two three four", "2025-02-03", "10"),
];

fn stay(place: &Place, input: &str, options: &[&str]) -> Vec<usize> {
    let output = place.path(&format!("out.{}", input.rsplit_once('.').unwrap().1));
    let gone = place.path("gone.tsv");
    let mut run = fpdedup();
    run.arg("documents").arg(place.path(input)).arg("-o").arg(&output).arg("--evidence").arg(&gone).args(options);
    run.assert().success();
    let removed: Vec<usize> =
        fs::read_to_string(gone).unwrap().lines().map(|row| row.split('\t').next().unwrap().parse().unwrap()).collect();
    (0..ROWS.len()).filter(|number| !removed.contains(number)).collect()
}

#[test]
fn values_of_every_format() {
    let place = Place::new();
    let json = |(text, date, score): &(&str, &str, &str)| {
        let mut object = serde_json::json!({"text": text});
        if !date.is_empty() {
            object["date"] = (*date).into();
        }
        if !score.is_empty() {
            object["score"] = serde_json::from_str(score).unwrap();
        }
        format!("{object}\n")
    };
    place.file("a.ndjson", ROWS.iter().map(json).collect::<String>());
    let rows: String = ROWS.iter().map(|(text, date, score)| format!("{date},{text},{score}\n")).collect();
    place.file("a.csv", format!("date,text,score\n{rows}"));
    let mut inputs = vec!["a.ndjson", "a.csv"];
    if cfg!(feature = "parquet") {
        #[cfg(feature = "parquet")]
        parquet(&place);
        inputs.push("a.parquet");
    }
    for input in inputs {
        // The first of equal values stays; those without a value come last.
        for (options, expected) in [
            (&[][..], [0, 1, 5]),
            (&["--keep-by", "date"], [3, 4, 5]),
            (&["--keep-by", "date", "--keep-order", "max"], [1, 2, 5]),
            (&["--keep-by", "score"], [4, 5, 6]),
            (&["--keep-by", "score", "--keep-order", "max"], [2, 5, 6]),
            (&["--keep-by", "score", "--keep-order", "max", "--linkage", "complete", "--threads", "1"], [2, 5, 6]),
        ] {
            assert_eq!(stay(&place, input, options), expected, "{input} {options:?}");
        }
    }
}

#[cfg(feature = "parquet")]
fn parquet(place: &Place) {
    use arrow_array::{ArrayRef, Date32Array, Float64Array, RecordBatch, StringArray};
    use std::sync::Arc;
    let texts: StringArray = ROWS.iter().map(|row| Some(row.0)).collect();
    let day = |date: &str| {
        let part = |from: usize, to: usize| date.get(from..to)?.parse::<i32>().ok();
        Some(part(0, 4)? * 372 + part(5, 7)? * 31 + part(8, 10)?)
    };
    let dates: Date32Array = ROWS.iter().map(|row| day(row.1)).collect();
    let scores: Float64Array = ROWS.iter().map(|row| row.2.parse::<f64>().ok()).collect();
    let columns: [(&str, ArrayRef); 3] =
        [("score", Arc::new(scores)), ("text", Arc::new(texts)), ("date", Arc::new(dates))];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let file = fs::File::create(place.path("a.parquet")).unwrap();
    let mut writer = parquet::arrow::ArrowWriter::try_new(file, batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
}

#[test]
fn columns_that_do_not_do() {
    let place = Place::new();
    place.file("a.ndjson", "{\"text\":\"a\",\"n\":1}\n{\"text\":\"b\",\"n\":\"x\"}\n{\"text\":\"c\",\"n\":[1]}\n");
    place.file("a.csv", "text,n\na,1\n");
    place.file("a.txt", "a");
    let run = |input: &str, column: &str| {
        let mut run = fpdedup();
        let ending = if input.ends_with("csv") { "out.csv" } else { "out.ndjson" };
        run.current_dir(place.path(".")).args(["documents", input, "-o", ending, "--keep-by", column]);
        run
    };
    fails(&mut run("a.ndjson", "n"), &["a.ndjson: line 2: "]);
    fails(&mut run("a.ndjson", "no"), &["a.ndjson: line 1: there is no \"no\"", "'n', 'text'"]);
    fails(&mut run("a.csv", "no"), &["--keep-by: the inputs have no column \"no\""]);
    fails(&mut run("a.txt", "no"), &["--keep-by no: a.txt is a whole document"]);
    let mut order = fpdedup();
    order.current_dir(place.path(".")).args(["documents", "a.csv", "-o", "out.csv", "--keep-order", "max"]);
    fails(&mut order, &["--keep-by"]);
}
