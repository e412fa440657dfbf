//! Pairs of records that share keys.

use super::common::CommonKeys;
use super::groups::KeyGroups;
use super::rule::KeyRule;
use super::sketches::{SketchBuffers, Sketches};
use crate::bitset::NumberSet;
use crate::error::{Error, Result};
use crate::extsort::{Sorted, Sorter, Workspace};
use crate::fingerprint::Id;
use crate::format::parameters::check_same_keys;
use crate::join::job::{JobContext, Progress};
use crate::version::{IdLookup, ReadView, Snapshot, StoreContext};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

/// Bytes of a pair in a temporary file.
const PAIR: u64 = 24;
const LEAST_MEMORY: u64 = 1 << 20;

/// Two records of a key index, or of two, that share keys.
#[derive(Clone, Debug, PartialEq)]
pub struct KeyPair {
    /// The smaller id; of two indexes that of the first one's record.
    pub a: Id,
    /// The larger id; of two indexes that of the second one's record.
    pub b: Id,
    /// Number of keys that both have.
    pub shared: u64,
    /// The Jaccard similarity that their sketches estimate, if there are sketches.
    pub jaccard: Option<f64>,
}

/// All pairs of records of a key index, or of a record of one index and one of another, each once.
#[derive(Debug)]
pub struct KeyPairs {
    context: Arc<StoreContext>,
    view: ReadView,
    /// The other index.
    other: Option<ReadView>,
    job: JobContext,
    rule: KeyRule,
}

impl KeyPairs {
    pub(crate) fn new(context: &Arc<StoreContext>, view: ReadView, rule: KeyRule) -> Result<Self> {
        rule.check(&context.parameters)?;
        let job = JobContext::new(&Snapshot::<u64>::new(context, view.clone()));
        Ok(Self { context: Arc::clone(context), view, other: None, job, rule })
    }

    /// The pairs of a record of this index and one of another.
    pub(crate) fn between(self, context: &StoreContext, view: ReadView) -> Result<Self> {
        check_same_keys(&self.context.parameters, &context.parameters)?;
        Ok(Self { other: Some(view), ..self })
    }

    /// Takes about this many bytes of memory beside the block indexes; the default is 1 GiB. It takes 1 MiB at least,
    /// and, to compare sketches, up to 9 bytes a record.
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

    /// Calls `sink` with all pairs, in the order in which their records were loaded, until it breaks. Returns the
    /// number of keys that did not count ([`KeyRule::with_max_key_frequency`]).
    ///
    /// # Errors
    /// `Io` if the pairs of a key take more temporary space than is free; `Damaged` or `Io` from reading, or from
    /// temporary files; those of `sink`.
    pub fn visit(&self, mut sink: impl FnMut(KeyPair) -> Result<ControlFlow<()>>) -> Result<u64> {
        let other = self.other.as_ref();
        let format = self.context.parameters.keys().unwrap_or_default();
        let sketches = |view| Sketches::new(view, format).map(Arc::new);
        let sketches = (sketches(&self.view)?, other.map(sketches).transpose()?);
        let taken = sketches.0.resident_bytes() + sketches.1.as_ref().map_or(0, |others| others.resident_bytes());
        let memory = self.job.memory.saturating_sub(taken).max(LEAST_MEMORY);
        let between = Between { view: &self.view, other, fresh: None };
        let pairs = NumberedPairs::new(between, sketches, self.rule, (&self.job, memory))?;
        let [mut left, mut right] =
            [&self.view, other.unwrap_or(&self.view)].map(|view| IdLookup::new(&view.version.segments));
        pairs.visit(&mut |a, b, shared, jaccard| {
            let (a, b) = (id(&mut left, a)?, id(&mut right, b)?);
            let (a, b) = if a < b || other.is_some() { (a, b) } else { (b, a) };
            sink(KeyPair { a, b, shared, jaccard })
        })?;
        Ok(pairs.skipped)
    }
}

/// The id of the record with a number.
fn id(ids: &mut IdLookup<'_, u64>, number: u64) -> Result<Id> {
    let ids = ids.ids(number)?;
    ids.and_then(|ids| ids.first().cloned()).ok_or_else(|| Error::damaged("a record has no id"))
}

/// A pair of numbers, and a number of its own for each key that the two share.
type Occurrence = (u64, (u64, u64));

/// The records that pairs are made of.
pub(crate) struct Between<'a> {
    pub(crate) view: &'a ReadView,
    /// The second record is of this view, if there is one.
    pub(crate) other: Option<&'a ReadView>,
    /// One of them has one of these numbers, if there are any.
    pub(crate) fresh: Option<&'a NumberSet>,
}

