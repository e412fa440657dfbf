//! Locates the lines of a file of labels, so that unchanged lines can be copied.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use anyhow::{Context, bail};
use fpstore::{Fingerprint, IdKind};

use super::cell::Cell;
use crate::input::ids::is_padded;

/// Distance of the lines whose offset is kept.
const STEP: u64 = 128;

/// The lines of a file, each `RECORD<TAB>CLUSTER<LF>` as `fpdedup clusters` writes them.
#[derive(Debug)]
pub struct LabelLines {
    path: PathBuf,
    file: Mutex<File>,
    state: (u64, Option<SystemTime>),
    /// Offset of every [`STEP`]-th line.
    marks: Vec<u64>,
    count: u64,
    /// Offset of the end of the last line.
    end: u64,
}

impl LabelLines {
    /// Opens the file, without any lines yet.
    pub(super) fn open(path: &Path) -> anyhow::Result<Self> {
        let file = File::open(path).with_context(|| path.display().to_string())?;
        let state = state(&file).with_context(|| path.display().to_string())?;
        Ok(Self { path: path.to_owned(), file: Mutex::new(file), state, marks: Vec::new(), count: 0, end: 0 })
    }

    /// Adds the next line, which ends at `end`. Returns false if `fpdedup` would not write it like this.
    pub(super) fn add<F: Fingerprint>(&mut self, cells: &[Cell<'_>; 2], kind: IdKind, end: u64) -> bool {
        let is_plain = |bytes: &[u8]| match kind {
            IdKind::Text => true,
            IdKind::Number => !is_padded(bytes),
            IdKind::None => bytes.len() == 2 * F::BYTES && !bytes.iter().any(u8::is_ascii_uppercase),
        };
        if self.count.is_multiple_of(STEP) {
            self.marks.push(self.end);
        }
        let [Some(record), Some(cluster)] = cells.each_ref().map(Cell::bytes) else { return false };
        let length = record.len() + cluster.len() + 2;
        let fits = self.end + length as u64 == end && is_plain(record) && is_plain(cluster);
        self.count += 1;
        self.end = end;
        fits
    }

    /// Appends some lines; the first line of the file is 0.
    ///
    /// # Errors
    ///
    /// If they cannot be read.
    pub fn append(&self, lines: &Range<u64>, out: &mut Vec<u8>) -> io::Result<()> {
        let mark = |line: u64| self.marks.get(usize::try_from(line / STEP).unwrap_or(usize::MAX)).copied();
        let from = mark(lines.start).unwrap_or(self.end);
        let to = mark(lines.end.next_multiple_of(STEP)).unwrap_or(self.end);
        let begin = out.len();
        out.resize(begin + usize::try_from(to - from).unwrap_or(0), 0);
        {
            let mut file = self.file();
            file.seek(SeekFrom::Start(from))?;
            file.read_exact(out.get_mut(begin..).unwrap_or_default())?;
        }
        let after = |bytes: &[u8], lines: u64| match lines.checked_sub(1) {
            None => 0,
            Some(last) => {
                let last = usize::try_from(last).unwrap_or(usize::MAX);
                memchr::memchr_iter(b'\n', bytes).nth(last).map_or(bytes.len(), |end| end + 1)
            }
        };
        let read = out.get(begin..).unwrap_or_default();
        let start = after(read, lines.start % STEP);
        let rest = read.get(start..).unwrap_or_default();
        let last_mark = lines.end - lines.end % STEP;
        let end = match mark(last_mark).filter(|_| last_mark > lines.start) {
            // All lines up to the last mark are wanted.
            Some(at) => {
                let at = usize::try_from(at - from).unwrap_or(usize::MAX);
                at + after(read.get(at..).unwrap_or_default(), lines.end - last_mark)
            }
            None if last_mark > lines.start => read.len(),
            None => start + after(rest, lines.end - lines.start),
        };
        out.truncate(begin + end);
        out.drain(begin..begin + start);
        Ok(())
    }

    fn file(&self) -> MutexGuard<'_, File> {
        self.file.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Checks that the file has not been written to since it was opened.
    ///
    /// # Errors
    ///
    /// If it has.
    pub fn check(&self) -> anyhow::Result<()> {
        let path = self.path.display();
        if state(&self.file()).with_context(|| path.to_string())? != self.state {
            bail!("{path}: it was changed while it was read; try again");
        }
        Ok(())
    }
}

/// Returns the length and the modification time of a file.
fn state(file: &File) -> io::Result<(u64, Option<SystemTime>)> {
    let metadata = file.metadata()?;
    Ok((metadata.len(), metadata.modified().ok()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_as_they_were() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.tsv");
        let count = 3 * STEP + 17;
        let line = |number: u64| format!("{number}\t{}\n", number * number);
        let all: Vec<String> = (0..count).map(line).collect();
        std::fs::write(&path, all.concat()).unwrap();
        let mut lines = LabelLines::open(&path).unwrap();
        let mut end = 0;
        for line in &all {
            end += line.len() as u64;
            let (record, cluster) = line.trim_end().split_once('\t').unwrap();
            let cells = [record, cluster].map(|cell| Cell::Bytes(cell.as_bytes()));
            assert!(lines.add::<u64>(&cells, IdKind::Number, end));
        }
        let bounds =
            [0, 1, 5, STEP - 1, STEP, STEP + 1, 2 * STEP, 3 * STEP - 1, 3 * STEP, 3 * STEP + 1, count - 1, count];
        for from in bounds {
            for to in bounds.into_iter().filter(|&to| to >= from) {
                let mut out = b"before".to_vec();
                lines.append(&(from..to), &mut out).unwrap();
                let expected = format!("before{}", all[from as usize..to as usize].concat());
                assert_eq!(String::from_utf8(out).unwrap(), expected, "{from} {to}");
            }
        }
        lines.check().unwrap();
        std::fs::write(&path, "1\t1\n").unwrap();
        assert!(lines.check().unwrap_err().to_string().contains("a.tsv: it was changed"));
        assert!(lines.append(&(0..count), &mut Vec::new()).is_err());
    }

    #[test]
    fn only_lines_as_they_are_written() {
        let add = |record: &str, cluster: &str, kind, end| {
            let mut lines = LabelLines::open(Path::new("/")).unwrap();
            lines.add::<u64>(&[record, cluster].map(|cell| Cell::Bytes(cell.as_bytes())), kind, end)
        };
        assert!(add("10", "0", IdKind::Number, 5));
        assert!(!add("01", "1", IdKind::Number, 5) && !add("1", "00", IdKind::Number, 5));
        // A carriage return, a preceding blank line, a missing line feed.
        assert!(!add("10", "0", IdKind::Number, 6) && !add("10", "0", IdKind::Number, 4));
        assert!(add("01", "a b", IdKind::Text, 7));
        let [lower, upper] = ["000000000000001f", "000000000000001F"];
        assert!(add(lower, lower, IdKind::None, 34) && !add(lower, upper, IdKind::None, 34));
        assert!(!add(&format!("0x{lower}"), lower, IdKind::None, 36));
    }
}
