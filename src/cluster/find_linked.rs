//! Finding the clusters of star and complete linkage.
//!
//! The near pairs go to a temporary file as the join finds them, eight bytes a pair: the numbers of both fingerprints.
//! Then the fingerprints that have pairs get positions by the priority of their best records (`priority.rs`), and the
//! pairs are sorted by the positions of their later and their earlier fingerprint. One pass over them makes the
//! clusters (`linkage.rs`).
//!
//! Stars of a key index are found without all pairs (`key_stars.rs`).

use crate::bitset::Bitset;
use crate::cluster::chains::Divided;
use crate::cluster::clustering::United;
use crate::cluster::clusters::Clusters;
use crate::cluster::components::Components;
use crate::cluster::groups::visit_best;
use crate::cluster::keeper::Keeper;
use crate::cluster::linkage::{Linkage, Links, PAIR_BYTES};
use crate::cluster::linker::{Linker, Places};
use crate::cluster::numbers::Numbers;
use crate::cluster::priority::Priorities;
use crate::cluster::union_find::UnionFind;
use crate::error::Result;
use crate::extsort::{Sorter, Spool};
use crate::fingerprint::Fingerprint;
use crate::join::{Join, Output, Results, Step, Taker, Ticket};
use crate::segment::{Scratch, Segment};
use std::ops::ControlFlow;
use std::sync::Arc;

