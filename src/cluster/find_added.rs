//! Finding the stars of a store and of added records, where earlier decisions hold.
//!
//! The earlier keepers come first by priority, then the new fingerprints; the removed ones take no part. So only pairs
//! with a new fingerprint are searched, and `linkage.rs` makes the stars of them. A fingerprint is new if the store
//! does not have it: a new record of an old fingerprint shares the keeper of that. A linker makes no pairs: it finds
//! the stars of new records among the earlier keepers (`key_stars.rs`).

use crate::bitset::{Bitset, NumberSet};
use crate::cluster::clustering::{Among, Clustering, United, best_of};
use crate::cluster::clusters::Clusters;
use crate::cluster::components::Components;
use crate::cluster::few_pairs::Few;
use crate::cluster::groups::{Groups, shares, visit_best};
use crate::cluster::keeper::Keeper;
use crate::cluster::labels::Label;
use crate::cluster::linkage::{Linkage, PAIR_BYTES};
use crate::cluster::linker::{Linker, Places};
use crate::cluster::match_removals::{Earlier, NONE};
use crate::cluster::numbers::Numbers;
use crate::cluster::priority::Priorities;
use crate::cluster::removals::Removals;
use crate::error::{Error, ErrorKind, Result};
use crate::executor::Mutex;
use crate::extsort::Spool;
use crate::fingerprint::{Fingerprint, Id};
use crate::join::keys::SketchBuffers;
use crate::join::{Join, Output, ordered, visit_stored};
use crate::segment::Segment;
use crate::version::{Pieces, Share};
use std::ops::ControlFlow;
use std::sync::Arc;

/// Old and added records.
struct Parts<'a, F> {
    all: &'a [Arc<Segment>],
    old: &'a [Arc<Segment>],
    new: &'a [Arc<Segment>],
    numbers: Numbers<F>,
    /// The number of the first fingerprint that is not old.
    first: u32,
    /// The numbers of new fingerprints, and those of old ones that added records have.
    fresh: Bitset,
    met: Bitset,
}

/// What links new fingerprints.
enum Found<'a, F> {
    /// The numbers of near pairs.
    Pairs(Spool),
    /// A linker, which knows them by the first words of the new ones.
    Linked { linker: &'a dyn Linker<F>, records: NumberSet, lost_keys: u64 },
}

impl<F> Found<'_, F> {
    fn lost_keys(&self) -> u64 {
        if let Self::Linked { lost_keys, .. } = self { *lost_keys } else { 0 }
    }
}

impl<F: Fingerprint> Clusters<F> {
    /// Takes the evidence of earlier stars of the store, for [`Clusters::find_from_removals`].
    ///
    /// # Errors
    /// `Unsupported` for other linkages than [`Linkage::Star`]; `InvalidInput` without [`Clusters::with_removals`];
    /// those of [`Clusters::find`] about memory and numbers, and from reading.
    pub fn removals(&self) -> Result<Removals<F>> {
        if self.linkage != Linkage::Star {
            return Err(Error::new(ErrorKind::Unsupported, "only stars can continue earlier ones")
                .with_remedy("search all clusters again"));
        }
        if !self.removals {
            return Err(Error::invalid("the clusters were not prepared for earlier evidence"));
        }
        Ok(Removals::new(self, self.spare()? / 4))
    }

