//! Documents in columns: strings, or lists of ready-made tokens.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use fpstore::Result;
use fpstore_bindings::Stop;
use fpstore_bindings::input::{TextColumn, invalid};
use fpstore_tools::documents::Content;
use rayon::prelude::*;

/// Documents between two looks at whether the work is to end.
const PIECE: usize = 256;

/// The documents of a piece of a column.
#[derive(Clone, Debug)]
pub(super) enum Documents {
    Texts(TextColumn),
    Tokens(ArrayRef),
}

/// Whether a column of this type has tokens.
pub(super) fn are_tokens(of: &DataType) -> bool {
    matches!(of, DataType::List(_) | DataType::LargeList(_))
}

impl Documents {
    pub(super) fn new(column: &ArrayRef) -> Result<Self> {
        if are_tokens(column.data_type()) {
            Ok(Self::Tokens(Arc::clone(column)))
        } else {
            TextColumn::new(column).map(Self::Texts)
        }
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Self::Texts(texts) => texts.len(),
            Self::Tokens(lists) => lists.len(),
        }
    }

    /// Calls `make` with a document, unless it is null.
    fn with<T>(&self, row: usize, make: impl Fn(&Content) -> T) -> Result<Option<T>> {
        match self {
            Self::Texts(texts) => Ok(texts.get(row).map(|text| make(&Content::Text(text.to_owned())))),
            Self::Tokens(lists) if lists.is_null(row) => Ok(None),
            Self::Tokens(lists) => {
                let values = match lists.data_type() {
                    DataType::List(_) => lists.as_list::<i32>().value(row),
                    _ => lists.as_list::<i64>().value(row),
                };
                let tokens = TextColumn::new(&values)?;
                let null = || invalid("a token is null").at_row(row as u64);
                let tokens = (0..tokens.len()).map(|at| tokens.get(at).map(str::to_owned).ok_or_else(null));
                Ok(Some(make(&Content::Tokens(tokens.collect::<Result<_>>()?))))
            }
        }
    }

    /// What `make` makes of every document, on all threads, in order; nulls for nulls.
    pub(super) fn map<T: Send>(
        &self,
        stop: &Stop,
        make: impl Fn(&Content) -> Option<T> + Sync,
    ) -> Result<Vec<Option<T>>> {
        let pieces: Vec<usize> = (0..self.len()).step_by(PIECE).collect();
        let made = pieces.into_par_iter().map(|first| {
            stop.check()?;
            let rows = first..self.len().min(first + PIECE);
            rows.map(|row| self.with(row, &make).map(Option::flatten)).collect::<Result<Vec<_>>>()
        });
        Ok(made.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect())
    }
}
