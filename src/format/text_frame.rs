//! The payload of a frame of text ids, before compression (format-spec/text-ids.md).
//!
//! Ids stand in the order of the primary table: all ids of the first fingerprint, in ascending order of their bytes,
//! then those of the second. A line feed closes each; no id contains one. If a fingerprint has several ids, a bitmap
//! says which records begin a new fingerprint. The size of a payload is bounded, so reading one id costs the
//! decompression of one small frame.

use crate::error::{Error, Result};
use crate::fingerprint::MAX_TEXT;
use std::ops::Range;

/// Most bytes of texts, with their line feeds, in a frame: the longest id fits.
const MAX_TEXTS: usize = MAX_TEXT + 1;
/// Most records in a frame: ids are not empty.
const MAX_RECORDS: usize = MAX_TEXTS / 2;
const HEADER: usize = 2;
pub(crate) const MAX_PAYLOAD: usize = HEADER + MAX_RECORDS.div_ceil(8) + MAX_TEXTS;

const END: u8 = b'\n';

/// The records of a frame. Its memory is reused.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TextFrame {
    /// The texts, each with its line feed.
    texts: String,
    /// The end of each text, after its line feed.
    ends: Vec<u16>,
    begins: Vec<bool>,
}

impl TextFrame {
    pub(crate) fn clear(&mut self) {
        self.texts.clear();
        self.ends.clear();
        self.begins.clear();
    }

    /// Adds a legal text, and whether it begins a fingerprint; returns false if it does not fit.
    pub(crate) fn push(&mut self, text: &str, begins: bool) -> bool {
        let end = self.texts.len() + text.len() + 1;
        match u16::try_from(end) {
            Ok(short) if end <= MAX_TEXTS => self.ends.push(short),
            _ => return false,
        }
        self.texts.push_str(text);
        self.texts.push(END.into());
        self.begins.push(begins);
        true
    }

    pub(crate) fn records(&self) -> usize {
        self.ends.len()
    }

    pub(crate) fn begun(&self) -> usize {
        self.begins.iter().filter(|&&begins| begins).count()
    }

    pub(crate) fn begins(&self, record: usize) -> bool {
        self.begins.get(record).copied().unwrap_or(false)
    }

    pub(crate) fn text(&self, record: usize) -> &str {
        let start = record.checked_sub(1).and_then(|before| self.ends.get(before)).copied().unwrap_or(0);
        let end = self.ends.get(record).copied().unwrap_or(0);
        self.texts.get(start.into()..usize::from(end).saturating_sub(1)).unwrap_or_default()
    }

    /// The records of the `nth` fingerprint (from 0) that begins here, as far as they are here.
    pub(crate) fn range_of(&self, nth: usize) -> Option<Range<usize>> {
        let mut starts = (0..).zip(&self.begins).filter(|&(_, &begins)| begins).map(|(record, _)| record);
        let start = starts.nth(nth)?;
        Some(start..starts.next().unwrap_or(self.records()))
    }

    /// The records before the first one that begins a fingerprint; they belong to one of an earlier frame.
    pub(crate) fn continued(&self) -> Range<usize> {
        0..self.begins.iter().position(|&begins| begins).unwrap_or(self.records())
    }

    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        let plain = self.begins.iter().all(|&begins| begins);
        let records = u16::try_from(self.records()).unwrap_or(0);
        out.extend_from_slice(&(records * 2 + u16::from(!plain)).to_le_bytes());
        if !plain {
            let byte = |bits: &[bool]| bits.iter().rev().fold(0, |byte, &bit| byte << 1 | u8::from(bit));
            out.extend(self.begins.chunks(8).map(byte));
        }
        out.extend_from_slice(self.texts.as_bytes());
    }

    /// Replaces the records with those of a payload. `Damaged` if no writer makes it; then there are no records.
    pub(crate) fn parse(&mut self, payload: &[u8]) -> Result<()> {
        self.clear();
        let parsed = self.read(payload);
        if parsed.is_err() {
            self.clear();
        }
        parsed
    }

    fn read(&mut self, payload: &[u8]) -> Result<()> {
        let (head, rest) = payload.split_first_chunk::<HEADER>().ok_or_else(|| wrong("is too short"))?;
        let head = u16::from_le_bytes(*head);
        let (records, plain) = (usize::from(head / 2), head % 2 == 0);
        if !(1..=MAX_RECORDS).contains(&records) {
            return Err(wrong("has an impossible number of records"));
        }
        let bitmap = if plain { 0 } else { records.div_ceil(8) };
        let (bitmap, texts) = rest.split_at_checked(bitmap).ok_or_else(|| wrong("ends within its bitmap"))?;
        if texts.len() > MAX_TEXTS {
            return Err(wrong("is too long"));
        }
        self.texts.push_str(std::str::from_utf8(texts).map_err(|_| wrong("is not UTF-8"))?);
        self.find_ends(texts, records)?;
        if plain {
            self.begins.resize(records, true);
            return Ok(());
        }
        let mut bits = bitmap.iter().flat_map(|&byte| (0..8).map(move |bit| byte >> bit & 1 == 1));
        self.begins.extend(bits.by_ref().take(records));
        if bits.any(|bit| bit) || self.begins.iter().all(|&begins| begins) {
            return Err(wrong("has an impossible bitmap"));
        }
        let ascends = |record: usize| self.begins(record) || self.text(record - 1) < self.text(record);
        if (1..records).all(ascends) { Ok(()) } else { Err(wrong("has ids of a fingerprint that do not ascend")) }
    }

    /// Finds the ends of the texts and checks every byte.
    fn find_ends(&mut self, texts: &[u8], records: usize) -> Result<()> {
        let mut start = 0;
        for (at, &byte) in (0u16..).zip(texts) {
            // Most bytes are greater than every special one.
            if byte > b'\r' {
                continue;
            }
            match byte {
                END if at == start => return Err(wrong("has an empty id")),
                END => {
                    start = at + 1;
                    self.ends.push(start);
                }
                0 | b'\t' | b'\r' => return Err(wrong("has an id with a forbidden character")),
                _ => {}
            }
        }
        if usize::from(start) != texts.len() || self.ends.len() != records {
            return Err(wrong("does not hold as many ids as it says"));
        }
        Ok(())
    }
}

