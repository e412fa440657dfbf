//! Joining stored fingerprints within the memory, on all threads.
//!
//! For each child of the root that no table has in order (`in_order.rs`), fingerprints are dealt to some thousand
//! buckets that agree in the child's bits, as many buckets at a time as fit the memory, and each bucket is joined by
//! one thread. A pass over a table with stripes (`in_stripes.rs`) reads only those of its buckets. A bucket that
//! exceeds the memory of a thread is itself divided in this way.

use super::buckets::{Counts, Path, load, varying};
use super::group::Joiner;
use super::hash::Groups;
use super::mask;
use super::node::Node;
use super::order::Order;
use super::ordered::{Output, ordered};
use super::sides::{Side, Sides};
use super::source::{FingerprintSource, no_memory};
use crate::env::Array;
use crate::error::Result;
use crate::executor::Crew;
use crate::fingerprint::Fingerprint;
use crate::join::budget::Join;
use crate::join::taker::{MakeTaker, Sink, Taker, Ticket};
use crate::plan::join::{JoinSize, cheapest};
use std::ops::{ControlFlow, Range};

/// Fingerprints of a bucket, which fit a core's cache.
const BUCKET: u64 = 8192;
/// Maximum number of buckets, as a power of two: dealing to more is slow.
const MOST_BUCKET_BITS: u32 = 11;
/// The same where the memory requires more buckets.
pub(super) const MOST_BITS: u32 = 18;
/// Buckets or groups are joined together until they have this many fingerprints.
pub(super) const TASK: usize = 8192;
/// Most fingerprints of a pass that reads stripes. One more such pass takes less time than the kernel needs to make new
/// memory for it.
const STRIPED: usize = 1 << 25;
/// Groups that may exceed the memory of a thread: the sources are read some times for each.
pub(super) const MOST_LARGE: usize = 8;

impl<F: Fingerprint> Join<'_, F> {
    /// Hands all pairs to takers on the threads of a crew, and their results to `sink` on this thread, in order, until
    /// it breaks.
    pub(crate) fn run(&self, taker: MakeTaker<'_, F>, sink: &mut Sink<'_>) -> Result<ControlFlow<()>> {
        if self.k == 0 && self.right.is_none() {
            // A state has no fingerprint twice.
            self.progress.check()?;
            self.progress.begin(1);
            self.progress.advance(1);
            return Ok(ControlFlow::Continue(()));
        }
        let pool = self.executor.crew()?;
        let sides = 1 + u64::from(self.right.is_some());
        let source =
            |segments: &[_], only| pool.install(|| FingerprintSource::new(segments, only, self.kept() / sides));
        let left = source(self.left, self.only_left)?;
        let right = self.right.map(|right| source(right, self.only)).transpose()?;
        let memory = Default::default();
        let sides: Vec<_> = std::iter::once(self.left).chain(self.right).collect();
        let orders = if self.is_plain() { Order::common::<F>(&sides) } else { Vec::new() };
        Passes { join: self, pool: &pool, left, right, orders, memory, taker, sink }.run()
    }
}

pub(super) struct Passes<'a, 's, 't, F> {
    pub(super) join: &'a Join<'a, F>,
    pub(super) pool: &'a Crew<'a>,
    pub(super) left: FingerprintSource<'a, F>,
    pub(super) right: Option<FingerprintSource<'a, F>>,
    /// The orders in which all fingerprints of both sides can be read.
    orders: Vec<Order>,
    /// The buckets of each side in memory.
    pub(super) memory: [Option<Array<F>>; 2],
    pub(super) taker: MakeTaker<'t, F>,
    pub(super) sink: &'a mut Sink<'s>,
}

/// Number of fingerprints on the left, and on the right of a join between two states.
pub(super) type Sizes = (u64, Option<u64>);

