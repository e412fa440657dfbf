//! The report of a repair for programs: one JSON object.

use std::io::Write;
use std::path::Path;

use fpstore::Id;
use fpstore::admin::Damage;
use fpstore::repair::{KeyRange, Loss, Lost, RepairAction, RepairReport, SegmentRole};
use serde::Serialize;
use serde_json::{Value, json};

use crate::common::SCHEMA_VERSION;
use crate::report;

#[derive(Serialize)]
struct Report {
    schema_version: u32,
    path: String,
    /// Whether the repair was done, or only planned.
    done: bool,
    /// Whether the store was sound.
    sound: bool,
    /// Whether everything is saved.
    saved: bool,
    files: u64,
    bytes: u64,
    damages: Vec<Value>,
    torn: Vec<Value>,
    actions: Vec<Value>,
    losses: Vec<Value>,
    refused: Vec<Value>,
    kept_aside: Vec<String>,
}

/// Writes the report of a repair, or of the plan of one.
///
/// # Errors
///
/// If `out` cannot be written.
pub fn write(store: &Path, done: bool, report: &RepairReport, out: &mut dyn Write) -> anyhow::Result<()> {
    let torn = |torn: &fpstore::admin::TornLog| json!({ "file": text(&torn.path), "offset": torn.offset, "bytes": torn.bytes });
    let object = Report {
        schema_version: SCHEMA_VERSION,
        path: text(store),
        done,
        sound: report.is_sound(),
        saved: report.saves_everything(),
        files: report.files,
        bytes: report.bytes,
        damages: report.damages.iter().map(damage).collect(),
        torn: report.torn.iter().map(torn).collect(),
        actions: report.actions.iter().map(action).collect(),
        losses: report.losses.iter().map(loss).collect(),
        refused: report.refused.iter().map(damage).collect(),
        kept_aside: report.kept_aside.iter().map(|path| text(path)).collect(),
    };
    Ok(report::json(out, &object)?)
}

fn text(path: &Path) -> String {
    path.display().to_string()
}

fn damage(damage: &Damage) -> Value {
    json!({
        "file": text(&damage.path),
        "section": damage.section,
        "offset": damage.offset,
        "message": damage.message,
    })
}

fn action(action: &RepairAction) -> Value {
    match action {
        RepairAction::Rewrite { role, from, to, records, fingerprints } => json!({
            "action": "rewrite segment",
            "role": role.name(),
            "file": text(from),
            "new_file": text(to),
            "records": records.1,
            "saved_records": records.0,
            "fingerprints": fingerprints.1,
            "saved_fingerprints": fingerprints.0,
        }),
        RepairAction::RebuildIdIndex { from, to } => {
            json!({ "action": "rebuild id index", "file": text(from), "new_file": text(to) })
        }
        RepairAction::Drop { role, path } => {
            json!({ "action": "drop segment", "role": role.name(), "file": text(path) })
        }
        RepairAction::FlushLogs { logs, batches, operations } => json!({
            "action": "flush logs",
            "files": logs.iter().map(|path| text(path)).collect::<Vec<_>>(),
            "batches": batches,
            "operations": operations,
        }),
        // An action that this program does not know yet.
        _ => json!({ "action": "other" }),
    }
}

fn loss(loss: &Loss) -> Value {
    let mut object = json!({
        "file": text(&loss.path),
        "section": loss.section,
        "offset": loss.offset,
        "role": loss.role.map(SegmentRole::name),
        "removals": loss.role == Some(SegmentRole::Tombstones),
        "records": loss.records,
    });
    let what = match &loss.what {
        Lost::Segment { fingerprints } => json!({ "lost": "segment", "fingerprints": fingerprints }),
        Lost::Ids { fingerprints } => json!({ "lost": "ids", "of": fingerprints }),
        Lost::Counts { fingerprints } => json!({ "lost": "counts", "of": fingerprints }),
        Lost::Fingerprints { first, count, after, before, ids } => json!({
            "lost": "fingerprints",
            "first_rank": first,
            "fingerprints": count,
            "after": after,
            "before": before,
            "ids": ids.iter().map(id).collect::<Vec<_>>(),
        }),
        Lost::Numbers { keys } => {
            let range = |keys: &KeyRange| json!({ "first": keys.first, "last": keys.last, "keys": keys.count });
            json!({ "lost": "records of keys", "keys": keys.iter().map(range).collect::<Vec<_>>() })
        }
        Lost::KeysOf { numbers } => json!({ "lost": "keys", "numbers": numbers }),
        Lost::Sketches { numbers } => json!({ "lost": "sketches", "numbers": numbers }),
        Lost::WithRecords { numbers } => json!({ "lost": "keys of lost records", "numbers": numbers }),
        Lost::Batches { first, last } => json!({ "lost": "batches", "first": first, "last": last }),
        _ => json!({ "lost": "other" }),
    };
    if let (Value::Object(object), Value::Object(what)) = (&mut object, what) {
        object.extend(what);
    }
    object
}

/// An id or a count.
fn id(id: &Id) -> Value {
    match id {
        Id::Number(number) | Id::Count(number) => json!(number),
        Id::Text(text) => json!(text),
    }
}
