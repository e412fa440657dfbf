//! The report for people. It lists everything that could not be saved, however long the list.

use std::io::{self, Write};
use std::path::Path;

use fpstore::Id;
use fpstore::admin::Damage;
use fpstore::repair::{Loss, Lost, RepairAction, RepairReport};
use fpstore_tools::number::{bytes, count, count_of};

/// Writes the report of a repair, or of the plan of one; with `quiet` only damage and losses.
pub(crate) fn write(
    store: &Path,
    done: bool,
    quiet: bool,
    report: &RepairReport,
    out: &mut dyn Write,
) -> io::Result<()> {
    for found in &report.damages {
        damage("damaged", found, out)?;
    }
    if !quiet {
        let verb = if done { "done" } else { "would be done" };
        for action in &report.actions {
            writeln!(out, "{verb}: {}", describe(action))?;
        }
    }
    for refused in &report.refused {
        damage("left as it is", refused, out)?;
    }
    for lost in &report.losses {
        loss(done, lost, out)?;
    }
    for path in &report.kept_aside {
        let verb = if done { "stays" } else { "would stay" };
        writeln!(out, "{verb}: the damaged file, as {}; no program removes it", path.display())?;
    }
    if quiet {
        return Ok(());
    }
    let read = format!("{} of {} read", bytes(report.bytes), count_of(report.files, "file"));
    let verdict = match (report.is_sound(), report.saves_everything(), done) {
        (true, _, _) => "sound, nothing to do",
        (_, true, true) => "repaired, nothing is lost",
        (_, true, false) => "can be repaired, nothing would be lost: run it with --yes",
        (_, false, true) => "repaired as far as possible; what could not be saved is listed above",
        (_, false, false) if report.actions.is_empty() => "cannot be repaired",
        (_, false, false) => "can be repaired in part: run it with --yes, unless there is a copy",
    };
    writeln!(out, "{}: {verdict}; {read}", store.display())
}

fn damage(verb: &str, damage: &Damage, out: &mut dyn Write) -> io::Result<()> {
    let offset = damage.offset.map_or(String::new(), |offset| format!(", offset {offset}"));
    writeln!(out, "{verb}: {}: {}{offset}: {}", damage.path.display(), damage.section, damage.message)
}

fn describe(action: &RepairAction) -> String {
    match action {
        RepairAction::Rewrite { role, from, to, records, fingerprints } => format!(
            "{} ({}) is rewritten as {}: {} of {}, {} of {}",
            from.display(),
            role.name(),
            to.display(),
            count(records.0),
            count_of(records.1, "record"),
            count(fingerprints.0),
            count_of(fingerprints.1, "fingerprint"),
        ),
        RepairAction::RebuildIdIndex { from, to } => {
            format!("{} (id index) is rebuilt from the records as {}", from.display(), to.display())
        }
        RepairAction::Drop { role, path } => {
            format!("the store goes on without {} ({})", path.display(), role.name())
        }
        RepairAction::FlushLogs { logs, batches, operations } => format!(
            "{} with {} go from {} to segments: {}",
            count_of(*batches, "batch"),
            count_of(*operations, "operation"),
            count_of(logs.len() as u64, "log"),
            logs.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", "),
        ),
        _ => "an action that this version does not describe".to_owned(),
    }
}

fn loss(done: bool, loss: &Loss, out: &mut dyn Write) -> io::Result<()> {
    let verb = if done { "not saved" } else { "cannot be saved" };
    write!(out, "{verb}: {}: {}", loss.path.display(), loss.section)?;
    if let Some(offset) = loss.offset {
        write!(out, ", offset {offset}")?;
    }
    if let Some(records) = loss.records {
        let thing = if loss.tombstones { "removal" } else { "record" };
        write!(out, ": {}", count_of(records, thing))?;
    }
    writeln!(out, "{}", if loss.tombstones { " (removed records come back)" } else { "" })?;
    match &loss.what {
        Lost::Segment { fingerprints } => writeln!(out, "  all of {}", count_of(*fingerprints, "fingerprint")),
        Lost::Ids { fingerprints } => {
            fingerprints.iter().try_for_each(|fingerprint| writeln!(out, "  fingerprint {fingerprint}: ids are lost"))
        }
        Lost::Counts { fingerprints } => {
            let verb = if done { "stays" } else { "would stay" };
            fingerprints
                .iter()
                .try_for_each(|fingerprint| writeln!(out, "  fingerprint {fingerprint}: {verb} with one record"))
        }
        Lost::Fingerprints { count, after, before, ids, .. } => {
            let (after, before) = (after.as_deref().unwrap_or("the beginning"), before.as_deref().unwrap_or("the end"));
            writeln!(out, "  {} between {after} and {before}", count_of(*count, "fingerprint"))?;
            ids.iter().try_for_each(|id| match id {
                Id::Number(number) => writeln!(out, "  id {number}: its fingerprint is lost"),
                Id::Text(text) => writeln!(out, "  id {text}: its fingerprint is lost"),
                Id::Count(count) => writeln!(out, "  {} of a lost fingerprint", count_of(*count, "record")),
            })
        }
        Lost::Batches { first, last: Some(last) } => writeln!(out, "  batches of writes {first} to {last}"),
        Lost::Batches { first, last: None } => {
            writeln!(out, "  batches of writes from {first} on, of unknown number")
        }
        _ => Ok(()),
    }
}
