//! Columns of structured input, and messages about columns that are missing.

use super::place::excerpt;

/// The columns that a record is read from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection {
    /// Name of the required column: the fingerprint, or the text of a document.
    pub value: String,
    /// Name of the column of ids.
    pub id: String,
    /// Whether a record without an id is an error: it is if the user named the column.
    pub id_required: bool,
    /// Added to the message that there is no column `value`.
    pub hint: &'static str,
}

impl Selection {
    /// Message about a record without the required value.
    pub(crate) fn no_value(&self) -> String {
        format!("there is no \"{}\"{}", self.value, self.hint)
    }

    /// Message about an object with these keys and without the required value.
    pub(crate) fn no_value_in(&self, keys: &[String]) -> String {
        self.no_value() + &beside(&self.value, keys)
    }

    /// Message about an object with these keys and without the required id.
    pub(super) fn no_id_in(&self, keys: &[String]) -> String {
        format!("there is no \"{}\"{}", self.id, beside(&self.id, keys))
    }

    /// Rejects a record without an id if one is required.
    pub(crate) fn check_id(&self, is_none: bool) -> Result<(), String> {
        if is_none && self.id_required { Err(format!("there is no \"{}\"", self.id)) } else { Ok(()) }
    }

    /// Returns the numbers of the two columns, found by name; `columns` lists all columns for a message.
    pub(crate) fn find(
        &self,
        number: impl Fn(&str) -> Result<Option<usize>, String>,
        columns: impl Fn() -> String,
    ) -> Result<(usize, Option<usize>), String> {
        let (value, id) = (number(&self.value)?, number(&self.id)?);
        let value = value.ok_or_else(|| no_column(&self.value, &columns()) + self.hint)?;
        if id.is_none() && self.id_required {
            return Err(no_column(&self.id, &columns()));
        }
        Ok((value, id))
    }
}

/// Describes the keys that are there instead of the one wanted.
fn beside(name: &str, keys: &[String]) -> String {
    match keys {
        [] => "; there are no columns".to_owned(),
        keys if keys.iter().any(|key| key == name) => "; it is null".to_owned(),
        keys => format!("; the columns are {}", list(keys)),
    }
}

/// Lists names of columns, for a message.
pub(crate) fn list(columns: &[String]) -> String {
    let names: Vec<String> = columns.iter().take(SHOWN).map(|name| excerpt(name.as_bytes())).collect();
    names.join(", ") + if columns.len() > SHOWN { ", ..." } else { "" }
}

/// Most names in a message.
const SHOWN: usize = 20;

/// Message about a column that is missing.
pub(crate) fn no_column(name: &str, columns: &str) -> String {
    format!("there is no column \"{name}\"; the columns are {columns}")
}
