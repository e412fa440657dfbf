pub(crate) mod compact;
pub(crate) mod picker;
mod tables;
