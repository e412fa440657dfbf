//! Which columns of structured input matter, and what a message says where they are not there.

use super::place::excerpt;

/// The columns of structured input that a record is read from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection {
    /// Name of the column of what a record is about: its fingerprint, or what a document says.
    pub value: String,
    /// Name of the id's column.
    pub id: String,
    /// Whether a record without that id is an error: it is when the user named the column.
    pub id_required: bool,
    /// What a message says behind that there is no such column as `value`.
    pub hint: &'static str,
}

impl Selection {
    /// A record has not what it is about.
    pub(crate) fn no_value(&self) -> String {
        format!("there is no \"{}\"{}", self.value, self.hint)
    }

    /// The same of an object with these keys.
    pub(super) fn no_value_in(&self, keys: &[String]) -> String {
        self.no_value() + &beside(&self.value, keys)
    }

    /// An object with these keys has no id where one is required.
    pub(super) fn no_id_in(&self, keys: &[String]) -> String {
        format!("there is no \"{}\"{}", self.id, beside(&self.id, keys))
    }

    /// Refuses a record without an id where one is required.
    pub(crate) fn check_id(&self, is_none: bool) -> Result<(), String> {
        if is_none && self.id_required { Err(format!("there is no \"{}\"", self.id)) } else { Ok(()) }
    }

    /// Numbers of the two columns, found by their names; `columns` lists those that there are.
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

/// What there is instead of a key that is wanted.
fn beside(name: &str, keys: &[String]) -> String {
    match keys {
        [] => "; there are no columns".to_owned(),
        keys if keys.iter().any(|key| key == name) => "; it is null".to_owned(),
        keys => format!("; the columns are {}", list(keys)),
    }
}

/// The names of columns, for a message.
pub(crate) fn list(columns: &[String]) -> String {
    let names: Vec<String> = columns.iter().take(SHOWN).map(|name| excerpt(name.as_bytes())).collect();
    names.join(", ") + if columns.len() > SHOWN { ", ..." } else { "" }
}

/// Most names that a message lists.
const SHOWN: usize = 20;

/// A column that is wanted is not among those that there are.
pub(super) fn no_column(name: &str, columns: &str) -> String {
    format!("there is no column \"{name}\"; the columns are {columns}")
}
