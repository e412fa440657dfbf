//! Writes lines to standard output without delay.

use std::io::{self, Write};

use anyhow::Result;

pub(super) fn say(text: &str) -> Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{text}")?;
    out.flush()?;
    Ok(())
}
