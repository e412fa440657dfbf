//! The documents, and the found pairs among them.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use flate2::read::GzDecoder;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::truth::{self, Pair, Truth};

/// The least Jaccard similarities of right pairs, in tenths.
pub(crate) const TRUTHS: [u64; 4] = [5, 6, 7, 8];

/// The source of documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Corpus {
    /// Versions of the pages of one book.
    RustBook,
    /// Manuals, licences, changelogs and messages in several languages.
    Manuals,
}

impl Corpus {
    pub(crate) const ALL: [Self; 2] = [Self::RustBook, Self::Manuals];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::RustBook => "rust-book",
            Self::Manuals => "manuals",
        }
    }

    fn file(self) -> &'static str {
        match self {
            Self::RustBook => "rust-book-documents.ndjson.gz",
            Self::Manuals => "manuals.ndjson.gz",
        }
    }
}

/// Documents and pairs of them.
pub(crate) struct Data {
    pub(crate) corpus: Corpus,
    pub(crate) texts: Vec<String>,
    /// Pairs with a Jaccard similarity of at least one half.
    pub(crate) pairs: Vec<Pair>,
    /// For each pair of documents, the number of [`TRUTHS`] that its similarity reaches, or [`UNRELATED`].
    reached: Vec<u8>,
}

/// Marks a Jaccard similarity below a tenth.
const UNRELATED: u8 = u8::MAX;

/// One point of a curve: the pairs found at a threshold.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(crate) struct Found {
    pub(crate) found: u64,
    /// The right pairs among these, by [`TRUTHS`].
    pub(crate) right: [u64; 4],
    /// The pairs among these with a Jaccard similarity below a tenth.
    pub(crate) unrelated: u64,
}

impl Data {
    /// Every `every`-th document of a corpus.
    pub(crate) fn read(corpus: Corpus, every: usize) -> Self {
        #[derive(Deserialize)]
        struct Line {
            text: String,
        }
        let texts = lines(corpus.file()).into_iter().step_by(every).map(|line: Line| line.text).collect();
        let data = Self::of(corpus, texts, Truth::Tokens);
        if (corpus, every) == (Corpus::RustBook, 1) {
            let mut expected: Vec<Pair> = lines("rust-book-jaccard.ndjson.gz");
            expected.sort_by_key(|pair| (pair.a, pair.b));
            assert!(data.pairs == expected, "the file has these pairs");
        }
        data
    }

    /// The same documents with another definition of right pairs.
    pub(crate) fn by(&self, truth: Truth) -> Self {
        Self::of(self.corpus, self.texts.clone(), truth)
    }

    fn of(corpus: Corpus, texts: Vec<String>, truth: Truth) -> Self {
        let mut reached = vec![UNRELATED; texts.len() * texts.len()];
        let mut pairs = Vec::new();
        for pair in truth::related(&texts, truth) {
            let tenths = TRUTHS.iter().filter(|tenths| 10 * pair.inter >= *tenths * pair.union).count();
            reached[pair.a * texts.len() + pair.b] = u8::try_from(tenths).unwrap();
            if tenths > 0 {
                pairs.push(pair);
            }
        }
        Self { corpus, texts, pairs, reached }
    }

    /// The documents for which `kept` is true.
    pub(crate) fn only(&self, kept: impl Fn(&str) -> bool) -> Self {
        Self::of(self.corpus, self.texts.iter().filter(|text| kept(text)).cloned().collect(), Truth::Tokens)
    }

    /// All pairs, as if they were found.
    pub(crate) fn all(&self) -> Found {
        self.curve(&[0.0], |_, _| 0.0)[0]
    }

    /// The found pairs at each threshold, that is, pairs whose score reaches it. The highest threshold comes first.
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

fn lines<T: DeserializeOwned>(name: &str) -> Vec<T> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/data").join(name);
    let lines = BufReader::new(GzDecoder::new(File::open(path).unwrap())).lines();
    lines.map(|line| serde_json::from_str(&line.unwrap()).unwrap()).collect()
}

/// The points of one sketch.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Points {
    pub(crate) corpus: &'static str,
    /// The part of the results: "simhash", "ties", "truth", "features", "minhash", "bands" or "sentences".
    pub(crate) way: &'static str,
    pub(crate) sketch: String,
    /// All parameters of the sketch.
    pub(crate) identity: String,
    /// The parameter and the found pairs of each point.
    pub(crate) points: Vec<(f64, Found)>,
    pub(crate) documents: usize,
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
        Self {
            corpus: data.corpus.name(),
            way,
            sketch: sketch.to_owned(),
            identity,
            points,
            documents: data.texts.len(),
            all: data.all(),
        }
    }

    /// The point with this parameter.
    pub(crate) fn at(&self, parameter: f64) -> Option<&Found> {
        self.points.iter().find(|(at, _)| (at - parameter).abs() < 1e-9).map(|(_, found)| found)
    }

    /// The share of found pairs that are right; none if there are no found pairs.
    pub(crate) fn precision(found: &Found, truth: usize) -> Option<f64> {
        (found.found > 0).then(|| found.right[truth] as f64 / found.found as f64)
    }

    /// The share of right pairs that are found.
    pub(crate) fn recall(&self, found: &Found, truth: usize) -> Option<f64> {
        let all = self.all.right[truth];
        (all > 0).then(|| found.right[truth] as f64 / all as f64)
    }
}
