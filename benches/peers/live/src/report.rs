//! The output, and its parts.

use crate::contestant::Result;
use std::fmt::{Display, Write};
use std::io::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

/// A line of JSON.
pub(crate) struct Line(String);

impl Line {
    pub(crate) fn new(contestant: &str, result: &str) -> Self {
        Self(format!(r#"{{"contestant":"{contestant}","result":"{result}""#))
    }

    pub(crate) fn text(self, name: &str, text: &str) -> Self {
        self.number(name, format_args!("\"{text}\""))
    }

    pub(crate) fn number(mut self, name: &str, number: impl Display) -> Self {
        // Writing to a string cannot fail.
        let _ = write!(self.0, r#","{name}":{number}"#);
        self
    }

    /// A median and the 99th percentile, in microseconds.
    pub(crate) fn times(self, name: &str, times: &Times) -> Self {
        self.number(&format!("{name}_p50_us"), times.percentile_us(50))
            .number(&format!("{name}_p99_us"), times.percentile_us(99))
    }

    pub(crate) fn print(self) -> Result<()> {
        let mut out = std::io::stdout().lock();
        writeln!(out, "{}}}", self.0)?;
        Ok(out.flush()?)
    }
}

/// Durations of many calls.
#[derive(Default)]
pub(crate) struct Times(Vec<Duration>);

impl Times {
    pub(crate) fn time<T>(&mut self, call: impl FnOnce() -> Result<T>) -> Result<T> {
        let start = Instant::now();
        let value = call()?;
        self.0.push(start.elapsed());
        Ok(value)
    }

    pub(crate) fn append(&mut self, mut other: Self) {
        self.0.append(&mut other.0);
    }

    pub(crate) fn count(&self) -> usize {
        self.0.len()
    }

    fn percentile_us(&self, percent: usize) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_unstable();
        let at = (sorted.len() * percent / 100).min(sorted.len().saturating_sub(1));
        sorted.get(at).map_or(0.0, |time| time.as_nanos() as f64 / 1e3)
    }
}

/// Allocated bytes of the files below a directory; holes of sparse files do not count.
pub(crate) fn allocated(directory: &Path) -> Result<u64> {
    use std::os::unix::fs::MetadataExt;
    let mut bytes = 0;
    for entry in directory.read_dir()? {
        let entry = entry?;
        bytes += if entry.file_type()?.is_dir() { allocated(&entry.path())? } else { entry.metadata()?.blocks() * 512 };
    }
    Ok(bytes)
}

/// Anonymous memory of this process.
pub(crate) fn anonymous_bytes() -> Result<u64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).ok_or("no RssAnon")?;
    Ok(line.trim().trim_end_matches(" kB").parse::<u64>()? * 1024)
}
