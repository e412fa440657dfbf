//! `fpdump verify`: checks every byte and names every damaged place. Damage is exit code 1, even if nothing can be
//! opened.

use std::io::Write;
use std::path::Path;

use fpstore::admin::VerifyReport;
use fpstore::inspect;
use fpstore_tools::common::Common;
use fpstore_tools::exit::Outcome;
use fpstore_tools::number::{bytes, count_of};
use fpstore_tools::progress::Progress;
use fpstore_tools::report;
use fpstore_tools::verified::Verified;

use crate::opened::{Versioned, is_manifest};

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

fn check(path: &Path) -> fpstore::Result<Verified> {
    let found = if is_manifest(path) {
        verify_manifest(path)
    } else {
        fpstore::admin::verify(path, &fpstore_tools::threads::options())
    };
    Verified::of(path, found)
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

fn people(report: &Verified, quiet: bool, out: &mut dyn Write) -> std::io::Result<()> {
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
