//! The words that datatrove 0.10.1 makes of English text for its MinHash: the text is simplified (`simplify.rs`), then
//! split as spaCy's tokenizer splits it (`spacy.rs`). The words are exactly those of datatrove, except where a
//! character is newer than the Unicode version of the Python that runs it.

mod contractions;
mod ranges;
mod simplify;
mod spacy;
mod tables;

/// Calls `take` with every word.
pub(super) fn words(text: &str, mut take: impl FnMut(&str)) {
    let text = simplify::simplified(text);
    let mut tokenizer = spacy::Tokenizer::default();
    text.split(' ').filter(|chunk| !chunk.is_empty()).for_each(|chunk| tokenizer.each(chunk, &mut take));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What datatrove 0.10.1 prints under Python 3.11; `tests/it/datatrove.rs` compares many more texts.
    #[test]
    fn words_of_datatrove() {
        for (text, expected) in [
            ("It doesn't cost $1,234.56!", "it doesn t cost 0 0"),
            ("You dont say; I cannot.", "you do nt say i can not"),
            ("10km² in 3.5h, 7 €/m³ 5g", "0 km² in 0h 0 € m³ 0 g"),
            ("Ünïcode №5 ☃snow☃man☃", "unicode № 0 ☃ snow ☃ man ☃"),
            ("1.2.3 x≠y ‘s ‘sa", "0 0 x = y ‘s ‘ sa"),
            ("ΟΔΟΣ ΟΔΟΣ.", "οδος οδος"),
            ("\u{ac01} \u{30ac}", "\u{1100}\u{1161}\u{11a8} \u{30ab}"),
        ] {
            let mut found = Vec::new();
            words(text, |word| found.push(word.to_owned()));
            assert_eq!(found.join(" "), expected, "{text}");
        }
    }
}
