//! The content of a store.

use std::hash::{DefaultHasher, Hasher};
use std::io::Read;
use std::path::Path;
use std::process::Stdio;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::stage::{Stage, succeeds};

/// All records of a store.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct State {
    pub(super) lines: u64,
    hash: u64,
    pub(super) segments: usize,
}

impl State {
    /// Returns the output of `fpdump scan`, after `fpdump verify` has found no damage.
    pub(super) fn of(stage: &Stage, store: &Path) -> Result<Self> {
        succeeds(stage.fpdump().arg("verify").arg(store))?;
        let mut child = stage.fpdump().arg("scan").arg(store).stdout(Stdio::piped()).spawn()?;
        let mut out = child.stdout.take().context("there is no output to read")?;
        let (mut hasher, mut lines, mut buffer) = (DefaultHasher::new(), 0, vec![0; 1 << 20]);
        loop {
            let n = out.read(&mut buffer)?;
            let bytes = buffer.get(..n).unwrap_or_default();
            if bytes.is_empty() {
                break;
            }
            hasher.write(bytes);
            lines += bytes.iter().filter(|&&byte| byte == b'\n').count() as u64;
        }
        let status = child.wait()?;
        if !status.success() {
            bail!("fpdump scan {} failed ({status})", store.display());
        }
        // The hash does not depend on the sizes of the reads.
        Ok(Self { lines, hash: hasher.finish(), segments: segments(stage, store)?.len() })
    }

    pub(super) fn same_records(&self, other: &Self) -> bool {
        (self.lines, self.hash) == (other.lines, other.hash)
    }
}

/// Returns the files of the segments in the manifest.
pub(super) fn segments(stage: &Stage, store: &Path) -> Result<Vec<String>> {
    let output = succeeds(stage.fpdump().args(["info", "--json"]).arg(store))?;
    let info: Value = serde_json::from_slice(&output.stdout).context("fpdump info printed no JSON")?;
    let list = info.get("segments").and_then(Value::as_array).context("fpdump info names no segments")?;
    Ok(list.iter().filter_map(|segment| segment.get("file")?.as_str().map(str::to_owned)).collect())
}
