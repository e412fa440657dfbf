//! `fpring diff`: what moves between two rings.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;

use anyhow::bail;
use fpring::{Diff, Ring, file, moved_copies};
use fpstore_tools::common::{Common, SCHEMA_VERSION};
use fpstore_tools::number::{count, count_of, float};
use fpstore_tools::report::{self, Columns};
use rayon::prelude::*;
use serde::Serialize;

/// Keys of a task.
const KEYS: u64 = 1 << 16;

#[derive(Serialize)]
struct Report {
    schema_version: u32,
    old: String,
    new: String,
    /// Shares by arcs; null for rings of different hashes.
    moved: Option<f64>,
    least: Option<f64>,
    ideal: Option<f64>,
    between_kept: Option<f64>,
    /// Number of keys counted, copies that they have in the new ring, and copies that move.
    keys: Option<u64>,
    copies: Option<u64>,
    moved_copies: Option<u64>,
    moves: Vec<Row>,
}

#[derive(Serialize)]
struct Row {
    from: String,
    to: String,
    share: Option<f64>,
    copies: Option<u64>,
}

pub(crate) fn run(common: Common, old_file: &Path, new_file: &Path, keys: Option<u64>) -> anyhow::Result<()> {
    let (old, new) = (file::read(old_file)?, file::read(new_file)?);
    let is_comparable = old.settings().hash == new.settings().hash;
    if !is_comparable && keys.is_none() {
        bail!(
            "the rings have different hashes, {} and {}, so their arcs cannot be compared; --keys N counts keys",
            old.settings().hash,
            new.settings().hash
        );
    }
    let exact = if is_comparable { Some(fpring::diff(&old, &new)?) } else { None };
    let counted = keys.map(|keys| counted(&old, &new, keys));
    let report = Report {
        schema_version: SCHEMA_VERSION,
        old: old_file.display().to_string(),
        new: new_file.display().to_string(),
        moved: exact.as_ref().map(|exact| exact.moved),
        least: exact.as_ref().map(|exact| exact.least),
        ideal: exact.as_ref().map(|exact| exact.ideal),
        between_kept: exact.as_ref().map(|exact| exact.between_kept),
        keys,
        copies: keys.map(|keys| keys.saturating_mul(new.settings().replicas.into())),
        moved_copies: counted.as_ref().map(|counted| counted.values().sum()),
        moves: rows(exact, counted.as_ref()),
    };
    let mut out = io::stdout().lock();
    if common.json {
        report::json(&mut out, &report)?
    } else {
        people(&report, &mut out)?
    }
    Ok(out.flush()?)
}

/// Copies that move, by the names of the nodes.
type Counted = BTreeMap<(String, String), u64>;

fn counted(old: &Ring, new: &Ring, keys: u64) -> Counted {
    let numbers: BTreeMap<&str, u32> = old.nodes().iter().map(fpring::Node::name).zip(0..).collect();
    let as_old: Vec<Option<u32>> = new.nodes().iter().map(|node| numbers.get(node.name()).copied()).collect();
    let task = |task: u64| {
        let (mut before, mut after) = (Vec::new(), Vec::new());
        let mut found: BTreeMap<(u32, u32), u64> = BTreeMap::new();
        for id in task * KEYS..keys.min((task + 1) * KEYS) {
            old.locate_position(old.position_of_id(id), &mut before);
            new.locate_position(new.position_of_id(id), &mut after);
            for pair in moved_copies(&before, &after, &as_old) {
                *found.entry(pair).or_default() += 1;
            }
        }
        found
    };
    let add = |mut all: BTreeMap<(u32, u32), u64>, more: BTreeMap<(u32, u32), u64>| {
        more.into_iter().for_each(|(pair, number)| *all.entry(pair).or_default() += number);
        all
    };
    let all = (0..keys.div_ceil(KEYS)).into_par_iter().map(task).reduce(BTreeMap::new, add);
    let name = |ring: &Ring, number: u32| ring.nodes().get(number as usize).map_or("", |node| node.name()).to_owned();
    all.into_iter().map(|((from, to), number)| ((name(old, from), name(new, to)), number)).collect()
}

fn rows(exact: Option<Diff>, counted: Option<&Counted>) -> Vec<Row> {
    let mut rows: BTreeMap<(String, String), Option<f64>> = BTreeMap::new();
    if let Some(counted) = counted {
        rows.extend(counted.keys().cloned().map(|pair| (pair, exact.as_ref().map(|_| 0.0))));
    }
    for one in exact.into_iter().flat_map(|exact| exact.moves) {
        rows.insert((one.from, one.to), Some(one.share));
    }
    let row = |(pair, share): ((String, String), Option<f64>)| {
        let copies = counted.map(|counted| counted.get(&pair).copied().unwrap_or(0));
        Row { from: pair.0, to: pair.1, share, copies }
    };
    rows.into_iter().map(row).collect()
}

fn people(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let percent = |share: f64| format!("{:.2}%", share * 100.0);
    if let (Some(moved), Some(least), Some(ideal)) = (report.moved, report.least, report.ideal) {
        let [moved, least, ideal] = [moved, least, ideal].map(percent);
        writeln!(out, "{moved} moves; the least for these nodes is {least}, ideal is {ideal}")?;
        writeln!(out, "{} moves between nodes that both rings have", percent(report.between_kept.unwrap_or(0.0)))?;
    }
    if let (Some(keys), Some(copies), Some(moved)) = (report.keys, report.copies, report.moved_copies) {
        let share = percent(float(moved) / float(copies.max(1)));
        let of_keys = count_of(keys, "key");
        let what = if keys == copies { of_keys } else { format!("{} copies of {of_keys}", count(copies)) };
        writeln!(out, "of {what}, {} move: {share}", count(moved))?;
    }
    if report.moves.is_empty() {
        return Ok(());
    }
    writeln!(out)?;
    let mut columns = Columns::new(&["from", "to", ">share", ">counted"]);
    for row in &report.moves {
        let counted = row.copies.map(count).unwrap_or_default();
        columns.row([row.from.clone(), row.to.clone(), row.share.map(percent).unwrap_or_default(), counted]);
    }
    columns.write(out)
}
