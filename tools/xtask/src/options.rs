//! Options of the tasks, each with a value.

use anyhow::{Context, Result, bail};

/// Calls `take` with every option; `take` returns false for an unknown one.
pub(crate) fn each<'a>(arguments: &[&'a str], mut take: impl FnMut(&'a str, &'a str) -> Result<bool>) -> Result<()> {
    let mut rest = arguments.iter();
    while let Some(&name) = rest.next() {
        let value = rest.next().with_context(|| format!("{name} needs a value"))?;
        if !take(name, value).with_context(|| format!("{name} {value}"))? {
            bail!("there is no option {name}");
        }
    }
    Ok(())
}

/// Sets an option that is a number.
pub(crate) fn set(option: &mut u64, value: &str) -> Result<bool> {
    *option = value.parse().context("expected a number")?;
    Ok(true)
}
