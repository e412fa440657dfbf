//! The input of a sketch.

/// A document.
#[derive(Clone, Copy, Debug)]
pub enum Document<'a> {
    /// A text that is still to be split into features.
    Text(&'a str),
    /// Ready-made tokens, each of them one feature.
    Tokens(&'a [String]),
}

impl<'a> From<&'a str> for Document<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(text)
    }
}

impl<'a> From<&'a [String]> for Document<'a> {
    fn from(tokens: &'a [String]) -> Self {
        Self::Tokens(tokens)
    }
}
