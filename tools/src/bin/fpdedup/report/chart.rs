//! A chart of bars: axes with ticks, and places of values on them.

use fpstore_tools::number::float;
use fpstore_tools::svg::{Anchor, Svg};

/// Width and height of the area of bars.
const SIZE: [f64; 2] = [370.0, 250.0];
const GRID: &str = "#dddddd";
const AXIS: &str = "#666666";
/// Most ticks of a linear axis.
const TICKS: f64 = 12.0;
/// The lower end of a logarithmic axis: a bar of one is visible.
const LEAST: f64 = 0.5;

/// An axis, and the values at its ends.
#[derive(Clone, Copy, Debug)]
pub(super) enum Scale {
    Linear(f64, f64),
    Logarithmic(f64, f64),
    /// Numbers from 0: linear up to [`EACH`], and logarithmic beyond, where each doubling takes the space of one.
    Doubling(f64),
}

/// The last number with a place of its own on an axis with doublings.
pub(super) const EACH: u64 = 32;

impl Scale {
    /// A logarithmic axis from below 1 up to a power of ten that is at least `most`.
    pub(super) fn of_counts(most: f64) -> Self {
        Self::Logarithmic(LEAST, 10f64.powf(most.max(10.0).log10().ceil()))
    }

    /// The place of a value: 0 and 1 are the ends of the axis.
    fn place(self, value: f64) -> f64 {
        let place = match self {
            Self::Linear(from, to) => (value - from) / (to - from),
            Self::Logarithmic(from, to) => (value.max(from) / from).log10() / (to / from).log10(),
            Self::Doubling(to) => (doubling(value) + 0.5) / (doubling(to) + 0.5),
        };
        place.clamp(0.0, 1.0)
    }

    /// Whole numbers, or powers of ten, or of two beyond some.
    fn ticks(self) -> Vec<f64> {
        let each = float(EACH);
        if let Self::Doubling(to) = self
            && to > each + 1.0
        {
            let doubled = std::iter::successors(Some(each), |tick| Some(tick * 4.0));
            return [0.0, 8.0, 16.0, 24.0].into_iter().chain(doubled.take_while(|tick| *tick <= to)).collect();
        }
        let (mut ticks, mut tick) = (Vec::new(), 0.0);
        let (step, factor, to) = match self {
            Self::Linear(_, to) | Self::Doubling(to) => (step(to), 1.0, to),
            Self::Logarithmic(_, to) => {
                tick = 1.0;
                (0.0, 10.0, to)
            }
        };
        while tick <= to {
            ticks.push(tick);
            tick = tick * factor + step;
        }
        ticks
    }
}

/// The place of a number on an axis with doublings.
fn doubling(value: f64) -> f64 {
    let last = float(EACH) + 0.5;
    if value <= last { value } else { last + (value / last).log2() }
}

/// The least of 1, 2, 5, 10, 20, ... with few ticks up to `to`.
fn step(to: f64) -> f64 {
    let mut power = 1.0;
    loop {
        if let Some(step) = [1.0, 2.0, 5.0].map(|digit| digit * power).into_iter().find(|step| to / step <= TICKS) {
            return step;
        }
        power *= 10.0;
    }
}

/// A number at a tick.
fn short(value: f64) -> String {
    let (value, unit) = match value {
        1e15.. => return format!("{value:.0e}"),
        1e9.. => (value / 1e9, "G"),
        1e6.. => (value / 1e6, "M"),
        1e3.. => (value / 1e3, "k"),
        _ => (value, ""),
    };
    format!("{value:.0}{unit}")
}

/// A chart and the place of its upper left corner.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chart {
    pub(super) corner: [f64; 2],
    pub(super) x: Scale,
    pub(super) y: Scale,
}

