//! The report for people.

use std::io::{self, Write};

use fpstore::clusters::{ClusterReport, Label, Nearness, Removed};
use fpstore::{Fingerprint, Id};
use fpstore_tools::number::{count, count_of, float, hex};
use fpstore_tools::report::{Columns, facts};

use crate::report::about::{About, Near};
use crate::report::histogram::{self, Histogram};

pub(super) fn write<F: Fingerprint>(found: &ClusterReport<F>, about: About, out: &mut dyn Write) -> io::Result<()> {
    let removed = found.records.saturating_sub(found.clusters);
    let [clusters, others] = about.names;
    let mut lines = vec![("linkage", about.linkage().to_owned())];
    match about.near {
        Near::Distance(distance) => lines.push(("distance", distance.to_string())),
        Near::Keys { min_shared, min_jaccard, .. } => {
            lines.push(("shared keys", format!("at least {}", count(min_shared))));
            if min_jaccard > 0.0 {
                lines.push(("jaccard", format!("at least {min_jaccard}")));
            }
        }
    }
    lines.extend([
        ("records", count(found.records)),
        (clusters, count(found.clusters)),
        (others, count(removed)),
        ("far ones", count(found.removed.far)),
    ]);
    if let Some(chains) = &found.chains {
        let largest = chains.largest.as_ref().map_or(String::new(), |largest| {
            let (records, clusters) = (count_of(largest.records, "record"), count(largest.clusters));
            format!("; the largest has {records} in {clusters} clusters, keeper {}", text(&largest.keeper))
        });
        lines.push(("chains", format!("{}{largest}", count(chains.count))));
        lines.push((
            "single linkage",
            format!("would remove {} more, {} of them far", count(chains.more_removed), count(chains.nearnesses.far)),
        ));
    } else if let Some(unknown) = about.chains_unknown() {
        lines.push(("chains", unknown.to_owned()));
    }
    facts(out, &lines)?;
    writeln!(out)?;
    for histogram in histogram::of(found, about) {
        nearnesses(&histogram, found.chains.is_some()).write(out)?;
        writeln!(out)?;
    }
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
        largest(found, about.near).write(out)?;
    }
    Ok(())
}

/// The classes with records and, if they have a fixed order, all near ones.
fn nearnesses(histogram: &Histogram, has_chains: bool) -> Columns {
    let all: u64 = histogram.classes.iter().map(|class| class.records[0]).sum();
    let headings = [histogram.heading, ">removed", ">of removed", ">single linkage"];
    let columns = if has_chains { 4 } else { 3 };
    let mut table = Columns::new(headings.get(..columns).unwrap_or_default());
    let is_shown = |class: &&histogram::Class| !class.is_empty() || histogram.has_empty && !class.is_far;
    for class in histogram.classes.iter().filter(is_shown) {
        let [removed, more] = class.records;
        let cells = [class.name.clone(), count(removed), percent(removed, all), format!("+{}", count(more))];
        table.row(cells.into_iter().take(columns));
    }
    table
}

fn largest<F: Fingerprint>(found: &ClusterReport<F>, near: Near) -> Columns {
    let spread: &[&str] = match near {
        Near::Distance(distance) => &[">fingerprints", ">diameter", &format!(">pairs beyond {distance}")],
        Near::Keys { .. } => &[],
    };
    let removed = match near {
        Near::Distance(_) => "removed (distance)",
        Near::Keys { has_sketches: false, .. } => "removed (shared keys)",
        Near::Keys { has_sketches: true, .. } => "removed (shared keys, jaccard)",
    };
    let headings: Vec<&str> = ["largest", ">records"].iter().chain(spread).chain([&removed]).copied().collect();
    let mut table = Columns::new(&headings);
    for one in found.largest.iter().filter(|one| one.records > 1) {
        let mut cells = vec![text(&one.label), count(one.records)];
        if let Some(spread) = one.spread {
            let about = if spread.sampled { "~" } else { "" };
            let far = format!("{about}{:.1}%", 100.0 * spread.far_pairs);
            cells.extend([count(one.fingerprints), format!("{about}{}", spread.diameter), far]);
        }
        cells.push(one.removed.iter().map(sample).collect::<Vec<_>>().join("  "));
        table.row(cells);
    }
    table
}

fn sample<F: Fingerprint>(one: &Removed<F>) -> String {
    let name = match &one.record.id {
        Id::Count(_) => hex(one.record.fingerprint),
        id => id.to_string(),
    };
    match one.nearness {
        Nearness::Distance(distance) => format!("{name} ({distance})"),
        Nearness::Keys { shared, jaccard: None } => format!("{name} ({shared})"),
        Nearness::Keys { shared, jaccard: Some(jaccard) } => format!("{name} ({shared}, {jaccard:.2})"),
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
