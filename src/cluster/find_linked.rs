//! Finding the clusters of star and complete linkage.
//!
//! The near pairs go to a temporary file as the join finds them, eight bytes a pair: the numbers of both fingerprints.
//! Then the fingerprints that have pairs get positions by the priority of their best records (`priority.rs`), and the
//! pairs are sorted by the positions of their later and their earlier fingerprint. One pass over them makes the
//! clusters (`linkage.rs`).

use crate::bitset::Bitset;
use crate::cluster::chains::Divided;
use crate::cluster::clustering::United;
use crate::cluster::clusters::Clusters;
use crate::cluster::components::Components;
use crate::cluster::groups::{Groups, shares};
use crate::cluster::keeper::Keeper;
use crate::cluster::linkage::Links;
use crate::cluster::numbers::Numbers;
use crate::cluster::priority::Priorities;
use crate::cluster::union_find::UnionFind;
use crate::error::Result;
use crate::extsort::{Sorter, Spool};
use crate::fingerprint::{Fingerprint, Id};
use crate::join::{Join, Output, Results, Step, Taker, Ticket, ordered};
use crate::segment::{Scratch, Segment};
use crate::version::Share;
use std::ops::ControlFlow;
use std::sync::Arc;

/// Fingerprints or pairs that threads hand on together.
const CHUNK: usize = 1 << 13;
const PAIR_BYTES: usize = 8;

/// Makes chunks of the pairs that a thread finds: the numbers of both fingerprints, four bytes each.
struct Numbering<'a, F> {
    numbers: &'a Numbers<F>,
    /// The connected components, if wanted.
    sets: Option<&'a UnionFind>,
    results: &'a Results<Vec<u8>>,
    scratch: Scratch,
    found: Vec<u8>,
}

impl<F: Fingerprint> Taker<F> for Numbering<'_, F> {
    fn take(&mut self, pairs: &[(F, F)], output: &Output<Ticket>) -> Step {
        for &(a, b) in pairs {
            let (a, b) = (self.numbers.of(a, &mut self.scratch)?, self.numbers.of(b, &mut self.scratch)?);
            self.found.extend([a, b].map(u32::to_le_bytes).as_flattened());
            self.sets.into_iter().for_each(|sets| sets.unite(a, b));
            if self.found.len() >= CHUNK * PAIR_BYTES {
                self.flush(output)?;
            }
        }
        Ok(())
    }

    fn flush(&mut self, output: &Output<Ticket>) -> Step {
        if self.found.is_empty() {
            return Ok(());
        }
        output.send(self.results.put(std::mem::take(&mut self.found)))
    }
}

impl<F: Fingerprint> Clusters<F> {
    /// The clusters by star or complete linkage.
    pub(crate) fn link(&self, keeper: &Keeper) -> Result<United<F>> {
        let spare = self.spare()?;
        let segments = self.segments()?;
        let count = Numbers::<F>::count_of(&segments)?;
        let mut numbers = self.job.executor.run(|| Numbers::<F>::new(&segments, spare / 4))?;
        let mut has_pairs = Bitset::new(count as usize);
        let sets = self.chains.then(|| UnionFind::new(count));
        let pairs = self.near_pairs(&segments, &numbers, sets.as_ref(), &mut has_pairs, spare - spare / 4)?;
        numbers.release();
        let connected = sets.map(|sets| Components::new(sets.into_parents()));
        let positions = self.positions(&segments, &numbers, &has_pairs, keeper, spare / 2)?;
        let mut sorter = Sorter::new(&self.job.workspace(spare / 2), spare / 2);
        let position = |number: u32| positions.get(number as usize).copied().unwrap_or(0);
        pairs.visit(|piece| {
            self.job.progress.check()?;
            for &[a, b, c, d, e, f, g, h] in piece.as_chunks().0 {
                let (one, other) =
                    (position(u32::from_le_bytes([a, b, c, d])), position(u32::from_le_bytes([e, f, g, h])));
                sorter.push(u64::from(one.max(other)) << 32 | u64::from(one.min(other)))?;
            }
            Ok(())
        })?;
        let sorted = sorter.finish()?;
        let members = usize::try_from(has_pairs.count()).unwrap_or(usize::MAX);
        let mut links = Links::new(self.linkage, members);
        for pair in sorted.items(spare / 2) {
            let pair = pair?;
            #[expect(clippy::cast_possible_truncation, reason = "both halves")]
            links.add((pair >> 32) as u32, pair as u32);
        }
        drop(sorted);
        let linked = links.finish();
        let connected = connected.map(|components| {
            let keepers = Divided::keepers(&components, &positions);
            (components, keepers)
        });
        let components = Components::of_keepers(positions, linked);
        let divided = connected.map(|(connected, keepers)| Divided::of(connected, keepers, &components));
        let searched = count.into();
        Ok(United { segments, numbers, components, divided, before: None, searched, labelled: 0 })
    }

