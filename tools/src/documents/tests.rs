//! Reads files of every format, good and bad. Parquet has tests of its own.

use std::fs;

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::string::string_regex;

use super::testing::{below, columns, document, id, raw, read};
use super::*;
use crate::input::testing::packed;

fn plain() -> DocumentOptions {
    DocumentOptions::default()
}

fn tokens(words: &[&str]) -> Content {
    Content::Tokens(words.iter().map(|&word| word.to_owned()).collect())
}

#[test]
fn objects() {
    let text = "\u{feff}# a remark\n{\"id\":7,\"text\":\"a\\u00e9\\n\",\"x\":{\"text\":1}}\r\n\n \
                {\"text\":\"\",\"id\":\"7\"} \n{\"text\":\"\u{1f600}\",\"id\":null}\n{\"\\u0074ext\":\"x\"}";
    let expected = vec![
        document(DocumentId::Number(7), "aé\n"),
        document(id("7"), ""),
        document(DocumentId::None, "\u{1f600}"),
        document(DocumentId::None, "x"),
    ];
    for name in ["a.ndjson", "a.jsonl", "a.ndjson.gz", "a.jsonl.zst"] {
        assert_eq!(read(name, text.as_bytes(), &plain()).as_ref(), Ok(&expected), "{name}");
    }
    let named = columns(Some("url"), Some("body"), None);
    let body = br#"{"text":"no","body":"yes","id":1,"url":"/a b"}"#;
    assert_eq!(read("a.ndjson", body, &named), Ok(vec![document(id("/a b"), "yes")]));
    let words = br#"{"words":["a","","b\u0020c"],"id":1}"#;
    let expected = Document { id: DocumentId::Number(1), content: tokens(&["a", "", "b c"]), number: 0 };
    assert_eq!(read("a.ndjson", words, &columns(None, None, Some("words"))), Ok(vec![expected]));
    for empty in ["", "\n", "#", "\u{feff}"] {
        assert_eq!(read("a.ndjson", empty.as_bytes(), &plain()), Ok(vec![]));
    }
}

