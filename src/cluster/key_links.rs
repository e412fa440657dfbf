//! The links between the records of a key index: shared keys in place of distances.

use crate::bitset::{Bitset, NumberSet};
use crate::cluster::components::Components;
use crate::cluster::key_stars::SharedKeys;
use crate::cluster::linker::{Linker, Places};
use crate::cluster::numbers::Numbers;
use crate::cluster::union_find::UnionFind;
use crate::error::{Error, Result};
use crate::extsort::Spool;
use crate::join::keys::{Between, KeyGroups, KeyRule, NumberedPairs, SketchBuffers, Sketches};
use crate::join::{JobContext, Progress};
use crate::segment::Scratch;
use crate::version::{ReadView, StoreContext};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Links records by a rule about their keys.
#[derive(Debug)]
pub(crate) struct KeyLinks {
    view: ReadView,
    rule: KeyRule,
    sketches: Arc<Sketches>,
    skipped: AtomicU64,
}

/// Bytes of a number.
const NUMBER: usize = 4;

impl KeyLinks {
    pub(crate) fn new(context: &StoreContext, view: ReadView, rule: KeyRule) -> Result<Self> {
        rule.check(&context.parameters)?;
        let sketches = Arc::new(Sketches::new(&view, context.parameters.keys().unwrap_or_default())?);
        Ok(Self { view, rule, sketches, skipped: AtomicU64::new(0) })
    }

    /// Reads the records of each key, or of each key of `fresh` ones, and counts the keys that do not count.
    fn visit_groups(
        &self,
        fresh: Option<&NumberSet>,
        job: &JobContext,
        visit: &mut dyn FnMut(&[u64], bool) -> Result<()>,
    ) -> Result<()> {
        let groups = KeyGroups::new(&self.view, self.rule.most)?.of(fresh)?;
        job.progress.begin(groups.keys());
        self.skipped.store(groups.visit(&job.progress, visit)?, Ordering::Relaxed);
        Ok(())
    }

    fn visit_pairs(
        &self,
        fresh: Option<&NumberSet>,
        job: &JobContext,
        visit: &mut dyn FnMut(u64, u64) -> Result<()>,
    ) -> Result<()> {
        let between = Between { view: &self.view, other: None, fresh };
        let sketches = (Arc::clone(&self.sketches), None);
        let pairs = NumberedPairs::new(between, sketches, self.rule, (job, job.memory))?;
        self.skipped.store(pairs.skipped, Ordering::Relaxed);
        pairs.visit(&mut |a, b, _, _| {
            visit(a, b)?;
            Ok(ControlFlow::Continue(()))
        })
    }
}

impl Linker<u64> for KeyLinks {
    fn resident_bytes(&self) -> u64 {
        self.sketches.resident_bytes()
    }

    fn unite(
        &self,
        numbers: &Numbers<u64>,
        sets: &UnionFind,
        fresh: Option<&NumberSet>,
        job: &JobContext,
    ) -> Result<()> {
        let mut scratch = Scratch::default();
        if !self.rule.takes_all() {
            return self.visit_pairs(fresh, job, &mut |a, b| {
                let a = numbers.of(a, &mut scratch)?;
                sets.unite(a, numbers.of(b, &mut scratch)?);
                Ok(())
            });
        }
        // All records of a key are connected, whatever else they share, so each costs one step and no pair is made.
        let (mut first, mut is_met) = (0, false);
        self.visit_groups(fresh, job, &mut |records, continues| {
            let mut records = records.iter();
            if !continues && let Some(&record) = records.as_slice().first() {
                (first, is_met) = (record, false);
            }
            // Those that are not fresh are united already.
            is_met |= fresh.is_none_or(|fresh| records.as_slice().iter().any(|&record| fresh.has(record)));
            if is_met {
                let first = numbers.of(first, &mut scratch)?;
                records.try_for_each(|&record| {
                    sets.unite(first, numbers.of(record, &mut scratch)?);
                    Ok::<(), Error>(())
                })?;
            }
            Ok(())
        })
    }

    fn unites_without_pairs(&self) -> bool {
        self.rule.takes_all()
    }

    fn depends_on_others(&self) -> bool {
        self.rule.most.is_some()
    }

