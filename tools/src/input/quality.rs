//! Skips records of too low a quality, mostly image hashes of flat or empty pictures.

/// Column and threshold of the quality.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Quality {
    /// Name of the column.
    pub(super) column: String,
    /// Lowest quality of a record that is read.
    pub(super) least: f64,
}

impl Quality {
    /// Whether a record of this quality is read.
    pub(super) fn takes(&self, quality: Option<f64>) -> Result<bool, String> {
        match quality {
            Some(quality) if !quality.is_nan() => Ok(quality >= self.least),
            _ => Err(format!("there is no quality in \"{}\"", self.column)),
        }
    }

    /// Parses a cell of text; `None` if it is empty.
    pub(super) fn parse(&self, cell: &[u8]) -> Result<Option<f64>, String> {
        if cell.is_empty() {
            return Ok(None);
        }
        let number = std::str::from_utf8(cell).ok().and_then(|text| text.trim().parse().ok());
        number.map(Some).ok_or_else(|| format!("\"{}\" is not a number: {}", self.column, super::place::excerpt(cell)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_what_is_as_good_or_better() {
        let quality = Quality { column: "q".to_owned(), least: 50.0 };
        assert_eq!(quality.takes(Some(50.0)), Ok(true));
        assert_eq!(quality.takes(Some(49.9)), Ok(false));
        for nothing in [None, Some(f64::NAN)] {
            assert_eq!(quality.takes(nothing), Err("there is no quality in \"q\"".to_owned()));
        }
        assert_eq!(quality.parse(b" 7.5"), Ok(Some(7.5)));
        assert_eq!(quality.parse(b""), Ok(None));
        assert_eq!(quality.parse(b"good"), Err("\"q\" is not a number: 'good'".to_owned()));
    }
}
