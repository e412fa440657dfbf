//! Options of `fprepair`, as given on the command line.

use std::path::PathBuf;

use clap::Parser;
use fpstore_tools::common::Common;
use fpstore_tools::size;

const DETAILS: &str = "\
What can be saved:
  Every full table holds all fingerprints: a table of 64-bit fingerprints that is damaged is made anew from the others, \
and so are indexes of ids from the records. Wider fingerprints stand whole in their rows alone, and ids once. What \
stands once and is damaged is lost, and is listed: ids whose fingerprints are lost, fingerprints whose ids are lost \
(with the one in front of a damaged page, which may have lost none), and how many records are lost. Lost removals let \
the removed records come back.
  If a log ends with writes that a crash has cut short, or is damaged, every batch of writes in the logs that holds goes \
to a segment, later ones too, and the numbers of lost batches are listed.
  Nothing is guessed. A damaged manifest, and parts of a segment that hold but contradict each other, stay as they are: \
no other file says which segments belong to the store. Restore the manifest from a copy.

What becomes of the files:
  Segments are written anew under new numbers before one new manifest takes the place of the old one: killed at any \
moment, the store is as before or repaired. A damaged file of which something is lost stays in the directory as \
NAME.damaged, and so do all logs if one of them has lost something; the store never removes them.

Exit code: 0 = nothing to do, or everything was saved; 1 = repair is needed (without --yes), or something could not be \
saved; 2 = an error; 130, 143 = stopped by a signal.

Examples:
  fprepair store                        what is damaged, what would be done, what would be lost?
  fprepair --yes store                  repairs the store
  fprepair --json store | jq .losses    what would be lost, for a program
  fprepair --yes store > report.txt     repairs the store, and keeps the list of what is lost";

/// Repairs a damaged store: reports what it would do, and does it with --yes. Everything that cannot be saved is listed
#[derive(Clone, Debug, Parser)]
#[command(name = "fprepair", version, after_help = DETAILS)]
pub(crate) struct Args {
    /// The store's directory
    #[arg(value_name = "STORE")]
    pub(crate) store: PathBuf,

    /// Repair; without this option nothing is written
    #[arg(long)]
    pub(crate) yes: bool,

    /// Memory for sorting, at least 64MiB; what does not fit goes to temporary files [default: half of the machine's]
    #[arg(long, value_name = "SIZE", value_parser = size::parse_memory)]
    pub(crate) memory: Option<u64>,

    /// Directory for temporary files [default: the store's]. They have no names and vanish with the program
    #[arg(long, value_name = "DIR")]
    pub(crate) tmp_dir: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) common: Common,
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
