//! Documents, the pairs of near documents, and the brute force that finds them.

use std::ops::Range;

use anyhow::{Context, Result, bail};
use serde_json::Value;

/// A document of the sample. Its id is its index in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Document {
    pub(super) fingerprint: u64,
    pub(super) path: String,
}

/// Two documents within the distance, with `a < b`. The closest come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Pair {
    pub(super) distance: u32,
    pub(super) a: usize,
    pub(super) b: usize,
}

/// Reads the paths of the sample: NDJSON with `id` and `path`.
pub(super) fn paths(ndjson: &str) -> Result<Vec<String>> {
    let read = |(number, line): (usize, &str)| path(number, line).with_context(|| format!("line {}", number + 1));
    ndjson.lines().enumerate().map(read).collect()
}

fn path(number: usize, line: &str) -> Result<String> {
    let value: Value = serde_json::from_str(line)?;
    if value.get("id").and_then(Value::as_u64) != Some(number as u64) {
        bail!("the id is not the line's number counted from 0");
    }
    let path = value.get("path").and_then(Value::as_str).context("there is no path")?;
    Ok(path.to_owned())
}

/// Returns the documents, from the output of `fphash simhash` without its header, in order.
pub(super) fn documents(hashed: &str, paths: Vec<String>) -> Result<Vec<Document>> {
    let lines: Vec<&str> = hashed.lines().filter(|line| !line.starts_with('#')).collect();
    if lines.len() != paths.len() {
        bail!("fphash printed {} fingerprints of {} documents", lines.len(), paths.len());
    }
    let read = |((number, path), line): ((usize, String), &str)| {
        let fingerprint = line.split_once('\t').filter(|(_, id)| *id == number.to_string());
        let fingerprint = fingerprint.and_then(|(hex, _)| u64::from_str_radix(hex, 16).ok());
        let fingerprint = fingerprint.with_context(|| format!("fphash printed `{line}` of document {number}"))?;
        Ok(Document { fingerprint, path })
    };
    paths.into_iter().enumerate().zip(lines).map(read).collect()
}

/// Returns the unordered pairs in the output of `fpquery --with-query-id`, to which every document was a query.
pub(super) fn parse(answers: &str, documents: &[Document]) -> Result<Vec<Pair>> {
    let mut pairs = Vec::new();
    let mut itself = 0;
    for line in answers.lines() {
        let (a, b, distance) = answer(line, 0..documents.len()).with_context(|| format!("fpquery printed `{line}`"))?;
        if a < b {
            pairs.push(Pair { distance, a, b });
        } else if a == b {
            itself += 1;
        }
    }
    if itself != documents.len() {
        bail!("{itself} of {} records found themselves", documents.len());
    }
    pairs.sort_unstable();
    Ok(pairs)
}

/// Parses query id, stored id and distance of one line.
fn answer(line: &str, ids: Range<usize>) -> Result<(usize, usize, u32)> {
    let columns: Vec<&str> = line.split('\t').collect();
    let [query_id, _query, _match, distance, id] = columns.as_slice() else {
        bail!("that is {} columns instead of 5", columns.len());
    };
    let (query_id, id) = (query_id.parse()?, id.parse()?);
    if !ids.contains(&query_id) || !ids.contains(&id) {
        bail!("there is no such document");
    }
    Ok((query_id, id, distance.parse()?))
}

/// Returns every pair within `limit`, by comparing all pairs.
pub(super) fn brute_force(documents: &[Document], limit: u32) -> Vec<Pair> {
    let mut pairs = Vec::new();
    for (a, first) in documents.iter().enumerate() {
        for (b, second) in documents.iter().enumerate().skip(a + 1) {
            let distance = (first.fingerprint ^ second.fingerprint).count_ones();
            if distance <= limit {
                pairs.push(Pair { distance, a, b });
            }
        }
    }
    pairs.sort_unstable();
    pairs
}

pub(super) fn path_of(documents: &[Document], id: usize) -> &str {
    documents.get(id).map_or("?", |document| document.path.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn three() -> Vec<Document> {
        [0b0000, 0b0001, 0b1111].map(|fingerprint| Document { fingerprint, path: String::new() }).to_vec()
    }

    const ANSWERS: &str = "0\t00\t00\t0\t0\n0\t00\t01\t1\t1\n1\t01\t01\t0\t1\n1\t01\t00\t1\t0\n2\t0f\t0f\t0\t2\n";

    #[test]
    fn reads_the_sample() {
        let text = "{\"fingerprint\": \"00000000000000ff\", \"id\": 0, \"path\": \"r:a.md\", \"blob\": \"00\"}\n";
        assert_eq!(paths(text).unwrap(), ["r:a.md"]);
        assert!(paths(&text.replace("\"id\": 0", "\"id\": 1")).is_err());
    }

    #[test]
    fn documents_are_what_was_printed() {
        let paths = || vec!["r:a.md".to_owned(), "r:b.md".to_owned()];
        let found = documents("#fpstore width=64\n00000000000000ff\t0\n0000000000000001\t1\n", paths()).unwrap();
        assert_eq!(found[0], Document { fingerprint: 255, path: "r:a.md".into() });
        assert_eq!(found.len(), 2);
        for wrong in ["", "ff\t0\n", "ff\t0\n1\t2\n", "ff\t0\nx\t1\n", "ff\n1\n"] {
            assert!(documents(wrong, paths()).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn counts_each_pair_once() {
        let pairs = parse(ANSWERS, &three()).unwrap();
        assert_eq!(pairs, [Pair { distance: 1, a: 0, b: 1 }]);
        assert_eq!(pairs, brute_force(&three(), 2));
        let wider: Vec<_> = brute_force(&three(), 3).iter().map(|p| (p.distance, p.a, p.b)).collect();
        assert_eq!(wider, [(1, 0, 1), (3, 1, 2)]);
    }

    #[test]
    fn refuses_an_answer_that_cannot_be() {
        assert!(parse("0\t00\t00\t0\n", &three()).is_err(), "a column is missing");
        assert!(parse(&ANSWERS.replace("\t2\n", "\t3\n"), &three()).is_err(), "there is no document 3");
        assert!(parse(ANSWERS.trim_end_matches("2\t0f\t0f\t0\t2\n"), &three()).is_err(), "2 has not found itself");
    }
}
