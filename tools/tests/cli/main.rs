//! Tests of the programs from outside: arguments, files and pipes in; output, messages and exit codes out.
//!
//! They are one binary, so that it links once, with a module for each topic.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::cast_precision_loss,
    reason = "a test that cannot go on fails"
)]

mod by_id;
mod corpus;
mod dedup;
mod dedup_added;
mod dedup_linkage;
mod dedup_previous;
mod dedup_priorities;
mod dedup_report;
#[cfg(unix)]
mod dedup_stopped;
mod dedup_warnings;
mod documents;
mod documents_formats;
mod documents_minhash;
mod documents_order;
mod documents_refused;
#[cfg(unix)]
mod documents_stopped;
mod dump;
mod dump_damage;
mod dump_drawings;
mod dump_kinds;
mod dump_scan;
mod dump_what_if;
mod examples;
mod filters;
mod fingerprint_formats;
mod formats_of_every_width;
mod hash;
mod hash_compare;
mod hash_features;
mod hash_health;
mod hash_identity;
mod hash_inputs;
mod hash_like;
mod hash_matches;
mod hash_minhash;
mod hash_output;
mod hash_rejects;
mod hash_vectors;
mod hash_verify;
mod headers;
mod help;
mod ids;
mod ids_not_named;
mod input_directories;
mod input_formats;
mod input_recognised;
mod input_refused;
mod keys;
mod keys_hasher;
mod keys_of_documents;
mod keys_previous;
mod keys_report;
mod killed;
mod live;
mod load;
mod load_refused;
mod load_text;
mod memory;
mod memory_documents;
mod plans;
#[path = "../../../tests/it/points.rs"]
#[allow(dead_code, reason = "shared with the tests of the library")]
mod points;
mod quality;
mod query;
mod query_batch;
mod query_memory;
mod query_new;
mod query_output;
mod query_stream;
mod query_text;
mod query_usage;
mod read_and_written;
mod remove;
mod repair;
mod replace;
mod ring;
mod ring_rebalance;
mod ring_report;
#[cfg(unix)]
mod ring_stopped;
mod signals;
mod specification;
mod support;
mod trailer;
mod wide;
mod widths_and_ids;
