//! Clusters of vertices whose pairs are columns of numbers, and those of a share of the vertices.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, UInt32Array};
use fpstore::clusters::{Linkage, linked as linked_pairs};
use fpstore::{IdRef, Result};

use crate::input::{IdColumn, invalid};

/// The keeper of each vertex from 0 to `count - 1`: [`fpstore::clusters::linked`] of the pairs in two columns of
/// integers.
///
/// # Errors
/// `InvalidInput` if the columns are not of the same length, or a vertex is not one.
pub fn linked(linkage: Linkage, count: u32, a: &ArrayRef, b: &ArrayRef) -> Result<ArrayRef> {
    let mut pairs = pairs_of(a, b)?;
    Ok(Arc::new(UInt32Array::from(linked_pairs(linkage, count, &mut pairs)?)))
}

/// The pairs of two columns of integers of the same length.
fn pairs_of(a: &ArrayRef, b: &ArrayRef) -> Result<Vec<(u32, u32)>> {
    let columns = (IdColumn::new(Some(a))?, IdColumn::new(Some(b))?);
    columns.0.check_length(b.len())?;
    let vertex = |column: &IdColumn, row| match column.get(row)? {
        IdRef::Number(number) => u32::try_from(number).map_err(|_| invalid(format!("{number} is no vertex"))),
        _ => Err(invalid("vertices are numbers")),
    };
    (0..a.len()).map(|row| Ok((vertex(&columns.0, row)?, vertex(&columns.1, row)?))).collect()
}

/// The holder of a key that no record has taken.
const FREE: u32 = u32::MAX;

/// A step of star linkage of records that share keys, on some of them, where other ones may have decided before. A
/// record is kept if all of its keys are free, and takes them; one of whose keys is taken is removed.
///
/// `records` and `keys` are columns of integers: the records in ascending order, each with all of its keys. `holders` has
/// for each key that which has taken it before, `u32::MAX` if it is free, and null if that is not known yet. Returns the
/// holders after all records: null where that is not known yet. So one that is kept holds all of its keys,
/// one that is removed has a key with a smaller holder, and one that is undecided has no key with a holder.
///
/// # Errors
/// `InvalidInput` if the columns are not of the same length, the records not in order, or a key has no holder.
pub fn claimed(records: &ArrayRef, keys: &ArrayRef, holders: &UInt32Array) -> Result<ArrayRef> {
    let rows = pairs_of(records, keys)?;
    let mut after: Vec<Option<u32>> = holders.iter().collect();
    check_rows(&rows, after.len())?;
    for of_record in rows.chunk_by(|a, b| a.0 == b.0) {
        let mut known = of_record.iter().filter_map(|(_, key)| after.get(*key as usize).copied());
        if known.clone().flatten().any(|holder| holder != FREE) {
            continue;
        }
        let holder = if known.any(|holder| holder.is_none()) { None } else { of_record.first().map(|row| row.0) };
        for (_, key) in of_record {
            after.get_mut(*key as usize).into_iter().for_each(|slot| *slot = holder);
        }
    }
    Ok(Arc::new(UInt32Array::from(after)))
}

/// For each row of [`claimed`] the smallest holder of the keys of its record, if that is an earlier record and holds the
/// key of the row: the keeper of a removed record, as often as they share a key. Null in all other rows.
///
/// # Errors
/// As [`claimed`].
pub fn reasons(records: &ArrayRef, keys: &ArrayRef, holders: &UInt32Array) -> Result<ArrayRef> {
    let rows = pairs_of(records, keys)?;
    check_rows(&rows, holders.len())?;
    let holder = |row: &(u32, u32)| holders.is_valid(row.1 as usize).then(|| holders.value(row.1 as usize));
    let keepers = rows.chunk_by(|a, b| a.0 == b.0).flat_map(|of_record| {
        let smallest = of_record.iter().filter_map(holder).min();
        of_record.iter().map(move |row| holder(row).filter(|keeper| Some(*keeper) == smallest && *keeper < row.0))
    });
    Ok(Arc::new(keepers.collect::<UInt32Array>()))
}

