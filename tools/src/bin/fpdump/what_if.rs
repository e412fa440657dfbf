//! `fpdump what-if`: predicted sizes and costs with other codecs, block sizes and plans, or bits of keys.

use std::cmp::Reverse;
use std::io::Write;
use std::path::Path;

use fpstore::inspect::{self, Alternative, QueryCost, SegmentRole, SegmentView};
use fpstore::{Codec, Design, KeyFormat, Parameters};
use fpstore_tools::common::Common;
use fpstore_tools::exit::Outcome;
use fpstore_tools::number::{bytes, count, float};
use fpstore_tools::progress::Progress;
use fpstore_tools::report::{self, Columns};
use fpstore_tools::statistics::{StoreReport, TableReport};
use fpstore_tools::width;
use serde::Serialize;

use crate::args::{Filter, Wanted};
use crate::opened::{Opened, Versioned, all_segments, segments};

/// Block sizes that are tried by default.
const BLOCK_SIZES: [u32; 5] = [256, 512, 1024, 4096, 16384];

/// Bits of keys that are tried by default, as far as the index has more.
const KEY_BITS: [u8; 4] = [24, 32, 40, 48];

#[derive(Serialize)]
struct Report {
    path: String,
    /// Distance of the predicted queries.
    max_distance: u32,
    /// Whether the queries use prefix filters.
    filter: bool,
    /// Distinct fingerprints; of a key index, keys.
    fingerprints: u64,
    segments: u64,
    /// Bytes of the tables as they are, without ids; of a key index, of its keys, without numbers of records and
    /// sketches.
    bytes: u64,
    alternatives: Vec<Row>,
}

#[derive(Serialize)]
struct Row {
    plan: String,
    codec: String,
    block_size: u32,
    /// Of a key index.
    #[serde(skip_serializing_if = "Option::is_none")]
    key_bits: Option<u8>,
    tables: usize,
    /// Bits in a table, on average.
    bits_per_fingerprint: f64,
    information_bound_bits: Option<f64>,
    /// Bytes of all tables, without ids.
    bytes: u64,
    /// Ratio to the store as it is; null for an empty store.
    bytes_ratio: Option<f64>,
    resident_bytes: u64,
    /// Additional memory with the filters on.
    filter_bytes: u64,
    probes: f64,
    blocks_read: f64,
    candidates: f64,
    /// Whether sizes were scaled up from a sample.
    estimated: bool,
    /// Whether this is the store as it is.
    current: bool,
    by_table: Vec<TableReport>,
}

pub(crate) fn run(path: &Path, wanted: &Wanted, common: Common, out: &mut dyn Write) -> anyhow::Result<Outcome> {
    let opened = Opened::new(path)?;
    let now = opened.parameters().clone();
    let segments = encoded_segments(path, &now)?;
    let max_distance = wanted.max_distance.unwrap_or(now.max_distance());
    width::check_distance("--max-distance", max_distance, now.width())?;
    let filter = wanted.filter == Filter::On;
    let parameters = parameters(wanted, &now, max_distance)?;
    let progress = if common.shows_progress() { Progress::spinner("encoding") } else { Progress::hidden() };
    let sample = usize::try_from(wanted.sample).unwrap_or(usize::MAX);
    let alternatives = inspect::what_if(&segments, &parameters, sample);
    progress.finish();
    // Of a key index, the sums over a store's segments are those of its records.
    let statistics: Vec<StoreReport> = match (&opened, now.keys()) {
        (Opened::Keys(_), Some(_)) => segments.iter().map(|view| StoreReport::new(&view.statistics())).collect(),
        _ => vec![StoreReport::new(&opened.statistics())],
    };
    let now_bytes = statistics.iter().map(|report| table_bytes(&report.tables)).sum();
    let alternatives = alternatives?.into_iter().map(|alternative| {
        let cost = alternative.query_cost(max_distance, filter)?;
        Ok(row(&alternative, cost, &now, now_bytes))
    });
    let report = Report {
        path: path.display().to_string(),
        max_distance,
        filter,
        fingerprints: statistics.iter().map(|report| report.fingerprints).sum(),
        segments: segments.len() as u64,
        bytes: now_bytes,
        alternatives: alternatives.collect::<fpstore::Result<_>>()?,
    };
    if common.json {
        report::json(out, &Versioned::new(report))?;
    } else {
        people(&report, common.quiet, out)?;
    }
    Ok(Outcome::Done)
}

