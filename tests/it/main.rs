//! The library's integration tests: one binary, with one module for each guarantee.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, missing_docs)]

mod added;
mod any;
mod batch;
mod brute_force;
mod clusters;
mod clusters_from;
mod damage;
mod decoder;
mod environments;
mod extremes;
mod faults;
mod filters;
mod golden;
mod hooked;
mod inspect;
mod keys;
mod layers;
mod linkage;
mod live;
mod loading;
mod overlap;
mod pairs;
mod parts;
mod planner;
mod points;
mod reading;
mod removals;
mod saved_filters;
mod several_segments;
mod space;
mod stores;
mod strict;
mod support;
#[cfg(target_os = "linux")]
mod thread_names;
mod threads;
mod visit;
mod wide;
