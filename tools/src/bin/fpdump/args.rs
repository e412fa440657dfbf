//! What was typed: subcommands and options of `fpdump`.

use std::path::PathBuf;

use clap::{Parser, Subcommand};
use fpstore_tools::common::Common;
use fpstore_tools::input::parse_hex;

const EXAMPLES: &str = "\
PATH is a store, or a file of one. Nothing is ever written to it.

Exit code: 0 = done, 1 = `get` found nothing or `verify` found damage, 2 = an error.

Examples:
  fpdump info store                            what is it, and what is it made of?
  fpdump stats --json store                    how large is every part, beside the least possible
  fpdump verify store                          is every byte what was written?
  fpdump scan store | fpload --create copy -   a store as text, and back
  fpdump get 832fe9f6aa2f461a store            the ids of one fingerprint
  fpdump block 3 store/00000001.segment --table 1     one block, decoded
  fpdump hex store/00000001.segment | less            every byte and its meaning";

/// Looks inside a store or a file of it. Never writes.
#[derive(Clone, Debug, Parser)]
#[command(name = "fpdump", version, after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) what: What,

    #[command(flatten)]
    pub(crate) common: Common,
}

#[derive(Clone, Debug, Subcommand)]
pub(crate) enum What {
    /// What it is: parameters, files, numbers of records
    Info {
        /// A store, a segment file or a manifest
        path: PathBuf,
    },
    /// Sizes of all parts, bits a fingerprint beside the information bound
    Stats {
        /// A store or a segment file
        path: PathBuf,
    },
    /// Where the sections of the files begin and end
    Layout {
        /// A store or a segment file
        path: PathBuf,
    },
    /// The blocks of a table, a line each
    Blocks {
        /// A store or a segment file
        path: PathBuf,
        /// Number of the table, from 0
        #[arg(long, value_name = "N", default_value_t = 0)]
        table: usize,
    },
    /// One block: its fields, and the keys in it
    Block {
        /// Number of the block, from 0, as `blocks` shows it
        #[arg(value_name = "N")]
        number: usize,
        /// A store of one segment, or a segment file
        path: PathBuf,
        /// Number of the table, from 0
        #[arg(long, value_name = "N", default_value_t = 0)]
        table: usize,
    },
    /// All records as fpload reads them, a line each: HEX, TAB, ID
    Scan {
        /// A store or a segment file
        path: PathBuf,
    },
    /// The records of one fingerprint
    Get {
        /// The fingerprint, 16 hexadecimal digits
        #[arg(value_name = "HEX", value_parser = |text: &str| parse_hex(text.as_bytes()))]
        fingerprint: u64,
        /// A store or a segment file
        path: PathBuf,
    },
    /// Checks every byte and names every damaged place
    Verify {
        /// A store, a segment file or a manifest
        path: PathBuf,
    },
    /// The tables: their order of bits, and the radius in which each is probed
    Plan {
        /// A store or a segment file
        path: PathBuf,
    },
    /// Every byte of a file beside its meaning
    Hex {
        /// A segment file, a manifest, or a store: all its files
        path: PathBuf,
    },
}

#[cfg(test)]
mod tests {
    use super::Args;
    use clap::CommandFactory;

    #[test]
    fn the_definition_is_sound() {
        Args::command().debug_assert();
    }
}