/// The pairs of the numbers of records, found and sorted.
pub(crate) struct NumberedPairs {
    occurrences: Sorted<Occurrence>,
    rule: KeyRule,
    sketches: Arc<Sketches>,
    /// The sketches of the second record of a pair, if it is of another index.
    others: Option<Arc<Sketches>>,
    memory: u64,
    pub(crate) skipped: u64,
}

impl NumberedPairs {
    /// With the sketches of both views' records.
    pub(crate) fn new(
        Between { view, other, fresh }: Between<'_>,
        (sketches, others): (Arc<Sketches>, Option<Arc<Sketches>>),
        rule: KeyRule,
        (job, memory): (&JobContext, u64),
    ) -> Result<Self> {
        let workspace = job.workspace(memory);
        let mut sorter = Sorter::<Occurrence>::new(&workspace, workspace.memory_of_records());
        let skipped = match other {
            Some(other) => between([view, other], rule, job, &workspace, &mut sorter)?,
            None => within((view, fresh), rule, job, &workspace, &mut sorter)?,
        };
        let occurrences = job.executor.run(|| sorter.finish())?;
        Ok(Self { occurrences, rule, sketches, others, memory: workspace.memory_of_chunks(), skipped })
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
            let others = self.others.as_ref().unwrap_or(&self.sketches);
            let jaccard = self.sketches.jaccard_with(a, (others, b), &mut buffers)?;
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

/// Makes the pairs of the records of each key; returns the number of keys that do not count.
fn within(
    (view, fresh): (&ReadView, Option<&NumberSet>),
    rule: KeyRule,
    job: &JobContext,
    workspace: &Workspace,
    sorter: &mut Sorter<Occurrence>,
) -> Result<u64> {
    let groups = KeyGroups::new(view, rule.most)?.of(fresh)?;
    job.progress.begin(groups.keys());
    let is_fresh = |number: &u64| fresh.is_none_or(|fresh| fresh.has(*number));
    let (mut all, mut fresh_ones, mut key) = (Vec::new(), Vec::new(), 0);
    groups.visit(&job.progress, &mut |numbers, continues| {
        if !continues {
            all.clear();
            fresh_ones.clear();
            key += 1;
        }
        // The pairs of this piece, and those with all pieces of the key before it.
        let before = pairs_with(all.len(), fresh_ones.len());
        let more = numbers.iter().filter(|number| is_fresh(number)).count();
        let pairs = pairs_with(all.len() + numbers.len(), fresh_ones.len() + more) - before;
        check_space(workspace, pairs, (all.len() + numbers.len()) as u64)?;
        for &b in numbers {
            job.progress.check()?;
            let is_fresh = is_fresh(&b);
            let others = if is_fresh { &all } else { &fresh_ones };
            others.iter().try_for_each(|&a| sorter.push((b.min(a), (b.max(a), key))))?;
            all.push(b);
            if is_fresh {
                fresh_ones.push(b);
            }
        }
        Ok(())
    })
}

/// The number of pairs of some records in which one of the `fresh` ones is.
fn pairs_with(all: usize, fresh: usize) -> u128 {
    let [all, others] = [all, all.saturating_sub(fresh)].map(|count| count as u128);
    (all * all - others * others) / 2
}

/// Makes the pairs of the records of one view and of another of each key; returns the number of keys that do not count.
fn between(
    views: [&ReadView; 2],
    rule: KeyRule,
    job: &JobContext,
    workspace: &Workspace,
    sorter: &mut Sorter<Occurrence>,
) -> Result<u64> {
    let keys = CommonKeys::new(views, rule.most)?;
    job.progress.begin(keys.keys());
    let mut key = 0;
    keys.visit(&job.progress, &mut |left, right| {
        key += 1;
        let pairs = left.len() as u128 * right.len() as u128;
        check_space(workspace, pairs, (left.len() + right.len()) as u64)?;
        left.iter().try_for_each(|&a| {
            job.progress.check()?;
            right.iter().try_for_each(|&b| sorter.push((a, (b, key))))
        })
    })
}

/// Refuses the pairs of a key's records if they take more space than is free. They grow with the square of the records,
/// so a frequent key fills any disk.
fn check_space(workspace: &Workspace, pairs: u128, records: u64) -> Result<()> {
    let bytes = pairs * u128::from(PAIR);
    if bytes <= u128::from(workspace.memory) {
        return Ok(());
    }
    match workspace.env.free_bytes(&workspace.directory) {
        Some(free) if u128::from(free) < bytes => {
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
