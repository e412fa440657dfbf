//! Sorted tables of ranges of characters.

/// Whether a sorted table of ranges contains the character.
pub(super) fn contains(table: &[(char, char)], c: char) -> bool {
    let after = table.partition_point(|(first, _)| *first <= c);
    after.checked_sub(1).and_then(|place| table.get(place)).is_some_and(|(_, last)| c <= *last)
}
