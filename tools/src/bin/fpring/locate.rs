//! `fpring locate`: the nodes of keys.

use std::ffi::OsString;
use std::io::{self, BufRead, BufWriter, IsTerminal, Read, Write};
use std::path::Path;

use anyhow::{Context, bail};
use fpring::{Ring, file};
use fpstore_tools::common::{Common, SCHEMA_VERSION};
use fpstore_tools::input::LINE_LIMIT;
use fpstore_tools::report;
use serde::Serialize;

pub(crate) fn run(common: Common, path: &Path, keys: &[OsString]) -> anyhow::Result<()> {
    let ring = file::read(path)?;
    let mut out = Answers { json: common.json, ring: &ring, out: BufWriter::with_capacity(1 << 16, io::stdout()) };
    if keys.is_empty() || matches!(keys, [key] if key == "-") {
        if keys.is_empty() && io::stdin().is_terminal() {
            bail!("which KEY? name keys, or - for the lines of standard input");
        }
        lines(&mut io::stdin().lock(), |number, key| {
            out.answer(key).with_context(|| format!("standard input, line {number}"))
        })?;
    } else {
        for key in keys {
            out.answer(key.as_encoded_bytes()).with_context(|| format!("key '{}'", key.display()))?;
        }
    }
    Ok(out.out.flush()?)
}

/// Calls `each` with the number and the content of every line that is not blank.
fn lines(input: &mut impl BufRead, mut each: impl FnMut(u64, &[u8]) -> anyhow::Result<()>) -> anyhow::Result<()> {
    let (mut line, mut number) = (Vec::new(), 0);
    loop {
        line.clear();
        number += 1;
        let most = LINE_LIMIT as u64 + 2;
        let read = input.by_ref().take(most).read_until(b'\n', &mut line).context("standard input")?;
        if read == 0 {
            return Ok(());
        }
        let text = line.strip_suffix(b"\n").unwrap_or(&line);
        let text = text.strip_suffix(b"\r").unwrap_or(text);
        if text.len() > LINE_LIMIT {
            bail!("standard input, line {number}: a key has at most {LINE_LIMIT} bytes");
        }
        if !text.is_empty() {
            each(number, text)?;
        }
    }
}

struct Answers<'a, W: Write> {
    json: bool,
    ring: &'a Ring,
    out: BufWriter<W>,
}

#[derive(Serialize)]
struct Answer<'a> {
    schema_version: u32,
    key: &'a str,
    nodes: Vec<&'a str>,
}

impl<W: Write> Answers<'_, W> {
    fn answer(&mut self, key: &[u8]) -> anyhow::Result<()> {
        if key.iter().any(|byte| b"\t\r\n\0".contains(byte)) {
            bail!("a key has no TAB, line break or NUL");
        }
        let nodes: Vec<&str> = self.ring.locate(key).into_iter().map(fpring::Node::name).collect();
        if self.json {
            let key = str::from_utf8(key).context("with --json a key is UTF-8")?;
            report::json(&mut self.out, &Answer { schema_version: SCHEMA_VERSION, key, nodes })?;
        } else {
            self.out.write_all(key)?;
            writeln!(self.out, "\t{}", nodes.join(","))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::lines;

    #[test]
    fn blank_lines_are_skipped_and_counted() {
        let mut found = Vec::new();
        lines(&mut &b"a\r\n\n\r\nb c\nlast"[..], |number, key| {
            found.push((number, String::from_utf8(key.to_vec()).unwrap()));
            Ok(())
        })
        .unwrap();
        assert_eq!(found, [(1, "a".to_owned()), (4, "b c".to_owned()), (5, "last".to_owned())]);
    }
}
