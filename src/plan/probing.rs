//! Which prefix length a query uses in a table, and what that costs.
//!
//! Short prefixes mean few probes that each cover many blocks, long ones many probes that each touch one block or two.
//! How many blocks a prefix covers depends on the data: bits that hardly vary tell nothing apart.

/// What probing one table once is expected to cost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Probing {
    /// Number of leading key bits that are looked up.
    pub(crate) prefix: u32,
    /// Number of prefixes within the radius.
    pub(crate) probes: f64,
    /// Blocks that these prefixes are expected to touch, never more than there are.
    pub(crate) blocks: f64,
}

/// The prefix length, at most `leading`, with the fewest blocks to decode in a table of `blocks` blocks that is probed
/// within `radius`. `covered` says how many blocks the keys with one prefix of a length extend over.
pub(crate) fn choose(blocks: f64, leading: u32, radius: u32, covered: impl Fn(u32) -> f64) -> Probing {
    (0..=leading)
        .map(|prefix| {
            let probes: f64 = (0..=radius.min(prefix)).map(|flips| binomial(prefix, flips)).sum();
            // A range begins somewhere within a block. Flips of the prefix's last bits land in the same few blocks.
            Probing { prefix, probes, blocks: (probes * (1.0 + covered(prefix))).min(blocks) }
        })
        .min_by(|a, b| effort(a).total_cmp(&effort(b)))
        .unwrap_or(Probing { prefix: 0, probes: 1.0, blocks })
}

/// The blocks that a prefix covers if keys are spread evenly over `blocks` blocks.
pub(crate) fn evenly(blocks: f64) -> impl Fn(u32) -> f64 {
    move |prefix| blocks / 2f64.powi(i32::try_from(prefix).unwrap_or(i32::MAX))
}

/// Blocks, and the time to find a probe's place in terms of the time to decode a block.
fn effort(probing: &Probing) -> f64 {
    const PLACE: f64 = 0.1;
    probing.blocks + PLACE * probing.probes
}

fn binomial(n: u32, k: u32) -> f64 {
    (0..k).fold(1.0, |product, i| product * f64::from(n - i) / f64::from(i + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_tables_take_longer_prefixes_within_the_leading_part() {
        let choose = |blocks, leading, radius| choose(blocks, leading, radius, evenly(blocks));
        let prefix = |blocks: f64| choose(blocks, 32, 1).prefix;
        assert!(prefix(1e3) < prefix(1e5) && prefix(1e5) < prefix(1e7));
        assert!((16..=24).contains(&prefix(2e5)), "{}", prefix(2e5));
        assert_eq!(choose(1e9, 16, 0).prefix, 16);
    }

    #[test]
    fn bits_that_never_vary_are_looked_beyond() {
        // Behind 12 constant bits, 1,000 blocks' keys are spread evenly.
        let covered = |prefix: u32| evenly(1000.0)(prefix.saturating_sub(12));
        let even = choose(1000.0, 32, 1, evenly(1000.0));
        let skewed = choose(1000.0, 32, 1, covered);
        assert!(skewed.prefix >= even.prefix + 8 && skewed.blocks < 100.0, "{even:?} {skewed:?}");
    }

    #[test]
    fn a_tiny_table_is_read_whole() {
        assert_eq!(choose(1.0, 64, 3, evenly(1.0)), Probing { prefix: 0, probes: 1.0, blocks: 1.0 });
    }
}
