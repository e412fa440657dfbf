//! The report as a picture: sizes of clusters, and distances of removed records from their keepers.

use fpstore::Fingerprint;
use fpstore::clusters::ClusterReport;
use fpstore_tools::number::{count, count_of, float};

use crate::report::about::About;
use crate::report::chart::{Chart, Scale};
use crate::report::svg::{Anchor, Svg};

const WIDTH: u32 = 980;
const HEIGHT: u32 = 470;
/// The upper left corners of both charts.
const LEFT: [f64; 2] = [80.0, 140.0];
const RIGHT: [f64; 2] = [570.0, 140.0];

// Colours of Okabe and Ito, which colour-blind readers tell apart.
const NEAR: &str = "#0072b2";
const FAR: &str = "#d55e00";
const SINGLE: &str = "#009e73";

/// Draws the picture as SVG.
pub(super) fn draw<F: Fingerprint>(found: &ClusterReport<F>, about: About) -> String {
    let title = format!("Near-duplicates within {} by {} linkage", bits(about.distance), about.linkage());
    let mut svg = Svg::new(WIDTH, HEIGHT, &title);
    svg.text([24.0, 32.0], Anchor::Start, "font-size=\"17\" font-weight=\"bold\"", &title);
    let [records, kept, removed] =
        [found.records, found.clusters, found.records.saturating_sub(found.clusters)].map(count);
    let more = found
        .chains
        .as_ref()
        .map_or(String::new(), |chains| format!("; single linkage would remove {} more", count(chains.more_removed)));
    let all = format!("records: {records}, kept: {kept}, removed: {removed}{more}");
    svg.text([24.0, 54.0], Anchor::Start, "", &all);
    sizes(found, &mut svg);
    distances(found, about.distance, &mut svg);
    svg.finish()
}

fn sizes<F: Fingerprint>(found: &ClusterReport<F>, svg: &mut Svg) {
    let largest = found.sizes.iter().map(|class| class.to).max().unwrap_or(0);
    let most = found.sizes.iter().map(|class| class.clusters).max().unwrap_or(0);
    let x = Scale::Logarithmic(0.5, float(largest).max(10.0) + 0.5);
    let chart = Chart { corner: LEFT, x, y: Scale::of_counts(float(most)) };
    chart.axes(svg, "Sizes of clusters", "records in a cluster", "clusters");
    for class in &found.sizes {
        let size = match class.from {
            from if from == class.to => count_of(from, "record"),
            from => format!("{} to {}", count(from), count_of(class.to, "record")),
        };
        let tip = format!("{size}: {}", count_of(class.clusters, "cluster"));
        chart.bar(svg, [float(class.from) - 0.5, float(class.to) + 0.5], float(class.clusters), NEAR, &tip);
    }
}

fn distances<F: Fingerprint>(found: &ClusterReport<F>, within: u32, svg: &mut Svg) {
    let single = found.chains.as_ref().map(|chains| &chains.distances[..]);
    let series = [&found.removed[..], single.unwrap_or_default()];
    let length = series.iter().map(|records| records.len()).max().unwrap_or(0);
    let most = series.iter().flat_map(|records| records.iter()).max().copied().unwrap_or(0);
    // One distance beyond the limit is shown even if no record has it.
    let last = float((length as u64).saturating_sub(1).max(u64::from(within) + 1));
    let chart = Chart { corner: RIGHT, x: Scale::Linear(-0.5, last + 0.5), y: Scale::of_counts(float(most)) };
    chart.axes(svg, "Distances of removed records from their keepers", "bits", "records");
    // Bars stand side by side only where both series have some.
    let is_shared =
        found.removed.iter().zip(single.unwrap_or_default()).any(|(&removed, &more)| removed > 0 && more > 0);
    let (width, shift) = if is_shared { (0.4, 0.4) } else { (0.8, 0.0) };
    for (distance, at) in (0u32..).zip(0..length) {
        let [removed, more] = series.map(|records| records.get(at).copied().unwrap_or(0));
        let left = f64::from(distance) - 0.4;
        let (colour, bits) = (if distance > within { FAR } else { NEAR }, bits(distance));
        let tip = |records, what| format!("{bits}: {} {what}", count_of(records, "record"));
        chart.bar(svg, [left, left + width], float(removed), colour, &tip(removed, "removed"));
        let tip = tip(more, "that single linkage would remove");
        chart.bar(svg, [left + shift, left + shift + width], float(more), SINGLE, &tip);
    }
    chart.limit(svg, f64::from(within) + 0.5, &format!("K = {within}"));
    let mut legend = vec![(NEAR, "removed")];
    if found.far_records > 0 {
        legend.push((FAR, "removed, beyond K"));
    }
    if single.is_some() {
        legend.push((SINGLE, "kept; single linkage would remove them"));
    }
    let mut x = RIGHT[0];
    for (colour, name) in legend {
        svg.rect([x, RIGHT[1] - 34.0], [10.0, 10.0], colour, "");
        svg.text([x + 15.0, RIGHT[1] - 25.0], Anchor::Start, "font-size=\"11\"", name);
        x += 38.0 + 5.8 * float(name.len() as u64);
    }
}

fn bits(distance: u32) -> String {
    count_of(distance.into(), "bit")
}
