//! Turns errors and panics of the Parquet library on damaged files into errors.

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

thread_local! {
    /// Whether this thread is inside the library.
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Calls the library. A panic becomes an error and is not reported on standard error.
pub(crate) fn guarded<T, E: ToString>(work: impl FnOnce() -> Result<T, E>) -> Result<T, String> {
    static QUIET: Once = Once::new();
    QUIET.call_once(|| {
        let report = panic::take_hook();
        panic::set_hook(Box::new(move |panic| {
            if !GUARDED.get() {
                report(panic);
            }
        }));
    });
    GUARDED.set(true);
    let result = panic::catch_unwind(AssertUnwindSafe(work));
    GUARDED.set(false);
    match result {
        Ok(result) => result.map_err(|error| error.to_string()),
        Err(_) => Err("the file is damaged in a way that the Parquet library cannot read".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_an_error() {
        assert_eq!(guarded(|| Ok::<_, String>(1)), Ok(1));
        assert_eq!(guarded(|| Err::<(), _>("no")), Err("no".to_owned()));
        let result = guarded(|| if true { panic!("damaged") } else { Ok::<(), String>(()) });
        assert!(result.unwrap_err().contains("damaged"));
    }
}
