//! Reads one more column of the documents, in the order of the inputs.

use anyhow::{anyhow, bail};

use super::item::{Item, Raw};
use super::parquet::Values;
use super::reader::Reader;
use super::recognised::Recognised;
use super::{DocumentFormat, Inputs};
use crate::input::json_value::OfJson;
use crate::input::selection::no_column;
use crate::input::{Selection, object};
use crate::interrupt;
use crate::progress::Progress;
use crate::ranks::Value;

/// Calls `take` with the value of every document in this column; [`Value::None`] for one without a value, and for one
/// that cannot be read.
///
/// # Errors
///
/// If an input cannot be read, has no columns or not this one, or a value has no order; errors of `take`, with the
/// place.
pub fn each_value(
    inputs: &Inputs,
    column: &str,
    progress: &Progress,
    mut take: impl FnMut(Value<'_>) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let columns = inputs.options.columns();
    // No key of an object is the id.
    let selection = Selection { value: column.to_owned(), id: String::new(), id_required: false, hint: "" };
    let (mut has_key, mut missing, mut unescaped) = (false, None, String::new());
    for source in inputs.files() {
        let found = Recognised::open(&source?, &inputs.options, progress)?;
        let name = found.name();
        match found.format {
            DocumentFormat::Parquet => {
                has_key = true;
                let mut rows = Values::open(found, column, &inputs.options, progress)?;
                while rows.advance()? {
                    rows.take(&mut take)?;
                }
                continue;
            }
            DocumentFormat::File => bail!("--keep-by {column}: {name} is a whole document, which has no columns"),
            _ => {}
        }
        let mut reader = Reader::of(found, &inputs.options, progress)?;
        let names = reader.names()?;
        let index = names.iter().position(|name| **name == *column.as_bytes());
        if !names.is_empty() && index.is_none() {
            let list: Vec<_> = names.iter().map(|name| format!("'{}'", String::from_utf8_lossy(name))).collect();
            bail!("{name}: {}", no_column(column, &list.join(", ")));
        }
        has_key |= index.is_some();
        while let Some(item) = reader.next_item(0)? {
            interrupt::check()?;
            let place = item.place.clone();
            let is_bad = |line: &[u8]| {
                let again = Item { place: place.clone(), raw: Raw::Object(line.to_vec()), number: 0 };
                again.document(&columns).1.is_err()
            };
            let taken = match (&item.raw, index) {
                (Raw::Object(line), _) => match object::fields(line, &selection, OfJson) {
                    Ok((value, _)) => {
                        if value.is_none() && !has_key {
                            let keys = object::keys(line);
                            has_key = keys.iter().any(|key| key == column);
                            missing.get_or_insert_with(|| anyhow!("{place}: {}", selection.no_value_in(&keys)));
                        }
                        has_key |= value.is_some();
                        take(value.map_or(Value::None, |value| value.of(&mut unescaped)))
                    }
                    // It is no document, either.
                    Err(_) if is_bad(line) => take(Value::None),
                    Err(error) => Err(anyhow!(String::from(error))),
                },
                (Raw::Cells(..), Some(index)) => take(Value::Cell(reader.cells().nth(index).unwrap_or_default())),
                _ => take(Value::None),
            };
            taken.map_err(|error| anyhow!("{place}: {error:#}"))?;
        }
    }
    match missing {
        Some(error) if !has_key => Err(error),
        _ => Ok(()),
    }
}
