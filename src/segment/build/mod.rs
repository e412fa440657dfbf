//! Makes a segment of sorted records.
//!
//! [`builder::write_segment`] takes [`chunk::RecordChunk`]s: sorted, distinct records of one kind, some millions at a
//! time. From each chunk it encodes the distinct fingerprints into the primary table (`primary`) and the ids into the
//! ids section (`id_section`), at the same time. It keeps the fingerprints (`secondary`), or sorts the keys of the
//! secondary tables as they come (`key_sorters`), or has a [`builder::SecondaryKeySource`] with sorted keys, and encodes
//! the secondary tables after the last chunk, as many at once as fit the memory. If all records come in one chunk,
//! everything is encoded at once.
//!
//! Encoders run on the executor's threads and send the parts of their sections to one writer thread (`sections`), which
//! writes the sections in order; parts of later sections wait in a `Spool`. The file appears under its name after the
//! footer is durable. `id_index` makes the entries of an id index, which is a segment too.

pub(crate) mod builder;
pub(crate) mod chunk;
pub(crate) mod id_index;
mod id_section;
pub(crate) mod key_sorters;
mod primary;
mod secondary;
mod sections;