/// The segments whose tables are encoded again: those of keys, of a key index.
fn encoded_segments(path: &Path, now: &Parameters) -> fpstore::Result<Vec<SegmentView>> {
    if now.keys().is_none() || !path.is_dir() {
        return segments(path);
    }
    let all = all_segments(path)?.into_iter();
    Ok(all.filter(|(role, _)| *role == Some(SegmentRole::Keys)).map(|(_, view)| view).collect())
}

/// Returns the alternatives, including the store as it is.
fn parameters(wanted: &Wanted, now: &Parameters, max_distance: u32) -> anyhow::Result<Vec<Parameters>> {
    match now.keys() {
        None if !wanted.key_bits.is_empty() => anyhow::bail!("--key-bits is for key indexes"),
        Some(_) if !wanted.plans.is_empty() || !wanted.codecs.is_empty() => {
            anyhow::bail!("--plan and --codec are not for key indexes, which have one of each")
        }
        Some(keys) => return Ok(of_keys(wanted, now, keys)),
        None => {}
    }
    let like = |plan: Design, codec: Codec, block_size: u32| {
        now.clone().with_design(plan).with_codec(codec).with_block_size(block_size)
    };
    let mut all = vec![like(now.design(), now.codec(), now.block_size())];
    if wanted.codecs.is_empty() && wanted.block_sizes.is_empty() && wanted.plans.is_empty() {
        for codec in Codec::ALL {
            all.extend(BLOCK_SIZES.map(|block_size| like(now.design(), codec, block_size)));
        }
        let plans = Design::LISTED.into_iter().filter(|plan| plan.radii(max_distance).iter().all(Option::is_some));
        all.extend(plans.map(|plan| like(plan, now.codec(), now.block_size())));
    } else {
        for plan in named(&wanted.plans, now.design()) {
            for codec in named(&wanted.codecs, now.codec()) {
                let block_sizes = named(&wanted.block_sizes, now.block_size());
                all.extend(block_sizes.into_iter().map(|block_size| like(plan, codec, block_size)));
            }
        }
    }
    let mut distinct = Vec::new();
    all.into_iter().for_each(|one| {
        if !distinct.contains(&one) {
            distinct.push(one)
        }
    });
    let plans: Vec<Design> = distinct.iter().map(Parameters::design).collect();
    // Plans in the order in which they were named, the store's own plan and codec first.
    let rank = |one: &Parameters| plans.iter().position(|plan| *plan == one.design());
    distinct.sort_by_key(|one| (rank(one), one.codec() != now.codec(), one.codec().name(), one.block_size()));
    Ok(distinct)
}

/// The same of a key index: fewer bits, other block sizes.
fn of_keys(wanted: &Wanted, now: &Parameters, keys: KeyFormat) -> Vec<Parameters> {
    let (key_bits, block_size) = (keys.key_bits(), now.block_size());
    let like = |(key_bits, block_size): (u8, u32)| {
        let other = || Parameters::of_keys(keys.with_key_bits(key_bits)).with_ids(now.ids()).with_codec(now.codec());
        let like = if key_bits == keys.key_bits() { now.clone() } else { other() };
        like.with_block_size(block_size)
    };
    let mut all = vec![(key_bits, block_size)];
    if wanted.block_sizes.is_empty() && wanted.key_bits.is_empty() {
        all.extend(BLOCK_SIZES.map(|block_size| (key_bits, block_size)));
        all.extend(KEY_BITS.into_iter().filter(|&bits| bits < key_bits).map(|bits| (bits, block_size)));
    } else {
        for key_bits in named(&wanted.key_bits, key_bits) {
            all.extend(named(&wanted.block_sizes, block_size).into_iter().map(|block_size| (key_bits, block_size)));
        }
    }
    all.sort_by_key(|&(key_bits, block_size)| (Reverse(key_bits), block_size));
    all.dedup();
    all.into_iter().map(like).collect()
}

