//! Makes ranks of values of any type.

use std::path::PathBuf;

use anyhow::bail;
use fpstore::bulk::TextRanks;

use super::number::{Number, is_exact, of_float, of_integer, to_float, to_integer};
use super::value::Value;
use crate::input::place::excerpt;
use crate::number::bytes;
use crate::threads;

/// The rank of a record without a value. No value has it.
pub const NO_VALUE: u64 = u64::MAX;

/// Keys, each with its rank.
pub type Ranked<K> = Vec<(K, u64)>;

/// Which values come first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum First {
    /// The smallest
    #[default]
    Min,
    /// The largest
    Max,
}

/// Memory and a directory.
#[derive(Clone, Debug)]
pub struct Space {
    /// Bytes for keys and ranks.
    pub memory: u64,
    /// Bytes for sorting texts, until the ranks are made.
    pub sorting: u64,
    /// Directory for temporary files without names.
    pub temp_dir: PathBuf,
}

/// Takes values one by one and makes ranks of them.
#[derive(Debug)]
pub struct Ranker<K> {
    first: First,
    space: Space,
    /// The key and the code of each value, which is the rank at the end.
    entries: Ranked<K>,
    /// Values that were pushed, also those beyond the memory.
    count: u64,
    column: Column,
    /// Whether a value was a number.
    has_numbers: bool,
    /// All values as texts, as long as each was a cell that is a number.
    cells: Option<TextRanks>,
}

/// The type of the values so far, and how codes represent them.
#[derive(Debug)]
enum Column {
    /// Integers of less than 64 bits; whether all are exact as floats.
    Integers {
        exact: bool,
    },
    Floats,
    /// Numbers that have no codes.
    Numbers(TextRanks),
    Texts(TextRanks),
}

impl<K> Ranker<K> {
    /// Returns a ranker without values.
    #[must_use]
    pub fn new(first: First, space: Space) -> Self {
        let column = Column::Integers { exact: true };
        Self { first, space, entries: Vec::new(), count: 0, column, has_numbers: false, cells: None }
    }

    /// Bytes of the keys and ranks of this many values, and of a bit each.
    fn bytes_of(count: u64) -> u64 {
        count.saturating_mul(size_of::<(K, u64)>() as u64).saturating_add(count.div_ceil(8))
    }

    /// Returns the bytes that the keys and ranks of all values take, if these are more than there is memory.
    #[must_use]
    pub fn beyond_memory(&self) -> Option<u64> {
        let needed = Self::bytes_of(self.count);
        (needed > self.space.memory).then_some(needed)
    }

    /// Adds a value. Beyond the memory it is only counted.
    ///
    /// # Errors
    ///
    /// If earlier values are of another type, or a temporary file cannot be written.
    pub fn push(&mut self, key: K, value: Value<'_>) -> anyhow::Result<()> {
        self.count += 1;
        if self.beyond_memory().is_some() {
            return Ok(());
        }
        let code = match value {
            Value::None | Value::Cell([]) => NO_VALUE,
            Value::Integer(integer) => self.number(Number::Integer(integer), None)?,
            Value::Float(float) if float.is_nan() => NO_VALUE,
            Value::Float(float) => self.number(Number::Float(float), None)?,
            Value::Text(text) => self.text(text)?,
            Value::Cell(cell) => self.cell(cell)?,
        };
        if self.entries.len() == self.entries.capacity() {
            // The system moves large vectors without a copy; untouched memory is not taken.
            self.entries.reserve_exact((self.entries.len() / 4).max(1 << 10));
        }
        self.entries.push((key, code));
        Ok(())
    }

    /// Returns the code of a number; `text` is its cell, for the message.
    fn number(&mut self, number: Number, text: Option<&[u8]>) -> anyhow::Result<u64> {
        self.has_numbers = true;
        loop {
            let code = match (&mut self.column, number) {
                (Column::Texts(_), _) => {
                    let shown = match (text, number) {
                        (Some(text), _) => excerpt(text),
                        (None, Number::Integer(integer)) => integer.to_string(),
                        (None, Number::Float(float)) => float.to_string(),
                    };
                    bail!("the values before are texts, this is the number {shown}; a column has one type");
                }
                (Column::Integers { exact }, Number::Integer(integer)) => {
                    *exact &= is_exact(integer);
                    of_integer(integer)
                }
                (Column::Integers { exact: true }, Number::Float(_)) => {
                    #[expect(clippy::cast_precision_loss, reason = "they are exact")]
                    self.codes(|code| of_float(to_integer(code) as f64));
                    self.column = Column::Floats;
                    continue;
                }
                (Column::Integers { exact: false }, Number::Float(_)) => None,
                (Column::Floats, Number::Float(float)) => Some(of_float(float)),
                #[expect(clippy::cast_precision_loss, reason = "it is exact")]
                (Column::Floats, Number::Integer(integer)) => is_exact(integer).then(|| of_float(integer as f64)),
                (Column::Numbers(ranks), number) => {
                    let (key, length) = number.key();
                    ranks.push(self.entries.len() as u64, key.get(..length).unwrap_or_default())?;
                    Some(NO_VALUE)
                }
            };
            match code {
                Some(code) => return Ok(code),
                None => self.without_codes()?,
            }
        }
    }

