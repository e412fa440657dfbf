//! The fingerprint of a document.

use fpsketch::{Document, Simhash, SimhashPreset};

use crate::documents::Location;

/// Returns the fingerprint of a document with at least `least` features. For bkdr, the lines of a whole file are joined
/// without separators, because the Java program reads files like that.
///
/// # Errors
///
/// If the document has fewer.
pub fn fingerprint(
    simhash: &Simhash,
    document: Document<'_>,
    place: &Location,
    least: usize,
) -> Result<u128, fpsketch::TooFew> {
    match (simhash.preset(), document, place) {
        (SimhashPreset::Bkdr, Document::Text(text), Location::Whole(_)) => {
            simhash.try_fingerprint(text.replace(['\n', '\r'], "").as_str().into(), least)
        }
        _ => simhash.try_fingerprint(document, least),
    }
}
