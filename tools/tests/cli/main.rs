//! The programs as their users meet them: arguments, files and pipes in; output, messages and exit codes out.
//!
//! One binary, so that it links once; a module for each thing that is promised.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::cast_precision_loss,
    reason = "a test that cannot go on fails"
)]

mod corpus;
mod dedup;
mod dedup_previous;
mod dedup_stopped;
mod dump;
mod dump_damage;
mod dump_drawings;
mod dump_kinds;
mod dump_what_if;
mod filters;
mod formats_of_every_width;
mod hash;
mod hash_compare;
mod hash_health;
mod hash_identity;
mod hash_inputs;
mod hash_matches;
mod hash_minhash;
mod hash_vectors;
mod headers;
mod ids;
mod input_formats;
mod input_refused;
mod killed;
mod live;
mod load;
mod load_refused;
mod load_text;
mod memory;
mod plans;
mod query;
mod query_batch;
mod query_stream;
mod query_usage;
mod remove;
mod repair;
mod specification;
mod support;
mod wide;
mod widths_and_ids;
