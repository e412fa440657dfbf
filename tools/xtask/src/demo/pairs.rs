//! Documents, the pairs of them that are near, and the brute force that says which those are.

use std::ops::Range;

use anyhow::{Context, Result, bail};
use serde_json::Value;

/// One line of the sample. Its id is its place in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Document {
    pub(super) fingerprint: u64,
    pub(super) path: String,
}

/// Two documents within the distance asked for, `a < b`. Ordered closest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Pair {
    pub(super) distance: u32,
    pub(super) a: usize,
    pub(super) b: usize,
}

/// Reads the sample: NDJSON with `fingerprint`, `id` and `path`.
pub(super) fn documents(ndjson: &str) -> Result<Vec<Document>> {
    let read = |(number, line): (usize, &str)| {
        let document = document(number, line);
        document.with_context(|| format!("line {}", number + 1))
    };
    ndjson.lines().enumerate().map(read).collect()
}

fn document(number: usize, line: &str) -> Result<Document> {
    let value: Value = serde_json::from_str(line)?;
    if value.get("id").and_then(Value::as_u64) != Some(number as u64) {
        bail!("the id is not the line's number counted from 0");
    }
    let text = |key: &str| value.get(key).and_then(Value::as_str).with_context(|| format!("there is no {key}"));
    let fingerprint = u64::from_str_radix(text("fingerprint")?, 16).context("the fingerprint is not hexadecimal")?;
    Ok(Document { fingerprint, path: text("path")?.to_owned() })
}

/// The unordered pairs in `fpquery --with-query-id`'s output, where every document has asked once.
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

/// Query id, stored id and distance of one line.
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

/// Every pair within `limit`, by looking at every pair.
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
        assert_eq!(documents(text).unwrap(), [Document { fingerprint: 255, path: "r:a.md".into() }]);
        assert!(documents(&text.replace("\"id\": 0", "\"id\": 1")).is_err());
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
