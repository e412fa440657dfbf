//! One record of an input.

use super::RawId;

/// One record of an input, with what the input holds as its id; [`super::IdRule::check`] makes an id of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry<'a, F> {
    /// The fingerprint.
    pub fingerprint: F,
    /// The id, where the input has one.
    pub id: RawId<'a>,
}
