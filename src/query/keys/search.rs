//! One query of a key index.

use super::answer::{Answerer, Asked};
use super::candidates::Candidates;
use super::lookup::KeyLookup;
use super::options::{KeyMatch, KeyQuery, QueryKeys};
use crate::error::Result;
use crate::format::KeyFormat;
use crate::segment::Segment;
use crate::version::{LatestVersion, ReadView, StoreContext};
use std::sync::Arc;

/// Answers queries of a key index and reuses its buffers; one a thread. As [`crate::Searcher`], it keeps the state of
/// the last query.
#[derive(Debug)]
pub struct KeySearcher<'a> {
    /// The source of later states.
    latest: Option<&'a LatestVersion>,
    pub(super) context: Arc<StoreContext>,
    view: ReadView,
    /// The number of the view's super version.
    version: u64,
    pub(super) format: KeyFormat,
    search: Search,
}

impl<'a> KeySearcher<'a> {
    /// Answers each query from the latest state.
    pub(crate) fn following(context: &Arc<StoreContext>, latest: &'a LatestVersion) -> Self {
        Self { latest: Some(latest), ..Self::of_view(context, latest.read_view()) }
    }

    pub(crate) fn of_view(context: &Arc<StoreContext>, view: ReadView) -> Self {
        let format = context.parameters.keys().unwrap_or_default();
        let search = Search::new(format, &KeyQuery::new());
        Self { latest: None, context: Arc::clone(context), view, version: u64::MAX, format, search }
    }

    /// The state to answer from.
    pub(super) fn now(&mut self) -> &ReadView {
        if let Some(latest) = self.latest {
            let version = latest.number();
            if version == self.version {
                self.view.catch_up();
            } else {
                (self.version, self.view) = (version, latest.read_view());
            }
        }
        &self.view
    }

    /// The records that share keys with a query, most shared keys first, then by id. The sketch of the query may be
    /// empty.
    ///
    /// # Errors
    /// `InvalidInput` if the sketch has another length than the index has, or a similarity is wanted without sketches;
    /// `Damaged` or `Io` from reading.
    pub fn query(&mut self, keys: &[u64], sketch: &[u8], how: &KeyQuery) -> Result<Vec<KeyMatch>> {
        self.now();
        self.search.how = *how;
        self.search.single(&self.view, QueryKeys { keys, sketch })
    }
}

/// Answers queries from any state, and reuses its buffers.
#[derive(Debug)]
pub(super) struct Search {
    format: KeyFormat,
    how: KeyQuery,
    keys: Vec<u64>,
    pub(super) lookup: KeyLookup,
    pub(super) candidates: Candidates,
    answerer: Answerer,
}

impl Search {
    pub(super) fn new(format: KeyFormat, how: &KeyQuery) -> Self {
        let (lookup, candidates, answerer) = Default::default();
        Self { format, how: *how, keys: Vec::new(), lookup, candidates, answerer }
    }

    /// The answer to one query.
    pub(super) fn single(&mut self, view: &ReadView, query: QueryKeys<'_>) -> Result<Vec<KeyMatch>> {
        check(self.format, query, &self.how)?;
        stored_keys(self.format, query.keys, &mut self.keys);
        self.answer(view, query.sketch, |_, segment, search| {
            search.lookup.add(&search.keys, segment, &mut search.candidates)
        })
    }

    /// The answer to a query, for which `find` adds the candidates of each run, given its number and its keys.
    pub(super) fn answer(
        &mut self,
        view: &ReadView,
        sketch: &[u8],
        find: impl Fn(usize, &Segment, &mut Self) -> Result<()>,
    ) -> Result<Vec<KeyMatch>> {
        self.answerer.begin();
        for (number, run) in view.version.runs.iter().enumerate() {
            let Some(segment) = &run.keys else { continue };
            self.candidates.clear();
            find(number, segment, self)?;
            let asked = Asked { sketch, how: &self.how, format: self.format };
            self.answerer.add(view, number, &mut self.candidates, asked)?;
        }
        self.answerer.take(view, self.how.nearest.unwrap_or(usize::MAX))
    }
}

/// Refuses a query that the index cannot answer. One without keys has no answer, so it needs no sketch.
pub(super) fn check(format: KeyFormat, query: QueryKeys<'_>, how: &KeyQuery) -> Result<()> {
    let (has_sketches, is_empty) = (format.sketch_bits() > 0, query.sketch.is_empty());
    let remedy = if has_sketches { "ask with the sketch of the query" } else { "create the index with sketches" };
    how.threshold.check(has_sketches && (!is_empty || query.keys.is_empty()), remedy)?;
    if is_empty { Ok(()) } else { format.check_sketch(query.sketch) }
}

/// Replaces `stored` by the stored keys of a query, ascending, each once.
pub(super) fn stored_keys(format: KeyFormat, keys: &[u64], stored: &mut Vec<u64>) {
    stored.clear();
    stored.extend(keys.iter().map(|&key| format.stored(key)));
    stored.sort_unstable();
    stored.dedup();
}
