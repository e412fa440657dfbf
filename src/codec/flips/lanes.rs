//! Eight keys at a time: what the wide form of the decoder works on.

/// Where the streams of a block stand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::codec) struct Lanes {
    /// The next bit of the symbols of even keys and of odd ones.
    pub(in crate::codec) symbols: [usize; 2],
    /// The bit above the next value.
    pub(in crate::codec) values: usize,
    /// Number of keys decoded.
    pub(in crate::codec) done: usize,
    /// Whether something was found that is never written.
    pub(in crate::codec) damaged: bool,
}

/// Whether each key is greater than the one before.
#[inline]
pub(in crate::codec) fn ascending(keys: &[u64]) -> bool {
    let following = keys.get(1..).unwrap_or_default();
    keys.iter().zip(following).fold(0, |broken, (key, next)| broken | u64::from(key >= next)) == 0
}
