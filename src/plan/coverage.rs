//! The blocks that a prefix covers, estimated from block keys.

/// Blocks that the keys with one prefix cover, for each prefix length from 0 to 64.
///
/// Block keys are a sample of the data, one key a block, and show its skew. Ranges shorter than a few blocks are below
/// the sample's resolution: there each further bit is assumed to halve them, unless block keys that still share the
/// prefix are more.
#[expect(clippy::cast_precision_loss, reason = "an estimate")]
pub(crate) fn covered(keys: impl ExactSizeIterator<Item = u64> + Clone) -> [f64; 65] {
    const RESOLUTION: f64 = 4.0;
    let blocks = keys.len() as f64;
    let mut common = [0usize; 65];
    for (a, b) in keys.clone().zip(keys.skip(1)) {
        common.iter_mut().skip((a ^ b).leading_zeros() as usize).take(1).for_each(|neighbours| *neighbours += 1);
    }
    let mut covered = [blocks; 65];
    let (mut prefixes, mut shorter) = (1, blocks);
    for (slot, boundaries) in covered.iter_mut().skip(1).zip(common) {
        prefixes += boundaries;
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
        let even: Vec<u64> = (0..1000u64).map(|i| i.wrapping_mul(u64::MAX / 1000)).collect();
        let behind_zeros: Vec<u64> = even.iter().map(|key| key >> 20).collect();
        for prefix in 0..=24 {
            let expected = 1000.0 / 2f64.powi(prefix);
            let found = covered(even.iter().copied())[prefix as usize];
            assert!((expected / 2.0..=expected * 2.0).contains(&found), "{prefix}: {found} for {expected}");
            let found = covered(behind_zeros.iter().copied())[20 + prefix as usize];
            assert!((expected / 2.0..=expected * 2.0).contains(&found), "{prefix}: {found} for {expected}");
        }
        assert_eq!(covered(behind_zeros.iter().copied())[20], 1000.0);
        let few = [covered([].into_iter()), covered([7].into_iter())];
        assert!(few.iter().flatten().all(|blocks| blocks.is_finite()));
    }
}
