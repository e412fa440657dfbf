//! Pairs of records that share keys.

use super::groups::KeyGroups;
use super::rule::KeyRule;
use super::sketches::{SketchBuffers, Sketches};
use crate::error::{Error, Result};
use crate::extsort::{Sorted, Sorter, Workspace};
use crate::fingerprint::Id;
use crate::join::job::{JobContext, Progress};
use crate::version::{IdLookup, ReadView, Snapshot, StoreContext};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

/// Bytes of a pair in a temporary file.
const PAIR: u64 = 24;
const LEAST_MEMORY: u64 = 1 << 20;

/// Two records of a key index that share keys.
#[derive(Clone, Debug, PartialEq)]
pub struct KeyPair {
    /// The smaller id.
    pub a: Id,
    /// The larger id.
    pub b: Id,
    /// Number of keys that both have.
    pub shared: u64,
    /// The Jaccard similarity that their sketches estimate, if there are sketches.
    pub jaccard: Option<f64>,
}

/// All pairs of records of a key index, each once.
#[derive(Debug)]
pub struct KeyPairs {
    context: Arc<StoreContext>,
    view: ReadView,
    job: JobContext,
    rule: KeyRule,
}

impl KeyPairs {
    pub(crate) fn new(context: &Arc<StoreContext>, view: ReadView, rule: KeyRule) -> Result<Self> {
        rule.check(&context.parameters)?;
        let job = JobContext::new(&Snapshot::<u64>::new(context, view.clone()));
        Ok(Self { context: Arc::clone(context), view, job, rule })
    }

    /// Sorts pairs within about this many bytes of memory, at least 1 MiB. The default is 1 GiB.
    #[must_use]
    pub fn with_memory(mut self, bytes: u64) -> Self {
        self.job.memory = bytes.max(LEAST_MEMORY);
        self
    }

    /// Makes temporary files in this directory. The default is that of the store's options, or else of the system.
    #[must_use]
    pub fn with_temp_dir(mut self, directory: &Path) -> Self {
        self.job = self.job.in_directory(directory);
        self
    }

    /// The progress of the search.
    #[must_use]
    pub fn progress(&self) -> Progress {
        self.job.progress.clone()
    }

    /// Calls `sink` with all pairs, in the order in which their records were loaded, until it breaks. Returns the number
    /// of keys that did not count ([`KeyRule::with_max_key_frequency`]).
    ///
    /// # Errors
    /// `Io` if the pairs of a key take more temporary space than is free; `Damaged` or `Io` from reading, or from
    /// temporary files; those of `sink`.
    pub fn visit(&self, mut sink: impl FnMut(KeyPair) -> Result<ControlFlow<()>>) -> Result<u64> {
        let pairs = NumberedPairs::new(&self.context, &self.view, self.rule, &self.job)?;
        let mut ids = IdLookup::new(&self.view.version.segments);
        let mut id = |number| {
            let ids = ids.ids(number)?;
            ids.and_then(|ids| ids.first().cloned()).ok_or_else(|| Error::damaged("a record has no id"))
        };
        pairs.visit(&mut |a, b, shared, jaccard| {
            let (a, b) = (id(a)?, id(b)?);
            let (a, b) = if a < b { (a, b) } else { (b, a) };
            sink(KeyPair { a, b, shared, jaccard })
        })?;
        Ok(pairs.skipped)
    }
}

/// A pair of numbers, and a number of its own for each key that the two share.
type Occurrence = (u64, (u64, u64));

/// The pairs of the numbers of records, found and sorted.
pub(crate) struct NumberedPairs {
    occurrences: Sorted<Occurrence>,
    rule: KeyRule,
    sketches: Sketches,
    memory: u64,
    pub(crate) skipped: u64,
}

impl NumberedPairs {
    pub(crate) fn new(context: &StoreContext, view: &ReadView, rule: KeyRule, job: &JobContext) -> Result<Self> {
        let workspace = job.workspace(job.memory);
        let groups = KeyGroups::new(view, rule.most)?;
        job.progress.begin(groups.keys());
        let mut sorter = Sorter::<Occurrence>::new(&workspace, workspace.memory_of_records());
        let (mut all, mut key) = (Vec::new(), 0);
        let skipped = groups.visit(&job.progress, &mut |numbers, continues| {
            if !continues {
                all.clear();
                key += 1;
            }
            // The pairs of this piece, and those with all pieces of the key before it.
            check_space(&workspace, all.len() as u64, numbers.len() as u64)?;
            let before = all.len();
            all.extend_from_slice(numbers);
            for (at, &b) in all.iter().enumerate().skip(before) {
                job.progress.check()?;
                all.iter().take(at).try_for_each(|&a| sorter.push((a, (b, key))))?;
            }
            Ok(())
        })?;
        drop(all);
        let sketches = Sketches::new(view, context.parameters.keys().unwrap_or_default())?;
        let occurrences = job.executor.run(|| sorter.finish())?;
        Ok(Self { occurrences, rule, sketches, memory: workspace.memory_of_chunks(), skipped })
    }

    /// Calls `visit` with each pair that the rule takes, ascending: the number of shared keys, and the estimated
    /// similarity.
    pub(crate) fn visit(
        &self,
        visit: &mut dyn FnMut(u64, u64, u64, Option<f64>) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        let mut buffers = SketchBuffers::default();
        let mut items = self.occurrences.items(self.memory).peekable();
        while let Some(first) = items.next() {
            let (a, (b, _)) = first?;
            let mut shared = 1;
            while let Some(same) =
                items.next_if(|next| next.as_ref().map_or(true, |&(left, (right, _))| (left, right) == (a, b)))
            {
                same?;
                shared += 1;
            }
            if !self.rule.takes(shared, None) {
                continue;
            }
            let jaccard = self.sketches.jaccard(a, b, &mut buffers)?;
            if !self.rule.takes(shared, jaccard) {
                continue;
            }
            if visit(a, b, shared, jaccard)?.is_break() {
                break;
            }
        }
        Ok(())
    }
}

/// Refuses the pairs of `more` records with each other and with those before if they take more space than is free. They
/// grow with the square of a key's records, so a frequent key fills any disk.
fn check_space(workspace: &Workspace, before: u64, more: u64) -> Result<()> {
    let pairs = u128::from(more) * (2 * u128::from(before) + u128::from(more)) / 2;
    let bytes = pairs * u128::from(PAIR);
    if bytes <= u128::from(workspace.memory) {
        return Ok(());
    }
    match workspace.env.free_bytes(&workspace.directory) {
        Some(free) if u128::from(free) < bytes => {
            let records = before + more;
            let message = format!(
                "a key of {records} records makes {pairs} pairs, which take more than the {free} bytes that are free"
            );
            Err(Error::too_little_space(message, &workspace.directory).with_remedy(
                "leave out keys of so many records (a maximum key frequency), or find clusters, which need no pairs",
            ))
        }
        _ => Ok(()),
    }
}
