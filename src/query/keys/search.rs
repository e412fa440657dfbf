//! One query of a key index.

use super::candidates::Candidates;
use super::options::{KeyMatch, KeyQuery};
use super::similarity::jaccard;
use crate::error::{Error, Result};
use crate::format::KeyFormat;
use crate::query::view_searcher::ViewSearcher;
use crate::segment::Segment;
use crate::version::{LatestVersion, ReadView, StoreContext};
use std::cmp::Reverse;
use std::sync::Arc;

/// Answers queries of a key index and reuses its buffers; one a thread. As [`crate::Searcher`], it keeps the state of
/// the last query.
#[derive(Debug)]
pub struct KeySearcher<'a> {
    /// The source of later states.
    latest: Option<&'a LatestVersion>,
    inner: ViewSearcher,
    format: KeyFormat,
    candidates: Candidates,
    keys: Vec<u64>,
    buffer: Vec<u8>,
}

/// A record that shares enough keys.
struct Candidate {
    number: u64,
    shared: u64,
    jaccard: Option<f64>,
}

impl<'a> KeySearcher<'a> {
    /// Answers each query from the latest state.
    pub(crate) fn following(context: &Arc<StoreContext>, latest: &'a LatestVersion) -> Self {
        Self { latest: Some(latest), ..Self::of_view(context, latest.read_view()) }
    }

    pub(crate) fn of_view(context: &Arc<StoreContext>, view: ReadView) -> Self {
        Self {
            latest: None,
            inner: ViewSearcher::new(context, view),
            format: context.parameters.keys().unwrap_or_default(),
            candidates: Candidates::default(),
            keys: Vec::new(),
            buffer: Vec::new(),
        }
    }

    /// The records that share keys with a query, most shared keys first, then by id. The sketch of the query may be
    /// empty.
    ///
    /// # Errors
    /// `InvalidInput` if the sketch has another length than the index has, or a similarity is wanted without sketches;
    /// `Damaged` or `Io` from reading.
    pub fn query(&mut self, keys: &[u64], sketch: &[u8], how: &KeyQuery) -> Result<Vec<KeyMatch>> {
        let has_sketches = self.format.sketch_bits() > 0 && !sketch.is_empty();
        how.threshold.check(has_sketches, "create the index with sketches, and ask with one")?;
        if !sketch.is_empty() {
            self.format.check_sketch(sketch)?;
        }
        if let Some(latest) = self.latest {
            self.inner.catch_up(latest);
        }
        self.keys.clear();
        self.keys.extend(keys.iter().map(|&key| self.format.stored(key)));
        self.keys.sort_unstable();
        self.keys.dedup();
        let mut found = self.candidates(sketch, how)?;
        found.sort_by_key(|candidate| (Reverse(candidate.shared), candidate.number));
        self.matches(&found, how.nearest.unwrap_or(usize::MAX))
    }

    fn candidates(&mut self, sketch: &[u8], how: &KeyQuery) -> Result<Vec<Candidate>> {
        let version = Arc::clone(&self.inner.view.version);
        let mut found = Vec::new();
        for run in &version.runs {
            let (Some(keys), Some(records)) = (&run.keys, &run.records) else { continue };
            let (scratch, ids) = (&mut self.inner.prober.scratch, &mut self.inner.ids);
            for &(number, shared) in self.candidates.find(&self.keys, keys, scratch, ids)? {
                if shared < how.threshold.min_shared {
                    continue;
                }
                let jaccard = if sketch.is_empty() {
                    None
                } else {
                    let rank = records.rank_of(number, scratch)?.ok_or_else(|| unknown(keys))?;
                    Some(jaccard(self.format, sketch, keys.sketch(rank, &mut self.buffer)?))
                };
                if jaccard.is_none_or(|jaccard| jaccard >= how.threshold.min_jaccard) {
                    found.push(Candidate { number, shared, jaccard });
                }
            }
        }
        Ok(found)
    }

    /// The first `most` candidates that are there, by the number of shared keys, then id.
    fn matches(&mut self, candidates: &[Candidate], most: usize) -> Result<Vec<KeyMatch>> {
        let mut found: Vec<KeyMatch> = Vec::new();
        for same in candidates.chunk_by(|a, b| a.shared == b.shared) {
            if found.len() >= most {
                break;
            }
            let before = found.len();
            for candidate in same {
                let sources = self.inner.sources_of(candidate.number)?;
                let id = self.inner.all_ids(&sources)?.into_iter().next();
                let Candidate { shared, jaccard, .. } = *candidate;
                found.extend(id.map(|id| KeyMatch { id, shared, jaccard }));
            }
            if let Some(new) = found.get_mut(before..) {
                new.sort_by(|a, b| a.id.cmp(&b.id));
            }
        }
        found.truncate(most);
        Ok(found)
    }
}

#[cold]
fn unknown(keys: &Segment) -> Error {
    Error::damaged("a key of a record that the run does not have").at_path(keys.path())
}
