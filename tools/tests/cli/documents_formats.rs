//! `fpdedup documents` keeps formats, columns and order, whatever the inputs are.

use std::fs;
use std::path::Path;

use crate::support::{Place, fails, fpdedup};

/// Three texts, two of them twice.
const TEXTS: [&str; 5] = [
    "the quick brown fox jumps over the lazy dog",
    "a text of other words, with \"quotes\" and more",
    "the quick brown fox jumps over the lazy dog",
    "nothing like the two before this",
    "a text of other words, with \"quotes\" and more",
];
/// The numbers of those that stay.
const KEPT: [usize; 3] = [0, 1, 3];

fn run(place: &Place, inputs: &[&Path], output: &str, options: &[&str]) -> Vec<u8> {
    let output = place.path(output);
    fpdedup().args(["documents", "--quiet", "-o"]).arg(&output).args(options).args(inputs).assert().success();
    let bytes = fs::read(&output).unwrap();
    match output.extension().unwrap().to_str().unwrap() {
        "gz" => std::io::read_to_string(flate2::read::GzDecoder::new(&*bytes)).unwrap().into_bytes(),
        "zst" => zstd::decode_all(&*bytes).unwrap(),
        _ => bytes,
    }
}

#[test]
fn lines_and_arrays_of_json() {
    let place = Place::new();
    let object = |number: usize| {
        let text = serde_json::to_string(TEXTS[number]).unwrap();
        format!("{{ \"meta\": {{\"b\":[1e400,{number}],\"a\":null}}, \"text\":{text},\t\"id\":{number}.0e0 }}")
    };
    let objects: Vec<String> = (0..5).map(object).collect();
    // Ids that are no integers are refused, so there is no column of ids here.
    let objects: Vec<String> = objects.iter().map(|object| object.replace("\"id\"", "\"other\"")).collect();
    let lines = format!("# remark\n\n{}\n{}\r\n{}\n{}\n{}", objects[0], objects[1], objects[2], objects[3], objects[4]);
    let (lines, array) = (
        place.file("a.ndjson", lines),
        place.file("b.json", format!("[{}\n]", objects.join(",\r\n").replace(", \"text\"", ",\n\"text\""))),
    );
    let kept: Vec<&str> = KEPT.iter().map(|number| objects[*number].as_str()).collect();
    let expected = kept.iter().map(|object| format!("{object}\n")).collect::<String>();
    for output in ["out.ndjson", "out.jsonl.gz", "out.ndjson.zst"] {
        assert_eq!(run(&place, &[&lines], output, &[]), expected.as_bytes(), "{output}");
    }
    // Line ends between the parts of an object become spaces.
    assert_eq!(run(&place, &[&array], "c.ndjson", &[]), expected.as_bytes());
    let out = run(&place, &[&lines, &array], "d.json", &[]);
    assert_eq!(out, format!("[\n{}\n]\n", kept.join(",\n")).as_bytes(), "all of the second input are duplicates");
    let empty = place.file("e.ndjson", "");
    assert_eq!(run(&place, &[&empty], "f.json", &[]), b"[]\n");
    assert_eq!(run(&place, &[&empty], "f.ndjson", &[]), b"");
}

