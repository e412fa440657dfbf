pub(crate) mod compact;
pub(crate) mod picker;
pub(crate) mod sizes;
mod tables;
