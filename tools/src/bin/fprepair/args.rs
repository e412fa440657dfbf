//! What was typed: options of `fprepair`.

use std::path::PathBuf;

use clap::Parser;
use fpstore_tools::common::Common;
use fpstore_tools::size;

const DETAILS: &str = "\
What can be saved:
  Every full table holds all fingerprints: a table of 64-bit fingerprints that is damaged is made anew from the others, \
and so are indexes of ids from the records. Wider fingerprints stand whole in their rows alone, and ids once. What \
stands once and is damaged is lost, and is listed: fingerprints with the ids that they had, ids with the fingerprints \
that had them, as far as the rest of the bytes tells. Lost removals let the removed records come back.
  The end of a log that a crash has cut short is cut off: nobody was promised those writes. If writes before it are \
damaged, all others of the logs are kept, later ones too, and the numbers of the lost batches are listed.
  Nothing is guessed. A manifest with one changed byte is mended by its checksum; for any other one, and for parts of a \
segment that hold but contradict each other, it says so and leaves them alone.

What becomes of the files:
  Segments are written anew under new numbers before a new manifest takes the place of the old one in one step: killed \
at any moment, the store is as before or repaired. A damaged file of which something could not be saved stays beside \
the store as NAME.damaged, and nobody removes it; the others go.

Exit code: 0 = nothing to do, or everything was saved; 1 = something is to be done (without --yes), or something could \
not be saved; 2 = an error; 130, 143 = stopped by a signal.

Examples:
  fprepair store                        what is damaged, what would be done, what would be lost?
  fprepair --yes store                  does it
  fprepair --json store | jq .losses    what would be lost, for a program
  fprepair --yes store > report.txt     does it, and keeps the list of what is lost";

/// Repairs a damaged store: says what it would do, and with --yes does it. What cannot be saved is listed exactly.
#[derive(Clone, Debug, Parser)]
#[command(name = "fprepair", version, after_help = DETAILS)]
pub(crate) struct Args {
    /// The store's directory
    #[arg(value_name = "STORE")]
    pub(crate) store: PathBuf,

    /// Do it; without this nothing is written
    #[arg(long)]
    pub(crate) yes: bool,

    /// Memory that sorting may take, from 64MiB on; what does not fit goes to temporary files [default: half of the
    /// machine's]
    #[arg(long, value_name = "SIZE", value_parser = size::parse_memory)]
    pub(crate) memory: Option<u64>,

    /// Directory for temporary files [default: the store's]. They have no names there and vanish with the program
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
