//! The blocks that a prefix covers, estimated from block keys.

/// For each of 64 bits, beginning at the first one, the number of neighbouring keys that differ in it and agree in all
/// bits before it. Equal neighbours do not count.
pub(crate) fn boundaries(keys: impl Iterator<Item = u64>) -> [u64; 64] {
    let mut counts = [0; 64];
    let mut last = None;
    for key in keys {
        let common = last.replace(key).map_or(64, |last: u64| (last ^ key).leading_zeros());
        counts.iter_mut().skip(common as usize).take(1).for_each(|count| *count += 1);
    }
    counts
}

/// Blocks that the keys with one prefix cover, for each prefix length from 0 to 64, given the [`boundaries`] of their
/// last keys.
///
/// Block keys are a sample of the data, one key a block, and show its skew. Ranges shorter than a few blocks are below
/// the sample's resolution: there each further bit is assumed to halve them, unless block keys that still share the
/// prefix are more.
#[expect(clippy::cast_precision_loss, reason = "an estimate")]
pub(crate) fn covered(blocks: u64, boundaries: impl Iterator<Item = u64>) -> [f64; 65] {
    const RESOLUTION: f64 = 4.0;
    let blocks = blocks as f64;
    let mut covered = [blocks; 65];
    let (mut prefixes, mut shorter) = (1u64, blocks);
    for (slot, boundaries) in covered.iter_mut().skip(1).zip(boundaries.chain(std::iter::repeat(0))) {
        prefixes = prefixes.saturating_add(boundaries);
        let shared = blocks / prefixes as f64;
        shorter = if shared >= RESOLUTION { shared } else { f64::max(shorter / 2.0, shared - 1.0) };
        *slot = shorter;
    }
    covered
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn even_keys_cover_half_with_every_bit_and_constant_bits_tell_nothing_apart() {
        let covered = |keys: &[u64]| covered(keys.len() as u64, boundaries(keys.iter().copied()).into_iter());
        let even: Vec<u64> = (0..1000u64).map(|i| i.wrapping_mul(u64::MAX / 1000)).collect();
        let behind_zeros: Vec<u64> = even.iter().map(|key| key >> 20).collect();
        for prefix in 0..=24 {
            let expected = 1000.0 / 2f64.powi(prefix);
            let found = covered(&even)[prefix as usize];
            assert!((expected / 2.0..=expected * 2.0).contains(&found), "{prefix}: {found} for {expected}");
            let found = covered(&behind_zeros)[20 + prefix as usize];
            assert!((expected / 2.0..=expected * 2.0).contains(&found), "{prefix}: {found} for {expected}");
        }
        assert_eq!(covered(&behind_zeros)[20], 1000.0);
        let few = [covered(&[]), covered(&[7])];
        assert!(few.iter().flatten().all(|blocks| blocks.is_finite()));
    }
}