    /// Returns the code of a text.
    fn text(&mut self, text: &[u8]) -> anyhow::Result<u64> {
        if self.has_numbers {
            bail!("the values before are numbers, this is the text {}; a column has one type", excerpt(text));
        }
        if !matches!(self.column, Column::Texts(_)) {
            self.column = Column::Texts(self.sorter());
        }
        let number = self.entries.len() as u64;
        if let Column::Texts(ranks) = &mut self.column {
            ranks.push(number, text)?;
        }
        Ok(NO_VALUE)
    }

    /// Returns the code of a text that may be a number.
    fn cell(&mut self, cell: &[u8]) -> anyhow::Result<u64> {
        if matches!(self.column, Column::Texts(_)) {
            return self.text(cell);
        }
        let number = self.entries.len() as u64;
        let mut cells = self.cells.take().unwrap_or_else(|| self.sorter());
        cells.push(number, cell)?;
        match Number::parse(cell) {
            Some(parsed) => {
                self.cells = Some(cells);
                parsed.map_or(Ok(NO_VALUE), |number| self.number(number, Some(cell)))
            }
            None => {
                self.column = Column::Texts(cells);
                self.has_numbers = false;
                self.codes(|_| NO_VALUE);
                Ok(NO_VALUE)
            }
        }
    }

    /// Sorts the numbers instead of giving each a code.
    fn without_codes(&mut self) -> anyhow::Result<()> {
        let mut ranks = self.sorter();
        for (place, (_, code)) in (0u64..).zip(&mut self.entries).filter(|(_, (_, code))| *code != NO_VALUE) {
            let number = match self.column {
                Column::Floats => Number::Float(to_float(*code)),
                _ => Number::Integer(to_integer(*code).into()),
            };
            let (key, length) = number.key();
            ranks.push(place, key.get(..length).unwrap_or_default())?;
            *code = NO_VALUE;
        }
        self.column = Column::Numbers(ranks);
        Ok(())
    }

    /// Changes all codes.
    fn codes(&mut self, change: impl Fn(u64) -> u64) {
        for (_, code) in self.entries.iter_mut().filter(|(_, code)| *code != NO_VALUE) {
            *code = change(*code);
        }
    }

    /// There are two at most.
    fn sorter(&self) -> TextRanks {
        TextRanks::new(&self.space.temp_dir, &threads::options(), self.space.sorting / 2)
    }

