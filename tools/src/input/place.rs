//! Places in an input, for error messages.

use std::fmt;
use std::sync::Arc;

/// An input and a line of it, or a record where the format has no lines. Both count from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Name of the input.
    pub input: Arc<str>,
    /// `line` or `record`.
    pub unit: &'static str,
    /// Number of the line or record.
    pub number: u64,
}

impl Place {
    /// Returns an error about this place.
    #[must_use]
    pub fn error(&self, message: impl fmt::Display) -> anyhow::Error {
        anyhow::anyhow!("{self}: {message}")
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} {}", self.input, self.unit, self.number)
    }
}

/// Quotes a piece of input for an error message, in printable characters and shortened.
pub(crate) fn excerpt(bytes: &[u8]) -> String {
    const SHOWN: usize = 40;
    let head = bytes.get(..SHOWN).unwrap_or(bytes);
    let more = if head.len() < bytes.len() { "..." } else { "" };
    format!("'{}{more}'", String::from_utf8_lossy(head).escape_debug())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_name_the_place() {
        let place = Place { input: "a.tsv".into(), unit: "line", number: 7 };
        assert_eq!(place.error("no").to_string(), "a.tsv: line 7: no");
    }

    #[test]
    fn excerpts_are_short_and_printable() {
        assert_eq!(excerpt(b"a\tb"), "'a\\tb'");
        assert_eq!(excerpt(&[b'x'; 100]).len(), 45);
    }
}
