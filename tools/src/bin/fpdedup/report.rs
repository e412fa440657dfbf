//! The report on clusters, for people and for programs.

use std::io::{self, Write};

use fpstore::clusters::{ClusterReport, Label, LargeCluster, SizeClass};
use fpstore::{Fingerprint, Id};
use fpstore_tools::common::SCHEMA_VERSION;
use fpstore_tools::number::{count, hex};
use fpstore_tools::report::{self, Columns, facts};
use serde::Serialize;

/// The report as a JSON object.
#[derive(Serialize)]
struct Object {
    schema_version: u32,
    distance: u32,
    records: u64,
    clusters: u64,
    far_records: u64,
    sizes: Vec<Class>,
    largest: Vec<Large>,
}

#[derive(Serialize)]
struct Class {
    from: u64,
    to: u64,
    clusters: u64,
    records: u64,
}

#[derive(Serialize)]
struct Large {
    cluster: serde_json::Value,
    records: u64,
    fingerprints: u64,
    diameter: u32,
    far_pairs: f64,
    sampled: bool,
}

/// Writes the report.
pub(crate) fn write<F: Fingerprint>(
    found: &ClusterReport<F>,
    distance: u32,
    json: bool,
    out: &mut dyn Write,
) -> io::Result<()> {
    if json {
        let (sizes, largest) = (found.sizes.iter().map(class).collect(), found.largest.iter().map(large).collect());
        let ClusterReport { records, clusters, far_records, .. } = *found;
        return report::json(
            out,
            &Object { schema_version: SCHEMA_VERSION, distance, records, clusters, far_records, sizes, largest },
        );
    }
    facts(
        out,
        &[
            ("distance", distance.to_string()),
            ("records", count(found.records)),
            ("clusters", count(found.clusters)),
            ("near-duplicates", count(found.records.saturating_sub(found.clusters))),
            ("far ones", count(found.far_records)),
        ],
    )?;
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
        let far = format!(">pairs beyond {distance}");
        let mut table = Columns::new(&["largest", ">records", ">fingerprints", ">diameter", &far]);
        for one in found.largest.iter().filter(|one| one.records > 1) {
            let about = if one.sampled { "~" } else { "" };
            table.row([
                text(&one.label),
                count(one.records),
                count(one.fingerprints),
                format!("{about}{}", one.diameter),
                format!("{about}{:.1}%", 100.0 * one.far_pairs),
            ]);
        }
        table.write(out)?;
    }
    Ok(())
}

#[expect(clippy::cast_precision_loss, reason = "a share")]
fn percent(part: u64, all: u64) -> String {
    format!("{:.1}%", 100.0 * part as f64 / all.max(1) as f64)
}

fn text<F: Fingerprint>(label: &Label<F>) -> String {
    match label {
        Label::Id(id) => id.to_string(),
        Label::Fingerprint(fingerprint) => hex(*fingerprint),
    }
}

fn class(class: &SizeClass) -> Class {
    Class { from: class.from, to: class.to, clusters: class.clusters, records: class.records }
}

fn large<F: Fingerprint>(one: &LargeCluster<F>) -> Large {
    let cluster = match &one.label {
        Label::Id(Id::Number(number)) => (*number).into(),
        label => text(label).into(),
    };
    let LargeCluster { records, fingerprints, diameter, far_pairs, sampled, .. } = *one;
    Large { cluster, records, fingerprints, diameter, far_pairs, sampled }
}
