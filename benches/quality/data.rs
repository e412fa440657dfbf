//! The documents, the true pairs, and what is found of them.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use flate2::read::GzDecoder;
use fpsketch::{Features, Space, Splitter};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// The Jaccard similarities from which on a pair is right, in tenths; the file of pairs has those of at least 5.
pub(crate) const TRUTHS: [u64; 4] = [5, 6, 7, 8];

/// Documents and pairs of them.
pub(crate) struct Data {
    pub(crate) texts: Vec<String>,
    /// With a Jaccard similarity of at least one half.
    pub(crate) pairs: Vec<Pair>,
    /// For each pair of documents, how many of [`TRUTHS`] its similarity reaches, or [`UNRELATED`].
    reached: Vec<u8>,
}

/// Below a Jaccard similarity of a tenth.
const UNRELATED: u8 = u8::MAX;

#[derive(Deserialize)]
pub(crate) struct Pair {
    pub(crate) a: usize,
    pub(crate) b: usize,
    inter: u64,
    union: u64,
}

impl Pair {
    pub(crate) fn jaccard(&self) -> f64 {
        self.inter as f64 / self.union as f64
    }
}

/// One point of a curve: the pairs that are found at a threshold.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(crate) struct Found {
    pub(crate) found: u64,
    /// Of these, those that are right, by [`TRUTHS`].
    pub(crate) right: [u64; 4],
    /// Of these, those with a Jaccard similarity below a tenth.
    pub(crate) unrelated: u64,
}

impl Data {
    /// The first documents of the sample, at most so many.
    pub(crate) fn read(most: usize) -> Self {
        #[derive(Deserialize)]
        struct Line {
            text: String,
        }
        let texts = lines("rust-book-documents.ndjson.gz", most).into_iter().map(|line: Line| line.text);
        let texts: Vec<String> = texts.collect();
        let mut pairs: Vec<Pair> = lines("rust-book-jaccard.ndjson.gz", usize::MAX);
        pairs.retain(|pair| pair.a < texts.len() && pair.b < texts.len());
        let reached = reached(&texts, &pairs);
        Self { texts, pairs, reached }
    }

    /// All pairs, as if they were found.
    pub(crate) fn all(&self) -> Found {
        self.curve(&[0.0], |_, _| 0.0)[0]
    }

    /// What is found among all pairs at each threshold: pairs whose score reaches it. The highest threshold comes first.
    pub(crate) fn curve(&self, thresholds: &[f64], score: impl Fn(usize, usize) -> f64) -> Vec<Found> {
        let mut curve = vec![Found::default(); thresholds.len()];
        for a in 0..self.texts.len() {
            for b in a + 1..self.texts.len() {
                let score = score(a, b);
                let first = thresholds.iter().position(|threshold| score >= *threshold);
                if let Some(point) = first.map(|first| &mut curve[first]) {
                    point.found += 1;
                    match self.reached[a * self.texts.len() + b] {
                        UNRELATED => point.unrelated += 1,
                        reached => point.right[..reached.into()].iter_mut().for_each(|right| *right += 1),
                    }
                }
            }
        }
        let mut sum = Found::default();
        for point in &mut curve {
            sum.found += point.found;
            sum.unrelated += point.unrelated;
            sum.right.iter_mut().zip(point.right).for_each(|(sum, right)| *sum += right);
            *point = sum;
        }
        curve
    }
}

/// How similar all pairs are, by counting the shingles that they have in common; which has to give the pairs of the file.
fn reached(texts: &[String], pairs: &[Pair]) -> Vec<u8> {
    let splitter = Splitter { features: Features::Words(5), space: Space::Unicode };
    let mut shingles: Vec<(u64, usize)> = Vec::new();
    for (number, text) in texts.iter().enumerate() {
        splitter.hashes(text.as_str().into(), |hash| shingles.push((hash, number)));
    }
    shingles.sort_unstable();
    shingles.dedup();
    let mut sizes = vec![0; texts.len()];
    let mut common = vec![0_u64; texts.len() * texts.len()];
    for same in shingles.chunk_by(|a, b| a.0 == b.0) {
        for (place, (_, a)) in same.iter().enumerate() {
            sizes[*a] += 1;
            same[place + 1..].iter().for_each(|(_, b)| common[a * texts.len() + b] += 1);
        }
    }
    let mut reached = vec![UNRELATED; common.len()];
    let mut similar = 0;
    for a in 0..texts.len() {
        for b in a + 1..texts.len() {
            let inter = common[a * texts.len() + b];
            let union = sizes[a] + sizes[b] - inter;
            if 10 * inter >= union {
                let tenths = TRUTHS.iter().filter(|tenths| 10 * inter >= *tenths * union).count();
                reached[a * texts.len() + b] = u8::try_from(tenths).unwrap();
                similar += usize::from(tenths > 0);
            }
        }
    }
    assert_eq!(similar, pairs.len(), "the file has all pairs");
    for Pair { a, b, inter, union } in pairs {
        let found = common[a * texts.len() + b];
        assert_eq!((found, sizes[*a] + sizes[*b] - found), (*inter, *union), "the file counts as we do");
    }
    reached
}

fn lines<T: DeserializeOwned>(name: &str, most: usize) -> Vec<T> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/data").join(name);
    let lines = BufReader::new(GzDecoder::new(File::open(path).unwrap())).lines();
    lines.take(most).map(|line| serde_json::from_str(&line.unwrap()).unwrap()).collect()
}

/// The points of one sketch.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Points {
    /// What finds them: "simhash", "minhash", "bands" or "sentences".
    pub(crate) way: &'static str,
    pub(crate) sketch: String,
    /// All that makes the sketch.
    pub(crate) identity: String,
    /// The parameter of each point, and what is found there.
    pub(crate) points: Vec<(f64, Found)>,
    pub(crate) all: Found,
}

impl Points {
    pub(crate) fn new(
        data: &Data,
        way: &'static str,
        sketch: &str,
        identity: String,
        points: Vec<(f64, Found)>,
    ) -> Self {
        Self { way, sketch: sketch.to_owned(), identity, points, all: data.all() }
    }

    /// The point with this parameter.
    pub(crate) fn at(&self, parameter: f64) -> Option<&Found> {
        self.points.iter().find(|(at, _)| (at - parameter).abs() < 1e-9).map(|(_, found)| found)
    }

    /// The share of what is found that is right; none if nothing is found.
    pub(crate) fn precision(found: &Found, truth: usize) -> Option<f64> {
        (found.found > 0).then(|| found.right[truth] as f64 / found.found as f64)
    }

    /// The share of what is right that is found.
    pub(crate) fn recall(&self, found: &Found, truth: usize) -> Option<f64> {
        let all = self.all.right[truth];
        (all > 0).then(|| found.right[truth] as f64 / all as f64)
    }
}