#[test]
fn objects_that_are_refused_and_how() {
    for (line, message) in [
        (r#"{"id":1}"#, "there is no \"text\"; name the column with --text-column"),
        (r#"{"text":null}"#, "the text is null"),
        (r#"{"text":5}"#, "invalid type: integer `5`, expected a text, which is a string (column 9)"),
        (r#"{"text":["a"]}"#, "invalid type: sequence, expected a text, which is a string (column 9)"),
        (r#"{"text":"a","text":"b"}"#, "the key \"text\" occurs twice (column 23)"),
        (r#"{"text":"a","id":-1}"#, "invalid type: integer `-1`, expected an unsigned 64-bit number or a string"),
        (r#"{"text":"a","id":1.5}"#, "invalid type: floating point `1.5`, expected an unsigned 64-bit number"),
        (r#"{"text":"a","id":""}"#, "the id is empty"),
        (r#"{"text":"a","id":"b\tc"}"#, "the id has a character that ids may not have: '\\t'"),
        (r#"{"text":"\ud800"}"#, "a lone surrogate \\ud800 (column 10)"),
        (r#"{"text":"a"} x"#, "trailing characters (column 14)"),
        (r#"{"text":"a"#, "EOF while parsing a string (column 10)"),
        ("a text", "expected value (column 1)"),
        (r#"["a"]"#, "invalid type: sequence, expected a JSON object"),
    ] {
        let error = read("a.ndjson", format!("{{\"text\":\"\"}}\n\n{line}\n").as_bytes(), &plain()).unwrap_err();
        assert!(error.starts_with("a.ndjson: line 3: ") && error.contains(message), "{error}");
    }
    let latin = b"{\"text\":\"caf\xe9\"}";
    assert_eq!(
        read("a.ndjson", latin, &plain()).unwrap_err(),
        "a.ndjson: line 1: not UTF-8 at byte offset 12 of the line; convert it, for example with iconv -f LATIN1 -t \
         UTF-8"
    );
    let named = columns(Some("url"), Some("body"), None);
    for (line, message) in [
        (r#"{"body":"a"}"#, "a.ndjson: line 1: there is no \"url\"; the columns are 'body'"),
        (
            r#"{"url":1}"#,
            "a.ndjson: line 1: there is no \"body\"; name the column with --text-column; the columns are 'url'",
        ),
    ] {
        assert_eq!(read("a.ndjson", line.as_bytes(), &named).unwrap_err(), message);
    }
    for (line, message) in [
        (r#"{"t":"a b"}"#, "invalid type: a string, expected tokens, which are an array of strings"),
        (r#"{"t":["a",1]}"#, "invalid type: integer `1`, expected a token, which is a string"),
        (r#"{"t":["a",null]}"#, "invalid type: null, expected a token, which is a string"),
        (r#"{"t":null}"#, "the tokens are null"),
    ] {
        let error = read("a.ndjson", line.as_bytes(), &columns(None, None, Some("t"))).unwrap_err();
        assert!(error.contains(message), "{error}");
    }
    let many = format!("{{\"t\":[{}\"\"]}}", "\"\",".repeat(TOKEN_LIMIT));
    let error = read("a.ndjson", many.as_bytes(), &columns(None, None, Some("t"))).unwrap_err();
    assert!(error.contains("more than 4194304 tokens"), "{error}");
}

#[test]
fn objects_in_any_layout_under_any_name() {
    let expected = Ok(vec![document(DocumentId::Number(1), "a"), document(id("x"), "{b}")]);
    let pretty = "{\n \"id\": 1,\n \"text\": \"a\"\n}\n\n{\n \"id\": \"x\",\n \"text\": \"{b}\"\n}";
    let lines = "{\"id\":1,\"text\":\"a\"}\n{\"id\":\"x\",\"text\":\"{b}\"}\n";
    let array = format!("[{}]", lines.replace("}\n{", "},\n{"));
    for name in ["a.json", "a.json.gz", "a", "a.log", "a.csv", "a.zst"] {
        for text in [pretty, lines, &array] {
            assert_eq!(read(name, text.as_bytes(), &plain()), expected, "{name} {text}");
        }
    }
    assert_eq!(read("a.ndjson", array.as_bytes(), &plain()), expected);
    let whole = read("a.txt", lines.as_bytes(), &plain()).unwrap();
    assert_eq!(whole, [document(id("a.txt"), lines)]);
    for empty in ["[]", "[\n]\n", ""] {
        assert_eq!(read("a.json", empty.as_bytes(), &plain()), Ok(vec![]));
    }
    let open = &array[..array.len() - 3];
    for (text, message) in [
        (open, "a.json: line 2: EOF while parsing an object"),
        ("[{\"text\":\"a\"},\n\n{\"text\":\n5}]", "a.json: line 3: invalid type: integer `5`"),
        ("[{\"text\":\"a\"},\n7]", "a.json: line 2: invalid type: integer `7`, expected a JSON object"),
        ("[{\"text\":\"a\"}", "a.json: line 1: the input ends inside an array"),
        ("a text", "a.json: line 1: expected value"),
    ] {
        let error = read("a.json", text.as_bytes(), &plain()).unwrap_err();
        assert!(error.starts_with(message), "{error}");
    }
}

#[test]
fn rows_with_other_delimiters() {
    let expected = Ok(vec![document(DocumentId::Number(1), "a, b"), document(DocumentId::Number(2), "c\nd")]);
    let text = "id;text\n1;a, b\n2;\"c\nd\"\n";
    let semicolon = DocumentOptions { delimiter: Some(b';'), ..plain() };
    assert_eq!(read("a.csv", text.as_bytes(), &semicolon), expected);
    assert_eq!(read("a.tsv.gz", text.replace(';', "\t").as_bytes(), &plain()), expected);
    let error = read("a.csv", text.as_bytes(), &plain()).unwrap_err();
    assert!(error.contains("say --delimiter ';'"), "{error}");
    let open = read("a.csv", b"text\na\n\"b\nc\n", &plain()).unwrap_err();
    assert!(open.starts_with("a.csv: line 3: the quote that opens a cell on this line is not closed"), "{open}");
}

#[test]
fn rows() {
    let text = "\u{feff}id,title,text\r\n7,x,\"a, \"\"b\"\"\n\"\r\n\r\n007,x,\n,x,#é\n";
    let expected =
        vec![document(DocumentId::Number(7), "a, \"b\"\n"), document(id("007"), ""), document(DocumentId::None, "#é")];
    for name in ["a.csv", "a.csv.gz", "a.CSV.zst"] {
        assert_eq!(read(name, text.as_bytes(), &plain()).as_ref(), Ok(&expected), "{name}");
    }
    let titles = read("a.csv", b"id,title,text\n7,x,y\n", &columns(Some("text"), Some("title"), None));
    assert_eq!(titles, Ok(vec![document(id("y"), "x")]));
    assert_eq!(read("a.csv", b"", &plain()), Ok(vec![]));
}

#[test]
fn rows_that_are_refused_and_how() {
    for (text, options, message) in [
        (
            b"id,body\n".as_slice(),
            plain(),
            "line 1: there is no column \"text\"; the columns are 'id', 'body'; name the column with --text-column",
        ),
        (b"text\n", columns(Some("url"), None, None), "line 1: there is no column \"url\"; the columns are 'text'"),
        (b"text,text\n", plain(), "line 1: the column \"text\" occurs twice"),
        (
            b"text,id\n\"a\nb\",1\nc\n",
            plain(),
            "line 4: expected 2 cells, as many as there are names of columns, found 1",
        ),
        (b"text,url\na,\n", columns(Some("url"), None, None), "line 2: there is no \"url\""),
        (b"text,id\na,b\tc\n", plain(), "line 2: the id 'b\\tc': the id has a character that ids may not have: '\\t'"),
        (
            b"text\ncaf\xe9\n",
            plain(),
            "line 2: not UTF-8 at byte offset 3 of the text; convert it, for example with iconv -f LATIN1 -t UTF-8",
        ),
    ] {
        assert_eq!(read("a.csv", text, &options).unwrap_err(), format!("a.csv: {message}"));
    }
}

#[test]
fn files_and_directories() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path();
    fs::create_dir_all(root.join("d/e")).unwrap();
    for (name, content) in [
        ("d/b.txt", "\u{feff}a text\r\n"),
        ("d/a.ndjson", "{\"text\":\"x\"}\n"),
        ("d/e/packed.gz", "\u{feff}packed"),
        ("d/empty", ""),
        ("7", "\u{feff}\u{feff}"),
        ("q.csv", "text\nq\n"),
    ] {
        fs::write(root.join(name), packed(name, content.as_bytes())).unwrap();
    }
    let of_d = vec![
        document(DocumentId::None, "x"),
        document(id("d/b.txt"), "a text\r\n"),
        document(id("d/e/packed.gz"), "packed"),
        document(id("d/empty"), ""),
    ];
    let mut expected = vec![document(id("7"), "\u{feff}"), document(DocumentId::None, "q")];
    expected.extend(of_d.clone());
    assert_eq!(below(root, &["7", "q.csv", "d"], &plain()), (expected, Ok(())));
    let whole = DocumentOptions { format: Some(DocumentFormat::File), ..plain() };
    let as_files = below(root, &["d", "q.csv"], &whole).0;
    assert_eq!(as_files[0], document(id("d/a.ndjson"), "{\"text\":\"x\"}\n"));
    assert_eq!(as_files[4], document(id("q.csv"), "text\nq\n"));
    let ndjson = DocumentOptions { format: Some(DocumentFormat::Ndjson), ..plain() };
    assert_eq!(below(root, &["d/a.ndjson"], &ndjson).0, [document(DocumentId::None, "x")]);

    // The documents before an error are returned.
    fs::write(root.join("d/d.txt"), b"\xef\xbb\xbfab\xff").unwrap();
    let (before, error) = below(root, &["d"], &plain());
    assert_eq!(before, of_d[..2]);
    let message = "d/d.txt: not UTF-8 at byte offset 5; convert it, for example with iconv -f LATIN1 -t UTF-8";
    assert_eq!(error, Err(message.to_owned()));
    let tab = read("a\tb", b"x", &plain()).unwrap_err();
    assert!(tab.contains("the path is the id, but the id ") && tab.contains("may not have: '\\t'"), "{tab}");
}

#[test]
fn compressed_inputs_that_were_cut() {
    let lines: String =
        (0..20_000).map(|i| format!("{{\"id\":{i},\"text\":\"{:x}\"}}\n", i * 0x9e37_79b9_u64)).collect();
    for name in ["a.ndjson.gz", "a.ndjson.zst", "a.txt.gz", "a.txt.zst"] {
        let bytes = packed(name, lines.as_bytes());
        let whole = raw(name, &bytes, &plain()).unwrap();
        assert_eq!(whole.len(), if name.contains("txt") { 1 } else { 20_000 });
        for length in [0, 1, 5, 11, bytes.len() / 2, bytes.len() - 1] {
            let error = raw(name, &bytes[..length], &plain()).unwrap_err();
            assert!(error.starts_with(&format!("{name}: ")), "{length}: {error}");
        }
    }
    let half = packed("a.gz", lines.as_bytes());
    let error = raw("a.txt.gz", &half[..half.len() / 2], &plain()).unwrap_err();
    assert!(error.contains("the compressed data ends too early; was the file cut?"), "{error}");
}

#[test]
fn the_longest_document() {
    let longest = vec![b'x'; DOCUMENT_LIMIT];
    let read_one = read("a.txt", &longest, &plain()).unwrap();
    assert_eq!(read_one[0].content.bytes(), DOCUMENT_LIMIT as u64);
    let longer = [longest.as_slice(), b"x"].concat();
    assert_eq!(read("a.txt.zst", &longer, &plain()).unwrap_err(), "a.txt.zst: the document is longer than 64 MiB");
    let line = [b"{\"text\":\"".as_slice(), &longest[20..], b"\"}\n{\"text\":\"\"}"].concat();
    let documents = read("a.ndjson", &line, &plain()).unwrap();
    assert_eq!(documents.iter().map(|document| document.content.bytes()).collect::<Vec<_>>(), [(64 << 20) - 20, 0]);
}

#[test]
fn columns_by_option_and_what_does_not_fit() {
    let error = read("a.csv", b"text\n", &columns(None, None, Some("text"))).unwrap_err();
    assert_eq!(error, "a.csv: a cell of CSV holds no array; --tokens-column needs ndjson or parquet input");
    let error = read("a.txt", b"text\n", &columns(None, None, Some("text"))).unwrap_err();
    assert!(error.starts_with("a.txt would be read as documents that are whole files"), "{error}");
}

/// Any texts. The strategy that goes by the name of `String` parses its regular expression again for each text.
fn texts() -> impl Strategy<Value = String> {
    string_regex("\\PC*").unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn what_the_crates_write_comes_back(
        rows in vec((option::of(texts()), texts(), vec(texts(), 0..100)), 0..100),
        quotes in "[\",\r\n\u{e9}#x]{0,9}",
    ) {
        let mut rows = rows;
        rows.push((None, quotes.clone(), vec![quotes]));
        let mut csv = csv::Writer::from_writer(Vec::new());
        csv.write_record(["text", "x", "id"]).unwrap();
        let (mut ndjson, mut texts, mut lists) = (Vec::new(), Vec::new(), Vec::new());
        for (id, text, words) in rows {
            let id = id.filter(|id| fpstore::IdRef::Text(id).check().is_ok());
            csv.write_record([text.as_str(), "", id.as_deref().unwrap_or_default()]).unwrap();
            let object = serde_json::json!({"words": words, "text": text, "id": id});
            serde_json::to_writer(&mut ndjson, &object).unwrap();
            ndjson.push(b'\n');
            let id = id.map_or(DocumentId::None, DocumentId::Text);
            texts.push(document(id.clone(), &text));
            lists.push(Document { id, content: Content::Tokens(words), number: 0 });
        }
        prop_assert_eq!(&read("a.ndjson", &ndjson, &plain()), &Ok(texts.clone()));
        prop_assert_eq!(read("a.ndjson.gz", &ndjson, &columns(None, None, Some("words"))), Ok(lists));
        for text in &mut texts {
            // CSV does not distinguish numbers from texts.
            if let DocumentId::Text(id) = &text.id && let Ok(number) = id.parse::<u64>() && number.to_string() == *id {
                text.id = DocumentId::Number(number);
            }
        }
        prop_assert_eq!(read("a.csv.zst", &csv.into_inner().unwrap(), &plain()), Ok(texts));
    }
}
