//! Draws the share of ones of every bit: eight bits on a line, each with a small bar, the percentage and its defect.

use std::fmt::Write as _;

use super::bits::Bits;
use super::report::Bit;

/// Bits of a line.
const COLUMNS: usize = 8;

/// Characters of the bars.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pen {
    /// Those of Unicode.
    Unicode,
    /// Those of ASCII alone.
    Ascii,
}

impl Pen {
    /// Returns the characters that the locale supports.
    #[must_use]
    pub fn of_locale() -> Self {
        let set = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let locale = set("LC_ALL").or_else(|| set("LC_CTYPE")).or_else(|| set("LANG")).unwrap_or_default();
        let locale = locale.to_ascii_lowercase();
        if locale.contains("utf-8") || locale.contains("utf8") { Self::Unicode } else { Self::Ascii }
    }

    /// Returns a character as high as the share.
    fn bar(self, share: f64) -> char {
        const HEIGHTS: [(char, char); 8] =
            [('▁', '_'), ('▂', '.'), ('▃', ':'), ('▄', '-'), ('▅', '='), ('▆', '+'), ('▇', '*'), ('█', '#')];
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 1 to 8")]
        let eighths = (share * 8.0).round().clamp(1.0, 8.0) as usize;
        let (unicode, ascii) = HEIGHTS.get(eighths - 1).copied().unwrap_or((' ', ' '));
        match self {
            _ if share <= 0.0 => ' ',
            Self::Unicode => unicode,
            Self::Ascii => ascii,
        }
    }
}

/// Draws lines of at most 80 columns.
pub(super) fn lines(bits: &[Bit], defects: &Bits, pen: Pen) -> String {
    let mut text = String::from("share of ones of each bit, in percent; bit 0 is the most significant\n");
    for (first, line) in (0..).step_by(COLUMNS).zip(bits.chunks(COLUMNS)) {
        let mut drawn = format!("{first:>4} -{:>4} ", first + line.len() - 1);
        for (bit, number) in line.iter().zip(first..) {
            // Writing to memory does not fail.
            let _ = write!(drawn, "  {}{:>4}{}", pen.bar(bit.share), percent(bit.share), mark(number, defects));
        }
        text.push_str(drawn.trim_end());
        text.push('\n');
    }
    text.push_str("d dead, c constant, m mirrored, b biased\n");
    text
}

/// Formats whole percent; only exact values are shown as 0 and 100.
fn percent(share: f64) -> String {
    let percent = (share * 100.0).round();
    match share {
        _ if share <= 0.0 => "0".to_owned(),
        _ if share >= 1.0 => "100".to_owned(),
        _ if percent < 1.0 => "<1".to_owned(),
        _ if percent > 99.0 => ">99".to_owned(),
        _ => percent.to_string(),
    }
}

fn mark(bit: usize, defects: &Bits) -> char {
    match bit {
        _ if defects.dead.contains(&bit) => 'd',
        _ if defects.constant.contains(&bit) => 'c',
        _ if defects.mirrored.iter().any(|mirrored| mirrored.bit == bit) => 'm',
        _ if defects.biased.contains(&bit) => 'b',
        _ => ' ',
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_for_people() {
        let said = [0.0, 0.001, 0.014, 0.5, 0.994, 0.999, 1.0].map(percent);
        assert_eq!(said, ["0", "<1", "1", "50", "99", ">99", "100"]);
        let bars = |pen: Pen| {
            [0.0, 0.01, 0.2, 0.49, 0.51, 0.95, 1.0].map(|share| pen.bar(share)).into_iter().collect::<String>()
        };
        assert_eq!((bars(Pen::Unicode), bars(Pen::Ascii)), (" ▁▂▄▄██".to_owned(), " _.--##".to_owned()));
    }
}
