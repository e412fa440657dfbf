//! Options of `fprepair`, as given on the command line.

use std::path::PathBuf;

use clap::Parser;
use fpstore_tools::common::Common;
use fpstore_tools::size;

const DETAILS: &str = "\
Records that can be saved:
  Every full table holds all fingerprints: a repair makes a damaged table of 64-bit fingerprints anew from the \
others, and an id index from the records. Wider fingerprints are stored whole only in their rows, and ids only once. \
If the only copy is damaged, it is lost, and the report lists the loss: ids whose fingerprints are lost, \
fingerprints whose ids are lost (with the one in front of a damaged page, which may have lost none), and how many \
records are lost. Lost removals let the removed records come back.
  In a key index, the numbers of records follow from those behind the keys, and from the ids if the store numbers the \
records. Keys and sketches stay with the records that are saved. A record whose keys are lost in part stays with the \
others; one whose sketch is lost gets a sketch of zeros, so --min-jaccard does not find it until it is loaded again \
(fpload --replace). The report has the numbers of these records; fpdump scan of the segment of records shows their ids.
  If a log is damaged or ends with writes that a crash has cut short, the repair copies every sound batch of writes \
in the logs to a segment, later ones too, and lists the numbers of lost batches.
  The repair never guesses. A damaged manifest, and sound parts of a segment that contradict each other, stay as \
they are: no other file says which segments belong to the store. Restore the manifest, or the segment, from a copy.

Files:
  The repair writes new segments under new numbers, then replaces the manifest: killed at any moment, it leaves the \
store as before or repaired. An old file whose content is not all saved stays in the directory as NAME.damaged; if \
one log has lost something, all logs stay under such names. The store never removes these files.

Exit code: 0 = nothing to do, or everything was saved; 1 = repair is needed (without --yes), or something could not be \
saved; 2 = an error; 130, 143 = stopped by a signal.

Examples:
  fprepair store                        lists the damage, the repair and the losses
  fprepair --yes store                  repairs the store
  fprepair --json store | jq .losses    lists the losses for a program
  fprepair --yes store > report.txt     repairs the store, and keeps the list of losses";

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

    /// Memory for sorting, at least 64MiB; the rest goes to temporary files [default: half of the machine's]
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