#[test]
fn rows_of_tables() {
    let place = Place::new();
    let row = |number: usize, delimiter: char| {
        let text = format!("\"{}\"", TEXTS[number].replace('"', "\"\""));
        format!("{number}{delimiter}{text}{delimiter}\" x{delimiter}\ny\"{delimiter}\n")
    };
    let table = |numbers: &[usize], delimiter: char| {
        let rows: String = numbers.iter().map(|number| row(*number, delimiter)).collect();
        format!("id{delimiter}text{delimiter}note{delimiter}empty\n{rows}")
    };
    let plain = |text: &str, delimiter: char| {
        let mut rows =
            csv::ReaderBuilder::new().delimiter(delimiter as u8).has_headers(false).from_reader(text.as_bytes());
        rows.records().map(Result::unwrap).collect::<Vec<_>>()
    };
    let (all, stay) = ([0, 1, 2, 3, 4], KEPT);
    for (input, output, delimiter, options) in [
        ("a.csv", "out.csv", ',', &[][..]),
        ("a.tsv", "out.tsv.gz", '\t', &[]),
        ("b.csv", "out2.csv", ';', &["--delimiter", ";"]),
    ] {
        let input = place.file(input, table(&all, delimiter).replace('\n', "\r\n").replace("\r\ny", "\ny"));
        let out = String::from_utf8(run(&place, &[&input], output, options)).unwrap();
        assert_eq!(plain(&out, delimiter), plain(&table(&stay, delimiter), delimiter), "{out}");
    }
    let csv = place.path("a.csv");
    let out = String::from_utf8(run(&place, &[&csv], "out.tsv", &[])).unwrap();
    assert_eq!(plain(&out, '\t'), plain(&table(&stay, ','), ','), "a comma becomes a TAB");
    let more = place.file("more.csv", table(&[0, 3], ',') + "7,entirely new words here,,\n");
    let none = place.file("none.csv", "");
    let out = String::from_utf8(run(&place, &[&none, &csv, &more], "all.csv", &[])).unwrap();
    assert_eq!(plain(&out, ',').len(), 1 + 3 + 1);
    let other = place.file("other.csv", "id,text\n1,x\n");
    let mut run = fpdedup();
    run.arg("documents").args([&csv, &other]).arg("-o").arg(place.path("x.csv"));
    fails(&mut run, &["other.csv: its columns are not those of", "a.csv"]);
}

#[test]
fn whole_files_become_objects() {
    let place = Place::new();
    let docs = place.path("docs");
    fs::create_dir(&docs).unwrap();
    for (number, text) in TEXTS.iter().enumerate() {
        fs::write(docs.join(format!("{number}.md")), format!("\u{feff}{text}\n")).unwrap();
    }
    let out = run(&place, &[&docs], "out.ndjson", &[]);
    let expected: String = KEPT
        .iter()
        .map(|number| {
            let id = docs.join(format!("{number}.md"));
            let text = serde_json::to_string(&format!("{}\n", TEXTS[*number])).unwrap();
            format!("{{\"id\":\"{}\",\"text\":{text}}}\n", id.display())
        })
        .collect();
    assert_eq!(String::from_utf8(out).unwrap(), expected);
    let pattern = docs.join("[0-2].md");
    assert_eq!(run(&place, &[&pattern], "two.ndjson", &[]).iter().filter(|byte| **byte == b'\n').count(), 2);
}

#[test]
fn tokens_and_other_columns() {
    let place = Place::new();
    let lines: String = TEXTS
        .iter()
        .map(|text| format!("{}\n", serde_json::json!({"w": text.split(' ').collect::<Vec<_>>()})))
        .collect();
    let input = place.file("a.ndjson", &lines);
    let expected: String = KEPT.iter().map(|number| format!("{}\n", lines.lines().nth(*number).unwrap())).collect();
    for options in [&["--tokens-column", "w"][..], &["--tokens-column", "w", "--verify", "1"]] {
        assert_eq!(run(&place, &[&input], "out.ndjson", options), expected.as_bytes());
    }
}

#[cfg(feature = "parquet")]
mod of_parquet {
    use super::*;
    use std::sync::Arc;

    use arrow_array::cast::AsArray;
    use arrow_array::types::{Float64Type, Int32Type};
    use arrow_array::{
        Array, ArrayRef, Decimal128Array, DictionaryArray, Float64Array, Int32Array, LargeStringArray, ListArray,
        RecordBatch, StringArray, StructArray, TimestampMicrosecondArray,
    };
    use parquet::arrow::ArrowWriter;
    use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
    use parquet::basic::Compression;
    use parquet::file::metadata::KeyValue;
    use parquet::file::properties::WriterProperties;

