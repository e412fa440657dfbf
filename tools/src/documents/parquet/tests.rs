//! Tests with files that the same crate writes.

use std::sync::Arc;

use arrow_array::builder::{ListBuilder, StringBuilder, StringDictionaryBuilder};
use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, BinaryArray, Int64Array, LargeStringArray, RecordBatch, StringArray, UInt8Array};
use parquet::arrow::ArrowWriter;
use parquet::file::properties::WriterProperties;

use super::super::testing::{columns, document, id, raw, read};
use super::super::{Content, Document, DocumentId, DocumentOptions};

fn file(columns: Vec<(&str, ArrayRef)>) -> Vec<u8> {
    let batch = RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(n, c)| (n, c, true))).unwrap();
    let properties = WriterProperties::builder().set_max_row_group_row_count(Some(1000)).build();
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.into_inner().unwrap()
}

fn plain() -> DocumentOptions {
    DocumentOptions::default()
}

fn texts<'a>(texts: impl IntoIterator<Item = Option<&'a str>>) -> ArrayRef {
    Arc::new(StringArray::from_iter(texts))
}

/// Returns a column of lists.
fn lists<'a>(rows: impl IntoIterator<Item = Option<Vec<Option<&'a str>>>>) -> ArrayRef {
    let mut builder = ListBuilder::new(StringBuilder::new());
    rows.into_iter().for_each(|row| builder.append_option(row));
    Arc::new(builder.finish())
}

#[test]
fn types_of_texts_and_ids() {
    let mut dictionary = StringDictionaryBuilder::<Int32Type>::new();
    ["a", "é", "a"].iter().for_each(|text| dictionary.append_value(text));
    let columns: [ArrayRef; 4] = [
        texts([Some("a"), Some("é"), Some("a")]),
        Arc::new(LargeStringArray::from(vec!["a", "é", "a"])),
        Arc::new(BinaryArray::from_vec(vec![b"a", "é".as_bytes(), b"a"])),
        Arc::new(dictionary.finish()),
    ];
    let ids: [(ArrayRef, [DocumentId; 3]); 3] = [
        (Arc::new(UInt8Array::from(vec![1, 2, 255])), [1, 2, 255].map(DocumentId::Number)),
        (
            Arc::new(Int64Array::from(vec![Some(7), None, Some(0)])),
            [DocumentId::Number(7), DocumentId::None, DocumentId::Number(0)],
        ),
        (texts([Some("7"), None, Some("/a b")]), [id("7"), DocumentId::None, id("/a b")]),
    ];
    for column in &columns {
        let without = file(vec![("text", column.clone())]);
        assert_eq!(
            read("a.parquet", &without, &plain()),
            Ok(["a", "é", "a"].map(|t| document(DocumentId::None, t)).into())
        );
        for (ids, expected) in &ids {
            let expected: Vec<Document> =
                expected.iter().zip(["a", "é", "a"]).map(|(id, text)| document(id.clone(), text)).collect();
            let bytes = file(vec![("id", ids.clone()), ("x", column.clone()), ("text", column.clone())]);
            for name in ["a.parquet", "a.parquet.gz", "a.parquet.zst"] {
                assert_eq!(read(name, &bytes, &plain()).as_ref(), Ok(&expected), "{name}");
            }
        }
    }
}

#[test]
fn lists_of_tokens() {
    let rows = || (0..2500).map(|i| (0..i % 5).map(|j| if j % 2 == 0 { "é" } else { "" }).collect::<Vec<_>>());
    let column = lists(rows().map(|row| Some(row.into_iter().map(Some).collect())));
    let expected: Vec<Document> = rows()
        .map(|row| Content::Tokens(row.into_iter().map(str::to_owned).collect()))
        .map(|content| Document { id: DocumentId::None, content, number: 0 })
        .collect();
    let bytes = file(vec![("x", column.clone()), ("words", column)]);
    assert!(read("a.parquet", &bytes, &columns(None, None, Some("words"))) == Ok(expected));
}

