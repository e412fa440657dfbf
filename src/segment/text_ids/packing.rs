//! One compressed payload: a frame in the file (format-spec/text-ids.md).
//!
//! It is a zstd frame without its magic number: one of two descriptors, the payload's size, blocks. A checksum that
//! covers its place follows.

use super::dictionary;
use crate::error::{Error, Result};
use crate::format::CHECKSUM;
use crate::format::page::{self, Stream};
use crate::format::text_frame::MAX_PAYLOAD;
use std::cell::RefCell;
use zstd::bulk::Compressor;
use zstd::dict::{DecoderDictionary, EncoderDictionary};
use zstd::zstd_safe::{self, CParameter, DCtx};

/// Begins each zstd frame; not stored.
const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
/// Descriptor of a single-segment frame without checksum or dictionary number, with its size in one byte.
const SIZE_IN_ONE: u8 = 0x20;
/// The same with its size, less 256, in two bytes.
const SIZE_IN_TWO: u8 = 0x60;
/// Compression level: the first one that searches the dictionary well, and the last fast one.
pub(super) const LEVEL: i32 = 5;

/// Makes frames; one packer for each thread.
pub(crate) struct Packer<'a> {
    /// `None` without memory for one: then frames are not compressed.
    compressor: Option<Compressor<'a>>,
}

impl<'a> Packer<'a> {
    pub(crate) fn new(dictionary: Option<&'a EncoderDictionary<'static>>) -> Self {
        let compressor = match dictionary {
            Some(dictionary) => Compressor::with_prepared_dictionary(dictionary),
            None => Compressor::new(LEVEL),
        };
        let compressor = compressor.and_then(|mut compressor| {
            compressor.set_parameter(CParameter::DictIdFlag(false))?;
            Ok(compressor)
        });
        Self { compressor: compressor.ok() }
    }

    pub(crate) fn pack(&mut self, number: u64, payload: &[u8]) -> Vec<u8> {
        let compressed = self.compressor.as_mut().and_then(|compressor| compressor.compress(payload).ok());
        let compressed = compressed.and_then(|frame| Some(frame.strip_prefix(&MAGIC)?.to_vec()));
        let fits = |frame: &Vec<u8>| content_size(frame) == Some(payload.len());
        let mut frame = compressed.filter(fits).unwrap_or_else(|| stored(payload));
        page::seal(&mut frame, Stream::Ids, number);
        frame
    }
}

/// A frame with the uncompressed payload in one block.
pub(crate) fn stored(payload: &[u8]) -> Vec<u8> {
    let mut frame = Vec::with_capacity(payload.len() + 6);
    match u8::try_from(payload.len()) {
        Ok(size) => frame.extend_from_slice(&[SIZE_IN_ONE, size]),
        Err(_) => {
            frame.push(SIZE_IN_TWO);
            frame.extend_from_slice(&u16::try_from(payload.len() - 256).unwrap_or(0).to_le_bytes());
        }
    }
    // The last block, uncompressed.
    let header = u32::try_from(payload.len()).unwrap_or(0) << 3 | 1;
    frame.extend(header.to_le_bytes().into_iter().take(3));
    frame.extend_from_slice(payload);
    frame
}

/// The payload's size as a frame states it, if the descriptor is legal.
fn content_size(frame: &[u8]) -> Option<usize> {
    match *frame {
        [SIZE_IN_ONE, size, ..] => Some(size.into()),
        [SIZE_IN_TWO, low, high, ..] => Some(usize::from(u16::from_le_bytes([low, high])) + 256),
        _ => None,
    }
}

/// Length of the frame, with its checksum, that these bytes begin with.
pub(crate) fn frame_length(bytes: &[u8]) -> Option<usize> {
    content_size(bytes).filter(|&size| size <= MAX_PAYLOAD)?;
    let frame = [&MAGIC, bytes].concat();
    let length = zstd_safe::find_frame_compressed_size(&frame).ok()?.checked_sub(MAGIC.len())?;
    Some(length + CHECKSUM).filter(|&length| length <= bytes.len())
}

thread_local! {
    /// The decompression context, made at its first use: that takes longer than decompressing a frame.
    static CONTEXT: RefCell<Option<DCtx<'static>>> = const { RefCell::new(None) };
}

#[derive(Debug, Default)]
pub(crate) struct Unpacker {
    /// The frame with its magic number.
    frame: Vec<u8>,
    payload: Vec<u8>,
}

impl Unpacker {
    /// The payload of a frame without its checksum, which holds; `Damaged` if it is not one frame, or too large.
    pub(crate) fn unpack(&mut self, frame: &[u8], dictionary: Option<&DecoderDictionary<'static>>) -> Result<&[u8]> {
        let wrong = |what: &str| Error::damaged(format!("a frame of text ids {what}"));
        let size = content_size(frame).ok_or_else(|| wrong("does not begin as one"))?;
        if size > MAX_PAYLOAD {
            return Err(wrong("would be too large"));
        }
        self.frame.clear();
        self.frame.extend_from_slice(&MAGIC);
        self.frame.extend_from_slice(frame);
        if zstd_safe::find_frame_compressed_size(&self.frame) != Ok(self.frame.len()) {
            return Err(wrong("does not end where it should"));
        }
        self.payload.clear();
        self.payload.reserve(MAX_PAYLOAD);
        let no_memory = || Error::new(crate::error::ErrorKind::Io, "there is no memory to decompress ids");
        let found = CONTEXT.with_borrow_mut(|context| {
            let context = match context {
                Some(context) => context,
                none => none.insert(DCtx::try_create().ok_or_else(no_memory)?),
            };
            Ok(match dictionary {
                Some(dictionary) => {
                    context.decompress_using_ddict(&mut self.payload, &self.frame, dictionary.as_ddict())
                }
                None => context.decompress(&mut self.payload, &self.frame),
            })
        });
        match found? {
            Ok(found) if found == size => Ok(&self.payload),
            _ => Err(wrong("cannot be decompressed")),
        }
    }
}

/// The dictionary of a section, prepared for decompression; `None` if the section is empty.
pub(crate) fn open_dictionary(section: &[u8]) -> Result<Option<DecoderDictionary<'static>>> {
    let dictionary = dictionary::read(section)?;
    if dictionary.is_empty() {
        return Ok(None);
    }
    let prepared = DecoderDictionary::try_copy(&dictionary);
    prepared.map(Some).map_err(|_| Error::damaged("the dictionary of ids has impossible statistics"))
}
