//! The report as a JSON object.

use std::io::{self, Write};

use fpstore::clusters::{Chain, ClusterReport, Label, LargeCluster, Removed, SizeClass};
use fpstore::{Fingerprint, Id};
use fpstore_tools::common::SCHEMA_VERSION;
use fpstore_tools::number::hex;
use fpstore_tools::report;
use serde::Serialize;
use serde_json::Value;

use crate::report::about::About;

#[derive(Serialize)]
struct Object {
    schema_version: u32,
    linkage: &'static str,
    distance: u32,
    records: u64,
    clusters: u64,
    kept: u64,
    removed: u64,
    far_records: u64,
    /// Removed records by distance from their keepers.
    distances: Vec<AtDistance>,
    sizes: Vec<Class>,
    /// Null for single linkage, and unknown if earlier stars were continued.
    chains: Option<Chains>,
    single_linkage: Option<SingleLinkage>,
    largest: Vec<Large>,
}

#[derive(Serialize)]
struct AtDistance {
    distance: usize,
    records: u64,
}

#[derive(Serialize)]
struct Class {
    from: u64,
    to: u64,
    clusters: u64,
    records: u64,
}

/// Connected components of several clusters.
#[derive(Serialize)]
struct Chains {
    components: u64,
    largest: Option<LargestChain>,
}

#[derive(Serialize)]
struct LargestChain {
    keeper: Value,
    records: u64,
    clusters: u64,
}

/// The records that only single linkage would remove.
#[derive(Serialize)]
struct SingleLinkage {
    more_removed: u64,
    far_records: u64,
    distances: Vec<AtDistance>,
}

#[derive(Serialize)]
struct Large {
    cluster: Value,
    keeper: Value,
    records: u64,
    fingerprints: u64,
    diameter: u32,
    far_pairs: f64,
    sampled: bool,
    /// The first ones in the order of the store.
    removed: Vec<Sample>,
}

#[derive(Serialize)]
struct Sample {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fingerprint: Option<String>,
    distance: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    count: Option<u64>,
}

pub(super) fn write<F: Fingerprint>(found: &ClusterReport<F>, about: About, out: &mut dyn Write) -> io::Result<()> {
    let distance = about.distance;
    let chains = found.chains.as_ref();
    let object = Object {
        schema_version: SCHEMA_VERSION,
        linkage: about.linkage(),
        distance,
        records: found.records,
        clusters: found.clusters,
        kept: found.clusters,
        removed: found.records.saturating_sub(found.clusters),
        far_records: found.far_records,
        distances: at_distances(&found.removed, distance),
        sizes: found.sizes.iter().map(class).collect(),
        chains: chains
            .map(|chains| Chains { components: chains.count, largest: chains.largest.as_ref().map(largest_chain) }),
        single_linkage: chains.map(|chains| SingleLinkage {
            more_removed: chains.more_removed,
            far_records: chains.distances.iter().skip(distance as usize + 1).sum(),
            distances: at_distances(&chains.distances, distance),
        }),
        largest: found.largest.iter().map(large).collect(),
    };
    report::json(out, &object)
}

/// All distances up to `least`, and farther ones that occur.
fn at_distances(records: &[u64], least: u32) -> Vec<AtDistance> {
    let length = records.len().max(least as usize + 1);
    let records = records.iter().copied().chain(std::iter::repeat(0));
    records.take(length).enumerate().map(|(distance, records)| AtDistance { distance, records }).collect()
}

fn class(class: &SizeClass) -> Class {
    Class { from: class.from, to: class.to, clusters: class.clusters, records: class.records }
}

fn largest_chain<F: Fingerprint>(chain: &Chain<F>) -> LargestChain {
    LargestChain { keeper: value(&chain.keeper), records: chain.records, clusters: chain.clusters }
}

fn large<F: Fingerprint>(one: &LargeCluster<F>) -> Large {
    let LargeCluster { records, fingerprints, diameter, far_pairs, sampled, .. } = *one;
    let removed = one.removed.iter().map(sample).collect();
    let (cluster, keeper) = (value(&one.smallest), value(&one.label));
    Large { cluster, keeper, records, fingerprints, diameter, far_pairs, sampled, removed }
}

fn sample<F: Fingerprint>(one: &Removed<F>) -> Sample {
    let distance = one.nearness.distance().unwrap_or(0);
    match &one.record.id {
        Id::Count(count) => {
            Sample { id: None, fingerprint: Some(hex(one.record.fingerprint)), distance, count: Some(*count) }
        }
        id => Sample { id: Some(id_value(id)), fingerprint: None, distance, count: None },
    }
}

fn value<F: Fingerprint>(label: &Label<F>) -> Value {
    match label {
        Label::Id(id) => id_value(id),
        Label::Fingerprint(fingerprint) => hex(*fingerprint).into(),
    }
}

fn id_value(id: &Id) -> Value {
    match id {
        Id::Number(number) | Id::Count(number) => (*number).into(),
        Id::Text(text) => text.as_ref().into(),
    }
}
