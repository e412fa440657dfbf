//! The records of a load whose ids came before in it, or are in the store. Memory is bounded, however many these are:
//! their places are sorted like everything else, and the set of them takes at most a bit for each record of the input.

use super::sorter::SortedKeys;
use crate::bitset::NumberSet;
use crate::db::StoreInner;
use crate::error::Result;
use crate::extsort::{Sorted, Sorter, Workspace};
use crate::fingerprint::Id;
use crate::load::by_id_scan::{lines, name, split};
use crate::load::records::SortedRecords;
use crate::load::sorted_ids::{IdSorter, SortedIds};
use std::cmp::Ordering;

/// The records of a load whose ids came before, by their places in the input, and the stored ones with the same ids.
pub(super) struct Known {
    /// Records whose id came before in the input.
    pub(super) repeated: Sorted<u64>,
    /// Other records whose id the store has.
    pub(super) stored: Sorted<u64>,
    /// The numbers of the stored records with these ids.
    pub(super) numbers: SortedRecords<u64>,
}

impl Known {
    pub(super) fn of(input: &SortedKeys, inner: &StoreInner, workspace: &Workspace) -> Result<Self> {
        let (ids, repeated) = distinct(input, workspace)?;
        let (numbers, _) = inner.records_of_ids::<u64>(&inner.read_view(), &ids, workspace)?;
        let mut known = IdSorter::within(workspace);
        numbers.records().try_for_each(|record| known.push(record?.id.as_ref()))?;
        let came_before = NumberSet::of_sorted(repeated.len(), || repeated.items(PIECES))?;
        let stored = places_of(input, &known.finish()?, &came_before, workspace)?;
        Ok(Self { repeated, stored, numbers })
    }

    /// The places of the records that are not loaded.
    pub(super) fn left_out(&self, replaces: bool, workspace: &Workspace) -> Result<NumberSet> {
        let mut all = sorter(workspace);
        self.repeated.items(PIECES).try_for_each(|place| all.push(place?))?;
        if !replaces {
            self.stored.items(PIECES).try_for_each(|place| all.push(place?))?;
        }
        let all = all.finish()?;
        NumberSet::of_sorted(all.len(), || all.items(PIECES))
    }
}

/// Bytes of a chunk of sorted places.
const PIECES: u64 = 1 << 20;

/// Part of the memory of a sort for places of records.
const PART_OF_PLACES: u64 = 16;

fn sorter(workspace: &Workspace) -> Sorter<u64> {
    Sorter::new(workspace, workspace.memory_of_records() / PART_OF_PLACES)
}

/// The ids of all records and their places, by the hash of the id, then the id.
fn names(input: &SortedKeys, workspace: &Workspace) -> impl Iterator<Item = Result<(u64, Vec<u8>)>> {
    input.names.chunks(workspace.memory_of_chunks()).flat_map(lines)
}

/// The distinct ids, and the places of those that came before. The first one in the input counts.
fn distinct(input: &SortedKeys, workspace: &Workspace) -> Result<(SortedIds, Sorted<u64>)> {
    let (mut ids, mut repeated) = (IdSorter::within(workspace), sorter(workspace));
    let mut current: Option<(Vec<u8>, u64)> = None;
    for line in names(input, workspace) {
        let (_, line) = line?;
        let (name, place) = split::<u64>(&line);
        match &mut current {
            Some((same, first)) if same == name => {
                repeated.push(place.max(*first))?;
                *first = place.min(*first);
            }
            _ => {
                ids.push(input.id_of(name).as_ref())?;
                current = Some((name.to_vec(), place));
            }
        }
    }
    Ok((ids.finish()?, repeated.finish()?))
}

/// The places of the records with these ids that did not come before.
fn places_of(
    input: &SortedKeys,
    ids: &SortedIds,
    came_before: &NumberSet,
    workspace: &Workspace,
) -> Result<Sorted<u64>> {
    let (mut places, mut ids) = (sorter(workspace), ids.ids().peekable());
    for line in names(input, workspace) {
        let (hash, line) = line?;
        let (own, place) = split::<u64>(&line);
        while let Some(id) = ids.peek() {
            let order = match id {
                Ok((other, id)) => (*other, name(id).as_bytes()).cmp(&(hash, own)),
                Err(_) => Ordering::Less,
            };
            match order {
                Ordering::Less => _ = ids.next().transpose()?,
                Ordering::Equal => {
                    if !came_before.has(place) {
                        places.push(place)?;
                    }
                    break;
                }
                Ordering::Greater => break,
            }
        }
    }
    places.finish()
}

impl SortedKeys {
    /// The id that this is the name of.
    fn id_of(&self, name: &[u8]) -> Id {
        let text = String::from_utf8_lossy(name);
        match self.ids {
            crate::load::records::RecordIds::Numbers => Id::Number(text.parse().unwrap_or(0)),
            _ => Id::from(&*text),
        }
    }
}
