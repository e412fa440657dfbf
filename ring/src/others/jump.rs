//! Jump consistent hashing (Lamping and Veach, "A Fast, Minimal Memory, Consistent Hash Algorithm", 2014).
//!
//! It takes no memory and balances perfectly, but nodes are numbers: only the last one can leave without moving keys
//! between others, and all have the same weight.

/// The bucket of a key, below `buckets`; 0 if there are none.
#[must_use]
pub fn bucket(mut key: u64, buckets: u32) -> u32 {
    let (mut bucket, mut next) = (0_u32, 0_u32);
    while next < buckets {
        bucket = next;
        key = key.wrapping_mul(2_862_933_555_777_941_757).wrapping_add(1);
        let unit = f64::from(1_u32 << 31) / (f64::from(u32::try_from(key >> 33).unwrap_or(0)) + 1.0);
        let jump = (f64::from(bucket) + 1.0) * unit;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "positive; saturates")]
        let rounded = jump as u32;
        next = rounded;
    }
    bucket
}

#[cfg(test)]
mod tests {
    use super::bucket;

    #[test]
    fn reference_values() {
        for (key, buckets, value) in
            [(1, 1, 0), (42, 57, 43), (0xdead_10cc, 1, 0), (0xdead_10cc, 666, 361), (256, 1024, 520)]
        {
            assert_eq!(bucket(key, buckets), value, "{key} of {buckets}");
        }
        assert_eq!(bucket(7, 0), 0);
    }

    #[test]
    fn keys_move_to_the_new_bucket_only() {
        for key in 0..1000_u64 {
            let key = key.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            for buckets in 1..20 {
                let (before, after) = (bucket(key, buckets), bucket(key, buckets + 1));
                assert!(after == before || after == buckets);
            }
        }
    }
}
