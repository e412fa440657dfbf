//! The difference of two rings, exact: which share of all keys moves, and from where to where.

use crate::arcs::{share, spans};
use crate::error::{Error, Result};
use crate::node::Node;
use crate::ring::Ring;
use std::collections::{BTreeMap, BTreeSet};

/// The copies that move from a node to another.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Move {
    /// The node that has them in the old ring.
    pub from: String,
    /// The node that has them in the new ring.
    pub to: String,
    /// Their share of all copies in the new ring.
    pub share: f64,
}

/// The difference of two rings.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Diff {
    /// Share of the copies in the new ring that are on other nodes than before.
    pub moved: f64,
    /// The least share that has to move between rings with these arcs: what the nodes have more than before.
    pub least: f64,
    /// The share that would have to move if every node had a share in proportion to its weight.
    pub ideal: f64,
    /// Share that moves between nodes that both rings have. 0 if nodes only joined, or only left.
    pub between_kept: f64,
    /// Every pair of nodes with copies that move, in the order of names.
    pub moves: Vec<Move>,
}

/// Compares two rings over the whole circle.
///
/// Each range of positions with the same nodes in both rings counts with its length. Where a key has several replicas,
/// a new node takes the copy of a node that goes, in the order of both; if none goes, it takes that of the first old
/// node.
///
/// # Errors
/// `InvalidInput` if the rings have different hashes: a key has another position in each.
pub fn diff(old: &Ring, new: &Ring) -> Result<Diff> {
    let hash = old.settings().hash;
    if hash != new.settings().hash {
        return Err(Error::invalid(format!(
            "the rings have different hashes, {hash} and {}, so a key has another position in each",
            new.settings().hash
        )));
    }
    let mut ends: Vec<u64> = old.positions().chain(new.positions()).collect();
    ends.sort_unstable();
    ends.dedup();
    let names = |ring: &Ring| ring.nodes().iter().map(|node| node.name().to_owned()).collect::<Vec<_>>();
    let (old_names, new_names) = (names(old), names(new));
    let numbers: BTreeMap<&str, u32> = old_names.iter().map(String::as_str).zip(0..).collect();
    // The number in the old ring of each node of the new one.
    let as_old: Vec<Option<u32>> = new_names.iter().map(|name| numbers.get(name.as_str()).copied()).collect();
    let mut moves: BTreeMap<(u32, u32), u128> = BTreeMap::new();
    let (mut before, mut after) = (Vec::new(), Vec::new());
    for (_, to, length) in spans(ends, hash.circle()) {
        old.locate_position(to, &mut before);
        new.locate_position(to, &mut after);
        for pair in moved_copies(&before, &after, &as_old) {
            *moves.entry(pair).or_default() += length;
        }
    }
    let copies = hash.circle() * u128::from(new.settings().replicas);
    let named = |names: &[String], number: u32| names.get(number as usize).cloned().unwrap_or_default();
    let kept: BTreeSet<u32> = as_old.iter().copied().flatten().collect();
    let between: u128 = moves
        .iter()
        .filter(|((from, to), _)| kept.contains(from) && as_old.get(*to as usize).copied().flatten().is_some())
        .map(|(_, length)| length)
        .sum();
    let moved: u128 = moves.values().sum();
    let (least, ideal) = needed(old, new, &as_old);
    let mut moves: Vec<Move> = moves
        .into_iter()
        .map(|((from, to), length)| Move {
            from: named(&old_names, from),
            to: named(&new_names, to),
            share: share(length, copies),
        })
        .collect();
    moves.sort_by(|a, b| (&a.from, &a.to).cmp(&(&b.from, &b.to)));
    Ok(Diff { moved: share(moved, copies), least, ideal, between_kept: share(between, copies), moves })
}

/// The copies of a key that move, each with the old node that it comes from and the new one. `before` are numbers of
/// the old ring, `after` of the new one; `as_old` has the number in the old ring of each node of the new one.
pub fn moved_copies(before: &[u32], after: &[u32], as_old: &[Option<u32>]) -> Vec<(u32, u32)> {
    let old_number = |new: u32| as_old.get(new as usize).copied().flatten();
    let comes = after.iter().copied().filter(|new| old_number(*new).is_none_or(|old| !before.contains(&old)));
    let stays = |old: u32| after.iter().any(|new| old_number(*new) == Some(old));
    let mut goes = before.iter().copied().filter(|old| !stays(*old));
    let first = before.first().copied().unwrap_or(0);
    comes.map(|to| (goes.next().unwrap_or(first), to)).collect()
}

/// The shares that have to move: by arcs, and by weights.
fn needed(old: &Ring, new: &Ring, as_old: &[Option<u32>]) -> (f64, f64) {
    let by_arcs = (old.shares(), new.shares());
    let by_weight = (weights(old), weights(new));
    let more = |(old_shares, new_shares): (Vec<f64>, Vec<f64>)| {
        let of_old = |number: Option<u32>| number.and_then(|number| old_shares.get(number as usize)).copied();
        let factor = f64::from(old.settings().replicas) / f64::from(new.settings().replicas);
        let gain = |(share, number): (&f64, &Option<u32>)| (share - of_old(*number).unwrap_or(0.0) * factor).max(0.0);
        new_shares.iter().zip(as_old).map(gain).sum::<f64>()
    };
    (more(by_arcs), more(by_weight))
}

/// The share of copies that each node has by its weight. With several replicas no node has more than one copy of a key:
/// the others share the rest of a heavier one.
fn weights(ring: &Ring) -> Vec<f64> {
    let most = 1.0 / f64::from(ring.settings().replicas);
    let all: Vec<f64> = ring.nodes().iter().map(Node::weight).collect();
    let mut is_full = vec![false; all.len()];
    loop {
        let full = is_full.iter().filter(|full| **full).count();
        let rest = 1.0 - f64::from(u32::try_from(full).unwrap_or(u32::MAX)) * most;
        let sum: f64 = all.iter().zip(&is_full).filter(|(_, full)| !**full).map(|(weight, _)| weight).sum();
        let share = |weight: f64, full: bool| if full { most } else { rest * weight / sum };
        let shares: Vec<f64> = all.iter().zip(&is_full).map(|(weight, full)| share(*weight, *full)).collect();
        let more: Vec<bool> = shares.iter().map(|share| *share >= most).collect();
        if more == is_full || more.iter().all(|full| *full) {
            return shares.into_iter().map(|share| share.min(most)).collect();
        }
        is_full = more;
    }
}
