//! Detects the compression of an input by its first bytes, whatever its name.
//!
//! A file whose name ends in `.gz` or `.zst` must be compressed: one that is neither gzip nor zstd is an error, because
//! it may have been cut or mixed up. Raw integers may begin with any bytes, so for them the name alone decides.

use std::io::{self, BufReader, Cursor, Read};
use std::path::Path;

use flate2::read::MultiGzDecoder;

/// Buffer in front of a decompressor.
const BUFFER: usize = 128 << 10;

const GZIP: &[u8] = b"\x1f\x8b";
const ZSTD: &[u8] = b"\x28\xb5\x2f\xfd";
/// A zstd frame without data, which parallel compressors write first. Its first byte is any from 0x50 to 0x5f.
const SKIPPABLE: &[u8] = b"\x50\x2a\x4d\x18";

/// How an input is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    /// No compression.
    None,
    /// `.gz`
    Gzip,
    /// `.zst`
    Zstd,
}

/// The source of an input's compression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToldBy {
    /// The first bytes of the input.
    Content,
    /// The extension of the name.
    Name,
}

impl Compression {
    /// Returns the compression that the extension of the name implies.
    #[must_use]
    pub fn of(path: &Path) -> Self {
        match ending(path).as_str() {
            "gz" => Self::Gzip,
            "zst" => Self::Zstd,
            _ => Self::None,
        }
    }

    /// Returns the compression that the first bytes imply; `None` if there are too few of them.
    fn of_bytes(head: &[u8]) -> Option<Self> {
        let skippable = matches!(head.first(), Some(0x50..=0x5f));
        for (compression, magic, from) in
            [(Self::Gzip, GZIP, 0), (Self::Zstd, ZSTD, 0), (Self::Zstd, SKIPPABLE, usize::from(skippable))]
        {
            let (magic, head) = (magic.get(from..).unwrap_or_default(), head.get(from..).unwrap_or_default());
            if head.starts_with(magic) {
                return Some(compression);
            }
            if magic.starts_with(head) {
                return None;
            }
        }
        Some(Self::None)
    }
}

/// Returns the compression and the decompressed bytes of a file. `named` is the compression that the name implies. The
/// function waits for no more bytes than it needs to decide.
pub(super) fn decompressed(
    mut file: impl Read + Send + 'static,
    named: Compression,
    by: ToldBy,
) -> io::Result<(Compression, Box<dyn Read + Send>)> {
    if by == ToldBy::Name && named == Compression::None {
        return Ok((named, Box::new(file)));
    }
    let mut head = Vec::new();
    let found = loop {
        if let Some(found) = Compression::of_bytes(&head) {
            break Some(found);
        }
        if file.by_ref().take(1).read_to_end(&mut head)? == 0 {
            break None;
        }
    };
    // A decompressor takes an empty file for an empty stream, but the file was cut.
    if head.is_empty() && named != Compression::None {
        return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the compressed file is empty"));
    }
    let compression = match (by, found) {
        (ToldBy::Name, _) | (ToldBy::Content, None) => named,
        (ToldBy::Content, Some(Compression::None)) if named != Compression::None => {
            return Ok((named, Box::new(Misnamed)));
        }
        (ToldBy::Content, Some(found)) => found,
    };
    let bytes = Cursor::new(head).chain(file);
    Ok((
        compression,
        match compression {
            Compression::None => Box::new(bytes),
            Compression::Gzip => Box::new(MultiGzDecoder::new(BufReader::with_capacity(BUFFER, bytes))),
            Compression::Zstd => {
                Box::new(zstd::stream::read::Decoder::with_buffer(BufReader::with_capacity(BUFFER, bytes))?)
            }
        },
    ))
}

/// A file whose name implies compression that its content does not have. The first read fails, so that the error names
/// the place.
struct Misnamed;

impl Read for Misnamed {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        Err(io::Error::new(
            io::ErrorKind::InvalidData,
            "the name promises compression, but the content is neither gzip nor zstd; rename the file",
        ))
    }
}

/// Returns the extension of the name in lower case, or an empty string.
pub(super) fn ending(path: &Path) -> String {
    path.extension().map(|ending| ending.to_string_lossy().to_ascii_lowercase()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::super::testing::packed;
    use super::*;

    fn read(bytes: &[u8], name: &str, by: ToldBy) -> io::Result<Vec<u8>> {
        let file = Cursor::new(bytes.to_vec());
        let mut all = Vec::new();
        decompressed(file, Compression::of(Path::new(name)), by)?.1.read_to_end(&mut all)?;
        Ok(all)
    }

    #[test]
    fn the_content_tells_and_not_the_name() {
        for packing in ["x.gz", "x.zst"] {
            let bytes = packed(packing, b"some text");
            for name in ["-", "a.csv", "a.gz", "a.zst", "a"] {
                assert_eq!(read(&bytes, name, ToldBy::Content).unwrap(), b"some text", "{packing} {name}");
            }
            assert_eq!(read(&bytes, "a.u64", ToldBy::Name).unwrap(), bytes);
            assert_eq!(read(&bytes, packing, ToldBy::Name).unwrap(), b"some text");
        }
        for plain in ["", "(", "P", "PAR1", "\u{1f}", "(x", "text"] {
            assert_eq!(read(plain.as_bytes(), "a", ToldBy::Content).unwrap(), plain.as_bytes());
        }
    }

    #[test]
    fn every_member_and_frame_is_read() {
        let frames = [packed("x.zst", b"one "), packed("x.zst", b"two ")].concat();
        let skippable = [b"\x5e\x2a\x4d\x18\x03\0\0\0abc".as_slice(), &frames, b"\x50\x2a\x4d\x18\0\0\0\0"].concat();
        let members = [packed("x.gz", b"one "), packed("x.gz", b""), packed("x.gz", b"two ")].concat();
        for bytes in [frames, skippable, members] {
            assert_eq!(read(&bytes, "a", ToldBy::Content).unwrap(), b"one two ");
        }
    }

    #[test]
    fn names_are_held_to_what_they_promise() {
        for name in ["a.gz", "a.zst"] {
            for (bytes, part) in
                [(b"".as_slice(), "is empty"), (b"plain", "neither gzip nor zstd; rename"), (b"\x1f", "")]
            {
                let error = read(bytes, name, ToldBy::Content).unwrap_err().to_string();
                assert!(error.contains(part), "{error}");
            }
        }
    }

    #[test]
    fn no_more_is_waited_for_than_needed() {
        struct Broken;
        impl Read for Broken {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::Error::other("asked for more"))
            }
        }
        let (_, mut bytes) = decompressed(b"x".as_slice().chain(Broken), Compression::None, ToldBy::Content).unwrap();
        let mut one = [0];
        bytes.read_exact(&mut one).unwrap();
        assert_eq!(one, *b"x");
    }
}
