pub(crate) mod builder;
pub(crate) mod chunk;
pub(crate) mod expected;
pub(crate) mod id_index;
mod id_section;
mod primary;
mod secondary;
