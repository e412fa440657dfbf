//! Tests with files that the same crate writes, in the types and encodings that programs use.

use std::io::Write;
use std::sync::Arc;

use arrow_array::builder::{FixedSizeBinaryBuilder, StringDictionaryBuilder};
use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, BinaryArray, Float64Array, Int64Array, LargeStringArray, NullArray, RecordBatch, StringArray,
    StringViewArray, UInt8Array, UInt64Array,
};
use fpstore::{Fingerprint, U256};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;
use proptest::prelude::*;

use crate::input::testing::{columns, input, input_with, records};
use crate::input::{Digits, Format, Input, InputOptions, Source};
use crate::progress::Progress;

type Records<F> = Result<Vec<(F, Option<String>)>, String>;

/// Returns a file with row groups of 1000 rows.
fn file_with(columns: Vec<(&str, ArrayRef)>, properties: WriterProperties) -> Vec<u8> {
    let batch = RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(n, c)| (n, c, true))).unwrap();
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.into_inner().unwrap()
}

fn properties() -> parquet::file::properties::WriterPropertiesBuilder {
    WriterProperties::builder().set_max_row_group_row_count(Some(1000)).set_data_page_row_count_limit(100)
}

fn file(columns: Vec<(&str, ArrayRef)>) -> Vec<u8> {
    file_with(columns, properties().build())
}

fn read<F: Fingerprint>(bytes: &[u8]) -> Records<F> {
    records(input("a.parquet", bytes))
}

fn words(count: u64) -> Vec<u64> {
    (0..count).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect()
}

#[test]
fn types_of_fingerprints() {
    let words = words(20_000);
    let expected: Vec<(u64, Option<String>)> = words.iter().map(|word| (*word, None)).collect();
    let bytes: Vec<[u8; 8]> = words.iter().map(|word| word.to_be_bytes()).collect();
    let hex: Vec<String> = words.iter().map(|word| format!("{word:016X}")).collect();
    let mut fixed = FixedSizeBinaryBuilder::new(8);
    bytes.iter().for_each(|bytes| fixed.append_value(bytes).unwrap());
    let mut dictionary = StringDictionaryBuilder::<Int32Type>::new();
    hex.iter().for_each(|hex| dictionary.append_value(hex));
    let columns: [(ArrayRef, Option<u32>); 8] = [
        (Arc::new(UInt64Array::from(words.clone())), Some(64)),
        (Arc::new(Int64Array::from_iter_values(words.iter().map(|word| word.cast_signed()))), Some(64)),
        (Arc::new(fixed.finish()), Some(64)),
        (Arc::new(BinaryArray::from_iter_values(&bytes)), None),
        (Arc::new(StringArray::from(hex.clone())), None),
        (Arc::new(LargeStringArray::from(hex.clone())), None),
        (Arc::new(StringViewArray::from_iter_values(&hex)), None),
        (Arc::new(dictionary.finish()), None),
    ];
    for (column, width) in columns {
        let bytes = file(vec![("fingerprint", column)]);
        assert_eq!(input("a.parquet", &bytes).unwrap().width(), width);
        assert!(read::<u64>(&bytes).as_ref() == Ok(&expected), "{width:?}");
        let error = read::<u128>(&bytes).unwrap_err();
        assert!(error.contains("64-bit") || error.contains("record 1: expected"), "{error}");
    }
}

