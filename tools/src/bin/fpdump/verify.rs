//! `fpdump verify`: checks every byte and names every damaged place. Damage is exit code 1, even if nothing can be
//! opened.

use std::io::Write;
use std::path::Path;

use fpstore::admin::VerifyReport;
use fpstore::{ErrorKind, inspect};
use fpstore_tools::common::Common;
use fpstore_tools::exit::Outcome;
use fpstore_tools::number::{bytes, count_of};
use fpstore_tools::progress::Progress;
use fpstore_tools::report;
use serde::Serialize;

use crate::opened::{Versioned, is_manifest};

#[derive(Serialize)]
struct Report {
    path: String,
    sound: bool,
    files: u64,
    bytes: u64,
    damages: Vec<DamageRow>,
    /// Logs with a torn tail of unacknowledged writes.
    torn: Vec<TornRow>,
}

#[derive(Serialize)]
struct TornRow {
    file: String,
    offset: u64,
    bytes: u64,
}

#[derive(Serialize)]
struct DamageRow {
    file: String,
    section: String,
    offset: Option<u64>,
    message: String,
}

pub(crate) fn run(path: &Path, common: Common, out: &mut dyn Write) -> anyhow::Result<Outcome> {
    let progress = if common.shows_progress() { Progress::spinner("reading every byte") } else { Progress::hidden() };
    let report = check(path)?;
    progress.finish();
    let outcome = if report.sound { Outcome::Done } else { Outcome::Damaged };
    if common.json {
        report::json(out, &Versioned::new(report))?;
    } else {
        people(&report, common.quiet, out)?;
    }
    Ok(outcome)
}

fn check(path: &Path) -> fpstore::Result<Report> {
    let found = if is_manifest(path) {
        verify_manifest(path)
    } else {
        fpstore::admin::verify(path, &fpstore_tools::threads::options())
    };
    let found = match found {
        Ok(found) => found,
        Err(error) if error.kind() == ErrorKind::Damaged => {
            let damage = DamageRow {
                file: error.path().unwrap_or(path).display().to_string(),
                section: "file".to_owned(),
                offset: error.offset(),
                message: error.message().to_owned(),
            };
            return Ok(Report {
                path: path.display().to_string(),
                sound: false,
                files: 0,
                bytes: 0,
                damages: vec![damage],
                torn: Vec::new(),
            });
        }
        Err(error) => return Err(error),
    };
    let damages = found.damages.into_iter().map(|damage| DamageRow {
        file: damage.path.display().to_string(),
        section: damage.section,
        offset: damage.offset,
        message: damage.message,
    });
    let damages: Vec<DamageRow> = damages.collect();
    let torn = found.torn.into_iter().map(|log| TornRow {
        file: log.path.display().to_string(),
        offset: log.offset,
        bytes: log.bytes,
    });
    Ok(Report {
        path: path.display().to_string(),
        sound: damages.is_empty(),
        files: found.files,
        bytes: found.bytes,
        damages,
        torn: torn.collect(),
    })
}

/// Verifies a manifest: explaining its fields checks every byte.
fn verify_manifest(path: &Path) -> fpstore::Result<VerifyReport> {
    let mut report = VerifyReport::default();
    report.files = 1;
    inspect::explain(path, &fpstore_tools::threads::options(), &mut |_, field| {
        report.bytes += field.bytes.len() as u64;
        Ok(())
    })?;
    Ok(report)
}

fn people(report: &Report, quiet: bool, out: &mut dyn Write) -> std::io::Result<()> {
    for damage in &report.damages {
        let offset = damage.offset.map_or(String::new(), |offset| format!(", offset {offset}"));
        writeln!(out, "{}: {}{offset}: {}", damage.file, damage.section, damage.message)?;
    }
    if quiet {
        return Ok(());
    }
    for log in &report.torn {
        let bytes = count_of(log.bytes, "byte");
        writeln!(out, "{}: no damage: {bytes} after byte {} were cut short by a crash", log.file, log.offset)?;
    }
    let read = format!("{} of {} checked", bytes(report.bytes), count_of(report.files, "file"));
    match report.damages.len() {
        0 => writeln!(out, "{}: sound; {read}", report.path),
        n => writeln!(out, "{}: {}; {read}", report.path, count_of(n as u64, "damaged place")),
    }
}
