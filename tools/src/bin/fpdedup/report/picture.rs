//! The report as a picture: sizes of clusters, and how near removed records are to their keepers.

use fpstore::Fingerprint;
use fpstore::clusters::ClusterReport;
use fpstore_tools::number::{count, count_of, float};
use fpstore_tools::svg::{Anchor, Svg};

use crate::report::about::About;
use crate::report::chart::{Chart, Scale};
use crate::report::histogram::{self, Histogram};

/// Width of a chart with its names.
const WIDTH: u32 = 490;
const HEIGHT: u32 = 470;
/// The upper left corner of the first chart.
const CORNER: [f64; 2] = [80.0, 140.0];

// Colours of Okabe and Ito, which colour-blind readers tell apart.
const NEAR: &str = "#0072b2";
const FAR: &str = "#d55e00";
const SINGLE: &str = "#009e73";

/// Draws the picture as SVG.
pub(super) fn draw<F: Fingerprint>(found: &ClusterReport<F>, about: About) -> String {
    let title = format!("Near-duplicates {} by {} linkage", about.near.words(), about.linkage());
    let histograms = histogram::of(found, about);
    let charts = u32::try_from(1 + histograms.len()).unwrap_or(u32::MAX);
    let mut svg = Svg::new(WIDTH.saturating_mul(charts), HEIGHT, &title);
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
    for (number, histogram) in (1u32..).zip(&histograms) {
        let corner = [CORNER[0] + f64::from(WIDTH * number), CORNER[1]];
        nearnesses(histogram, found.chains.is_some(), corner, &mut svg);
    }
    svg.finish()
}

fn sizes<F: Fingerprint>(found: &ClusterReport<F>, svg: &mut Svg) {
    let largest = found.sizes.iter().map(|class| class.to).max().unwrap_or(0);
    let most = found.sizes.iter().map(|class| class.clusters).max().unwrap_or(0);
    let x = Scale::Logarithmic(0.5, float(largest).max(10.0) + 0.5);
    let chart = Chart { corner: CORNER, x, y: Scale::of_counts(float(most)) };
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

/// Draws how near removed records are to their keepers and, if chains are known, those that are kept to the keepers of
/// single linkage.
fn nearnesses(histogram: &Histogram, has_chains: bool, corner: [f64; 2], svg: &mut Svg) {
    let Histogram { title, unit, axis, limit, far, classes, .. } = histogram;
    let most = classes.iter().flat_map(|class| class.records).max().unwrap_or(0);
    let chart = Chart { corner, x: *axis, y: Scale::of_counts(float(most)) };
    chart.axes(svg, title, unit, "records");
    // Bars stand side by side only where both series have some.
    let is_shared = classes.iter().any(|class| class.records.iter().all(|records| *records > 0));
    let (width, shift) = if is_shared { (0.4, 0.4) } else { (0.8, 0.0) };
    for class in classes {
        let ([from, to], [removed, more]) = (class.span, class.records);
        let place = |share: f64| from + share * (to - from);
        let colour = if class.is_far { FAR } else { NEAR };
        let tip = |records, what| format!("{}: {} {what}", class.tip, count_of(records, "record"));
        chart.bar(svg, [place(0.1), place(0.1 + width)], float(removed), colour, &tip(removed, "removed"));
        let ends = [place(0.1 + shift), place(0.1 + shift + width)];
        chart.bar(svg, ends, float(more), SINGLE, &tip(more, "that single linkage would remove"));
    }
    if let Some((place, name)) = limit {
        chart.limit(svg, *place, name);
    }
    let mut legend = vec![(NEAR, "removed")];
    if classes.iter().any(|class| class.is_far && class.records[0] > 0) {
        legend.push((FAR, far));
    }
    if has_chains {
        legend.push((SINGLE, "kept; single linkage would remove them"));
    }
    let [mut x, top] = corner;
    for (colour, name) in legend {
        svg.rect([x, top - 34.0], [10.0, 10.0], colour, "");
        svg.text([x + 15.0, top - 25.0], Anchor::Start, "font-size=\"11\"", name);
        x += 38.0 + 5.8 * float(name.len() as u64);
    }
}
