//! `fpdump info`: parameters, files and numbers of records.

use std::io::Write;
use std::path::Path;

use fpstore::inspect::{self, SegmentRole};
use fpstore::{IdAssignment, IdKind};
use fpstore_tools::exit::Outcome;
use fpstore_tools::number::{bytes, count};
use fpstore_tools::report;
use fpstore_tools::statistics::at_most;
use serde::Serialize;

use crate::opened::{Opened, Versioned, all_segments, file_name};

#[derive(Serialize)]
struct Info {
    kind: &'static str,
    path: String,
    width: u32,
    /// Kind of ids: u64, text or none.
    ids: &'static str,
    /// The hasher, if it is recorded.
    hasher: Option<String>,
    max_distance: u32,
    plan: String,
    tables: usize,
    codec: String,
    block_size: u32,
    /// Bits of a key and of a sketch, of a key index.
    #[serde(skip_serializing_if = "Option::is_none")]
    key_bits: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sketch_bits: Option<u16>,
    /// Source of the ids: own, given, undecided. `None` if ids are no numbers, and for a segment, which does not record
    /// it.
    numbering: Option<&'static str>,
    records: u64,
    fingerprints: u64,
    /// Upper bound, including fingerprints that are only in logs.
    distinct_at_most: u64,
    distinct_is_exact: bool,
    file_bytes: u64,
    /// Segments of records.
    segments: Vec<SegmentInfo>,
    /// Segments of removals, of id indexes and of keys.
    other_segments: Vec<SegmentInfo>,
}

#[derive(Serialize)]
struct SegmentInfo {
    /// Role of a segment without records: removals, id index, keys.
    #[serde(skip_serializing_if = "Option::is_none")]
    role: Option<&'static str>,
    file: String,
    bytes: u64,
    records: u64,
    fingerprints: u64,
}

#[derive(Serialize)]
struct ManifestInfo {
    kind: &'static str,
    path: String,
    fields: Vec<FieldInfo>,
}

#[derive(Serialize)]
struct FieldInfo {
    name: String,
    value: String,
}

pub(crate) fn run(path: &Path, json: bool, out: &mut dyn Write) -> anyhow::Result<Outcome> {
    let info = describe(path)?;
    if json {
        report::json(out, &Versioned::new(info))?;
    } else {
        people(&info, out)?;
    }
    Ok(Outcome::Done)
}

fn describe(path: &Path) -> anyhow::Result<Info> {
    let opened = Opened::new(path)?;
    let (parameters, statistics) = (opened.parameters(), opened.statistics());
    let kind = match &opened {
        Opened::Store(_) => "store",
        Opened::Keys(_) => "keys",
        Opened::Segment(_) => "segment",
    };
    let numbering = opened.id_assignment().filter(|_| parameters.ids() == IdKind::Number).map(numbering);
    let segments = all_segments(path)?.into_iter().map(|(role, view)| {
        let statistics = view.statistics();
        SegmentInfo {
            role: role.filter(|&role| role != SegmentRole::Records).map(SegmentRole::name),
            file: file_name(view.path()),
            bytes: view.file_length(),
            records: statistics.records,
            fingerprints: statistics.fingerprints,
        }
    });
    let (segments, other_segments) = segments.partition(|segment| segment.role.is_none());
    Ok(Info {
        kind,
        path: path.display().to_string(),
        width: parameters.width(),
        ids: parameters.ids().name(),
        hasher: parameters.hasher().map(str::to_owned),
        max_distance: parameters.max_distance(),
        plan: parameters.design().to_string(),
        tables: parameters.design().table_count(),
        codec: parameters.codec().to_string(),
        block_size: parameters.block_size(),
        key_bits: parameters.keys().map(|keys| keys.key_bits()),
        sketch_bits: parameters.keys().map(|keys| keys.sketch_bits()),
        numbering,
        records: statistics.records,
        fingerprints: statistics.fingerprints,
        distinct_at_most: statistics.distinct_at_most,
        distinct_is_exact: statistics.is_distinct_exact,
        file_bytes: statistics.file_bytes,
        segments,
        other_segments,
    })
}

fn numbering(numbering: IdAssignment) -> &'static str {
    match numbering {
        IdAssignment::Auto => "own",
        IdAssignment::Explicit => "given",
        _ => "undecided",
    }
}

fn people(info: &Info, out: &mut dyn Write) -> std::io::Result<()> {
    let ids = match info.numbering {
        _ if info.ids == IdKind::Text.name() => "texts",
        _ if info.ids == IdKind::None.name() => "none: each fingerprint has a count",
        Some("own") => "64-bit numbers, given by the store",
        Some("given") => "64-bit numbers, given by the user",
        Some(_) => "64-bit numbers, given by the store or the user: the first load decides",
        None => "64-bit numbers",
    };
    let distinct = count(info.distinct_at_most);
    let fingerprints = format!("{}{distinct} distinct, of {} bit", at_most(info.distinct_is_exact), info.width);
    let compared = match (info.key_bits, info.sketch_bits) {
        (Some(bits), Some(0)) => ("keys", format!("of {bits} bits, no sketches")),
        (Some(bits), Some(sketch)) => ("keys", format!("of {bits} bits, sketches of {sketch} bits")),
        _ => ("fingerprints", fingerprints),
    };
    let mut facts = vec![
        if info.kind == "keys" { ("key index", info.path.clone()) } else { (info.kind, info.path.clone()) },
        compared,
        ("records", count(info.records)),
        ("ids", ids.to_owned()),
        ("hasher", info.hasher.clone().unwrap_or_else(|| "not known".to_owned())),
    ];
    if info.kind != "keys" {
        facts.push(("made for", format!("distances up to {}", info.max_distance)));
        facts.push(("plan", format!("{} (tables: {})", info.plan, info.tables)));
    }
    facts.push(("codec", format!("{}, blocks of {}", info.codec, bytes(info.block_size.into()))));
    facts.push(("size", bytes(info.file_bytes)));
    if info.kind != "segment" {
        for segment in info.segments.iter().chain(&info.other_segments) {
            let what = format!("{}: {} records, {}", segment.file, count(segment.records), bytes(segment.bytes));
            facts.push((segment.role.unwrap_or("segment"), what));
        }
    }
    report::facts(out, &facts)
}

/// Prints the fields of a manifest; its segments need not exist.
pub(crate) fn manifest(path: &Path, json: bool, out: &mut dyn Write) -> anyhow::Result<Outcome> {
    let mut fields = Vec::new();
    inspect::explain(path, &fpstore_tools::threads::options(), &mut |_, field| {
        fields.push(FieldInfo { name: field.name, value: field.value });
        Ok(())
    })?;
    if json {
        let info = ManifestInfo { kind: "manifest", path: path.display().to_string(), fields };
        report::json(out, &Versioned::new(info))?;
        return Ok(Outcome::Done);
    }
    let path = ("manifest", path.display().to_string());
    let fields = fields.iter().map(|field| (field.name.as_str(), field.value.clone()));
    report::facts(out, &std::iter::once(path).chain(fields).collect::<Vec<_>>())?;
    Ok(Outcome::Done)
}