#[test]
fn types_of_ids() {
    let fingerprint: ArrayRef = Arc::new(UInt64Array::from(vec![1, 2, 3]));
    let mut dictionary = StringDictionaryBuilder::<Int32Type>::new();
    ["a", "b", "a"].iter().for_each(|text| dictionary.append_value(text));
    let columns: [(ArrayRef, [Option<&str>; 3]); 9] = [
        (Arc::new(UInt64Array::from(vec![0, 7, u64::MAX])), [Some("#0"), Some("#7"), Some("#18446744073709551615")]),
        (Arc::new(Int64Array::from(vec![Some(0), None, Some(9)])), [Some("#0"), None, Some("#9")]),
        (Arc::new(UInt8Array::from(vec![1, 2, 255])), [Some("#1"), Some("#2"), Some("#255")]),
        (Arc::new(arrow_array::Int16Array::from(vec![1, 2, 255])), [Some("#1"), Some("#2"), Some("#255")]),
        (Arc::new(StringArray::from(vec![Some("é"), None, Some("")])), [Some("é"), None, Some("")]),
        (Arc::new(LargeStringArray::from(vec!["a", "7", "c"])), [Some("a"), Some("7"), Some("c")]),
        (Arc::new(BinaryArray::from_vec(vec![b"a", b"7", b"c"])), [Some("a"), Some("7"), Some("c")]),
        (Arc::new(dictionary.finish()), [Some("a"), Some("b"), Some("a")]),
        (Arc::new(NullArray::new(3)), [None, None, None]),
    ];
    for (column, expected) in columns {
        let expected: Vec<_> = (1_u64..).zip(expected.map(|id| id.map(str::to_owned))).collect();
        // In any order of the columns, and with other columns between them.
        let other: ArrayRef = Arc::new(Float64Array::from(vec![0.5; 3]));
        let before = file(vec![("id", column.clone()), ("x", other.clone()), ("fingerprint", fingerprint.clone())]);
        let after = file(vec![("fingerprint", fingerprint.clone()), ("x", other), ("id", column.clone())]);
        assert_eq!(read::<u64>(&before).as_ref(), Ok(&expected));
        assert_eq!(read::<u64>(&after).as_ref(), Ok(&expected));
        // One column may be both.
        if let Some(number) = column.as_any().downcast_ref::<UInt64Array>() {
            let options = columns_named("id", Some("id"));
            let both = records::<u64>(input_with("a.parquet", &before, &options)).unwrap();
            assert!(both.iter().map(|(fingerprint, _)| *fingerprint).eq(number.values().iter().copied()));
        }
    }
}

fn columns_named(fingerprint: &str, id: Option<&str>) -> InputOptions {
    columns(Some(fingerprint), id)
}

#[test]
fn what_is_refused_and_how() {
    let one: ArrayRef = Arc::new(UInt64Array::from(vec![1, 2]));
    let text = |texts: Vec<&str>| -> ArrayRef { Arc::new(StringArray::from(texts)) };
    let mut odd = FixedSizeBinaryBuilder::new(9);
    (0..2).for_each(|_| odd.append_value([0; 9]).unwrap());
    let floats: ArrayRef = Arc::new(Float64Array::from(vec![1.0, 2.0]));
    for (columns, part) in [
        (vec![("simhash", one.clone())], "there is no column \"fingerprint\"; the columns are 'simhash'"),
        (vec![("fingerprint", floats.clone())], "column \"fingerprint\": fingerprints are 64-bit integers"),
        (vec![("fingerprint", Arc::new(odd.finish()) as ArrayRef)], "8, 16 or 32 bytes, these have 9"),
        (vec![("fingerprint", one.clone()), ("id", floats)], "column \"id\": ids are integers or texts"),
        (
            vec![("fingerprint", Arc::new(UInt64Array::from(vec![Some(1), None])) as ArrayRef)],
            "record 2: there is no fingerprint (null)",
        ),
        (vec![("fingerprint", text(vec!["0000000000000001", "1"]))], "record 2: expected 16 hexadecimal digits"),
        (
            vec![("fingerprint", Arc::new(BinaryArray::from_vec(vec![b"12345678", b"1234567"])) as ArrayRef)],
            "record 2: expected 8 bytes (a 64-bit fingerprint), found 7",
        ),
        (
            vec![("fingerprint", one.clone()), ("id", Arc::new(Int64Array::from(vec![1, -2])) as ArrayRef)],
            "record 2: the id -2 is negative",
        ),
    ] {
        let error = read::<u64>(&file(columns)).unwrap_err();
        assert!(error.contains("a.parquet: ") && error.contains(part), "{error}");
    }
    let ids: ArrayRef = Arc::new(StringArray::from(vec![Some("a"), None]));
    let bytes = file(vec![("fingerprint", one.clone()), ("n", ids)]);
    let error = records::<u64>(input_with("a.parquet", &bytes, &columns(None, Some("n")))).unwrap_err();
    assert!(error.contains("record 2: there is no \"n\""), "{error}");
    let error = records::<u64>(input_with("a.parquet", &bytes, &columns(None, Some("m")))).unwrap_err();
    assert!(error.contains("there is no column \"m\"; the columns are 'fingerprint', 'n'"), "{error}");
    let error = read::<u128>(&file(vec![("fingerprint", one)])).unwrap_err();
    assert!(error.contains("a.parquet: column \"fingerprint\": the input is of 64-bit"), "{error}");
    for bytes in [b"".as_slice(), b"PAR1", b"0000000000000001\n"] {
        assert!(read::<u64>(bytes).unwrap_err().contains("a.parquet: "));
    }
}

