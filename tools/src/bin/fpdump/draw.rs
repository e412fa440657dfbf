//! Draws bars in a terminal: a label, a bar as long as its count, the count and its share.

use std::io::{self, IsTerminal, Write};

use fpstore_tools::number::{count, float};

/// Columns of the longest bar.
const WIDTH: usize = 40;
/// Approximate number of bars in a drawing.
const BARS: usize = 14;

/// One bar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Bar {
    pub(crate) label: String,
    pub(crate) count: u64,
}

/// Style of the bars.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pen {
    /// Uses block characters, which divide a column into eight; otherwise ASCII.
    unicode: bool,
    colour: bool,
}

impl Pen {
    /// Returns the style that standard output and the environment allow.
    pub(crate) fn of_stdout() -> Self {
        let set = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let locale = set("LC_ALL").or_else(|| set("LC_CTYPE")).or_else(|| set("LANG")).unwrap_or_default();
        let locale = locale.to_ascii_lowercase();
        let dumb = set("TERM").is_some_and(|terminal| terminal == "dumb");
        Self {
            unicode: locale.contains("utf-8") || locale.contains("utf8"),
            colour: io::stdout().is_terminal() && set("NO_COLOR").is_none() && !dumb,
        }
    }

    /// Draws the bars below a title, if any count is above zero.
    pub(crate) fn draw(self, title: &str, bars: &[Bar], out: &mut dyn Write) -> io::Result<()> {
        let total: u64 = bars.iter().map(|bar| bar.count).sum();
        let most = bars.iter().map(|bar| bar.count).max().unwrap_or(0);
        if total == 0 {
            return Ok(());
        }
        writeln!(out, "\n{title}")?;
        let widest = bars.iter().map(|bar| bar.label.len()).max().unwrap_or(0).max(12);
        let digits = count(most).len().max(8);
        for bar in bars {
            let (on, off) = if self.colour { ("\x1b[36m", "\x1b[0m") } else { ("", "") };
            let (line, columns) = self.bar(bar.count, most);
            let rest = " ".repeat(WIDTH - columns);
            let share = float(bar.count) * 100.0 / float(total);
            writeln!(
                out,
                "{:>widest$}  {on}{line}{off}{rest}  {:>digits$} {share:>5.1}%",
                bar.label,
                count(bar.count)
            )?;
        }
        Ok(())
    }

    /// Returns the bar and its number of columns. Only a count of zero is drawn as nothing.
    fn bar(self, count: u64, most: u64) -> (String, usize) {
        const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
        let (step, full) = if self.unicode { (8, "█") } else { (1, "#") };
        let whole = u128::from(count) * (WIDTH * step) as u128 / u128::from(most.max(1));
        let steps = usize::try_from(whole).unwrap_or(0);
        let rest = match (steps, count) {
            (0, 1..) if self.unicode => "▏",
            (0, 1..) => ".",
            _ => EIGHTHS.get(steps % step).copied().unwrap_or(""),
        };
        (full.repeat(steps / step) + rest, steps / step + usize::from(!rest.is_empty()))
    }
}

/// Returns bars of counts by value: one for each value, or for ranges if there are many values. Outliers on either side
/// share one bar.
pub(crate) fn bars(counts: &[u64]) -> Vec<Bar> {
    let (Some(first), Some(last)) = (at_share(counts, 0.0), at_share(counts, 1.0)) else { return Vec::new() };
    if last - first < BARS {
        return (first..=last).map(|value| bar(counts, value.to_string(), value, value)).collect();
    }
    let low = at_share(counts, 0.01).unwrap_or(first);
    let high = at_share(counts, 0.99).unwrap_or(last);
    let width = round((high - low).div_ceil(BARS).max(1));
    let low = low / width * width;
    let mut bars = Vec::new();
    if first < low {
        bars.push(bar(counts, format!("below {low}"), first, low - 1));
    }
    let mut start = low;
    while start <= high {
        let end = start + width - 1;
        let label = if width == 1 { start.to_string() } else { format!("{} - {end}", start.max(first)) };
        bars.push(bar(counts, label, start, end));
        start += width;
    }
    if start <= last {
        bars.push(bar(counts, format!("{start} and more"), start, last));
    }
    bars
}

fn bar(counts: &[u64], label: String, first: usize, last: usize) -> Bar {
    Bar { label, count: counts.iter().skip(first).take(last - first + 1).sum() }
}

/// Returns the smallest value up to which this share of all counts is reached; `None` if all counts are zero.
fn at_share(counts: &[u64], share: f64) -> Option<usize> {
    let total: u64 = counts.iter().sum();
    let mut reached = 0;
    counts.iter().position(|&count| {
        reached += count;
        reached > 0 && float(reached) >= share * float(total)
    })
}

/// Returns the least of 1, 2, 5, 10, 20, 50, ... that is at least `least`.
fn round(least: usize) -> usize {
    let mut power = 1;
    loop {
        if let Some(round) = [1, 2, 5].map(|digit| digit * power).into_iter().find(|&round| round >= least) {
            return round;
        }
        power *= 10;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(counts: &[u64]) -> Vec<(String, u64)> {
        bars(counts).into_iter().map(|bar| (bar.label, bar.count)).collect()
    }

    #[test]
    fn few_values_have_a_bar_each_and_many_share_bars() {
        assert_eq!(labels(&[]), []);
        assert_eq!(labels(&[0, 0]), []);
        assert_eq!(labels(&[0, 3, 0, 4]), [("1".into(), 3), ("2".into(), 0), ("3".into(), 4)]);
        let mut counts = vec![1; 1];
        counts.extend([0; 99]);
        counts.extend([100; 60]);
        counts.extend([0; 400]);
        counts.push(2);
        let found = labels(&counts);
        assert_eq!(found[0], ("below 100".into(), 1));
        assert_eq!(found[1], ("100 - 104".into(), 500));
        assert_eq!(found[found.len() - 1], ("160 and more".into(), 2));
        assert_eq!(found.iter().map(|bar| bar.1).sum::<u64>(), counts.iter().sum::<u64>());
        assert_eq!([0, 1, 2, 3, 6, 11, 51].map(round), [1, 1, 2, 5, 10, 20, 100]);
    }

    #[test]
    fn bars_are_as_long_as_their_counts() {
        let unicode = Pen { unicode: true, colour: false };
        let ascii = Pen { unicode: false, colour: false };
        assert_eq!(unicode.bar(8, 8), ("█".repeat(40), 40));
        assert_eq!(unicode.bar(1, 64), ("▋".to_owned(), 1));
        assert_eq!(unicode.bar(1, 1_000_000), ("▏".to_owned(), 1));
        assert_eq!(unicode.bar(0, 8), (String::new(), 0));
        assert_eq!(ascii.bar(4, 8), ("#".repeat(20), 20));
        assert_eq!(ascii.bar(1, 1_000_000), (".".to_owned(), 1));
        assert_eq!(ascii.bar(u64::MAX, u64::MAX).1, 40);
    }
}
