//! The two columns of a line that hold the ids of documents.

use anyhow::bail;

/// Indexes of two columns, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Columns(usize, usize);

impl Columns {
    /// Converts numbers that count from 1.
    pub(super) fn new(numbers: &[usize]) -> anyhow::Result<Self> {
        match numbers {
            [a, b] if *a > 0 && *b > 0 && a != b => Ok(Self(a - 1, b - 1)),
            _ => bail!("--id-columns: expected the numbers of two columns, such as 4,5; the first column is 1"),
        }
    }

    /// Returns the ids of a line.
    pub(super) fn of(self, row: &[u8]) -> Result<[&str; 2], String> {
        let (mut a, mut b, mut columns) = (None, None, 0);
        for (number, cell) in row.split(|byte| *byte == b'\t').enumerate() {
            if number == self.0 {
                a = Some(cell);
            }
            if number == self.1 {
                b = Some(cell);
            }
            columns = number + 1;
        }
        let (Some(a), Some(b)) = (a, b) else {
            return Err(format!(
                "there is no column {}, only {columns}; expected columns with tabs between them, of which --id-columns \
                 names those with ids",
                self.0.max(self.1) + 1
            ));
        };
        let text = |cell| std::str::from_utf8(cell).map_err(|_| "the id is not UTF-8".to_owned());
        Ok([text(a)?, text(b)?])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_by_number() {
        let columns = Columns::new(&[4, 2]).unwrap();
        assert_eq!(columns.of(b"a\tb\tc\td\te"), Ok(["d", "b"]));
        assert_eq!(columns.of(b"\t\t\t"), Ok(["", ""]));
        assert!(columns.of(b"a\tb\tc").unwrap_err().starts_with("there is no column 4, only 3"));
        assert!(columns.of(b"a\t\xff\tc\td").unwrap_err().contains("UTF-8"));
        for wrong in [[0, 1], [2, 2]] {
            assert!(Columns::new(&wrong).is_err());
        }
    }
}
