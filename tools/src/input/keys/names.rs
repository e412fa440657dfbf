//! Names of columns.

/// The columns of keys, of which an input has one.
pub(in crate::input) const KEYS: &str = "keys";
pub(in crate::input) const BANDS: &str = "bands";
/// The column of sketches.
pub(in crate::input) const SKETCH: &str = "sketch";
/// The member of JSON objects that names what made the keys.
pub(crate) const HASHER: &str = "hasher";
