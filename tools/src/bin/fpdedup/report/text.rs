//! The report for people.

use std::io::{self, Write};

use fpstore::clusters::{ClusterReport, Label, Linkage, Removed};
use fpstore::{Fingerprint, Id};
use fpstore_tools::number::{count, count_of, float, hex};
use fpstore_tools::report::{Columns, facts};

use crate::report::about::About;

pub(super) fn write<F: Fingerprint>(found: &ClusterReport<F>, about: About, out: &mut dyn Write) -> io::Result<()> {
    let distance = about.distance;
    let removed = found.records.saturating_sub(found.clusters);
    let [clusters, others] = about.names;
    let mut lines = vec![
        ("linkage", about.linkage().to_owned()),
        ("distance", distance.to_string()),
        ("records", count(found.records)),
        (clusters, count(found.clusters)),
        (others, count(removed)),
        ("far ones", count(found.far_records)),
    ];
    if let Some(chains) = &found.chains {
        let largest = chains.largest.as_ref().map_or(String::new(), |largest| {
            let (records, clusters) = (count_of(largest.records, "record"), count(largest.clusters));
            format!("; the largest has {records} in {clusters} clusters, keeper {}", text(&largest.keeper))
        });
        let far: u64 = chains.distances.iter().skip(distance as usize + 1).sum();
        lines.push(("chains", format!("{}{largest}", count(chains.count))));
        lines.push((
            "single linkage",
            format!("would remove {} more, {} of them far", count(chains.more_removed), count(far)),
        ));
    } else if about.linkage != Linkage::Single {
        lines.push(("chains", "unknown: with --previous, only new records are compared".to_owned()));
    }
    facts(out, &lines)?;
    writeln!(out)?;
    distances(found, distance).write(out)?;
    writeln!(out)?;
    let mut table = Columns::new(&[">records", ">clusters", ">of all records"]);
    for class in &found.sizes {
        let size = if class.from == class.to {
            count(class.to)
        } else {
            format!("{} to {}", count(class.from), count(class.to))
        };
        table.row([size, count(class.clusters), percent(class.records, found.records)]);
    }
    table.write(out)?;
    if found.largest.iter().any(|one| one.records > 1) {
        writeln!(out)?;
        largest(found, distance).write(out)?;
    }
    Ok(())
}

/// All distances up to `within`, and farther ones that occur.
fn distances<F: Fingerprint>(found: &ClusterReport<F>, within: u32) -> Columns {
    let kept = found.chains.as_ref().map(|chains| &chains.distances[..]);
    let all: u64 = found.removed.iter().sum();
    let headings = [">distance", ">removed", ">of removed", ">single linkage"];
    let mut table = Columns::new(headings.get(..if kept.is_some() { 4 } else { 3 }).unwrap_or_default());
    let kept = kept.unwrap_or_default();
    let length = found.removed.len().max(kept.len()).max(within as usize + 1);
    for distance in 0..length {
        let [removed, more] = [&found.removed[..], kept].map(|all| all.get(distance).copied().unwrap_or(0));
        if distance <= within as usize || removed > 0 || more > 0 {
            let cells = [distance.to_string(), count(removed), percent(removed, all), format!("+{}", count(more))];
            table.row(cells.into_iter().take(if found.chains.is_some() { 4 } else { 3 }));
        }
    }
    table
}

fn largest<F: Fingerprint>(found: &ClusterReport<F>, distance: u32) -> Columns {
    let far = format!(">pairs beyond {distance}");
    let headings = ["largest", ">records", ">fingerprints", ">diameter", &far, "removed (distance)"];
    let mut table = Columns::new(&headings);
    for one in found.largest.iter().filter(|one| one.records > 1) {
        let about = if one.sampled { "~" } else { "" };
        let removed: Vec<String> = one.removed.iter().map(sample).collect();
        table.row([
            text(&one.label),
            count(one.records),
            count(one.fingerprints),
            format!("{about}{}", one.diameter),
            format!("{about}{:.1}%", 100.0 * one.far_pairs),
            removed.join("  "),
        ]);
    }
    table
}

fn sample<F: Fingerprint>(one: &Removed<F>) -> String {
    let distance = one.nearness.distance().unwrap_or(0);
    match &one.record.id {
        Id::Count(_) => format!("{} ({distance})", hex(one.record.fingerprint)),
        id => format!("{id} ({distance})"),
    }
}

fn percent(part: u64, all: u64) -> String {
    format!("{:.1}%", 100.0 * float(part) / float(all.max(1)))
}

fn text<F: Fingerprint>(label: &Label<F>) -> String {
    match label {
        Label::Id(id) => id.to_string(),
        Label::Fingerprint(fingerprint) => hex(*fingerprint),
    }
}
