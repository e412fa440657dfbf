//! `fpquery` in pipelines: queries that arrive slowly, a reader that closes the pipe, bad lines in the middle.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use crate::support::{Place, brute_force_lines, families, fpquery, hex_lines};

#[test]
fn a_query_is_answered_before_the_next_one_is_asked() {
    let place = Place::new();
    let store = place.store(&[(1, 10), (2, 20)]);
    let mut child = Command::new(env!("CARGO_BIN_EXE_fpquery"))
        .args(["-k", "0"])
        .arg(&store)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut asked = child.stdin.take().unwrap();
    let mut answers = BufReader::new(child.stdout.take().unwrap()).lines();
    for (query, id) in [(2, 20), (1, 10), (2, 20)] {
        writeln!(asked, "{query:016x}").unwrap();
        assert_eq!(answers.next().unwrap().unwrap(), format!("{query:016x}\t{query:016x}\t0\t{id}"));
    }
    drop(asked);
    assert!(answers.next().is_none());
    assert!(child.wait().unwrap().success());
}

#[test]
fn how_queries_arrive_does_not_matter() {
    let place = Place::new();
    let records = families(2000, 1);
    let store = place.store(&records);
    let queries: Vec<u64> = records.iter().map(|(fingerprint, _)| *fingerprint).collect();
    let mut child = Command::new(env!("CARGO_BIN_EXE_fpquery"))
        .arg(&store)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut asked = child.stdin.take().unwrap();
    let text = hex_lines(queries.iter().copied());
    let writer = thread::spawn(move || {
        for piece in text.as_bytes().chunks(1777) {
            asked.write_all(piece).unwrap();
            thread::sleep(Duration::from_micros(300));
        }
    });
    let mut found = String::new();
    child.stdout.take().unwrap().read_to_string(&mut found).unwrap();
    writer.join().unwrap();
    assert!(child.wait().unwrap().success());
    assert!(found == brute_force_lines(&records, &queries, 3));
}

#[test]
fn a_reader_that_has_seen_enough_is_success() {
    let place = Place::new();
    let records = families(3000, 1);
    let store = place.store(&records);
    let queries =
        place.file("q.tsv", hex_lines(records.iter().cycle().take(200_000).map(|(fingerprint, _)| *fingerprint)));
    for options in [[].as_slice(), &["--json"], &["--count"]] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_fpquery"))
            .args(options)
            .arg("--input")
            .arg(&queries)
            .arg(&store)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut first = [0; 10];
        child.stdout.take().unwrap().read_exact(&mut first).unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{options:?}");
        assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn answers_before_a_bad_line_are_given() {
    let place = Place::new();
    let records = [(1, 10), (2, 20)];
    let store = place.store(&records);
    let text = format!("{}no\n{}", hex_lines([1, 2]), hex_lines([1]));
    let assert = fpquery().arg(&store).write_stdin(text).assert().code(2);
    let output = assert.get_output();
    assert_eq!(String::from_utf8_lossy(&output.stdout), brute_force_lines(&records, &[1, 2], 3));
    assert!(String::from_utf8_lossy(&output.stderr).contains("standard input: line 3"));
}

#[test]
fn many_matches_a_query_are_all_written_in_order() {
    // Answers of a batch grow beyond the buffer before they are written.
    let place = Place::new();
    let records: Vec<_> = (0..5000).map(|id| (0xabcd, id)).collect();
    let store = place.store(&records);
    let queries = [0xabcd_u64; 60];
    let assert = fpquery().arg(&store).write_stdin(hex_lines(queries)).assert().success();
    let found = String::from_utf8(assert.get_output().stdout.clone()).unwrap();
    assert!(found == brute_force_lines(&records, &queries, 0));
}

#[test]
fn a_pipe_without_end() {
    let place = Place::new();
    let store = place.store(&[(7, 1)]);
    let mut child = Command::new(env!("CARGO_BIN_EXE_fpquery"))
        .arg(&store)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut asked = child.stdin.take().unwrap();
    // Until the program has ended.
    let writer = thread::spawn(move || while asked.write_all(hex_lines([7; 1000]).as_bytes()).is_ok() {});
    let answers = BufReader::new(child.stdout.take().unwrap()).lines().take(20_000);
    assert!(answers.map(|line| line.unwrap()).all(|line| line == "0000000000000007\t0000000000000007\t0\t1"));
    assert_eq!(child.wait().unwrap().code(), Some(0));
    writer.join().unwrap();
}
