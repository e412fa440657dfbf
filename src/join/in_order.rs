//! Joining fingerprints that agree in the first bits of a table's keys, as the table has them, or as such a table of
//! each segment: nothing is dealt.

use super::buckets::Path;
use super::group::Joiner;
use super::hash::Groups;
use super::mask;
use super::merged::{MergeBuffers, MergedTables};
use super::node::Node;
use super::order::Order;
use super::ordered::{Output, ordered};
use super::passes::{MOST_BITS, MOST_LARGE, Passes, Sizes, TASK, side};
use super::sides::{Side, Sides};
use crate::error::{Error, Result};
use crate::fingerprint::Fingerprint;
use crate::join::taker::{Taker, Ticket};
use crate::version::Share;
use std::ops::{ControlFlow, Range};

/// Fingerprints of a group, if the bits suffice. They fit a core's first two caches with their buffers.
const GROUP_SIZE: usize = 2048;

/// A way to join a node's fingerprints in the order of a table.
pub(super) struct InOrder<'a, F> {
    left: MergedTables<'a>,
    right: Option<MergedTables<'a>>,
    order: Order,
    groups: Groups<F>,
    /// The groups of each task, and most fingerprints of one.
    tasks: Vec<Range<usize>>,
    most: usize,
    /// Groups that exceed the memory of a thread.
    large: Vec<(usize, Sizes)>,
}

impl<'a, 't, F: Fingerprint> Passes<'a, '_, 't, F> {
    /// The way to join a node's fingerprints, if a table has those that agree in its bits together.
    pub(super) fn as_in_order(&self, node: &Node<F>, path: &Path<F>) -> Result<Option<InOrder<'a, F>>> {
        let found = self.orders(path).iter().find_map(|&order| order.begins_with(node.equal).then_some(order));
        let Some(order) = found else { return Ok(None) };
        let tables = |segments: &'a [_]| order.tables::<F>(segments).map(MergedTables::new);
        let right = self.join.right.map_or(Some(None), |right| tables(right).map(Some));
        let (Some(left), Some(right)) = (tables(self.join.left), right) else { return Ok(None) };
        let sizes = |share: Share| {
            let right = right.as_ref().map(|right| right.at_most(share));
            Ok::<_, Error>((left.at_most(share)?, right.transpose()?))
        };
        let sum = |(left, right): (usize, Option<usize>)| left + right.unwrap_or(0);
        let most_in_bucket = self.join.most_in_bucket();
        let each = GROUP_SIZE.min(most_in_bucket / 4).max(1);
        let wanted = (sum(sizes(Share::ALL)?) / each).checked_ilog2().map_or(0, |bits| bits + 1);
        let groups = order.groups(node.equal, 0, mask::size(node.equal).min(wanted).min(MOST_BITS));
        let (mut tasks, mut large, mut from, mut items, mut most) = (Vec::new(), Vec::new(), 0, 0, 0);
        for group in 0..groups.count() {
            let sizes = sizes(groups.share(group..group + 1))?;
            let is_large = sum(sizes) > most_in_bucket;
            if is_large {
                large.push((group, (sizes.0 as u64, sizes.1.map(|size| size as u64))));
            } else {
                items += sum(sizes);
                most = most.max(items);
            }
            if is_large || items >= TASK.min(most_in_bucket) || group + 1 == groups.count() {
                tasks.push(from..group + usize::from(!is_large));
                (from, items) = (group + 1, 0);
            }
        }
        tasks.retain(|task| !task.is_empty());
        Ok((large.len() <= MOST_LARGE).then_some(InOrder { left, right, order, groups, tasks, most, large }))
    }

    /// All pairs of a node of all fingerprints.
    pub(super) fn in_order(&mut self, node: &Node<F>, way: InOrder<'_, F>) -> Result<ControlFlow<()>> {
        let InOrder { left, right, order, groups, tasks, most, large } = way;
        let (k, progress, taker) = (self.join.k, &self.join.progress, self.taker);
        let work = |worker: &mut Worker<'t, F>, range: Range<usize>, output: &Output<Ticket>| {
            progress.check()?;
            let Worker { joiner, left: lefts, right: rights, taker } = worker;
            lefts.read(&left, groups.share(range.clone()))?;
            right.as_ref().map_or(Ok(()), |right| rights.read(right, groups.share(range.clone())))?;
            for group in range {
                let right = right.as_ref().map(|_| rights.next(groups, group));
                let sides = Sides { left: lefts.next(groups, group), right };
                let size = sides.len();
                joiner.join(node, sides, groups.is_exact(), Some(order), &mut |pairs| taker.take(pairs, output))?;
                progress.advance(size as u64);
            }
            taker.flush(output)
        };
        let worker = || Worker {
            joiner: Joiner::new(k, right.is_none()),
            left: Gathered::default(),
            right: Gathered::default(),
            taker: taker(),
        };
        // The tasks take the memory of the buckets.
        self.memory = Default::default();
        let threads = self.join.threads(most).min(self.join.most_in_memory() / most.max(1));
        if ordered(Some(threads), self.pool, tasks, worker, work, &mut *self.sink)?.is_break() {
            return Ok(ControlFlow::Break(()));
        }
        for (group, sizes) in large {
            if self.bucket(node, &Path::all().and(groups, group), sizes)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }
}

struct Worker<'t, F> {
    joiner: Joiner<F>,
    left: Gathered<F>,
    right: Gathered<F>,
    taker: Box<dyn Taker<F> + 't>,
}

/// The fingerprints of a task, and a buffer for a group of them.
#[derive(Default)]
struct Gathered<F> {
    fingerprints: Vec<F>,
    /// Those of earlier groups.
    taken: usize,
    buffer: Vec<F>,
    merging: MergeBuffers<F>,
}

impl<F: Fingerprint> Gathered<F> {
    fn read(&mut self, tables: &MergedTables<'_>, share: Share) -> Result<()> {
        self.taken = 0;
        tables.read(share, &mut self.merging, &mut self.fingerprints)
    }

    /// The fingerprints of a group; call it once for each group, in order.
    fn next(&mut self, groups: Groups<F>, group: usize) -> Side<'_, F> {
        let rest = self.fingerprints.get_mut(self.taken..).unwrap_or_default();
        let count = rest.partition_point(|&one| groups.of(one) <= group);
        self.taken += count;
        side(rest.get_mut(..count).unwrap_or_default(), &mut self.buffer)
    }
}