    fn columns(numbers: &[usize]) -> RecordBatch {
        let of = |value: &dyn Fn(usize) -> Option<i32>| numbers.iter().map(|number| value(*number)).collect::<Vec<_>>();
        let whole = |number: usize| i32::try_from(number).ok();
        let texts: StringArray = numbers.iter().map(|number| Some(TEXTS[*number])).collect();
        let kinds: DictionaryArray<Int32Type> = numbers.iter().map(|number| ["a", "b"][number % 2]).collect();
        let lists = numbers.iter().map(|number| {
            (number % 3 > 0)
                .then(|| (0..*number).map(|part| (part > 1).then_some(f64::from(part as u32))).collect::<Vec<_>>())
        });
        let inner: ArrayRef = Arc::new(Int32Array::from(of(&|number| whole(number).filter(|number| number % 2 == 0))));
        let fields = vec![(Arc::new(arrow_schema::Field::new("inner", inner.data_type().clone(), true)), inner)];
        let large: LargeStringArray = numbers.iter().map(|number| Some(format!("large {number}"))).collect();
        let times: Vec<i64> = numbers.iter().map(|number| 1_700_000_000_000_000 + *number as i64).collect();
        let price: Vec<i128> = numbers.iter().map(|number| *number as i128 * 100 + 5).collect();
        RecordBatch::try_from_iter_with_nullable([
            ("text", Arc::new(texts) as ArrayRef, true),
            ("kind", Arc::new(kinds), true),
            ("list", Arc::new(ListArray::from_iter_primitive::<Float64Type, _, _>(lists)), true),
            ("struct", Arc::new(StructArray::from(fields)), true),
            ("large", Arc::new(large), true),
            ("time", Arc::new(TimestampMicrosecondArray::from(times).with_timezone("UTC")), true),
            ("price", Arc::new(Decimal128Array::from(price).with_precision_and_scale(20, 2).unwrap()), true),
            (
                "score",
                Arc::new(Float64Array::from_iter(numbers.iter().map(|number| (*number > 1).then_some(0.5)))),
                true,
            ),
        ])
        .unwrap()
    }

    fn write(path: &Path, batch: &RecordBatch) {
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_key_value_metadata(Some(vec![KeyValue::new("pandas".to_owned(), "{}".to_owned())]))
            .build();
        let file = fs::File::create(path).unwrap();
        let mut writer = ArrowWriter::try_new(file, batch.schema(), Some(properties)).unwrap();
        writer.write(batch).unwrap();
        writer.close().unwrap();
    }

    #[test]
    fn rows_of_every_type() {
        let place = Place::new();
        let (one, two) = (place.path("1.parquet"), place.path("2.parquet"));
        write(&one, &columns(&[0, 1, 2]));
        write(&two, &columns(&[3, 4]));
        let out = place.path("out.parquet");
        fpdedup().args(["documents", "--quiet", "-o"]).arg(&out).args([&one, &two]).assert().success();
        let reader = ParquetRecordBatchReaderBuilder::try_new(fs::File::open(&out).unwrap()).unwrap();
        let metadata = reader.metadata().clone();
        let expected = columns(&KEPT);
        assert_eq!(reader.schema().fields(), expected.schema().fields());
        let batches: Vec<RecordBatch> = reader.build().unwrap().map(Result::unwrap).collect();
        let found = arrow_select::concat::concat_batches(&batches[0].schema(), &batches).unwrap();
        assert_eq!(found.columns(), expected.columns());
        assert_eq!(found.column(0).as_string::<i32>().value(2), TEXTS[3]);
        let file = metadata.file_metadata();
        assert!(file.key_value_metadata().unwrap().iter().any(|pair| pair.key == "pandas"));
        assert!(metadata.row_group(0).columns().iter().all(|column| column.compression() == Compression::SNAPPY));
        let before = ParquetRecordBatchReaderBuilder::try_new(fs::File::open(&one).unwrap()).unwrap();
        assert_eq!(file.schema_descr().columns(), before.metadata().file_metadata().schema_descr().columns());
    }

    #[test]
    fn other_schemas_are_refused() {
        let place = Place::new();
        let (one, two) = (place.path("1.parquet"), place.path("2.parquet"));
        write(&one, &columns(&[0, 1]));
        write(&two, &columns(&[0, 1]).project(&[0, 1]).unwrap());
        let mut run = fpdedup();
        run.arg("documents").args([&one, &two]).arg("-o").arg(place.path("out.parquet"));
        fails(&mut run, &["2.parquet: its columns are not those of", "1.parquet"]);
        let mut run = fpdedup();
        run.arg("documents").arg(&one).arg("-o").arg(place.path("out.ndjson"));
        fails(&mut run, &["the output has the format of the inputs", "is Parquet", ".parquet"]);
    }
}
