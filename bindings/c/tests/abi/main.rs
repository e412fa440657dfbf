//! The C ABI as C and Python see it: the header is that of the sources, and programs that are compiled with it, linked
//! with either library and run under valgrind give the right answers, without an error of memory and without a leak.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stderr)]

mod header;
#[cfg(target_os = "linux")]
mod installed;
#[cfg(target_os = "linux")]
mod programs;
