//! Which prefix length a query uses in a table, and what that costs.
//!
//! Short prefixes mean few probes that each cover many blocks, long ones many probes that each touch one block or two.

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
/// within `radius`, if its keys were spread evenly.
pub(crate) fn choose(blocks: f64, leading: u32, radius: u32) -> Probing {
    (0..=leading)
        .map(|prefix| expect(blocks, prefix, radius))
        .min_by(|a, b| effort(a).total_cmp(&effort(b)))
        .unwrap_or(Probing { prefix: 0, probes: 1.0, blocks })
}

/// Blocks, and the time to find a probe's place in terms of the time to decode a block.
fn effort(probing: &Probing) -> f64 {
    const PLACE: f64 = 0.1;
    probing.blocks + PLACE * probing.probes
}

/// What prefixes of `prefix` bits cost.
fn expect(blocks: f64, prefix: u32, radius: u32) -> Probing {
    let probes: f64 = (0..=radius.min(prefix)).map(|flips| binomial(prefix, flips)).sum();
    let range = blocks / 2f64.powi(i32::try_from(prefix).unwrap_or(i32::MAX));
    // A range begins somewhere within a block. Flips of the prefix's last bits land in the same few blocks.
    Probing { prefix, probes, blocks: (probes * (1.0 + range)).min(blocks) }
}

fn binomial(n: u32, k: u32) -> f64 {
    (0..k).fold(1.0, |product, i| product * f64::from(n - i) / f64::from(i + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_tables_take_longer_prefixes_within_the_leading_part() {
        let prefix = |blocks: f64| choose(blocks, 32, 1).prefix;
        assert!(prefix(1e3) < prefix(1e5) && prefix(1e5) < prefix(1e7));
        assert!((16..=24).contains(&prefix(2e5)), "{}", prefix(2e5));
        assert_eq!(choose(1e9, 16, 0).prefix, 16);
    }

    #[test]
    fn a_tiny_table_is_read_whole() {
        assert_eq!(choose(1.0, 64, 3), Probing { prefix: 0, probes: 1.0, blocks: 1.0 });
    }
}