impl<'a, 't, F: Fingerprint> Passes<'a, '_, 't, F> {
    pub(super) fn run(&mut self) -> Result<ControlFlow<()>> {
        let sizes = (self.left.at_most(), self.right.as_ref().map(FingerprintSource::at_most));
        if let Some(part) = self.join.part {
            return self.children(&[Node::of_part(part)], &Path::all(), sizes.0 + sizes.1.unwrap_or(0));
        }
        let mut sample = self.left.sample()?;
        if let Some(right) = &self.right {
            sample.append(&mut right.sample()?);
        }
        // A bit that varies, but not in the sample, is in no part; the parts without it serve as well.
        self.node(&Node::root(self.join.k), &Path::all(), sizes, mask::varying(sample.into_iter()))
    }

    /// All pairs of a node among the fingerprints of a path, about `sizes`.
    fn node(&mut self, node: &Node<F>, path: &Path<F>, sizes: Sizes, varying: F) -> Result<ControlFlow<()>> {
        let items = sizes.0 + sizes.1.unwrap_or(0);
        let size = JoinSize::new(sizes.0, sizes.1, F::WIDTH);
        let levels = cheapest(size, mask::size(mask::and(node.free, varying)), node.errors).levels;
        if levels == 0 {
            if path.is_all() {
                self.join.progress.begin(items);
            }
            return self.tiles(node, path, self.bucket_bits(items));
        }
        self.children(&node.children(&node.parts(varying, levels, self.orders(path))), path, items)
    }

    /// The orders in which the fingerprints of a path can be read.
    pub(super) fn orders(&self, path: &Path<F>) -> &[Order] {
        if path.is_all() { &self.orders } else { &[] }
    }

    /// All pairs of some children of a node of so many fingerprints.
    fn children(&mut self, children: &[Node<F>], path: &Path<F>, items: u64) -> Result<ControlFlow<()>> {
        if path.is_all() {
            self.join.progress.begin(items.saturating_mul(children.len() as u64));
        }
        let bits = self.bucket_bits(items);
        let mut dealt = Vec::new();
        for child in children {
            let flow = if let Some(way) = self.as_in_order(child, path)? {
                self.in_order(child, way)?
            } else if let Some(way) = self.as_in_stripes(child, path, bits)? {
                self.in_stripes(child, path, way)?
            } else {
                dealt.push(child);
                continue;
            };
            if flow.is_break() {
                return Ok(flow);
            }
        }
        // As many as have counts in a sixteenth of the memory.
        let bytes = (2 * 2 * self.pool.current_num_threads() as u64 * size_of::<usize>() as u64) << bits;
        let together = usize::try_from(self.join.memory / 16 / bytes).unwrap_or(usize::MAX).max(1);
        for some in dealt.chunks(together) {
            let groups: Vec<_> = some.iter().map(|child| Groups::new(child.equal, bits)).collect();
            let counts = self.counts((&self.left, self.right.as_ref()), path, &groups)?;
            for ((child, groups), counts) in some.iter().zip(groups).zip(counts) {
                if self.divide(child, path, groups, counts)?.is_break() {
                    return Ok(ControlFlow::Break(()));
                }
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// The number of buckets for this many fingerprints, as a power of two.
    fn bucket_bits(&self, items: u64) -> u32 {
        let bits = |size: u64| (items / size.max(1)).checked_ilog2().map_or(0, |bits| bits + 1);
        // Twice as many as buckets of equal size would need.
        bits(BUCKET).min(MOST_BUCKET_BITS).max(bits(self.join.most_in_bucket() as u64 / 2).min(MOST_BITS))
    }

    pub(super) fn divide(
        &mut self,
        node: &Node<F>,
        path: &Path<F>,
        groups: Groups<F>,
        [left, right]: [Counts; 2],
    ) -> Result<ControlFlow<()>> {
        let two = self.right.is_some();
        let sizes = |bucket: usize| (left.of(bucket) as u64, two.then(|| right.of(bucket) as u64));
        let both = |bucket: usize| left.of(bucket) + right.of(bucket);
        let mut from = 0;
        while from < groups.count() {
            // As many as fit the memory.
            let (mut to, mut sum) = (from, 0);
            while to < groups.count() && both(to) <= self.join.most_in_bucket() && sum + both(to) <= self.most_in_pass()
            {
                sum += both(to);
                to += 1;
            }
            let flow = if to > from {
                self.load(node, path, groups, &(from..to), [&left, &right])?
            } else {
                to = from + 1;
                self.bucket(node, &path.and(groups, from), sizes(from))?
            };
            if flow.is_break() {
                return Ok(flow);
            }
            from = to;
        }
        Ok(ControlFlow::Continue(()))
    }

    /// The numbers of fingerprints in the groups of several divisions, on each side.
    pub(super) fn counts(
        &self,
        (left, right): (&FingerprintSource<'_, F>, Option<&FingerprintSource<'_, F>>),
        path: &Path<F>,
        all: &[Groups<F>],
    ) -> Result<Vec<[Counts; 2]>> {
        let count = |source: &FingerprintSource<'_, F>| self.pool.install(|| Counts::of_all(source, path, all));
        let mut right = right.map(count).transpose()?.unwrap_or_default().into_iter();
        Ok(count(left)?.into_iter().map(|left| [left, right.next().unwrap_or_default()]).collect())
    }

    /// Joins a bucket that is too large for the memory of a thread.
    pub(super) fn bucket(&mut self, node: &Node<F>, path: &Path<F>, sizes: Sizes) -> Result<ControlFlow<()>> {
        let sources: Vec<&FingerprintSource<'_, F>> = std::iter::once(&self.left).chain(&self.right).collect();
        let varying = self.pool.install(|| varying(&sources, path))?;
        let node = node.anew(mask::without(varying, node.equal), self.join.k);
        let items = sizes.0 + sizes.1.unwrap_or(0);
        let flow = if items <= self.join.most_kept() {
            // Below this node, only these fingerprints are read.
            let kept = |source: &FingerprintSource<'a, F>| {
                self.pool.install(|| FingerprintSource::kept(source, |one| path.has(one)))
            };
            let (left, right) = (kept(&self.left)?, self.right.as_ref().map(kept).transpose()?);
            let (left, right) = (std::mem::replace(&mut self.left, left), std::mem::replace(&mut self.right, right));
            let flow = self.node(&node, &path.alone(), sizes, varying);
            (self.left, self.right) = (left, right);
            flow?
        } else {
            self.node(&node, path, sizes, varying)?
        };
        if path.depth() == 1 {
            self.join.progress.advance(items);
        }
        Ok(flow)
    }

    /// Memory for so many fingerprints of each side: of `(all, now)`, all at some time, and now these. Both together
    /// are within the memory, so they are made anew together, too: one of them alone would leave the other as it has
    /// grown.
    pub(super) fn make_space(&mut self, sides: [(usize, usize); 2]) -> Result<()> {
        let length = |memory: &Option<Array<F>>| memory.as_ref().map_or(0, |memory| memory.as_slice().len());
        if self.memory.iter().zip(sides).all(|(memory, (_, now))| now <= length(memory)) {
            return Ok(());
        }
        self.memory = Default::default();
        // New memory takes the kernel's time, so one side gets at once what any of its groups need.
        let most = if self.right.is_some() { 0 } else { self.most_in_pass() };
        for (memory, (all, now)) in self.memory.iter_mut().zip(sides).filter(|(_, (_, now))| *now > 0) {
            *memory = Some(Array::new(all.min(most).max(now)).ok_or_else(no_memory)?);
        }
        Ok(())
    }

    /// Maximum number of fingerprints of the buckets that are in memory together, if each fits that of a thread.
    fn most_in_pass(&self) -> usize {
        let most = self.join.most_in_memory();
        if self.left.is_striped() { most.min(STRIPED.max(self.join.most_in_bucket())) } else { most }
    }

    fn load(
        &mut self,
        node: &Node<F>,
        path: &Path<F>,
        groups: Groups<F>,
        range: &Range<usize>,
        counts: [&Counts; 2],
    ) -> Result<ControlFlow<()>> {
        self.join.progress.check()?;
        let (pool, [left_counts, right_counts]) = (self.pool, counts);
        self.make_space([left_counts, right_counts].map(|side| (side.all(), side.of_range(range))))?;
        let [memory, right_memory] = &mut self.memory;
        let source = &self.left;
        let lefts = pool.install(|| load(source, path, groups, range, left_counts, memory))?;
        let right = self.right.as_ref();
        let rights = right.map(|source| pool.install(|| load(source, path, groups, range, right_counts, right_memory)));
        let rights = rights.transpose()?;
        let (k, progress, taker) = (self.join.k, &self.join.progress, self.taker);
        let work = |worker: &mut Worker<'t, F>, task: Task<'_, F>, output: &Output<Ticket>| {
            let (joiner, [left_buffer, right_buffer], taker) = worker;
            for (left, right) in task {
                progress.check()?;
                let size = left.len() + right.as_ref().map_or(0, |right| right.len());
                let left = side(left, left_buffer);
                let sides = Sides { left, right: right.map(|right| side(right, right_buffer)) };
                joiner.join_group(node, sides, groups, &mut |pairs| taker.take(pairs, output))?;
                if path.is_all() {
                    progress.advance(size as u64);
                }
            }
            taker.flush(output)
        };
        let within = self.right.is_none();
        let worker = || (Joiner::new(k, within), Default::default(), taker());
        let both = |bucket| left_counts.of(bucket) + right_counts.of(bucket);
        let threads = self.join.threads(range.clone().map(both).max().unwrap_or(0));
        ordered(Some(threads), pool, tasks(lefts, rights), worker, work, &mut *self.sink)
    }
}

/// The state of a thread, with a buffer for the groups of each side.
type Worker<'t, F> = (Joiner<F>, [Vec<F>; 2], Box<dyn Taker<F> + 't>);

/// Some buckets: the fingerprints of each side.
type Task<'a, F> = Vec<(&'a mut [F], Option<&'a mut [F]>)>;

/// Combines buckets until they are worth a task.
fn tasks<'a, F>(lefts: Vec<&'a mut [F]>, rights: Option<Vec<&'a mut [F]>>) -> Vec<Task<'a, F>> {
    let mut rights = rights.map(Vec::into_iter);
    let (mut tasks, mut task, mut size) = (Vec::new(), Vec::new(), 0);
    for left in lefts {
        let right = rights.as_mut().and_then(Iterator::next);
        size += left.len() + right.as_ref().map_or(0, |right| right.len());
        task.push((left, right));
        if size >= TASK {
            tasks.push(std::mem::take(&mut task));
            size = 0;
        }
    }
    tasks.push(task);
    tasks
}

/// A bucket with a buffer for reuse.
pub(super) fn side<'a, F: Fingerprint>(fingerprints: &'a mut [F], buffer: &'a mut Vec<F>) -> Side<'a, F> {
    if buffer.len() < fingerprints.len() {
        buffer.resize(fingerprints.len(), F::default());
    }
    let buffer = buffer.get_mut(..fingerprints.len()).unwrap_or_default();
    Side { fingerprints, buffer }
}