impl Chart {
    /// Draws the axes, and names above and beside them.
    pub(super) fn axes(self, svg: &mut Svg, title: &str, x_name: &str, y_name: &str) {
        let ([left, top], [width, height]) = (self.corner, SIZE);
        let (right, bottom) = (left + width, top + height);
        for tick in self.y.ticks() {
            let y = self.height_of(tick);
            svg.line([left, y], [right, y], GRID, "");
            svg.text([left - 8.0, y + 4.0], Anchor::End, "", &short(tick));
        }
        for tick in self.x.ticks() {
            let x = self.across(tick);
            svg.line([x, bottom], [x, bottom + 5.0], AXIS, "");
            svg.text([x, bottom + 19.0], Anchor::Middle, "", &short(tick));
        }
        svg.line([left, top], [left, bottom], AXIS, "");
        svg.line([left, bottom], [right, bottom], AXIS, "");
        let (x, y) = (left - 46.0, top + height / 2.0);
        svg.text([left, top - 42.0], Anchor::Start, "font-weight=\"bold\"", title);
        svg.text([left + width / 2.0, bottom + 40.0], Anchor::Middle, "", x_name);
        svg.text([x, y], Anchor::Middle, &format!("transform=\"rotate(-90 {x:.1} {y:.1})\""), y_name);
    }

    /// Draws a bar over these values of the x axis; nothing if it counts nothing.
    pub(super) fn bar(self, svg: &mut Svg, [from, to]: [f64; 2], count: f64, fill: &str, tip: &str) {
        if count > 0.0 {
            let (left, right, top) = (self.across(from), self.across(to), self.height_of(count));
            let gap = if right - left > 4.0 { 1.0 } else { 0.0 };
            let size = [right - left - gap, self.corner[1] + SIZE[1] - top];
            svg.rect([left + gap / 2.0, top], size, fill, tip);
        }
    }

    /// Draws a dashed line across all counts, with its name above.
    pub(super) fn limit(self, svg: &mut Svg, value: f64, name: &str) {
        let (x, top) = (self.across(value), self.corner[1]);
        svg.line([x, top], [x, top + SIZE[1]], AXIS, "4 3");
        svg.text([x, top - 5.0], Anchor::Middle, "font-size=\"11\"", name);
    }

    fn across(self, value: f64) -> f64 {
        self.corner[0] + SIZE[0] * self.x.place(value)
    }

    fn height_of(self, value: f64) -> f64 {
        self.corner[1] + SIZE[1] * (1.0 - self.y.place(value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ticks(scale: Scale) -> Vec<String> {
        scale.ticks().into_iter().map(short).collect()
    }

    #[test]
    fn ticks_are_few_and_round() {
        assert_eq!(ticks(Scale::of_counts(0.0)), ["1", "10"]);
        assert_eq!(ticks(Scale::of_counts(10.0)), ["1", "10"]);
        assert_eq!(ticks(Scale::of_counts(12_000.0)), ["1", "10", "100", "1k", "10k", "100k"]);
        assert_eq!(ticks(Scale::Linear(-0.5, 4.5)), ["0", "1", "2", "3", "4"]);
        assert_eq!(ticks(Scale::Linear(-0.5, 60.5)), ["0", "10", "20", "30", "40", "50", "60"]);
        assert_eq!(ticks(Scale::Linear(-0.5, 256.5)).len(), 6);
        assert_eq!([1e9, 1e12, 1e15].map(short), ["1G", "1000G", "1e15"]);
    }

    #[test]
    fn places_are_shares_of_the_axis() {
        let scale = Scale::Logarithmic(1.0, 100.0);
        assert_eq!([0.0, 1.0, 10.0, 100.0, 1e3].map(|value| scale.place(value)), [0.0, 0.0, 0.5, 1.0, 1.0]);
        assert_eq!([0.0, 5.0].map(|value| Scale::Linear(0.0, 10.0).place(value)), [0.0, 0.5]);
        // Each number up to 32 and each doubling take the same space.
        let scale = Scale::Doubling(130.0);
        assert_eq!(
            [-0.5, 17.0, 32.5, 65.0, 130.0].map(|value| scale.place(value)),
            [0.0, 0.5, 33.0 / 35.0, 34.0 / 35.0, 1.0]
        );
        assert_eq!(ticks(Scale::Doubling(5.5)), ["0", "1", "2", "3", "4", "5"]);
        assert_eq!(ticks(Scale::Doubling(1100.5)), ["0", "8", "16", "24", "32", "128", "512"]);
    }
}
