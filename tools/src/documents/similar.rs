//! Compares spooled documents exactly: pairs in batches that fit memory, on all threads.

use std::collections::HashMap;

use anyhow::anyhow;
use fpsketch::Preparation;
use fpsketch::compare::{FeatureSet, Measure};
use rayon::prelude::*;

use super::{Content, Spooled};
use crate::interrupt;

/// Bytes of memory for each byte of a text that is compared: its features, and the work of all measures.
const WORKING: u64 = 32;
const WORKING_SUBSTRING: u64 = 512;

/// Longest texts in bytes whose edits are counted.
pub const SHORT: usize = 2048;
/// Longest texts in bytes whose common substring is searched.
pub const LONG: usize = 1 << 16;

/// How documents are compared.
#[derive(Clone, Debug)]
pub struct Comparison {
    preparation: Preparation,
    edits: bool,
    substring: bool,
}

/// How similar two documents are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Similarity {
    /// Shared distinct features, as a share of all.
    pub jaccard: f64,
    /// [`Measure::Edit`] of texts of at most [`SHORT`] bytes, if asked for.
    pub edit: Option<f64>,
    /// [`Measure::Substring`] of texts of at most [`LONG`] bytes, if asked for.
    pub substring: Option<f64>,
}

/// A prepared document.
struct Prepared {
    features: FeatureSet,
    /// The normalised text, if it is needed.
    text: Option<String>,
}

impl Comparison {
    /// Compares the features that a preparation makes.
    #[must_use]
    pub fn new(preparation: &Preparation) -> Self {
        Self { preparation: preparation.clone(), edits: false, substring: false }
    }

    /// Counts the edits between short texts too, and searches the longest common substring of texts.
    #[must_use]
    pub fn with_texts(self, edits: bool, substring: bool) -> Self {
        Self { edits, substring, ..self }
    }

    /// Returns the similarity of each pair of contents, by their indexes. Contents in work take about `memory` bytes,
    /// or as much as a single larger pair needs.
    ///
    /// # Errors
    ///
    /// If a content is missing or cannot be read, or the user has asked the program to stop.
    pub fn of(&self, pairs: &[(usize, usize)], contents: &Spooled, memory: u64) -> anyhow::Result<Vec<Similarity>> {
        let most = memory / if self.substring { WORKING_SUBSTRING } else { WORKING };
        let mut similarities = Vec::with_capacity(pairs.len());
        let mut rest = pairs;
        while !rest.is_empty() {
            interrupt::check()?;
            let mut prepared: HashMap<usize, Option<Prepared>> = HashMap::new();
            let (mut batch, mut bytes) = (0, 0);
            for &(a, b) in rest {
                for index in [a, b] {
                    if prepared.insert(index, None).is_none() {
                        bytes += contents.length(index).unwrap_or(0);
                    }
                }
                batch += 1;
                if bytes >= most {
                    break;
                }
            }
            let (now, later) = rest.split_at_checked(batch).unwrap_or((rest, &[]));
            prepared.par_iter_mut().try_for_each(|(index, prepared)| {
                *prepared = Some(self.prepare(contents.read(*index)?));
                anyhow::Ok(())
            })?;
            let one = |index| prepared.get(&index).and_then(Option::as_ref).ok_or_else(|| anyhow!("a lost text"));
            let similarity = |&(a, b): &(usize, usize)| self.similarity(one(a)?, one(b)?);
            let found = now.par_iter().with_max_len(16).map(similarity).collect::<anyhow::Result<Vec<_>>>()?;
            similarities.extend(found);
            rest = later;
        }
        Ok(similarities)
    }

    fn prepare(&self, content: Content) -> Prepared {
        match content {
            Content::Text(text) if self.edits || self.substring => {
                let text = self.preparation.normalise().apply(&text).into_owned();
                let features = FeatureSet::new(text.as_str().into(), self.preparation.splitter());
                Prepared { features, text: Some(text) }
            }
            content => Prepared { features: self.preparation.set(content.document()), text: None },
        }
    }

    fn similarity(&self, a: &Prepared, b: &Prepared) -> anyhow::Result<Similarity> {
        let by = |wanted: bool, measure: Measure, most: usize| match (&a.text, &b.text) {
            (Some(a), Some(b)) if wanted && a.len().max(b.len()) <= most => measure.of(a, b).map(Some),
            _ => Ok(None),
        };
        Ok(Similarity {
            jaccard: a.features.jaccard(&b.features),
            edit: by(self.edits, Measure::Edit, SHORT)?,
            substring: by(self.substring, Measure::Substring, LONG)?,
        })
    }
}