/// Refuses keys that have no holder, and records that are not in order.
fn check_rows(rows: &[(u32, u32)], holders: usize) -> Result<()> {
    if let Some((_, key)) = rows.iter().find(|(_, key)| *key as usize >= holders) {
        return Err(invalid(format!("the key {key} has no holder, but only {holders} keys have")));
    }
    let is_ordered = rows.is_sorted_by_key(|row| row.0);
    if is_ordered { Ok(()) } else { Err(invalid("the records are not in ascending order")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::cast::AsArray;
    use arrow_array::types::UInt32Type;
    use proptest::prelude::*;

    fn columns(rows: &[(u32, u32)]) -> (ArrayRef, ArrayRef) {
        let (records, keys): (Vec<u32>, Vec<u32>) = rows.iter().copied().unzip();
        (Arc::new(UInt32Array::from(records)), Arc::new(UInt32Array::from(keys)))
    }

    fn of(rows: &[(u32, u32)], holders: &[Option<u32>]) -> Result<Vec<Option<u32>>> {
        let (records, keys) = columns(rows);
        let holders = UInt32Array::from(holders.to_vec());
        Ok(claimed(&records, &keys, &holders)?.as_primitive::<UInt32Type>().iter().collect())
    }

    /// The smallest holder of a record's keys.
    fn keeper(record: u32, rows: &[(u32, u32)], holders: &[Option<u32>]) -> Option<u32> {
        let own = rows.iter().filter(|row| row.0 == record);
        own.filter_map(|row| holders[row.1 as usize]).filter(|holder| *holder != FREE).min()
    }

    proptest! {
        #[test]
        fn keepers_are_those_of_star_linkage(
            lists in prop::collection::vec(prop::collection::btree_set(0u32..20, 1..4), 1..40),
            half in 0usize..40,
        ) {
            let rows: Vec<(u32, u32)> =
                lists.iter().zip(0..).flat_map(|(keys, record)| keys.iter().map(move |key| (record, *key))).collect();
            let near = |a: usize, b: usize| !lists[a].is_disjoint(&lists[b]);
            let every = 0..lists.len();
            let mut pairs: Vec<(u32, u32)> = every
                .clone()
                .flat_map(|a| every.clone().map(move |b| (a, b)))
                .filter(|&(a, b)| a < b && near(a, b))
                .map(|(a, b)| (u32::try_from(a).unwrap(), u32::try_from(b).unwrap()))
                .collect();
            let expected = linked_pairs(Linkage::Star, u32::try_from(lists.len()).unwrap(), &mut pairs).unwrap();
            let found = of(&rows, &[Some(FREE); 20]).unwrap();
            for (record, expected) in (0..).zip(&expected) {
                prop_assert_eq!(keeper(record, &rows, &found), Some(*expected));
            }
            let (records, keys) = columns(&rows);
            let reasons = reasons(&records, &keys, &UInt32Array::from(found.clone())).unwrap();
            for ((record, key), reason) in rows.iter().zip(reasons.as_primitive::<UInt32Type>()) {
                let keeper = expected[*record as usize];
                let is_reason = keeper != *record && lists[keeper as usize].contains(key);
                prop_assert_eq!(reason, is_reason.then_some(keeper));
            }

            // Of the second half alone, some records are decided on already; with the holders of the first half, all.
            let (first, second) = rows.split_at(rows.partition_point(|row| (row.0 as usize) < half));
            let between = of(first, &[Some(FREE); 20]).unwrap();
            prop_assert_eq!(&of(second, &between).unwrap(), &found);
            let is_of_both = |key: &u32| first.iter().any(|row| row.1 == *key);
            let unknown: Vec<_> = (0..20).map(|key| if is_of_both(&key) { None } else { Some(FREE) }).collect();
            let early = of(second, &unknown).unwrap();
            for (before, after) in early.iter().zip(&found) {
                prop_assert!(before.is_none() || before == after);
            }
            for (record, _) in second {
                // A removed record may have a smaller keeper among those that are not known.
                let known = keeper(*record, second, &early);
                prop_assert_eq!(known == Some(*record), known.is_some() && expected[*record as usize] == *record);
            }
        }
    }

    #[test]
    fn rows_that_cannot_be_are_refused() {
        assert!(of(&[(0, 1)], &[Some(FREE)]).unwrap_err().to_string().contains("key 1 has no holder"));
        assert!(of(&[(1, 0), (0, 0)], &[Some(FREE)]).unwrap_err().to_string().contains("ascending order"));
        assert_eq!(of(&[(0, 0), (0, 1), (1, 1)], &[Some(FREE), None]).unwrap(), [None, None]);
    }
}
