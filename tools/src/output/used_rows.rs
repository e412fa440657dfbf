//! Rows whose memory is used again.
//!
//! Threads fill rows, and another one writes them. If that one freed them, the allocator would return most of their
//! memory to the system, which clears it before the next rows get it.

use std::sync::{Mutex, PoisonError};

use super::rows::{Rows, Style};

/// Bytes of memory from which on rows are freed: those of long ids.
const LARGE: usize = 1 << 20;

/// Empty rows of one style.
#[derive(Debug)]
pub struct UsedRows {
    style: Style,
    used: Mutex<Vec<Rows>>,
}

impl UsedRows {
    /// Returns none yet.
    #[must_use]
    pub fn new(style: Style) -> Self {
        Self { style, used: Mutex::default() }
    }

    /// Returns empty rows.
    #[must_use]
    pub fn take(&self) -> Rows {
        let used = self.used.lock().unwrap_or_else(PoisonError::into_inner).pop();
        used.unwrap_or_else(|| Rows::new(self.style))
    }

    /// Drops rows of the style, but not their memory.
    pub fn give_back(&self, mut rows: Rows) {
        if rows.memory() > LARGE {
            return;
        }
        rows.clear();
        self.used.lock().unwrap_or_else(PoisonError::into_inner).push(rows);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fpstore::Id;

    #[test]
    fn rows_that_were_given_back_are_empty() {
        let used = UsedRows::new(Style::Tsv);
        for number in 1..4 {
            let mut rows = used.take();
            assert_eq!((rows.count(), rows.text()), (0, &b""[..]));
            rows.number(number);
            rows.keep();
            rows.product(&[Id::Number(7)], &[Id::Number(8), Id::Number(9)]);
            assert_eq!(rows.count(), 2);
            // An unfinished row is dropped, too.
            rows.number(number);
            used.give_back(rows);
        }
        let mut large = used.take();
        large.word(&"x".repeat(LARGE + 1));
        used.give_back(large);
        assert_eq!(used.used.lock().unwrap().len(), 0);
    }
}
