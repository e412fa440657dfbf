//! The report for people. It lists everything that could not be saved, however long the list.

use std::io::{self, Write};
use std::path::Path;

use fpstore::Id;
use fpstore::admin::Damage;
use fpstore::repair::{KeyRange, Loss, Lost, RepairAction, RepairReport, SegmentRole};
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
            writeln!(out, "{verb}: {}", describe(action, report.is_key_index))?;
        }
    }
    for refused in &report.refused {
        damage("left as it is", refused, out)?;
    }
    for lost in &report.losses {
        loss(done, report.is_key_index, lost, out)?;
    }
    for path in &report.kept_aside {
        let verb = if done { "stays" } else { "would stay" };
        writeln!(out, "{verb}: the old file, as {}; no program removes it", path.display())?;
    }
    if quiet {
        return Ok(());
    }
    let read = format!("{} of {} read", bytes(report.bytes), count_of(report.files, "file"));
    let verdict = match (report.is_sound(), report.saves_everything(), done) {
        (true, _, _) => "sound, nothing to do",
        (_, true, true) => "repaired, nothing is lost",
        (_, true, false) => "can be repaired, nothing would be lost: run it with --yes",
        (_, false, true) if report.actions.is_empty() => {
            "nothing is repaired, nothing has changed; restore what is listed above from a backup"
        }
        (_, false, true) if !report.refused.is_empty() => {
            "repaired in part; restore what is left as it is from a backup"
        }
        (_, false, true) => "repaired as far as possible; what could not be saved is listed above",
        (_, false, false) if report.actions.is_empty() => "cannot be repaired: restore it from a backup",
        (_, false, false) => "can be repaired in part: run it with --yes, unless there is a copy",
    };
    writeln!(out, "{}: {verdict}; {read}", store.display())
}

fn damage(verb: &str, damage: &Damage, out: &mut dyn Write) -> io::Result<()> {
    let offset = damage.offset.map_or(String::new(), |offset| format!(", offset {offset}"));
    writeln!(out, "{verb}: {}: {}{offset}: {}", damage.path.display(), damage.section, damage.message)
}