    /// Writes the numbers of all near pairs, notes which numbers have pairs, and unites them in `sets`.
    fn near_pairs(
        &self,
        segments: &[Arc<Segment>],
        numbers: &Numbers<F>,
        sets: Option<&UnionFind>,
        has_pairs: &mut Bitset,
        memory: u64,
    ) -> Result<Spool> {
        let workspace = self.job.workspace(memory / 8);
        let mut pairs = Spool::within(&workspace);
        let results = Results::new();
        let taker = || -> Box<dyn Taker<F> + '_> {
            Box::new(Numbering { numbers, sets, results: &results, scratch: Scratch::default(), found: Vec::new() })
        };
        let mut sink = results.taken_by(|mut found: Vec<u8>| {
            for number in found.as_chunks().0 {
                has_pairs.insert(u32::from_le_bytes(*number) as usize);
            }
            pairs.append(&mut found).map(ControlFlow::Continue)
        });
        let memory = memory - memory / 8;
        let join = Join::<F>::new(segments, None, self.k, memory, &self.job.progress, &self.job.executor);
        let _ = join.run(&taker, &mut sink)?;
        drop(sink);
        Ok(pairs)
    }

    /// The position by priority of each fingerprint that has pairs, by its number.
    fn positions(
        &self,
        segments: &[Arc<Segment>],
        numbers: &Numbers<F>,
        has_pairs: &Bitset,
        keeper: &Keeper,
        memory: u64,
    ) -> Result<Vec<u32>> {
        let alone = Components::default();
        let work = |(): &mut (), share: Share, output: &Output<_>| {
            self.job.progress.check()?;
            let (mut found, mut ids) = (Vec::new(), Vec::new());
            let mut groups = Groups::new(segments, numbers, &alone, share)?;
            while let Some((fingerprint, _)) = groups.next_fingerprint()? {
                if !has_pairs.has(groups.number() as usize) {
                    groups.count_rest(fingerprint)?;
                    continue;
                }
                let mut best = None;
                while groups.has_more(fingerprint) {
                    groups.next_ids(fingerprint, &mut ids)?;
                    best = keeper.better(best, keeper.best(&ids));
                }
                found.extend(best.map(|best| (fingerprint, groups.number(), best)));
                if found.len() == CHUNK {
                    output.send(std::mem::take(&mut found))?;
                }
            }
            output.send(found)
        };
        let mut priorities = Priorities::new(self.parameters.ids(), keeper, &self.job.workspace(memory));
        let mut take = |found: Vec<(F, u32, Id)>| {
            for (fingerprint, number, best) in found {
                priorities.add(fingerprint, number, &best)?;
            }
            Ok(ControlFlow::Continue(()))
        };
        let _ = ordered(None, &*self.job.executor.crew()?, shares(segments)?, || (), work, &mut take)?;
        priorities.finish(Numbers::<F>::count_of(segments)? as usize)
    }
}
