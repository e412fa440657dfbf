//! Writes lines to standard output without delay.

use std::io::{self, Write};

use anyhow::Result;

pub(crate) fn say(text: &str) -> Result<()> {
    // The programs write to the same standard output, so nothing may stay in a buffer.
    let mut out = io::stdout().lock();
    writeln!(out, "{text}")?;
    out.flush()?;
    Ok(())
}
