//! Transposes 64 words of 64 bits, so that one instruction counts a bit of 64 fingerprints.

/// Moves bit `i` of row `j` to bit `j` of row `i`, both counted from the most significant one (Warren, Hacker's
/// Delight, section 7-3: halves are exchanged, then quarters, and so on).
#[allow(clippy::indexing_slicing, reason = "row < 64 and row + half < 64, by the mask")]
pub(super) fn transpose(rows: &mut [u64; 64]) {
    let mut half = 32;
    let mut mask = u64::MAX >> 32;
    while half > 0 {
        let mut row = 0;
        while row < 64 {
            let different = (rows[row] ^ (rows[row + half] >> half)) & mask;
            rows[row] ^= different;
            rows[row + half] ^= different << half;
            row = (row + half + 1) & !half;
        }
        half >>= 1;
        mask ^= mask << half;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn bits_are_where_they_should_be(rows in prop::array::uniform32(any::<[u64; 2]>())) {
            let rows: [u64; 64] = rows.as_flattened().try_into().unwrap();
            let mut columns = rows;
            transpose(&mut columns);
            let bit = |rows: &[u64; 64], row: usize, column: usize| rows[row] >> (63 - column) & 1;
            for i in 0..64 {
                for j in 0..64 {
                    prop_assert_eq!(bit(&columns, i, j), bit(&rows, j, i));
                }
            }
        }
    }
}
