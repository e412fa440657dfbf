//! Every format, plain and compressed, gives the same store, for every width and kind of ids.

use std::io::Write;

use crate::points::every;
use crate::support::{Place, fails, fpdump, fpload, fpquery, json_object, stdout};
use crate::wide::{Bits, Id, Kind, Record, Sort};

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// Returns the number in decimal, by repeated division by ten.
fn decimal(sort: Sort, bits: &Bits) -> String {
    let mut words = bits[..sort.words()].to_vec();
    let mut digits = Vec::new();
    while words.iter().any(|word| *word > 0) {
        let rest = words.iter_mut().fold(0, |rest, word| {
            let number = (u128::from(rest) << 64) | u128::from(*word);
            *word = u64::try_from(number / 10).unwrap();
            u64::try_from(number % 10).unwrap()
        });
        digits.push(char::from(b'0' + u8::try_from(rest).unwrap()));
    }
    digits.iter().rev().collect()
}

fn le(sort: Sort, records: &[Record]) -> Vec<u8> {
    let words = records.iter().flat_map(|(bits, _)| bits[..sort.words()].iter().rev().copied().collect::<Vec<_>>());
    words.flat_map(u64::to_le_bytes).collect()
}

/// Returns the records in every format that can hold them: extension of the name, bytes.
fn written(sort: Sort, records: &[Record]) -> Vec<(&'static str, Vec<u8>)> {
    let id = |id: &Id| match id {
        Id::None => None,
        Id::Number(number) => Some(number.to_string()),
        Id::Text(text) => Some(text.clone()),
    };
    let mut csv = csv::Writer::from_writer(Vec::new());
    let (mut dec, mut json) = (String::new(), String::new());
    csv.write_record(["id", "other", "fingerprint"]).unwrap();
    for (bits, own) in records {
        let (text, hex) = (id(own), sort.hex(bits));
        csv.write_record([text.as_deref().unwrap_or_default(), "a, b", &hex]).unwrap();
        dec += &text.as_ref().map_or_else(|| decimal(sort, bits), |text| format!("{}\t{text}", decimal(sort, bits)));
        dec.push('\n');
        let mut object = serde_json::json!({"fingerprint": hex.to_uppercase(), "title": "x"});
        match own {
            Id::None => {}
            Id::Number(number) => object["id"] = (*number).into(),
            Id::Text(text) => object["id"] = text.as_str().into(),
        }
        json += &format!("{object}\n");
    }
    let mut all = vec![
        ("hex", sort.lines(records).into_bytes()),
        ("dec", dec.into_bytes()),
        ("ndjson", json.into_bytes()),
        ("csv", csv.into_inner().unwrap()),
    ];
    if sort.kind == Kind::None {
        all.push(("bin", le(sort, records)));
        let ending = ["u64", "u128", "", "u256"][sort.words() - 1];
        all.push((ending, le(sort, records)));
    }
    #[cfg(feature = "parquet")]
    all.push(("parquet", parquet(sort, records)));
    all
}

