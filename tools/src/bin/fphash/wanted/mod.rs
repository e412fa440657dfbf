//! Texts of the documents that are needed, found by their ids: the ids and the places of the texts are in memory, the
//! texts in a temporary file.

mod budget;
mod collect;
mod ids;

pub(crate) use budget::Budget;
pub(crate) use collect::{Collect, Texts};
pub(crate) use ids::Ids;