/// Pairs that threads hand on together.
const CHUNK: usize = 1 << 13;

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
        for &(a, b) in pairs.iter().filter(|(a, b)| a != b) {
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

/// The clusters of positions and their keepers and, if the connected components are wanted, those that are divided.
fn components_of(
    positions: Vec<u32>,
    keepers: Vec<u32>,
    connected: Option<Components>,
) -> (Components, Option<Divided>) {
    let connected = connected.map(|connected| {
        let keepers = Divided::keepers(&connected, &positions);
        (connected, keepers)
    });
    let components = Components::of_keepers(positions, keepers, &Bitset::new(0));
    let divided = connected.map(|(connected, keepers)| Divided::of(connected, keepers, &components));
    (components, divided)
}

impl<F: Fingerprint> Clusters<F> {
    /// The clusters by star or complete linkage.
    pub(crate) fn link(&self, keeper: &Keeper) -> Result<United<F>> {
        if let Some(linker) = self.linker.as_deref().filter(|_| self.linkage == Linkage::Star) {
            return self.link_stars(linker, keeper);
        }
        self.check_whole()?;
        let spare = self.spare()?;
        let segments = self.segments()?;
        let count = Numbers::<F>::count_of(&segments)?;
        // Positions and keepers are made after the join.
        let joining = spare + u64::from(count) * self.linkage.bytes();
        let mut numbers = self.job.executor.run(|| Numbers::<F>::new(&segments, joining / 2))?;
        let mut has_pairs = Bitset::new(count as usize);
        let sets = self.chains.then(|| UnionFind::new(count));
        let memory = joining - numbers.bytes() - spare / 8;
        let pairs = match &self.linker {
            Some(linker) => {
                self.linked_pairs(&**linker, &numbers, sets.as_ref(), &mut has_pairs, (memory, spare / 8))?
            }
            None => {
                let join = Join::new(&segments, None, self.k, memory, &self.job.progress, &self.job.executor);
                self.near_pairs(&join, &numbers, sets.as_ref(), &mut has_pairs, spare / 8)?
            }
        };
        numbers.release();
        let connected = sets.map(|sets| Components::new(sets.into_parents()));
        let (positions, members) = self.positions((&segments, &numbers), &has_pairs, keeper, spare / 2)?;
        let keepers = self.keepers(self.linkage, &pairs, &positions, members, spare / 2)?;
        let (components, divided) = components_of(positions, keepers, connected);
        let searched = count.into();
        Ok(United { segments, numbers, components, divided, before: None, searched, labelled: 0 })
    }

    /// The stars of a linker, found without all of its pairs.
    fn link_stars(&self, linker: &dyn Linker<F>, keeper: &Keeper) -> Result<United<F>> {
        let spare = self.spare()?;
        let segments = self.segments()?;
        let count = Numbers::<F>::count_of(&segments)?;
        let numbers = self.job.executor.run(|| Numbers::<F>::new(&segments, spare / 2))?;
        let job = self.job_within((spare - numbers.bytes()) / 2);
        let mut members = Bitset::new(count as usize);
        linker.members(&numbers, &mut members, None, &job)?;
        let connected = if self.chains && linker.unites_without_pairs() {
            let sets = UnionFind::new(count);
            linker.unite(&numbers, &sets, None, &job)?;
            Some(Components::new(sets.into_parents()))
        } else {
            None
        };
        let (positions, members) = self.positions((&segments, &numbers), &members, keeper, job.memory)?;
        let places = Places { positions: &positions, count: members, settled: 0, fresh: None };
        let keepers = linker.stars(&numbers, &places, &job)?;
        let (components, divided) = components_of(positions, keepers, connected);
        let searched = count.into();
        Ok(United { segments, numbers, components, divided, before: None, searched, labelled: 0 })
    }

    /// By number the position of each fingerprint that takes part, by priority, and the number of positions.
    fn positions(
        &self,
        (segments, numbers): (&[Arc<Segment>], &Numbers<F>),
        takes_part: &Bitset,
        keeper: &Keeper,
        memory: u64,
    ) -> Result<(Vec<u32>, u32)> {
        let mut positions = vec![u32::MAX; Numbers::<F>::count_of(segments)? as usize];
        let is_wanted = |number: u32| takes_part.has(number as usize);
        let mut priorities = Priorities::new(self.parameters.ids(), keeper, &self.job.workspace(memory));
        let mut add = |fingerprint, number, best: &_| priorities.add(fingerprint, number, best);
        visit_best(&self.job, (segments, numbers), is_wanted, keeper, None, &mut add)?;
        let members = priorities.finish(&mut positions, 0)?;
        Ok((positions, members))
    }

    /// As [`Clusters::near_pairs`], of the pairs that a linker finds within `joining` bytes.
    fn linked_pairs(
        &self,
        linker: &dyn Linker<F>,
        numbers: &Numbers<F>,
        sets: Option<&UnionFind>,
        has_pairs: &mut Bitset,
        (joining, memory): (u64, u64),
    ) -> Result<Spool> {
        let mut pairs = Spool::within(&self.job.workspace(memory));
        let (mut scratch, mut found) = (Scratch::default(), Vec::new());
        linker.pairs(&self.job_within(joining), &mut |a, b| {
            let both = [numbers.of(a, &mut scratch)?, numbers.of(b, &mut scratch)?];
            both.into_iter().for_each(|number| _ = has_pairs.insert(number as usize));
            sets.into_iter().for_each(|sets| sets.unite(both[0], both[1]));
            found.extend(both.map(u32::to_le_bytes).as_flattened());
            if found.len() >= CHUNK * PAIR_BYTES { pairs.append(&mut found) } else { Ok(()) }
        })?;
        pairs.append(&mut found)?;
        Ok(pairs)
    }

    /// Writes the numbers of all near pairs within `memory` bytes, notes which numbers have pairs, and unites them in
    /// `sets`.
    pub(crate) fn near_pairs(
        &self,
        join: &Join<'_, F>,
        numbers: &Numbers<F>,
        sets: Option<&UnionFind>,
        has_pairs: &mut Bitset,
        memory: u64,
    ) -> Result<Spool> {
        let mut pairs = Spool::within(&self.job.workspace(memory));
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
        let _ = join.run(&taker, &mut sink)?;
        drop(sink);
        Ok(pairs)
    }

    /// The position of the keeper of each position below `members`, by the numbers of near pairs.
    pub(crate) fn keepers(
        &self,
        linkage: Linkage,
        pairs: &Spool,
        positions: &[u32],
        members: u32,
        memory: u64,
    ) -> Result<Vec<u32>> {
        let mut sorter = Sorter::new(&self.job.workspace(memory), memory);
        let position = |number: [u8; 4]| positions.get(u32::from_le_bytes(number) as usize).copied().unwrap_or(0);
        pairs.visit(PAIR_BYTES, |piece| {
            self.job.progress.check()?;
            for &[a, b, c, d, e, f, g, h] in piece.as_chunks().0 {
                let (one, other) = (position([a, b, c, d]), position([e, f, g, h]));
                sorter.push(u64::from(one.max(other)) << 32 | u64::from(one.min(other)))?;
            }
            Ok(())
        })?;
        let sorted = sorter.finish()?;
        let mut links = Links::new(linkage, members as usize);
        for pair in sorted.items(memory) {
            let pair = pair?;
            #[expect(clippy::cast_possible_truncation, reason = "both halves")]
            links.add((pair >> 32) as u32, pair as u32);
        }
        Ok(links.finish())
    }
}