    /// A key of few enough records before and of too many with the fresh ones makes no pairs any more.
    fn doubt(
        &self,
        numbers: &Numbers<u64>,
        fresh: &NumberSet,
        doubted: &mut Bitset,
        progress: &Progress,
    ) -> Result<u64> {
        let Some(most) = self.rule.most else { return Ok(0) };
        let (mut scratch, mut lost, mut before, mut count) = (Scratch::default(), 0, Vec::new(), 0u64);
        let mut end_key = |before: &mut Vec<u64>, count: u64| {
            if count > most && before.len() > 1 && before.len() as u64 <= most {
                lost += 1;
                before.iter().try_for_each(|&record| {
                    doubted.insert(numbers.of(record, &mut scratch)? as usize);
                    Ok::<(), Error>(())
                })?;
            }
            before.clear();
            Ok::<(), Error>(())
        };
        let groups = KeyGroups::new(&self.view, None)?.of(Some(fresh))?;
        progress.begin(groups.keys());
        groups.visit(progress, &mut |records, continues| {
            if !continues {
                end_key(&mut before, count)?;
                count = 0;
            }
            count += records.len() as u64;
            // One more than may count tells that the key did not count before.
            let room = usize::try_from(most + 1).unwrap_or(usize::MAX).saturating_sub(before.len());
            before.extend(records.iter().filter(|&&record| !fresh.has(record)).take(room));
            Ok(())
        })?;
        end_key(&mut before, count)?;
        Ok(lost)
    }

    fn pairs(&self, job: &JobContext, visit: &mut dyn FnMut(u64, u64) -> Result<()>) -> Result<()> {
        self.visit_pairs(None, job, visit)
    }

    fn members(
        &self,
        numbers: &Numbers<u64>,
        members: &mut Bitset,
        fresh: Option<&NumberSet>,
        job: &JobContext,
    ) -> Result<()> {
        let mut scratch = Scratch::default();
        self.visit_groups(fresh, job, &mut |records, _| {
            records.iter().try_for_each(|&record| {
                members.insert(numbers.of(record, &mut scratch)? as usize);
                Ok(())
            })
        })
    }

    fn stars(&self, numbers: &Numbers<u64>, places: &Places<'_>, job: &JobContext) -> Result<Vec<u32>> {
        let groups = KeyGroups::new(&self.view, self.rule.most)?.of(places.fresh)?;
        let shared = SharedKeys::new(&groups, numbers, places, &self.rule, job)?;
        shared.keepers(places, &self.rule, &self.sketches, job)
    }

    fn count_shared(
        &self,
        numbers: &Numbers<u64>,
        components: &Components,
        keepers: &[u64],
        job: &JobContext,
    ) -> Result<Vec<u32>> {
        let mut counts = Counts {
            shared: vec![0; components.numbers()],
            components,
            is_here: Bitset::new(keepers.len()),
            members: Spool::within(&job.workspace(job.memory)),
        };
        let (mut scratch, mut found) = (Scratch::default(), Vec::new());
        self.visit_groups(None, job, &mut |records, continues| {
            if !continues {
                counts.end_key()?;
            }
            for &record in records {
                let number = numbers.of(record, &mut scratch)?;
                let Some(component) = components.of(number) else { continue };
                found.extend(number.to_le_bytes());
                if keepers.get(component) == Some(&record) {
                    counts.is_here.insert(component);
                }
            }
            counts.members.append(&mut found)
        })?;
        counts.end_key()?;
        Ok(counts.shared)
    }

    fn jaccard(&self, a: u64, b: u64, buffers: &mut SketchBuffers) -> Result<Option<f64>> {
        self.sketches.jaccard(a, b, buffers)
    }

    fn is_near(&self, shared: u64, jaccard: Option<f64>) -> bool {
        self.rule.takes(shared, jaccard)
    }

    fn skipped(&self) -> u64 {
        self.skipped.load(Ordering::Relaxed)
    }
}

/// Counts key by key: a key costs each of its records a step, however many have it.
struct Counts<'a> {
    shared: Vec<u32>,
    components: &'a Components,
    /// The components whose keepers have the key.
    is_here: Bitset,
    /// The numbers of the records that have the key and are in components.
    members: Spool,
}

impl Counts<'_> {
    /// Counts the key that `members` have, and prepares for the next one.
    fn end_key(&mut self) -> Result<()> {
        let Self { shared, components, is_here, members } = self;
        let component = |number: [u8; NUMBER]| {
            let number = u32::from_le_bytes(number);
            Some((number as usize, components.of(number)?))
        };
        if is_here.count() > 0 {
            members.visit(NUMBER, |piece| {
                let here = piece.as_chunks().0.iter().filter_map(|&number| component(number));
                for (number, _) in here.filter(|(_, component)| is_here.has(*component)) {
                    shared.get_mut(number).into_iter().for_each(|count| *count = count.saturating_add(1));
                }
                Ok(())
            })?;
            members.visit(NUMBER, |piece| {
                let here = piece.as_chunks().0.iter().filter_map(|&number| component(number));
                here.for_each(|(_, component)| is_here.remove(component));
                Ok(())
            })?;
        }
        members.clear();
        Ok(())
    }
}
