use crate::error::{Error, Result};
use std::fmt;

/// Longest text id in bytes.
pub(crate) const MAX_TEXT: usize = 4096;

/// The kind of a store's ids; fixed when the store is created.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum IdKind {
    /// Numbers of 64 bits.
    #[default]
    Number,
    /// Texts, such as URLs and paths: UTF-8, 1 to 4096 bytes, without TAB, CR, LF and NUL.
    Text,
    /// No ids: each fingerprint has a count.
    None,
}

impl IdKind {
    /// Every kind.
    pub const ALL: [Self; 3] = [Self::Number, Self::Text, Self::None];

    /// The name in the programs' arguments and output.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Number => "u64",
            Self::Text => "text",
            Self::None => "none",
        }
    }
}

/// Displays the values of a type with `ALL` and `name` by their names, and parses the names.
macro_rules! display_and_parse_names {
    ($type:ty, $what:literal, $remedy:literal) => {
        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.name())
            }
        }

        impl std::str::FromStr for $type {
            type Err = $crate::error::Error;

            fn from_str(name: &str) -> std::result::Result<Self, Self::Err> {
                let found = Self::ALL.into_iter().find(|value| value.name() == name);
                let message = || format!("there is no {} '{name}'", $what);
                found.ok_or_else(|| $crate::error::Error::invalid(message()).with_remedy($remedy))
            }
        }
    };
}

pub(crate) use display_and_parse_names;

display_and_parse_names!(IdKind, "kind of ids", "use u64, text or none");

/// The id of a stored record, of its store's [`IdKind`].
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Id {
    /// A number.
    Number(u64),
    /// A text; ordered by its bytes.
    Text(Box<str>),
    /// No id: how many records the fingerprint has.
    Count(u64),
}

impl Id {
    /// Longest text id in bytes.
    #[cfg(feature = "unstable")]
    pub const MAX_TEXT: usize = MAX_TEXT;

    /// The number or count; `None` of a text.
    #[must_use]
    pub fn number(&self) -> Option<u64> {
        match self {
            Self::Number(number) | Self::Count(number) => Some(*number),
            Self::Text(_) => None,
        }
    }

    /// The text, if it is one.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// How many records it stands for.
    pub(crate) fn records(&self) -> u64 {
        if let Self::Count(count) = self { *count } else { 1 }
    }

    /// The id as an input record has it; a count becomes `None`.
    #[must_use]
    pub fn as_ref(&self) -> IdRef<'_> {
        match self {
            Self::Number(number) => IdRef::Number(*number),
            Self::Text(text) => IdRef::Text(text),
            Self::Count(_) => IdRef::None,
        }
    }
}

impl From<u64> for Id {
    fn from(number: u64) -> Self {
        Self::Number(number)
    }
}

impl From<&str> for Id {
    fn from(text: &str) -> Self {
        Self::Text(text.into())
    }
}

impl PartialEq<u64> for Id {
    fn eq(&self, number: &u64) -> bool {
        matches!(self, Self::Number(own) if own == number)
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) | Self::Count(number) => write!(f, "{number}"),
            Self::Text(text) => f.write_str(text),
        }
    }
}

/// Where the ids of records come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum IdAssignment {
    /// Undecided: the first record that is written decides.
    #[default]
    Undecided,
    /// The store assigns them, from a counter that never reuses a number.
    Auto,
    /// They come with the records.
    Explicit,
}

/// The id of a record to be loaded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IdRef<'a> {
    /// No id: the store numbers the record, or counts it.
    #[default]
    None,
    /// A number.
    Number(u64),
    /// A text.
    Text(&'a str),
}

impl IdRef<'_> {
    /// Refuses a text that no id may be ([`IdKind::Text`]). Numbers, and no id, are always possible.
    ///
    /// # Errors
    /// `InvalidInput` that says why.
    pub fn check(self) -> Result<()> {
        if let Self::Text(text) = self { check_text(text) } else { Ok(()) }
    }
}

impl From<u64> for IdRef<'_> {
    fn from(number: u64) -> Self {
        Self::Number(number)
    }
}

impl<'a> From<&'a str> for IdRef<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(text)
    }
}

impl<'a> From<&'a Id> for IdRef<'a> {
    fn from(id: &'a Id) -> Self {
        id.as_ref()
    }
}

/// Checks that a text may be an id.
pub(crate) fn check_text(text: &str) -> Result<()> {
    let refused = |message: String| Err(Error::invalid(message));
    match text.len() {
        0 => refused("the id is empty".to_owned()),
        1..=MAX_TEXT => {
            let is_wrong = |byte: &u8| matches!(byte, b'\t' | b'\r' | b'\n' | 0);
            // Most often no byte is wrong: looking at all of them vectorizes.
            if !text.as_bytes().iter().fold(false, |wrong, byte| wrong | is_wrong(byte)) {
                return Ok(());
            }
            let wrong = text.bytes().find(is_wrong).map_or('\0', char::from);
            refused(format!("the id has a character that ids may not have: {wrong:?}"))
        }
        length => refused(format!("the id has {length} bytes, {MAX_TEXT} is the most")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_that_may_be_ids() {
        let longest = "x".repeat(MAX_TEXT);
        assert!(["ü €", "a b", "/path?x=1#y", &longest].iter().all(|text| check_text(text).is_ok()));
        let refused = ["", "a\tb", "\r", "a\n", "\0", &(longest + "x")];
        assert!(refused.iter().all(|text| check_text(text).is_err()));
    }
}
