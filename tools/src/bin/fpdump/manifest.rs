//! `fpdump manifest`: the runs of a store, and their segments.

use std::io::Write;
use std::path::Path;

use fpstore::IdAssignment;
use fpstore::inspect::{self, ManifestView};
use fpstore_tools::exit::Outcome;
use fpstore_tools::number::{bytes, count};
use fpstore_tools::report::{self, Columns};
use serde::Serialize;

use crate::opened::{Versioned, is_manifest};

#[derive(Serialize)]
struct Report {
    path: String,
    width: u32,
    ids: &'static str,
    id_index: bool,
    numbering: &'static str,
    next_id: u64,
    next_segment: u64,
    first_log: u64,
    flushed: u64,
    written: Written,
    runs: Vec<Run>,
}

#[derive(Serialize)]
struct Written {
    logs: u64,
    new_segments: u64,
    merged_segments: u64,
}

#[derive(Serialize)]
struct Run {
    first_sequence: u64,
    last_sequence: u64,
    net_records: Option<i64>,
    segments: Vec<Segment>,
}

#[derive(Serialize)]
struct Segment {
    role: &'static str,
    file: String,
    bytes: u64,
    records: u64,
    fingerprints: u64,
    footer_checksum: String,
}

pub(crate) fn run(path: &Path, json: bool, out: &mut dyn Write) -> anyhow::Result<Outcome> {
    let store = if is_manifest(path) { path.parent().unwrap_or(Path::new("")) } else { path };
    let view = inspect::manifest(store, &fpstore_tools::threads::options())?;
    let report = describe(store, &view);
    if json {
        report::json(out, &Versioned::new(report))?;
    } else {
        people(&report, out)?;
    }
    Ok(Outcome::Done)
}

fn describe(store: &Path, view: &ManifestView) -> Report {
    let runs = view.runs.iter().map(|run| Run {
        first_sequence: run.first,
        last_sequence: run.last,
        net_records: run.net_records,
        segments: run
            .segments
            .iter()
            .map(|(role, fact)| Segment {
                role: role.name(),
                file: fact.name.clone(),
                bytes: fact.file_length,
                records: fact.records,
                fingerprints: fact.fingerprints,
                footer_checksum: format!("{:08x}", fact.footer_checksum),
            })
            .collect(),
    });
    Report {
        path: store.display().to_string(),
        width: view.parameters.width(),
        ids: view.parameters.ids().name(),
        id_index: view.parameters.id_index(),
        numbering: match view.id_assignment {
            IdAssignment::Auto => "own",
            IdAssignment::Explicit => "given",
            _ => "undecided",
        },
        next_id: view.next_id,
        next_segment: view.next_segment,
        first_log: view.first_log,
        flushed: view.flushed,
        written: Written {
            logs: view.written.log,
            new_segments: view.written.new,
            merged_segments: view.written.compacted,
        },
        runs: runs.collect(),
    }
}

fn people(report: &Report, out: &mut dyn Write) -> std::io::Result<()> {
    let written = &report.written;
    report::facts(
        out,
        &[
            ("store", report.path.clone()),
            ("runs", count(report.runs.len() as u64)),
            ("flushed", format!("writes up to number {}", report.flushed)),
            ("first log", format!("{:08}.wal, if it is there", report.first_log)),
            ("next segment", report.next_segment.to_string()),
            ("next id", format!("{} (numbering: {})", report.next_id, report.numbering)),
            (
                "ever written",
                format!(
                    "{} to logs, {} to new segments, {} to merged ones",
                    bytes(written.logs),
                    bytes(written.new_segments),
                    bytes(written.merged_segments)
                ),
            ),
        ],
    )?;
    if report.runs.is_empty() {
        return Ok(());
    }
    writeln!(out)?;
    let mut columns =
        Columns::new(&[">writes", "has", "file", ">records", ">fingerprints", ">bytes", "checksum", ">net records"]);
    for run in &report.runs {
        for (number, segment) in run.segments.iter().enumerate() {
            // The number belongs to the run, so it is shown with the first segment only.
            let net = if number > 0 { String::new() } else { run.net_records.map_or("unknown".to_owned(), signed) };
            columns.row([
                format!("{} to {}", run.first_sequence, run.last_sequence),
                segment.role.to_owned(),
                segment.file.clone(),
                count(segment.records),
                count(segment.fingerprints),
                count(segment.bytes),
                segment.footer_checksum.clone(),
                net,
            ]);
        }
    }
    columns.write(out)
}

/// Formats a number that may be negative.
fn signed(number: i64) -> String {
    let sign = if number < 0 { "-" } else { "" };
    format!("{sign}{}", count(number.unsigned_abs()))
}
