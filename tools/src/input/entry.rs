//! One record of an input.

use super::RawId;

/// One record of an input, with the id as the input holds it; [`super::IdRule::check`] converts the id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry<'a, F> {
    /// The fingerprint.
    pub fingerprint: F,
    /// The id, if the input has one.
    pub id: RawId<'a>,
}
