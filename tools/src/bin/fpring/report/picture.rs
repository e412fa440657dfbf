//! The report as a picture: three charts of bars, one bar for each placement.

use fpstore_tools::number::{count_of, float};
use fpstore_tools::svg::{Anchor, Svg};

use super::measure::Row;
use super::object::Report;
use super::people::name;

/// Width of a chart with its names, and of the area of its bars.
const WIDTH: u32 = 420;
const BARS: f64 = 200.0;
/// The upper end of the first bar, and the distance of bars.
const TOP: f64 = 110.0;
const STEP: f64 = 24.0;

// Colours of Okabe and Ito, which colour-blind readers tell apart.
const RING: &str = "#0072b2";
const OTHER: &str = "#d55e00";
const AXIS: &str = "#666666";

/// A chart: its title, the value of a row, its text.
struct Chart {
    title: &'static str,
    value: fn(&Row) -> f64,
    text: fn(f64) -> String,
    is_logarithmic: bool,
}

const CHARTS: [Chart; 3] = [
    Chart {
        title: "Standard deviation of load (log scale)",
        value: |row| row.balance.deviation,
        text: |value| format!("{:.2}%", value * 100.0),
        is_logarithmic: true,
    },
    Chart {
        title: "Keys that move when a node joins",
        value: |row| row.monotonicity.joins.moved,
        text: |value| format!("{:.1}%", value * 100.0),
        is_logarithmic: false,
    },
    Chart {
        title: "Mean spread: nodes of a key over all clients",
        value: |row| row.spread.mean,
        text: |value| format!("{value:.2}"),
        is_logarithmic: false,
    },
];

/// Draws the picture as SVG.
pub(super) fn draw(report: &Report) -> String {
    let title =
        format!("{} on {} by {}", count_of(report.keys, "key"), count_of(report.nodes as u64, "node"), report.hash);
    let rows = u32::try_from(report.rows.len()).unwrap_or(u32::MAX);
    let mut svg = Svg::new(WIDTH * 3, rows.saturating_mul(24).saturating_add(140), &title);
    svg.text([24.0, 32.0], Anchor::Start, "font-size=\"17\" font-weight=\"bold\"", &title);
    let legend = [(24.0, RING, "rings, by their virtual nodes"), (264.0, OTHER, "other placements")];
    for (x, colour, text) in legend {
        svg.rect([x, 48.0], [10.0, 10.0], colour, "");
        svg.text([x + 16.0, 57.0], Anchor::Start, "", text);
    }
    for (number, chart) in (0_u32..).zip(&CHARTS) {
        bars(chart, &report.rows, f64::from(number * WIDTH), &mut svg);
    }
    svg.finish()
}

fn bars(chart: &Chart, rows: &[Row], left: f64, svg: &mut Svg) {
    let values: Vec<f64> = rows.iter().map(chart.value).collect();
    let most = values.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    // A thousandth of the longest bar begins a logarithmic axis.
    let length = |value: f64| match chart.is_logarithmic {
        true => ((value / most).max(1e-3).log10() / 3.0 + 1.0) * BARS,
        false => value / most * BARS,
    };
    let (begin, end) = (left + 120.0, TOP + STEP * float(rows.len() as u64));
    svg.text([left + 24.0, TOP - 18.0], Anchor::Start, "font-weight=\"bold\"", chart.title);
    for (number, (row, value)) in (0_u64..).zip(rows.iter().zip(&values)) {
        let y = TOP + STEP * float(number);
        let (colour, text) = (if row.virtual_nodes.is_some() { RING } else { OTHER }, (chart.text)(*value));
        let tip = format!("{}: {text}", name(row));
        svg.text([begin - 8.0, y + 13.0], Anchor::End, "", &name(row));
        svg.rect([begin, y + 2.0], [length(*value), STEP - 6.0], colour, &tip);
        svg.text([begin + length(*value) + 6.0, y + 13.0], Anchor::Start, "font-size=\"11\"", &text);
    }
    svg.line([begin, TOP - 4.0], [begin, end], AXIS, "");
}