#[test]
fn compressions() {
    let words = words(3000);
    let expected: Vec<(u64, Option<String>)> =
        words.iter().enumerate().map(|(i, word)| (*word, Some(format!("doc/{}", i / 2)))).collect();
    let ids: ArrayRef = Arc::new(StringArray::from_iter_values(expected.iter().map(|(_, id)| id.clone().unwrap())));
    let fingerprints: ArrayRef = Arc::new(UInt64Array::from(words));
    let columns = || vec![("fingerprint", fingerprints.clone()), ("id", ids.clone())];
    for compression in [
        Compression::UNCOMPRESSED,
        Compression::SNAPPY,
        Compression::GZIP(Default::default()),
        Compression::LZ4_RAW,
        Compression::ZSTD(ZstdLevel::default()),
    ] {
        let bytes = file_with(columns(), properties().set_compression(compression).build());
        assert!(read::<u64>(&bytes).as_ref() == Ok(&expected), "{compression:?}");
    }
    let bytes = file(columns());
    for name in ["a.parquet.gz", "a.parquet.zst"] {
        assert!(records::<u64>(input(name, &bytes)).as_ref() == Ok(&expected), "{name}");
    }
}

#[cfg(unix)]
#[test]
fn a_pipe() {
    let bytes = file(vec![("fingerprint", Arc::new(UInt64Array::from(words(100))))]);
    let (end, mut writer) = std::io::pipe().unwrap();
    let path = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&end));
    if !std::path::Path::new(&path).exists() {
        return;
    }
    std::thread::spawn(move || writer.write_all(&bytes).unwrap());
    let dir = tempfile::tempdir().unwrap();
    let options = InputOptions {
        format: Some(Format::Parquet),
        temp_dir: Some(dir.path().to_owned()),
        ..InputOptions::default()
    };
    let opened = Input::open(&Source::File(path.into()), &options, &Progress::hidden());
    assert_eq!(records::<u64>(opened).unwrap().len(), 100);
}

#[test]
fn fingerprints_written_otherwise() {
    let text = |texts: Vec<&str>| -> ArrayRef { Arc::new(StringArray::from(texts)) };
    let signed: ArrayRef = Arc::new(Int64Array::from(vec![7, -1]));
    let unsigned: ArrayRef = Arc::new(UInt64Array::from(vec![7, u64::MAX]));
    let max = u64::MAX.to_string();
    let both = Ok(vec![7, u64::MAX]);
    let refused = |part: &str| Err(part.to_owned());
    for (column, digits, expected) in [
        (signed.clone(), None, both.clone()),
        (signed.clone(), Some(Digits::Signed), both.clone()),
        (signed.clone(), Some(Digits::Dec), refused("record 2: -1 is negative")),
        (signed, Some(Digits::Hex), refused("record 1: 7 is a number")),
        (unsigned.clone(), Some(Digits::Dec), both.clone()),
        (unsigned, Some(Digits::Signed), refused("record 2: 18446744073709551615 does not fit a signed")),
        (text(vec!["7", "-1"]), Some(Digits::Signed), both.clone()),
        (text(vec!["7", &max]), Some(Digits::Dec), both),
        (text(vec!["7", &max]), None, refused("record 1: expected 16 hexadecimal digits")),
    ] {
        let options = InputOptions { fingerprint_format: digits, ..InputOptions::default() };
        let found = records::<u64>(input_with("a.parquet", &file(vec![("fingerprint", column)]), &options));
        match expected {
            Ok(expected) => assert!(found.unwrap().into_iter().map(|record| record.0).eq(expected), "{digits:?}"),
            Err(part) => assert!(found.unwrap_err().contains(&part), "{digits:?}"),
        }
    }
}

