//! Numbers of records by how near they are to a keeper, for tables and charts.

use std::collections::BTreeMap;

use fpstore::clusters::{ClusterReport, Nearnesses};
use fpstore_tools::number::{count, count_of, float};

use crate::report::about::{About, Near};
use crate::report::chart::{EACH, Scale};

/// Records of about the same nearness.
pub(super) struct Class {
    /// A cell of a table.
    pub(super) name: String,
    /// For the bar of a chart.
    pub(super) tip: String,
    /// The ends of the bar.
    pub(super) span: [f64; 2],
    /// Whether none of them is near the keeper.
    pub(super) is_far: bool,
    /// Removed records, and others that single linkage would remove.
    pub(super) records: [u64; 2],
}

impl Class {
    pub(super) fn is_empty(&self) -> bool {
        self.records == [0, 0]
    }
}

/// The numbers of records by one measure.
pub(super) struct Histogram {
    pub(super) heading: &'static str,
    pub(super) title: &'static str,
    /// Name of the axis.
    pub(super) unit: &'static str,
    pub(super) axis: Scale,
    /// The end of nearness on the axis, and its name.
    pub(super) limit: Option<(f64, String)>,
    /// Name of far records.
    pub(super) far: &'static str,
    pub(super) classes: Vec<Class>,
    /// Whether empty classes of near records stand in a table.
    pub(super) has_empty: bool,
}

/// The histograms of a report: distances, or shared keys and similarities.
pub(super) fn of<F>(found: &ClusterReport<F>, about: About) -> Vec<Histogram> {
    let (removed, none) = (&found.removed, Nearnesses::default());
    let more = found.chains.as_ref().map_or(&none, |chains| &chains.nearnesses);
    match about.near {
        Near::Distance(within) => vec![distances([&removed.distances, &more.distances], within)],
        Near::Keys { min_shared, min_jaccard, has_sketches } => {
            let keys = shared_keys([&removed.shared_keys, &more.shared_keys], min_shared);
            let jaccard = has_sketches.then(|| similarities([&removed.jaccard, &more.jaccard], min_jaccard));
            std::iter::once(keys).chain(jaccard).collect()
        }
    }
}

fn distances(records: [&Vec<u64>; 2], within: u32) -> Histogram {
    let length = records.map(Vec::len).into_iter().max().unwrap_or(0).max(within as usize + 1);
    let class = |distance: u64| Class {
        name: distance.to_string(),
        tip: count_of(distance, "bit"),
        span: [float(distance) - 0.5, float(distance) + 0.5],
        is_far: distance > within.into(),
        records: at(records, distance),
    };
    // One distance beyond the limit is shown even if no record has it.
    let last = (length as u64 - 1).max(u64::from(within) + 1);
    Histogram {
        heading: ">distance",
        title: "Distances of removed records from their keepers",
        unit: "bits",
        axis: Scale::Linear(-0.5, float(last) + 0.5),
        limit: Some((f64::from(within) + 0.5, format!("K = {within}"))),
        far: "removed, beyond K",
        classes: (0..length as u64).map(class).collect(),
        has_empty: true,
    }
}

fn shared_keys(records: [&BTreeMap<u64, u64>; 2], min_shared: u64) -> Histogram {
    let mut classes: BTreeMap<[u64; 2], [u64; 2]> = BTreeMap::new();
    for (one, records) in records.into_iter().enumerate() {
        for (&shared, records) in records {
            let class = classes.entry(class_of(shared)).or_default();
            class.iter_mut().skip(one).take(1).for_each(|all| *all = all.saturating_add(*records));
        }
    }
    let last = classes.keys().map(|class| class[1]).max().unwrap_or(0).max(min_shared);
    let classes = classes.into_iter().map(|([from, to], records)| {
        let name = if from == to { count(to) } else { format!("{} to {}", count(from), count(to)) };
        let tip = if from == to { count_of(to, "shared key") } else { format!("{name} shared keys") };
        let span = [float(from) - 0.5, float(to) + 0.5];
        Class { name, tip, span, is_far: to < min_shared, records }
    });
    Histogram {
        heading: ">shared keys",
        title: "Keys that removed records share with their keepers",
        unit: "shared keys",
        classes: classes.collect(),
        axis: Scale::Doubling(float(last) + 0.5),
        limit: Some((float(min_shared) - 0.5, format!("M = {min_shared}"))),
        far: "removed, fewer than M",
        has_empty: false,
    }
}

/// The ends of the class of a number: itself, or up to a power of two.
fn class_of(shared: u64) -> [u64; 2] {
    if shared <= EACH {
        return [shared; 2];
    }
    let to = shared.checked_next_power_of_two().unwrap_or(u64::MAX);
    [to / 2 + 1, to]
}

/// Twentieths: the numbers of classes, and the percents of each.
pub(super) const SIMILARITIES: u64 = 20;
const PERCENT: u64 = 5;

fn similarities(records: [&Vec<u64>; 2], min_jaccard: f64) -> Histogram {
    let class = |number: u64| {
        let [from, to] = [number, number + 1].map(|number| float(number * PERCENT));
        let name = format!("{:.2} to {:.2}", from / 100.0, to / 100.0);
        let tip = format!("similarity {name}");
        // The last class includes 1.
        let is_far = number + 1 < SIMILARITIES && to / 100.0 <= min_jaccard;
        Class { name, tip, span: [from, to], is_far, records: at(records, number) }
    };
    Histogram {
        heading: ">jaccard",
        title: "Similarity of removed records to their keepers",
        unit: "estimated Jaccard similarity, %",
        axis: Scale::Linear(0.0, 100.0),
        limit: (min_jaccard > 0.0).then(|| (100.0 * min_jaccard, format!("T = {min_jaccard}"))),
        far: "removed, below T",
        classes: (0..SIMILARITIES).map(class).collect(),
        has_empty: false,
    }
}

fn at(records: [&Vec<u64>; 2], at: u64) -> [u64; 2] {
    records.map(|records| usize::try_from(at).ok().and_then(|at| records.get(at)).copied().unwrap_or(0))
}