fn named<T: Clone>(named: &[T], now: T) -> Vec<T> {
    if named.is_empty() { vec![now] } else { named.to_vec() }
}

fn row(alternative: &Alternative, cost: QueryCost, now: &Parameters, now_bytes: u64) -> Row {
    let parameters = &alternative.parameters;
    let by_table: Vec<TableReport> = alternative.tables.iter().map(TableReport::new).collect();
    let bytes = table_bytes(&by_table);
    let fingerprints: u64 = by_table.iter().map(|table| table.fingerprints).sum();
    Row {
        plan: parameters.design().to_string(),
        codec: parameters.codec().to_string(),
        block_size: parameters.block_size(),
        key_bits: parameters.keys().map(KeyFormat::key_bits),
        tables: by_table.len(),
        bits_per_fingerprint: if fingerprints == 0 { 0.0 } else { float(bytes) * 8.0 / float(fingerprints) },
        information_bound_bits: by_table.first().and_then(|table| table.information_bound_bits),
        bytes,
        bytes_ratio: (now_bytes > 0).then(|| float(bytes) / float(now_bytes)),
        resident_bytes: alternative.resident_bytes,
        filter_bytes: alternative.filter_bytes,
        probes: cost.probes,
        blocks_read: cost.blocks,
        candidates: cost.candidates,
        estimated: alternative.estimated,
        current: parameters == now,
        by_table,
    }
}

fn table_bytes(tables: &[TableReport]) -> u64 {
    tables.iter().map(|table| table.data_bytes + table.index_bytes + table.code_bytes).sum()
}

fn people(report: &Report, quiet: bool, out: &mut dyn Write) -> std::io::Result<()> {
    let has_keys = report.alternatives.iter().any(|row| row.key_bits.is_some());
    if !quiet {
        let (number, filters) = (count(report.fingerprints), if report.filter { "with" } else { "without" });
        if has_keys {
            writeln!(
                out,
                "{}: {number} keys in {} without numbers of records and sketches",
                report.path,
                bytes(report.bytes)
            )?;
            writeln!(out, "Predicted for one key of a query, {filters} filters: probes, blocks, candidates\n")?;
        } else {
            writeln!(out, "{}: {number} fingerprints in {} without ids", report.path, bytes(report.bytes))?;
            writeln!(
                out,
                "Predicted for a query within distance {}, {filters} filters: probes, blocks, candidates\n",
                report.max_distance
            )?;
        }
    }
    let mut columns = Columns::new(&[
        if has_keys { ">key bits" } else { "plan" },
        "codec",
        ">block",
        ">tables",
        ">bits each",
        ">bound",
        ">bytes",
        ">beside now",
        ">memory",
        ">filters",
        ">probes",
        ">blocks",
        ">candidates",
        "",
    ]);
    for row in &report.alternatives {
        let notes = [("as it is", row.current), ("estimate", row.estimated)];
        let notes: Vec<&str> = notes.into_iter().filter(|(_, applies)| *applies).map(|(note, _)| note).collect();
        columns.row([
            row.key_bits.map_or(row.plan.clone(), |bits| bits.to_string()),
            row.codec.clone(),
            row.block_size.to_string(),
            row.tables.to_string(),
            format!("{:.2}", row.bits_per_fingerprint),
            row.information_bound_bits.map_or("-".to_owned(), |bound| format!("{bound:.2}")),
            bytes(row.bytes),
            row.bytes_ratio.map_or("-".to_owned(), |ratio| format!("{ratio:.3}")),
            bytes(row.resident_bytes),
            bytes(row.filter_bytes),
            format!("{:.0}", row.probes),
            format!("{:.1}", row.blocks_read),
            format!("{:.0}", row.candidates),
            notes.join(", "),
        ]);
    }
    columns.write(out)
}
