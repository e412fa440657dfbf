//! The threads of a program: `--threads`.

use fpstore::Options;

/// Returns the default options of the library, with as many threads as the program uses.
#[must_use]
pub fn options() -> Options {
    Options::new().with_threads(rayon::current_num_threads())
}
