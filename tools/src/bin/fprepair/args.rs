//! Options of `fprepair`, as given on the command line.

use std::path::PathBuf;

use clap::Parser;
use fpstore_tools::common::Common;
use fpstore_tools::size;

const DETAILS: &str = "\
What can be saved:
  Every full table holds all fingerprints: a damaged table of 64-bit fingerprints is rebuilt from the other tables, \
  and an \
index of ids from the records. Wider fingerprints are complete in their rows only, and ids are stored once. Damaged \
data \
that is stored once is lost, and is listed: fingerprints with their ids, ids with their fingerprints, as far as the \
other \
bytes tell. If removals are lost, the removed records come back.
  The torn tail of a log is cut off: those writes were never acknowledged. If writes before it are damaged, all other \
writes in the logs are kept, later ones too, and the numbers of the lost batches are listed.
  Nothing is guessed. A manifest with one changed byte is repaired by its checksum. Any other damaged manifest, and \
  parts \
of a segment that are readable but contradict each other, are reported and left as they are.

What happens to the files:
  Segments are written under new numbers before a new manifest atomically replaces the old one: if the program is \
  killed \
at any moment, the store is as before or repaired. A damaged file that could not be saved completely stays beside the \
store as NAME.damaged, and no program removes it; other replaced files are removed.

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
