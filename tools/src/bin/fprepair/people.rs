//! The report for people. It lists everything that could not be saved, however long the list.

use std::io::{self, Write};
use std::path::Path;

use fpstore::{Damage, Id, Loss, Lost, LostFingerprints, RepairAction, RepairReport};
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
        RepairAction::RestoreManifest { path, offset } => {
            format!("the byte at offset {offset} of {} is corrected, by the checksum", path.display())
        }
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
        RepairAction::CutLog { path, offset, bytes } => format!(
            "{} is cut at offset {offset}: {} after it were torn by a crash and never acknowledged",
            path.display(),
            count_of(*bytes, "byte"),
        ),
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
    if let Some(bytes) = loss.bytes {
        write!(out, ", {}", count_of(bytes, "byte"))?;
    }
    if let Some(records) = loss.records {
        let thing = if loss.tombstones { "removal" } else { "record" };
        write!(out, ": {}", count_of(records, thing))?;
    }
    writeln!(out, "{}", if loss.tombstones { " (removed records come back)" } else { "" })?;
    match &loss.what {
        Lost::Segment { fingerprints } => writeln!(out, "  all of {}", count_of(*fingerprints, "fingerprint")),
        Lost::Ids { fingerprints, perhaps, ids } => {
            for fingerprint in fingerprints {
                writeln!(out, "  fingerprint {fingerprint}: ids are lost")?;
            }
            if let Some(fingerprint) = perhaps {
                writeln!(out, "  fingerprint {fingerprint}: ids may be lost")?;
            }
            ids.iter().try_for_each(|id| writeln!(out, "  id {}: its fingerprint is one of these", word(id)))
        }
        Lost::Counts { fingerprints } => {
            let verb = if done { "stays" } else { "would stay" };
            fingerprints
                .iter()
                .try_for_each(|fingerprint| writeln!(out, "  fingerprint {fingerprint}: {verb} with one record"))
        }
        Lost::Fingerprints(lost) => fingerprints(lost, out),
        Lost::Batches { first, last: Some(last) } => writeln!(out, "  batches of writes {first} to {last}"),
        Lost::Batches { first, last: None } => {
            writeln!(out, "  batches of writes from {first} on, of unknown number")
        }
        _ => Ok(()),
    }
}

fn fingerprints(lost: &LostFingerprints, out: &mut dyn Write) -> io::Result<()> {
    let end = |text: &Option<String>, none: &str| text.clone().unwrap_or_else(|| none.to_owned());
    let (after, before) = (end(&lost.after, "the beginning"), end(&lost.before, "the end"));
    writeln!(out, "  {} between {after} and {before}", count_of(lost.count, "fingerprint"))?;
    for known in &lost.known {
        match lost.kept {
            0 => writeln!(out, "  fingerprint {known} is one of them, with unknown ids")?,
            kept => writeln!(out, "  fingerprint {known} is one of them, and stays with {}", count_of(kept, "record"))?,
        }
    }
    for part in &lost.parts {
        writeln!(out, "  number {}: bits {} of mask {}", part.rank, part.bits, part.mask)?;
    }
    for (rank, ids) in &lost.ids {
        let what = if ids.iter().any(|id| matches!(id, Id::Count(_))) { "count" } else { "ids" };
        let ids: Vec<String> = ids.iter().map(word).collect();
        writeln!(out, "  number {rank}: {what} {}", ids.join(" "))?;
    }
    Ok(())
}

/// Formats an id or a count.
fn word(id: &Id) -> String {
    match id {
        Id::Number(number) | Id::Count(number) => number.to_string(),
        Id::Text(text) => text.to_string(),
    }
}