    /// Finds stars of the store's and the new records ([`Clusters::with_new`]), where earlier decisions hold: the
    /// records that `removals` has stay removed, by their keepers, and all other records of the store are kept. Of the
    /// new records, those near an earlier keeper are removed, by the one of highest priority among these; the others
    /// are taken by priority, as [`Linkage::Star`] does. A new record with the fingerprint of an old one shares its
    /// keeper. Only the neighbours of new fingerprints are searched.
    ///
    /// The kept records are those of [`Clusters::find`] if that made `removals` for the store, with the same keeper and
    /// distance, and [`Clustering::overruled`] is zero. If no new record has priority over an old one, keepers and
    /// evidence are the same, too.
    ///
    /// ```
    /// use fpstore::clusters::{Keeper, Label, Linkage};
    /// use fpstore::{Options, Parameters, Record, Records, Store};
    /// # use std::ops::ControlFlow;
    /// # let directory = tempfile::tempdir()?;
    /// # let path = directory.path().join("store");
    /// # let new_path = directory.path().join("new");
    /// let ids = |number: u64| Label::Id(number.into());
    /// let load = |path, records| Store::create_loaded(path, &Parameters::new(3), &Options::new(), records);
    /// let (store, _) = load(&path, Records::Numbered(vec![0b0u64, 0b111, u64::MAX]))?;
    /// // Within three bits of the removed record 1, but not of the kept ones 0 and 2.
    /// let (new, _) = load(&new_path, Records::WithIds(vec![Record { fingerprint: 0b11_1111, id: 7.into() }]))?;
    /// let clusters = store.clusters(3)?.with_linkage(Linkage::Star).with_removals().with_new(&new.snapshot())?;
    /// let mut removals = clusters.removals()?;
    /// removals.push(&ids(1), &ids(0), 3, 1)?;
    /// let clustering = clusters.find_from_removals(removals, &Keeper::Smallest)?;
    /// let mut kept = Vec::new();
    /// let add = |gathered: &mut Vec<Label>, label| {
    ///     gathered.push(label);
    ///     ControlFlow::Continue(())
    /// };
    /// clustering.visit_kept(add, |mut gathered| {
    ///     kept.append(&mut gathered);
    ///     Ok(ControlFlow::Continue(()))
    /// })?;
    /// assert_eq!(kept, [0, 7, 2].map(ids));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`Clusters::find`]. `InvalidInput` if `removals` are not those of the store: if a record is not there, its
    /// keeper is not there or removed itself or farther than the distance, a record comes twice, or a fingerprint has
    /// several kept records; if several records share an id and only some of them are removed, or one of them is a
    /// keeper.
    pub fn find_from_removals(&self, removals: Removals<F>, keeper: &Keeper) -> Result<Clustering<F>> {
        self.check_whole()?;
        let segments = self.segments()?;
        let (old, new) = segments.split_at_checked(self.old()?).unwrap_or_default();
        let (first, count) = (Numbers::<F>::count_of(old)?, Numbers::<F>::count_of(&segments)?);
        let spare = self.spare()?;
        let mut numbers = Numbers::new(&segments, 0)?;
        let earlier = removals.matched(self, &numbers, spare)?;
        let [fresh, met] = self.added(new, &numbers, [first, count])?;
        let is_few = self.is_few(&fresh);
        let few = if is_few && self.linker.is_none() { Few::new(&segments, &fresh, self.k)? } else { None };
        let looks_up = few.is_some() || is_few && self.linker.is_some();
        if !looks_up {
            numbers = self.job.executor.run(|| Numbers::new(&segments, spare / 4))?;
        }
        let mut parts = Parts { all: &segments, old, new, numbers, first, fresh, met };
        let mut has_pairs = Bitset::new(count as usize);
        let found = self.links_of_new(&parts, few.as_ref(), &earlier, &mut has_pairs, spare - spare / 4)?;
        if self.linker.is_none() {
            parts.numbers.release();
        }

        let mut positions = vec![u32::MAX; count as usize];
        let (mut members, mut settled) = (0, 0);
        for (segments, kept) in [(old, Some(&earlier.kept[..])), (new, None)] {
            let mut priorities = Priorities::new(self.parameters.ids(), keeper, &self.job.workspace(spare / 2));
            let mut add = |fingerprint, number, best: &_| priorities.add(fingerprint, number, best);
            let is_wanted = |number: u32| has_pairs.has(number as usize) && (number < first) == kept.is_some();
            visit_best(&self.job, (segments, &parts.numbers), is_wanted, keeper, kept, &mut add)?;
            settled = members;
            members = priorities.finish(&mut positions, members)?;
        }
        let keepers = match &found {
            Found::Pairs(pairs) => self.keepers(Linkage::Star, pairs, &positions, members, spare / 2)?,
            Found::Linked { linker, records, .. } => {
                let places = Places { positions: &positions, count: members, settled, fresh: Some(records) };
                linker.stars(&parts.numbers, &places, &self.job_within(spare / 2))?
            }
        };
        parts.numbers.release();
        let is_own = |number: u32| {
            let position = positions.get(number as usize).copied();
            number >= first && position.is_some_and(|one| keepers.get(one as usize) == Some(&one))
        };
        let own = Bitset::of(count, is_own);
        let components = joined(&parts, &earlier, positions, keepers)?;

        let (searched, labelled) = (parts.fresh.count(), earlier.rows);
        let numbers = std::mem::replace(&mut parts.numbers, Numbers::new(&[], 0)?);
        let segments = segments.clone();
        let united = United { segments, numbers, components, divided: None, before: None, searched, labelled };
        let among = Among::Kept { segments: old, kept: &earlier.kept, own: &own };
        let mut clustering = Clustering::new(self, united, keeper, among)?;
        clustering.lost_keys = found.lost_keys();
        if clustering.lost_keys > 0 {
            clustering.measure.expect_far();
        } else {
            self.check_near(&parts, &clustering)?;
        }
        clustering.overruled = self.count_overruled(&parts, &clustering, keeper)?;
        Ok(clustering)
    }