#[cfg(feature = "parquet")]
fn parquet(sort: Sort, records: &[Record]) -> Vec<u8> {
    use std::sync::Arc;

    use arrow_array::builder::FixedSizeBinaryBuilder;
    use arrow_array::{ArrayRef, RecordBatch, StringArray, UInt64Array};

    let fingerprints: ArrayRef = if sort.width == 64 {
        Arc::new(UInt64Array::from_iter_values(records.iter().map(|(bits, _)| bits[0])))
    } else {
        let mut builder = FixedSizeBinaryBuilder::new(i32::try_from(sort.width / 8).unwrap());
        for (bits, _) in records {
            let bytes: Vec<u8> = bits[..sort.words()].iter().flat_map(|word| word.to_be_bytes()).collect();
            builder.append_value(bytes).unwrap();
        }
        Arc::new(builder.finish())
    };
    let numbers = records.iter().map(|(_, id)| if let Id::Number(number) = id { *number } else { 0 });
    let texts = records.iter().map(|(_, id)| if let Id::Text(text) = id { text.as_str() } else { "" });
    let mut columns = vec![("fingerprint", fingerprints)];
    match sort.kind {
        Kind::U64 => columns.push(("id", Arc::new(UInt64Array::from_iter_values(numbers)))),
        Kind::Text => columns.push(("id", Arc::new(StringArray::from_iter_values(texts)))),
        Kind::None => {}
    }
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let mut writer = parquet::arrow::ArrowWriter::try_new(Vec::new(), batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.into_inner().unwrap()
}

#[test]
fn all_give_the_same_store() {
    for sort in Sort::all() {
        let place = Place::new();
        let records = sort.families(300, 7);
        let expected = sort.scan(&records);
        for (number, (ending, plain)) in written(sort, &records).into_iter().enumerate() {
            let compressed =
                [("", plain.clone()), (".gz", gzip(&plain)), (".zst", zstd::encode_all(&*plain, 3).unwrap())];
            // A short run takes one of them for each format.
            for (compression, bytes) in every(3, compressed.into_iter().cycle().skip(number).take(3)) {
                let name = format!("a.{ending}{compression}");
                let input = place.file(&name, bytes);
                let store = place.path(&format!("{name}.store"));
                let mut load = sort.create();
                if ending == "dec" {
                    load.args(["--format", "dec"]);
                }
                load.arg("--quiet").arg(&store).arg(&input).assert().success().stderr("").stdout("");
                assert!(stdout(fpdump().arg("scan").arg(&store)) == expected, "{sort:?} {name}");
            }
        }
    }
}

#[test]
fn queries_of_every_format() {
    for sort in Sort::widths(Kind::None) {
        let place = Place::new();
        let records = sort.families(200, 8);
        let store = sort.store(&place, "store", &records);
        let asked: Vec<Bits> = records.iter().map(|(bits, _)| *bits).collect();
        let expected = sort.all_answers(&records, &asked, sort.distance);
        for (ending, bytes) in written(sort, &records) {
            let input = place.file(&format!("q.{ending}"), bytes);
            let format: &[&str] = if ending == "dec" { &["--format", "dec"] } else { &[] };
            let found = stdout(fpquery().args(format).arg("--input").arg(&input).arg(&store));
            assert!(found == expected, "{sort:?} {ending}");
        }
    }
}

#[test]
fn the_input_says_its_width() {
    for sort in Sort::widths(Kind::None) {
        let place = Place::new();
        let records = sort.families(50, 9);
        let width = |input: &std::path::Path, format: &[&str]| {
            let store = input.with_extension("store");
            json_object(&stdout(fpload().args(["--create", "--json"]).args(format).arg(store).arg(input)))["width"]
                .clone()
        };
        let ending = ["u64", "u128", "", "u256"][sort.words() - 1];
        let raw = place.file(&format!("raw.{ending}"), le(sort, &records));
        assert_eq!(width(&raw, &[]), sort.width);
        let header = format!("#fpstore width={}\n{}", sort.width, sort.lines(&records));
        assert_eq!(width(&place.file("header.tsv", header), &[]), sort.width);
        #[cfg(feature = "parquet")]
        assert_eq!(width(&place.file("column.parquet", parquet(sort, &records)), &[]), sort.width);
    }
}

#[test]
fn widths_that_contradict() {
    let place = Place::new();
    let wide = Sort::new(128, Kind::None);
    let raw = place.file("raw.u128", le(wide, &wide.families(10, 1)));
    let new = place.path("new");
    fails(fpload().args(["--create", "--width", "64"]).arg(&new).arg(&raw), &["raw.u128", "128-bit", "64 bits"]);
    #[cfg(feature = "parquet")]
    {
        let column = place.file("column.parquet", parquet(wide, &wide.families(10, 1)));
        let load = ["--create", "--width", "256"];
        fails(fpload().args(load).arg(&new).arg(&column), &["column.parquet", "fingerprint", "128-bit", "256-bit"]);
    }
    // An option takes precedence over the name.
    let load = ["--create", "--width", "64", "--format", "le", "--ids", "none"];
    assert!(!new.exists());
    fpload().args(load).arg(&new).arg(&raw).assert().success();
    let info = json_object(&stdout(fpdump().args(["info", "--json"]).arg(&new)));
    assert_eq!((&info["width"], &info["records"]), (&64.into(), &20.into()));
}

#[test]
fn raw_integers_that_are_cut() {
    for sort in Sort::widths(Kind::None) {
        let place = Place::new();
        let store = sort.store(&place, "store", &sort.families(10, 1));
        let mut bytes = le(sort, &sort.families(3, 2));
        bytes.pop();
        let input = place.file("a.bin", bytes);
        let left = format!("{} of the {} bytes", sort.words() * 8 - 1, sort.words() * 8);
        crate::wide::fails_unchanged(&store, fpload().arg(&store).arg(&input), &["a.bin", "record 3", &left]);
    }
}

/// Parquet is read from its end: a compressed file is first copied to the directory for temporary files.
#[cfg(feature = "parquet")]
#[test]
fn parquet_that_is_compressed_uses_the_directory_for_temporary_files() {
    let sort = Sort::new(64, Kind::U64);
    let place = Place::new();
    let records = sort.families(100, 11);
    let input = place.file("a.parquet.gz", gzip(&parquet(sort, &records)));
    let (store, temporary) = (place.path("store"), place.path("temporary"));
    std::fs::create_dir(&temporary).unwrap();
    let mut load = sort.create();
    load.env("TMPDIR", place.path("no-such-directory")).arg("--tmp-dir").arg(&temporary).arg(&store).arg(&input);
    load.assert().success();
    assert!(stdout(fpdump().arg("scan").arg(&store)) == sort.scan(&records));
}
