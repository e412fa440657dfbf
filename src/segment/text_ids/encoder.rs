//! Texts in the order of the primary table to frames, their index and the dictionary.

use super::{dictionary, packing};
use crate::fingerprint::check_text;
use crate::format::text_frame::{self, TextFrame};
use crate::format::text_index::{self, UnitEntry};
use crate::segment::writer::EncodedIds;
use rayon::prelude::*;
use zstd::dict::EncoderDictionary;

/// Most payloads that wait to be compressed together: 2 MiB.
const WAITING: usize = 512;
/// Payloads that one thread compresses in a row, with one context.
const RUN: usize = 32;

/// Makes frames of texts. Finished frames gather until the caller takes them; all threads compress.
pub(crate) struct TextEncoder {
    dictionary: Vec<u8>,
    prepared: Option<EncoderDictionary<'static>>,
    frame: TextFrame,
    /// Payloads of whole frames, and how many fingerprints begin in each.
    waiting: Vec<(Vec<u8>, u16)>,
    entries: Vec<UnitEntry>,
    pub(crate) pages: Vec<u8>,
}

impl TextEncoder {
    pub(crate) const SAMPLE: u64 = dictionary::MAX_SAMPLE as u64;

    /// An encoder with a dictionary from a sample of the texts, evenly spread over them. The estimate of all texts'
    /// bytes determines the dictionary's size.
    pub(crate) fn new<'a>(sample: impl Iterator<Item = &'a str>, total_bytes_estimate: u64) -> Self {
        let content = dictionary::build(sample, total_bytes_estimate);
        // Without memory for it, there is no dictionary.
        let prepared =
            if content.is_empty() { None } else { EncoderDictionary::try_copy(&content, packing::LEVEL).ok() };
        let section = prepared.as_ref().and_then(|_| dictionary::write(&content).ok());
        let (dictionary, prepared) = section.zip(prepared).map_or_else(Default::default, |(d, p)| (d, Some(p)));
        Self {
            dictionary,
            prepared,
            frame: TextFrame::default(),
            waiting: Vec::new(),
            entries: Vec::new(),
            pages: Vec::new(),
        }
    }

    /// Adds a legal text, and whether it begins a fingerprint; texts of one fingerprint ascend strictly.
    pub(crate) fn push(&mut self, text: &str, begins: bool) {
        debug_assert!(check_text(text).is_ok(), "the text cannot be an id");
        debug_assert!(begins || self.frame.records() > 0, "the first text begins no fingerprint");
        if self.frame.push(text, begins) {
            return;
        }
        self.close();
        self.frame.push(text, begins);
        if self.waiting.len() >= WAITING {
            self.compress();
        }
    }

    /// Compresses the waiting payloads; returns the remaining frames and their description.
    pub(crate) fn finish(mut self) -> (Vec<u8>, EncodedIds) {
        if self.frame.records() > 0 {
            self.close();
        }
        self.compress();
        let index = text_index::write(&self.entries);
        // Without frames there is no dictionary.
        let dictionary = if self.entries.is_empty() { Vec::new() } else { self.dictionary };
        (self.pages, EncodedIds { index, dictionary })
    }

    fn close(&mut self) {
        let mut payload = Vec::with_capacity(text_frame::MAX_PAYLOAD);
        self.frame.write(&mut payload);
        self.waiting.push((payload, u16::try_from(self.frame.begun()).unwrap_or(u16::MAX)));
        self.frame.clear();
    }

    fn compress(&mut self) {
        let first = self.entries.len() as u64;
        let dictionary = self.prepared.as_ref();
        let runs: Vec<Vec<Vec<u8>>> = self
            .waiting
            .par_chunks(RUN)
            .enumerate()
            .map(|(nth, run)| {
                let mut packer = packing::Packer::new(dictionary);
                (first + (nth * RUN) as u64..)
                    .zip(run)
                    .map(|(number, (payload, _))| packer.pack(number, payload))
                    .collect()
            })
            .collect();
        for (mut frame, (_, begun)) in runs.into_iter().flatten().zip(self.waiting.drain(..)) {
            // A frame is hardly longer than its payload.
            let length = u16::try_from(frame.len()).unwrap_or(u16::MAX);
            self.entries.push(UnitEntry { length, begun });
            self.pages.append(&mut frame);
        }
    }
}