    /// The numbers of new fingerprints, and those of old ones that added records have.
    fn added(&self, new: &[Arc<Segment>], numbers: &Numbers<F>, [first, count]: [u32; 2]) -> Result<[Bitset; 2]> {
        let work = |(): &mut (), share: Share, output: &Output<_>| {
            let (mut found, mut ascending, mut result) = (Vec::new(), numbers.ascending()?, Ok(()));
            visit_stored(new, share, &mut |fingerprints: &[F]| {
                for &one in fingerprints {
                    match ascending.of(one) {
                        Ok(number) => found.push(number),
                        Err(error) => result = Err(error),
                    }
                }
            })?;
            result?;
            output.send(found)
        };
        let mut added = [count, first].map(|bound| Bitset::new(bound as usize));
        let mut take = |found: Vec<u32>| {
            self.job.progress.check()?;
            let [fresh, met] = &mut added;
            for number in found {
                if number >= first {
                    fresh.insert(number as usize)
                } else {
                    met.insert(number as usize)
                };
            }
            Ok(ControlFlow::Continue(()))
        };
        let _ = ordered(None, &*self.job.executor.crew()?, shares(new)?, || (), work, &mut take)?;
        Ok(added)
    }

    /// Finds what links new fingerprints with each other and with earlier keepers, and notes which numbers may be
    /// linked.
    fn links_of_new<'a>(
        &'a self,
        parts: &Parts<'_, F>,
        few: Option<&Few<F>>,
        earlier: &Earlier,
        linked: &mut Bitset,
        memory: u64,
    ) -> Result<Found<'a, F>> {
        let Some(linker) = self.linker.as_deref() else {
            return self.pairs_of_new(parts, few, earlier, linked, memory).map(Found::Pairs);
        };
        let records = self.first_words(parts.all, &parts.fresh, memory / 2)?.ok_or_else(|| {
            Error::invalid("the new records take more memory than is allowed").with_remedy("allow more")
        })?;
        linker.members(&parts.numbers, linked, Some(&records), &self.job_within(memory / 2))?;
        let lost_keys = self.doubt((&parts.fresh, true), &mut Bitset::new(0), parts.all, memory / 2)?;
        Ok(Found::Linked { linker, records, lost_keys })
    }

    /// Writes the numbers of the near pairs of new fingerprints with each other and with those of earlier keepers, and
    /// notes which numbers have pairs.
    fn pairs_of_new(
        &self,
        parts: &Parts<'_, F>,
        few: Option<&Few<F>>,
        earlier: &Earlier,
        has_pairs: &mut Bitset,
        memory: u64,
    ) -> Result<Spool> {
        let (all, numbers, fresh) = (parts.all, &parts.numbers, &parts.fresh);
        let takes_part = |number: u32| match earlier.kept.get(number as usize) {
            Some(&kept) => kept != NONE,
            None => fresh.has(number as usize),
        };
        let progress = &self.job.progress;
        if let Some(few) = few {
            let found = Mutex::new((Spool::within(&self.job.workspace(memory / 8)), has_pairs));
            let take = |one: u32, new: u32| {
                if !takes_part(one) {
                    return Ok(());
                }
                let (pairs, has_pairs) = &mut *found.lock();
                [one, new].iter().for_each(|&number| _ = has_pairs.insert(number as usize));
                pairs.append(&mut [one.to_le_bytes(), new.to_le_bytes()].concat())
            };
            self.job.executor.run(|| few.visit(all, numbers, progress, &take))?;
            return Ok(found.into_inner().0);
        }
        let part = Bitset::of(Numbers::<F>::count_of(all)?, takes_part);
        let mut join = Join::new(all, Some(all), self.k, memory - memory / 8, progress, &self.job.executor);
        (join.only_left, join.only) = (Some(&part), Some(fresh));
        self.near_pairs(&join, numbers, None, has_pairs, memory / 8)
    }

    /// Checks that removed records are near their keepers.
    fn check_near(&self, parts: &Parts<'_, F>, clustering: &Clustering<F>) -> Result<()> {
        clustering.measure.count(
            parts.all,
            &clustering.components,
            clustering.keepers.as_deref().unwrap_or_default(),
        )?;
        let work = |(): &mut (), share: Share, output: &Output<_>| {
            self.job.progress.check()?;
            let (mut ascending, mut result) = (clustering.numbers.ascending()?, Ok(()));
            let mut buffers = SketchBuffers::default();
            visit_stored(parts.old, share, &mut |fingerprints: &[F]| {
                for &one in fingerprints {
                    result = std::mem::replace(&mut result, Ok(())).and_then(|()| {
                        let number = ascending.of(one)?;
                        let keeper = clustering.keeper_of(one, clustering.components.of(number));
                        let Some(keeper) = keeper.filter(|&keeper| keeper != one) else { return Ok(()) };
                        if !clustering.measure.is_far(clustering.measure.of(number, one, keeper, &mut buffers)?) {
                            return Ok(());
                        }
                        let message = if self.linker.is_some() {
                            let id = best_of(parts.old, one, &Keeper::Smallest)?.0;
                            let id = id.map(|id| id.to_string()).unwrap_or_default();
                            format!("by the evidence, {id} is removed by a record that is not near it")
                        } else {
                            let name: String = (0..F::WORDS).map(|word| format!("{:016x}", one.word(word))).collect();
                            format!(
                                "by the evidence, the keeper of fingerprint {name} differs in more than {} bits",
                                self.k
                            )
                        };
                        Err(Error::invalid(message + ": it is of another store").with_remedy("search all again"))
                    });
                }
            })?;
            output.send(result?)
        };
        let mut take = |()| Ok(ControlFlow::Continue(()));
        ordered(None, &*self.job.executor.crew()?, shares(parts.old)?, || (), work, &mut take).map(drop)
    }

    /// Counts the new records that have priority over their keepers.
    fn count_overruled(&self, parts: &Parts<'_, F>, clustering: &Clustering<F>, keeper: &Keeper) -> Result<u64> {
        let work = |(): &mut (), share: Share, output: &Output<_>| {
            self.job.progress.check()?;
            let (mut overruled, mut ids) = (0u64, Vec::new());
            let mut groups = Groups::new(parts.new, &clustering.numbers, &clustering.components, share)?;
            while let Some((fingerprint, component)) = groups.next_fingerprint()? {
                let Some(component) = component else {
                    groups.count_rest(fingerprint)?;
                    continue;
                };
                let label = clustering.labels.of(component)?;
                let near = clustering.keepers.as_ref().and_then(|all| all.get(component)).copied();
                let near = near.unwrap_or(fingerprint);
                let count = |ids: &[Id]| {
                    let is_first = |id: &&Id| match &label {
                        Label::Id(kept) => keeper.compare(*id, kept, Clone::clone).then(fingerprint.cmp(&near)).is_lt(),
                        Label::Fingerprint(kept) => keeper.compare(&fingerprint, kept, |_| Id::Count(0)).is_lt(),
                    };
                    ids.iter().filter(is_first).map(Id::records).sum::<u64>()
                };
                if groups.number() >= parts.first {
                    while groups.has_more(fingerprint) {
                        groups.next_ids(fingerprint, &mut ids)?;
                        overruled = overruled.saturating_add(count(&ids));
                    }
                    continue;
                }
                groups.count_rest(fingerprint)?;
                // Some of them may be old; without ids, all count as old.
                if matches!(label, Label::Id(_)) {
                    let all = |segments| {
                        let (mut pieces, mut sum) = (Pieces::new(segments, fingerprint)?, 0u64);
                        while let Some(piece) = pieces.next_piece()? {
                            sum = sum.saturating_add(count(&piece));
                        }
                        Ok::<u64, Error>(sum)
                    };
                    overruled = overruled.saturating_add(all(parts.all)?.saturating_sub(all(parts.old)?));
                }
            }
            output.send(overruled)
        };
        let mut sum = 0u64;
        let mut take = |overruled| {
            sum = sum.saturating_add(overruled);
            Ok(ControlFlow::Continue(()))
        };
        let _ = ordered(None, &*self.job.executor.crew()?, shares(parts.new)?, || (), work, &mut take)?;
        Ok(sum)
    }
}