fn describe(action: &RepairAction, is_key_index: bool) -> String {
    match action {
        RepairAction::Rewrite { role, from, to, records, fingerprints } => {
            let words = Words::of(is_key_index, Some(*role));
            format!(
                "{} ({}) is rewritten as {}: {} of {}, {} of {}",
                from.display(),
                role.name(),
                to.display(),
                count(records.0),
                Words::count(records.1, words.record),
                count(fingerprints.0),
                count_of(fingerprints.1, words.fingerprint),
            )
        }
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

/// The words for what a segment holds.
struct Words {
    record: &'static str,
    fingerprint: &'static str,
    /// Whether fingerprints are numbers of records.
    is_number: bool,
}

impl Words {
    fn of(is_key_index: bool, role: Option<SegmentRole>) -> Self {
        match (is_key_index, role) {
            (true, Some(SegmentRole::Keys)) => {
                Self { record: "pair of a key and a record", fingerprint: "key", is_number: false }
            }
            (_, Some(SegmentRole::Tombstones)) => {
                Self { record: "removal", fingerprint: fingerprint(is_key_index), is_number: is_key_index }
            }
            _ => Self { record: "record", fingerprint: fingerprint(is_key_index), is_number: is_key_index },
        }
    }

    /// A fingerprint in hexadecimal digits, or the number that it is.
    fn value(&self, digits: &str) -> String {
        let number = u64::from_str_radix(digits, 16).ok().filter(|_| self.is_number);
        number.map_or(digits.to_owned(), |number| number.to_string())
    }

    /// Several of a thing.
    fn count(number: u64, thing: &str) -> String {
        match thing.split_once(" of ") {
            Some((thing, rest)) => format!("{} of {rest}", count_of(number, thing)),
            None => count_of(number, thing),
        }
    }
}

fn fingerprint(is_key_index: bool) -> &'static str {
    if is_key_index { "number" } else { "fingerprint" }
}

fn loss(done: bool, is_key_index: bool, loss: &Loss, out: &mut dyn Write) -> io::Result<()> {
    let verb = if done { "not saved" } else { "cannot be saved" };
    write!(out, "{verb}: {}: {}", loss.path.display(), loss.section)?;
    if let Some(offset) = loss.offset {
        write!(out, ", offset {offset}")?;
    }
    let words = Words::of(is_key_index, loss.role);
    let is_of_records = matches!(loss.what, Lost::KeysOf { .. } | Lost::Sketches { .. });
    if let Some(records) = loss.records.filter(|_| !is_of_records) {
        write!(out, ": {}", Words::count(records, words.record))?;
    }
    let hides = loss.role == Some(SegmentRole::Tombstones);
    writeln!(out, "{}", if hides { " (removed records come back)" } else { "" })?;
    let (thing, stays) = (words.fingerprint, if done { "stay" } else { "would stay" });
    let records = count_of(loss.records.unwrap_or_default(), "record");
    match &loss.what {
        Lost::Segment { fingerprints } => writeln!(out, "  all of {}", count_of(*fingerprints, thing)),
        Lost::Ids { fingerprints } => fingerprints
            .iter()
            .try_for_each(|fingerprint| writeln!(out, "  {thing} {}: ids are lost", words.value(fingerprint))),
        Lost::Counts { fingerprints } => {
            let verb = if done { "stays" } else { "would stay" };
            fingerprints
                .iter()
                .try_for_each(|fingerprint| writeln!(out, "  fingerprint {fingerprint}: {verb} with one record"))
        }
        Lost::Fingerprints { count, after, before, ids, .. } => {
            let value =
                |digits: &Option<String>, end: &str| digits.as_deref().map_or(end.to_owned(), |at| words.value(at));
            let (after, before) = (value(after, "the beginning"), value(before, "the end"));
            writeln!(out, "  {} between {after} and {before}", count_of(*count, thing))?;
            ids.iter().try_for_each(|id| match id {
                Id::Number(number) => writeln!(out, "  id {number}: its {thing} is lost"),
                Id::Text(text) => writeln!(out, "  id {text}: its {thing} is lost"),
                Id::Count(count) => writeln!(out, "  {} of a lost fingerprint", count_of(*count, "record")),
            })
        }
        Lost::Numbers { keys } => keys.iter().try_for_each(|KeyRange { first, last, count, .. }| {
            writeln!(out, "  {} from {first} to {last}: records are lost", count_of(*count, thing))
        }),
        Lost::KeysOf { numbers } => {
            writeln!(out, "  {records} {stays} with the keys that are left")?;
            ranges(numbers, out)
        }
        Lost::Sketches { numbers } => {
            writeln!(out, "  {records} {stays} with sketches of zeros, which resemble no other")?;
            ranges(numbers, out)
        }
        Lost::WithRecords { numbers } => {
            writeln!(out, "  keys and sketches of records that are lost")?;
            ranges(numbers, out)
        }
        Lost::Batches { first, last: Some(last) } => writeln!(out, "  batches of writes {first} to {last}"),
        Lost::Batches { first, last: None } => {
            writeln!(out, "  batches of writes from {first} on, of unknown number")
        }
        _ => Ok(()),
    }
}

/// Ranges in a line.
const IN_LINE: usize = 10;

fn ranges(numbers: &[(u64, u64)], out: &mut dyn Write) -> io::Result<()> {
    let range =
        |&(first, last): &(u64, u64)| if first == last { first.to_string() } else { format!("{first} to {last}") };
    numbers
        .chunks(IN_LINE)
        .try_for_each(|line| writeln!(out, "  numbers {}", line.iter().map(range).collect::<Vec<_>>().join(", ")))
}