#[test]
fn qualities_of_every_type() {
    let fingerprints: ArrayRef = Arc::new(UInt64Array::from(vec![1, 2, 3]));
    let ids: ArrayRef = Arc::new(UInt64Array::from(vec![7, 8, 9]));
    let options =
        InputOptions { quality_column: Some("q".to_owned()), min_quality: Some(50.0), ..InputOptions::default() };
    let read = |columns| records::<u64>(input_with("a.parquet", &file(columns), &options));
    for quality in [
        Arc::new(UInt8Array::from(vec![50, 49, 100])) as ArrayRef,
        Arc::new(Int64Array::from(vec![50, -1, 100])),
        Arc::new(UInt64Array::from(vec![50, 0, 100])),
        Arc::new(Float64Array::from(vec![50.0, 49.9, 100.0])),
    ] {
        let with = vec![("q", quality.clone()), ("id", ids.clone()), ("fingerprint", fingerprints.clone())];
        assert_eq!(read(with), Ok(vec![(1, Some("#7".to_owned())), (3, Some("#9".to_owned()))]));
        assert_eq!(read(vec![("fingerprint", fingerprints.clone()), ("q", quality)]), Ok(vec![(1, None), (3, None)]));
    }
    let without: ArrayRef = Arc::new(UInt64Array::from(vec![Some(50), None, Some(50)]));
    let texts: ArrayRef = Arc::new(StringArray::from(vec!["50", "50", "50"]));
    for (name, quality, part) in [
        ("q", without.clone(), "record 2: there is no quality in \"q\""),
        ("q", texts, "column \"q\": expected numbers"),
        ("r", without, "there is no column \"q\"; the columns are 'fingerprint', 'r'"),
    ] {
        let error = read(vec![("fingerprint", fingerprints.clone()), (name, quality)]).unwrap_err();
        assert!(error.contains(part), "{error}");
    }
}

#[test]
fn damaged_files_give_errors() {
    let ids: ArrayRef = Arc::new(StringArray::from_iter_values(["a", "b"].iter().cycle().take(50)));
    let good = file(vec![("fingerprint", Arc::new(UInt64Array::from(words(50)))), ("id", ids)]);
    assert_eq!(read::<u64>(&good).unwrap().len(), 50);
    for length in 0..good.len() {
        assert!(read::<u64>(&good[..length]).is_err(), "{length}");
    }
    // Pages have no checksums here, so a flipped bit may change a value. It must not end the program.
    for position in 0..good.len() {
        for flip in [1, 0x80, 0xff] {
            let mut bad = good.clone();
            bad[position] ^= flip;
            let _ = read::<u64>(&bad);
        }
    }
}

fn comes_back<F: Fingerprint>(rows: &[([u64; 4], Option<String>)], ending: &str) {
    let expected: Vec<(F, Option<String>)> =
        rows.iter().map(|(words, id)| (F::from_words(|i| words[i]), id.clone())).collect();
    let big_endian = |fingerprint: F| (0..F::WORDS).flat_map(move |word| fingerprint.word(word).to_be_bytes());
    let mut fixed = FixedSizeBinaryBuilder::new(i32::try_from(F::BYTES).unwrap());
    expected.iter().for_each(|row| fixed.append_value(big_endian(row.0).collect::<Vec<u8>>()).unwrap());
    let ids = StringArray::from_iter(rows.iter().map(|(_, id)| id.as_deref()));
    let bytes = file(vec![("fingerprint", Arc::new(fixed.finish())), ("id", Arc::new(ids))]);
    let name = format!("a.parquet{ending}");
    assert_eq!(input(&name, &bytes).unwrap().width(), Some(F::WIDTH));
    assert_eq!(records(input(&name, &bytes)), Ok(expected));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    #[test]
    fn every_width_comes_back(rows: Vec<([u64; 4], Option<String>)>) {
        comes_back::<u64>(&rows, "");
        comes_back::<u128>(&rows, ".gz");
        comes_back::<U256>(&rows, ".zst");
    }
}
