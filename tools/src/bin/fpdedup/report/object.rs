//! The report as a JSON object.

use std::io::{self, Write};

use fpstore::clusters::{Chain, ClusterReport, Label, LargeCluster, Nearness, Nearnesses, Removed, SizeClass};
use fpstore::{Fingerprint, Id};
use fpstore_tools::common::SCHEMA_VERSION;
use fpstore_tools::number::{float, hex, rounded};
use fpstore_tools::report;
use serde::Serialize;
use serde_json::Value;

use crate::report::about::{About, Near};
use crate::report::histogram::SIMILARITIES;

#[derive(Serialize)]
struct Object {
    schema_version: u32,
    linkage: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    distance: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    min_shared: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    min_jaccard: Option<f64>,
    records: u64,
    clusters: u64,
    kept: u64,
    removed: u64,
    far_records: u64,
    /// How near removed records are to their keepers.
    #[serde(flatten)]
    nearnesses: Histograms,
    sizes: Vec<Class>,
    /// Null for single linkage, and where chains are unknown.
    chains: Option<Chains>,
    single_linkage: Option<SingleLinkage>,
    largest: Vec<Large>,
}

/// Numbers of records by how near they are to a keeper.
#[derive(Default, Serialize)]
struct Histograms {
    #[serde(skip_serializing_if = "Option::is_none")]
    distances: Option<Vec<AtDistance>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    shared_keys: Option<Vec<Sharing>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    jaccard: Option<Vec<Similar>>,
}

#[derive(Serialize)]
struct AtDistance {
    distance: usize,
    records: u64,
}

#[derive(Serialize)]
struct Sharing {
    shared_keys: u64,
    records: u64,
}

#[derive(Serialize)]
struct Similar {
    from: f64,
    to: f64,
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
    #[serde(flatten)]
    nearnesses: Histograms,
}

#[derive(Serialize)]
struct Large {
    cluster: Value,
    keeper: Value,
    records: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    fingerprints: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    diameter: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    far_pairs: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sampled: Option<bool>,
    /// The first ones in the order of the store.
    removed: Vec<Sample>,
}

#[derive(Serialize)]
struct Sample {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fingerprint: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    distance: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    shared_keys: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    jaccard: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    count: Option<u64>,
}

pub(super) fn write<F: Fingerprint>(found: &ClusterReport<F>, about: About, out: &mut dyn Write) -> io::Result<()> {
    let (distance, min_shared, min_jaccard) = match about.near {
        Near::Distance(distance) => (Some(distance), None, None),
        Near::Keys { min_shared, min_jaccard, .. } => (None, Some(min_shared), Some(min_jaccard)),
    };
    let chains = found.chains.as_ref();
    let object = Object {
        schema_version: SCHEMA_VERSION,
        linkage: about.linkage(),
        distance,
        min_shared,
        min_jaccard,
        records: found.records,
        clusters: found.clusters,
        kept: found.clusters,
        removed: found.records.saturating_sub(found.clusters),
        far_records: found.removed.far,
        nearnesses: histograms(&found.removed, about.near),
        sizes: found.sizes.iter().map(class).collect(),
        chains: chains
            .map(|chains| Chains { components: chains.count, largest: chains.largest.as_ref().map(largest_chain) }),
        single_linkage: chains.map(|chains| SingleLinkage {
            more_removed: chains.more_removed,
            far_records: chains.nearnesses.far,
            nearnesses: histograms(&chains.nearnesses, about.near),
        }),
        largest: found.largest.iter().map(large).collect(),
    };
    report::json(out, &object)
}

fn histograms(all: &Nearnesses, near: Near) -> Histograms {
    match near {
        Near::Distance(within) => {
            Histograms { distances: Some(at_distances(&all.distances, within)), ..Histograms::default() }
        }
        Near::Keys { has_sketches, .. } => {
            let sharing = |(&shared_keys, &records): (&u64, &u64)| Sharing { shared_keys, records };
            let end = |number: u64| float(number) / float(SIMILARITIES);
            let records = all.jaccard.iter().copied().chain(std::iter::repeat(0));
            let similar = (0..SIMILARITIES).zip(records);
            let similar = similar.map(|(at, records)| Similar { from: end(at), to: end(at + 1), records });
            Histograms {
                distances: None,
                shared_keys: Some(all.shared_keys.iter().map(sharing).collect()),
                jaccard: has_sketches.then(|| similar.collect()),
            }
        }
    }
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
    let LargeCluster { records, fingerprints, spread, .. } = *one;
    let removed = one.removed.iter().map(sample).collect();
    let (cluster, keeper) = (value(&one.smallest), value(&one.label));
    Large {
        cluster,
        keeper,
        records,
        fingerprints: spread.map(|_| fingerprints),
        diameter: spread.map(|spread| spread.diameter),
        far_pairs: spread.map(|spread| spread.far_pairs),
        sampled: spread.map(|spread| spread.sampled),
        removed,
    }
}

fn sample<F: Fingerprint>(one: &Removed<F>) -> Sample {
    let (id, fingerprint, count) = match &one.record.id {
        Id::Count(count) => (None, Some(hex(one.record.fingerprint)), Some(*count)),
        id => (Some(id_value(id)), None, None),
    };
    let (shared_keys, jaccard) = match one.nearness {
        Nearness::Distance(_) => (None, None),
        Nearness::Keys { shared, jaccard } => (Some(shared), jaccard.map(rounded)),
    };
    Sample { id, fingerprint, distance: one.nearness.distance(), shared_keys, jaccard, count }
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