fn wrong(what: &str) -> Error {
    Error::damaged(format!("a frame of text ids {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn frame(records: &[(&str, bool)]) -> TextFrame {
        let mut frame = TextFrame::default();
        records.iter().for_each(|&(text, begins)| assert!(frame.push(text, begins)));
        frame
    }

    fn payload(frame: &TextFrame) -> Vec<u8> {
        let mut payload = Vec::new();
        frame.write(&mut payload);
        payload
    }

    #[test]
    fn worked_bytes() {
        let plain = frame(&[("a", true), ("bc", true)]);
        assert_eq!(payload(&plain), b"\x04\0a\nbc\n");
        let bitmap = frame(&[("b", false), ("bc", true), ("bd", false)]);
        assert_eq!(payload(&bitmap), b"\x07\0\x02b\nbc\nbd\n");
        assert_eq!((bitmap.begun(), bitmap.continued(), bitmap.range_of(0)), (1, 0..1, Some(1..3)));
        assert_eq!((plain.continued(), plain.range_of(1), plain.range_of(2)), (0..0, Some(1..2), None));
    }

    #[test]
    fn limits() {
        let longest = "x".repeat(MAX_TEXT);
        let mut full = frame(&[(&longest, true)]);
        assert!(!full.push("y", true));
        assert_eq!(payload(&full).len(), HEADER + MAX_TEXTS);
        let mut many = TextFrame::default();
        while many.push("z", many.records() % 2 == 0) {}
        assert_eq!(many.records(), MAX_RECORDS);
        assert!(payload(&many).len() <= MAX_PAYLOAD);
    }

    #[test]
    fn impossible_frames_are_refused() {
        let mut target = TextFrame::default();
        let long = [&b"\x02\0"[..], &[b'x'; MAX_TEXT + 1], b"\n"].concat();
        let wrongs: &[&[u8]] = &[
            b"",
            b"\x02",
            b"\0\0",
            b"\x02\0",
            b"\x02\0\n",
            b"\x02\0a",
            b"\x04\0a\n",
            b"\x02\0a\nb\n",
            b"\x02\0a\nb",
            b"\x02\0a\tb\n",
            b"\x02\0a\r\n",
            b"\x02\0\0\n",
            b"\x02\0\xff\n",
            b"\x03\0\x01a\n",
            b"\x03\0\x02a\n",
            b"\x05\0\x01b\na\n",
            b"\x05\0\x01a\na\n",
            b"\x05\0",
            b"\xff\xffa\n",
            &long,
        ];
        for &wrong in wrongs {
            assert!(target.parse(wrong).is_err(), "{}", wrong.escape_ascii());
            assert_eq!(target, TextFrame::default());
        }
        assert!(target.parse(b"\x05\0\x01a\nb\n").is_ok());
        assert!(target.parse(b"\x03\0\0a\n").is_ok());
    }

    proptest! {
        #[test]
        fn round_trip(records in prop::collection::vec(("[^\0\t\r\n]{1,40}", any::<bool>()), 1..200)) {
            let mut written = TextFrame::default();
            for (text, begins) in &records {
                let ascends = written.records() > 0 && written.text(written.records() - 1) < text.as_str();
                if !written.push(text, *begins || !ascends) { break }
            }
            let mut read = frame(&[("left over", true)]);
            read.parse(&payload(&written)).unwrap();
            prop_assert_eq!(&read, &written);
            let texts: Vec<_> = (0..read.records()).map(|record| read.text(record)).collect();
            prop_assert!(records.iter().map(|(text, _)| text.as_str()).take(texts.len()).eq(texts.iter().copied()));
        }

        #[test]
        fn any_bytes_are_refused_or_written_again(head in 0u16..20, rest in prop::collection::vec(0u8..100, 0..60)) {
            let bytes = [&head.to_le_bytes()[..], &rest].concat();
            let mut frame = TextFrame::default();
            if frame.parse(&bytes).is_ok() {
                prop_assert_eq!(payload(&frame), bytes);
            }
        }
    }
}
