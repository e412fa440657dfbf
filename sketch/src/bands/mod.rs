//! Banding: cuts a signature into b bands of r rows. Two documents are candidates if they agree in all rows of some
//! band.
//!
//! Two documents of Jaccard similarity s become candidates with probability 1 - (1 - s^r)^b, an S-shaped curve whose
//! steep part is near (1/b)^(1/r) (Leskovec, Rajaraman, Ullman, "Mining of Massive Datasets", section 3.4).

mod optimal;

use std::fmt::Write as _;

use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::error::{Error, Result};

/// How a signature is cut into bands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bands {
    /// Number of bands.
    pub bands: usize,
    /// Rows of a band: places of the signature.
    pub rows: usize,
}

impl Bands {
    /// Returns `bands` bands of `rows` rows for signatures of `places` places. The remaining places are not used.
    ///
    /// # Errors
    ///
    /// If there are not enough places, or a number is zero.
    pub fn new(bands: usize, rows: usize, places: usize) -> Result<Self> {
        if bands == 0 || rows == 0 {
            return Err(Error::new("the number of bands and of rows is at least one"));
        }
        match bands.checked_mul(rows) {
            Some(needed) if needed <= places => Ok(Self { bands, rows }),
            _ => Err(Error::new(format!(
                "{bands} bands of {rows} rows need more places than the {places} of the signature; use fewer bands or \
                 rows, or more places"
            ))),
        }
    }

    /// Returns the probability that two documents of this Jaccard similarity become candidates.
    #[must_use]
    #[allow(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_possible_wrap,
        reason = "small"
    )]
    pub fn probability(&self, jaccard: f64) -> f64 {
        1.0 - (1.0 - jaccard.powi(self.rows as i32)).powf(self.bands as f64)
    }

    /// Returns the similarity at which the curve is about one half: (1/b)^(1/r).
    #[must_use]
    #[allow(clippy::cast_precision_loss, reason = "small")]
    pub fn threshold(&self) -> f64 {
        (1.0 / self.bands as f64).powf(1.0 / self.rows as f64)
    }

    /// Returns the curve at similarities 0, 1/steps, 2/steps, ... 1.
    #[allow(clippy::cast_precision_loss, reason = "small")]
    pub fn curve(self, steps: usize) -> impl Iterator<Item = (f64, f64)> {
        (0..=steps).map(move |step| {
            let jaccard = step as f64 / steps.max(1) as f64;
            (jaccard, self.probability(jaccard))
        })
    }

    /// Draws the curve for a terminal, 64 columns wide: similarity to the right, probability upwards.
    #[must_use]
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to 160")]
    pub fn plot(self) -> String {
        const WIDTH: usize = 60;
        const HEIGHT: usize = 16;
        // Heights in eighths of a line.
        const EIGHTHS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
        let columns: Vec<usize> =
            self.curve(WIDTH).map(|(_, probability)| (probability * (8 * HEIGHT) as f64).round() as usize).collect();
        let mut plot = String::new();
        for line in (0..HEIGHT).rev() {
            let label = match line {
                15 => "1.0",
                8 => "0.5",
                0 => "0.0",
                _ => "",
            };
            let _ = write!(plot, "{label:>4} |");
            let bars =
                columns.iter().map(|eighths| EIGHTHS.get(eighths.saturating_sub(8 * line).min(8)).unwrap_or(&' '));
            let bars: String = bars.collect();
            plot.push_str(bars.trim_end());
            plot.push('\n');
        }
        let _ = writeln!(plot, "     +{}", "-".repeat(WIDTH + 1));
        let _ = writeln!(plot, "      0.0{:>29}{:>28}", "0.5", "1.0");
        plot
    }

    /// Returns the key of each band: the XXH3 of its places, little-endian; four bytes each, or eight if one needs more
    /// than four. The seed is the number of the band, so equal places in different bands do not collide.
    pub fn keys(self, signature: &[u64]) -> impl Iterator<Item = u64> + '_ {
        let bands = signature.chunks_exact(self.rows).take(self.bands);
        let mut bytes = Vec::with_capacity(8 * self.rows);
        bands.zip(0..).map(move |(rows, number)| {
            bytes.clear();
            let narrow = rows.iter().all(|place| u32::try_from(*place).is_ok());
            let length = if narrow { 4 } else { 8 };
            rows.iter().for_each(|place| bytes.extend(place.to_le_bytes().iter().take(length)));
            xxh3_64_with_seed(&bytes, number)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_curve_of_the_textbook() {
        let bands = Bands::new(20, 5, 100).unwrap();
        assert!((bands.probability(0.8) - 0.999_65).abs() < 1e-5);
        assert!((bands.probability(0.3) - 0.047).abs() < 6e-4);
        let table: Vec<(f64, f64)> = bands.curve(10).collect();
        assert_eq!((table.len(), table[0], table[10]), (11, (0.0, 0.0), (1.0, 1.0)));
        assert!((bands.threshold() - 0.549).abs() < 1e-3);
    }

    #[test]
    fn a_drawing() {
        let plot = Bands { bands: 20, rows: 5 }.plot();
        let lines: Vec<&str> = plot.lines().collect();
        assert_eq!(lines.len(), 18);
        assert!(lines[0].starts_with(" 1.0 |") && lines[0].ends_with('█'), "{plot}");
        assert!(lines.iter().all(|line| line.chars().count() <= 67), "{plot}");
        assert!(lines[15].chars().filter(|c| *c != ' ').count() > 40, "{plot}");
    }

    #[test]
    fn what_is_refused() {
        assert!(Bands::new(0, 5, 128).is_err());
        assert!(Bands::new(5, 0, 128).is_err());
        assert!(Bands::new(20, 7, 128).unwrap_err().to_string().contains("more places"));
        assert!(Bands::new(usize::MAX, 2, 128).is_err());
    }

    proptest! {
        /// Keys are equal exactly if all rows of the band are.
        #[test]
        fn keys_are_of_bands(a in prop::collection::vec(prop_oneof![0_u64..2, Just(1 << 32)], 20), b in prop::collection::vec(prop_oneof![0_u64..2, Just(1 << 32)], 20), rows in 1_usize..5) {
            let bands = Bands::new(20 / rows, rows, 20).unwrap();
            let keys = |signature: &[u64]| bands.keys(signature).collect::<Vec<u64>>();
            for (number, (x, y)) in keys(&a).into_iter().zip(keys(&b)).enumerate() {
                let of = number * rows..(number + 1) * rows;
                prop_assert_eq!(x == y, a[of.clone()] == b[of]);
            }
            let distinct: std::collections::HashSet<u64> = keys(&[7; 20]).into_iter().collect();
            prop_assert_eq!(distinct.len(), bands.bands);
        }
    }
}