#[test]
fn long_and_many() {
    let long: Vec<String> = (0..40).map(|i| "x".repeat(i * 20_000)).collect();
    let short: Vec<String> = (0..30_000).map(|i| format!("text {i}")).collect();
    for many in [long, short] {
        let bytes = file(vec![("text", texts(many.iter().map(|text| Some(text.as_str()))))]);
        let expected = many.iter().map(|text| document(DocumentId::None, text)).collect();
        assert!(read("a.parquet", &bytes, &plain()) == Ok(expected));
    }
}

#[test]
fn what_is_refused_and_how() {
    let numbers: ArrayRef = Arc::new(Int64Array::from(vec![1, -2]));
    let two = || texts([Some("a"), Some("b")]);
    let binary: ArrayRef = Arc::new(BinaryArray::from_vec(vec![b"a", b"b\xff"]));
    let words = || lists([Some(vec![Some("a")]), Some(vec![Some("b"), None])]);
    let tokens = || columns(None, None, Some("words"));
    for (columns, options, message) in [
        (
            vec![("id", two()), ("body", two())],
            plain(),
            "there is no column \"text\"; the columns are 'id', 'body'; name the column with --text-column",
        ),
        (vec![("text", two())], columns(Some("n"), None, None), "there is no column \"n\"; the columns are 'text'"),
        (vec![("text", numbers.clone())], plain(), "column \"text\": documents are texts, these are Int64"),
        (
            vec![("text", words())],
            plain(),
            "column \"text\": documents are texts, these are lists; ready-made tokens are read with --tokens-column",
        ),
        (vec![("words", two())], tokens(), "column \"words\": tokens are lists of texts, these are Utf8"),
        (vec![("text", two()), ("id", words())], plain(), "column \"id\": ids are integers or texts, these are List"),
        (vec![("text", two()), ("id", numbers)], plain(), "record 2: the id -2 is negative"),
        (vec![("text", texts([Some("a"), None]))], plain(), "record 2: the text is null"),
        (
            vec![("text", two()), ("n", texts([Some("a"), None]))],
            columns(Some("n"), None, None),
            "record 2: there is no \"n\"",
        ),
        (vec![("text", two()), ("id", texts([Some("a"), Some("")]))], plain(), "record 2: the id is empty"),
        (
            vec![("text", binary)],
            plain(),
            "record 2: not UTF-8 at byte offset 1 of the text; convert it, for example with iconv -f LATIN1 -t UTF-8",
        ),
        (vec![("words", words())], tokens(), "record 2: a token is null"),
        (vec![("words", lists([Some(vec![]), None]))], tokens(), "record 2: the tokens are null"),
    ] {
        let error = read("a.parquet", &file(columns), &options).unwrap_err();
        assert!(error.starts_with(&format!("a.parquet: {message}")), "{error}");
    }
}

#[test]
fn one_long_token_many_times() {
    let token = "x".repeat(1 << 20);
    let column = lists([Some(vec![Some(token.as_str()); 65])]);
    let error = read("a.parquet", &file(vec![("t", column)]), &columns(None, None, Some("t"))).unwrap_err();
    assert_eq!(error, "a.parquet: record 1: the document is longer than 64 MiB");
}

#[test]
fn damaged_files_give_errors() {
    let words = || lists((0..50).map(|i| Some(vec![Some("a"); i % 3])));
    for (good, options) in [
        (file(vec![("text", texts((0..50).map(|_| Some("text"))))]), plain()),
        (file(vec![("t", words())]), columns(None, None, Some("t"))),
    ] {
        assert_eq!(raw("a.parquet", &good, &options).unwrap().len(), 50);
        for length in (0..good.len()).step_by(7) {
            assert!(raw("a.parquet", &good[..length], &options).is_err(), "{length}");
        }
        // Pages have no checksums here, so a flipped bit may change a value. It must not end the program.
        for position in 0..good.len() {
            let mut bad = good.clone();
            bad[position] ^= 0xff;
            let _ = raw("a.parquet", &bad, &options);
        }
    }
}