/// The stars of all fingerprints, by the positions of new ones and their keepers, and by the earlier decisions.
fn joined<F: Fingerprint>(
    parts: &Parts<'_, F>,
    earlier: &Earlier,
    mut positions: Vec<u32>,
    mut keepers: Vec<u32>,
) -> Result<Components> {
    // Every fingerprint has at most one position.
    keepers.reserve_exact(positions.len().saturating_sub(keepers.len()));
    let mut named = Bitset::new(positions.len());
    let mut position = |number: u32, keepers: &mut Vec<u32>| {
        let mut missing = u32::MAX;
        let slot = positions.get_mut(number as usize).unwrap_or(&mut missing);
        if *slot == u32::MAX {
            *slot = u32::try_from(keepers.len()).unwrap_or(u32::MAX);
            keepers.push(*slot);
        }
        *slot
    };
    let is_kept = |number: u32| earlier.kept.get(number as usize).is_some_and(|&kept| kept != NONE);
    earlier.removed.visit(PAIR_BYTES, |piece| {
        for &[a, b, c, d, e, f, g, h] in piece.as_chunks().0 {
            let (number, of_keeper) = (u32::from_le_bytes([a, b, c, d]), u32::from_le_bytes([e, f, g, h]));
            let (one, keeper) = (position(number, &mut keepers), position(of_keeper, &mut keepers));
            // Labels are not chosen among the other ids of a keeper's fingerprint.
            named.insert(keeper as usize);
            let slot = keepers.get_mut(one as usize);
            if number != of_keeper
                && (is_kept(number) || slot.as_ref().is_some_and(|slot| ![one, keeper].contains(slot)))
            {
                let message =
                    "by the evidence, records of one fingerprint have several keepers: it is of another store";
                return Err(Error::invalid(message).with_remedy("search all again"));
            }
            slot.into_iter().for_each(|slot| *slot = keeper);
        }
        Ok(())
    })?;
    for number in (0..parts.first).filter(|&number| parts.met.has(number as usize) && is_kept(number)) {
        named.insert(position(number, &mut keepers) as usize);
    }
    Ok(Components::of_keepers(positions, keepers, &named))
}