    /// Returns the keys in the order pushed, each with its rank.
    ///
    /// # Errors
    ///
    /// If they do not fit the memory, or a temporary file fails.
    pub fn finish(mut self) -> anyhow::Result<Ranked<K>> {
        if let Some(needed) = self.beyond_memory() {
            bail!("the values take {} of memory", bytes(needed));
        }
        drop(self.cells.take());
        match std::mem::replace(&mut self.column, Column::Floats) {
            Column::Numbers(ranks) | Column::Texts(ranks) => ranks.visit(|place, rank| {
                let entry = usize::try_from(place).ok().and_then(|place| self.entries.get_mut(place));
                entry.into_iter().for_each(|(_, code)| *code = rank + 1);
            })?,
            Column::Integers { .. } | Column::Floats => {}
        }
        if self.first == First::Max {
            self.codes(|code| !code);
        }
        Ok(self.entries)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::cmp::Ordering;

    fn space() -> Space {
        Space { memory: 1 << 20, sorting: 1 << 20, temp_dir: std::env::temp_dir() }
    }

    fn ranks(first: First, values: &[Value<'_>]) -> Result<Vec<u64>, String> {
        let mut ranker = Ranker::new(first, space());
        values.iter().try_for_each(|value| ranker.push((), *value)).map_err(|error| error.to_string())?;
        Ok(ranker.finish().unwrap().into_iter().map(|((), rank)| rank).collect())
    }

    /// Checks that the values are in ascending order, those of one list equal, and that `Value::None` is the last.
    fn in_order(groups: &[&[Value<'_>]]) {
        let values: Vec<Value<'_>> = [Value::None].into_iter().chain(groups.concat()).collect();
        let of: Vec<usize> = groups.iter().enumerate().flat_map(|(i, group)| vec![i; group.len()]).collect();
        // Also in other orders, as the type of the column changes with the values.
        for turn in 0..values.len() {
            let turned = [&values[turn..], &values[..turn]].concat();
            for first in [First::Min, First::Max] {
                let mut found = ranks(first, &turned).unwrap();
                found.rotate_right(turn);
                assert_eq!(found[0], NO_VALUE);
                for (i, a) in of.iter().enumerate() {
                    assert!(found[i + 1] < NO_VALUE);
                    for (j, b) in of.iter().enumerate() {
                        let order = if first == First::Min { a.cmp(b) } else { b.cmp(a) };
                        assert_eq!(found[i + 1].cmp(&found[j + 1]), order, "{:?} {:?}", values[i + 1], values[j + 1]);
                    }
                }
            }
        }
    }

    #[test]
    fn values_of_every_type() {
        use Value::{Cell, Float, Integer, Text};
        in_order(&[&[Integer(-7), Integer(-7)], &[Integer(0)], &[Integer(1 << 60)]]);
        in_order(&[&[Integer(i64::MIN.into())], &[Integer(0)], &[Integer(i64::MAX.into())], &[Integer(1 << 64)]]);
        in_order(&[&[Float(f64::NEG_INFINITY)], &[Float(-0.5)], &[Float(-0.0), Float(0.0)], &[Float(f64::INFINITY)]]);
        in_order(&[&[Integer(-1)], &[Float(0.5)], &[Integer(1), Float(1.0)], &[Float(1.5)], &[Integer(2)]]);
        in_order(&[&[Integer(1 << 53)], &[Integer((1 << 53) + 1)], &[Float(9_007_199_254_740_994.0)], &[Float(1e20)]]);
        in_order(&[&[Text(b"")], &[Text(b"10"), Text(b"10")], &[Text(b"9")], &[Text(b"a\0")], &[Text(b"a\0b")]]);
        in_order(&[&[Cell(b"-1")], &[Cell(b"9.0"), Cell(b"9")], &[Cell(b"10")], &[Cell(b"1e3")]]);
        in_order(&[&[Cell(b"-1")], &[Cell(b"10")], &[Cell(b"9")], &[Cell(b"9.0")], &[Cell(b"x")]]);
        in_order(&[&[Cell(b"1")], &[Cell(b"1.5")], &[Cell(b"9223372036854775807")], &[Cell(b"9223372036854775808")]]);
        in_order(&[&[Cell(b"2.5")], &[Cell(b"18446744073709551615")]]);
    }

    #[test]
    fn no_value() {
        for none in [Value::None, Value::Float(f64::NAN), Value::Cell(b""), Value::Cell(b"NaN")] {
            for first in [First::Min, First::Max] {
                let found = ranks(first, &[none, Value::Cell(b"1"), none]).unwrap();
                assert!(found[0] == NO_VALUE && found[2] == NO_VALUE && found[1] < NO_VALUE, "{none:?}");
            }
        }
        assert_eq!(ranks(First::Max, &[Value::None; 2]), Ok(vec![NO_VALUE; 2]));
        assert_eq!(ranks(First::Max, &[]), Ok(vec![]));
    }

    #[test]
    fn types_are_not_mixed() {
        let error = ranks(First::Min, &[Value::Integer(1), Value::Text(b"x")]).unwrap_err();
        assert_eq!(error, "the values before are numbers, this is the text 'x'; a column has one type");
        let error = ranks(First::Min, &[Value::Text(b"x"), Value::None, Value::Float(1.5)]).unwrap_err();
        assert_eq!(error, "the values before are texts, this is the number 1.5; a column has one type");
    }

    #[test]
    fn no_more_than_fits_the_memory() {
        let mut ranker = Ranker::new(First::Min, Space { memory: 33, ..space() });
        for id in 0..2u64 {
            ranker.push(id, Value::Integer(7)).unwrap();
        }
        assert_eq!(ranker.beyond_memory(), None);
        ranker.push(2, Value::Integer(7)).unwrap();
        assert_eq!(ranker.beyond_memory(), Some(49));
        assert!(ranker.finish().unwrap_err().to_string().contains("49 B"));
    }

    proptest! {
        #[test]
        fn numbers_as_they_compare(numbers in prop::collection::vec((any::<bool>(), -9i64..9), 1..30)) {
            let value = |&(is_float, n): &(bool, i64)| {
                if is_float { Value::Float(n as f64 / 2.0) } else { Value::Integer(i128::from(n)) }
            };
            let twice = |&(is_float, n): &(bool, i64)| if is_float { n } else { 2 * n };
            let values: Vec<Value<'_>> = numbers.iter().map(value).collect();
            let found = ranks(First::Min, &values).unwrap();
            for (a, rank) in numbers.iter().zip(&found) {
                for (b, other) in numbers.iter().zip(&found) {
                    let order: Ordering = twice(a).cmp(&twice(b));
                    prop_assert_eq!(rank.cmp(other), order);
                }
            }
        }
    }
}
