//! An open input, which tells what it knows about its fingerprints before any record is read.
//!
//! The width of a new store may come from its first input, so opening has two steps. [`Input::open`] looks ahead, no
//! further than it needs to; [`Input::reader`] then reads fingerprints of one width.

use std::sync::Arc;

use anyhow::bail;

use super::format::check_parquet;
use super::parquet::Parquet;
use super::recognise::recognise;
use super::source::Opened;
use super::window::Window;
use super::window::reading;
use super::{
    Digits, Format, Header, IdRule, InputOptions, LINE_LIMIT, Place, Quality, Selection, Source, ToldBy, header,
    width_of_name,
};
use crate::progress::Progress;

/// An input whose records have not been read yet.
#[derive(Debug)]
pub struct Input {
    pub(super) name: Arc<str>,
    pub(super) selection: Selection,
    pub(super) header: Option<Header>,
    /// Notation of the fingerprints, if the user gave one.
    pub(super) digits: Option<Digits>,
    pub(super) quality: Option<Quality>,
    pub(super) body: Body,
    /// Width that the extension of the name implies.
    pub(super) named: Option<u32>,
}

/// Source of the records.
#[derive(Debug)]
pub(super) enum Body {
    Lines(Window),
    Ndjson(Window),
    Json(Window),
    Csv(Window, u8),
    Le(Window),
    Parquet(Box<Parquet>),
}

/// An open input of known format and header. No byte of it has been consumed.
pub(super) struct Recognised {
    pub(super) bytes: Opened,
    pub(super) header: Option<Header>,
    pub(super) format: Format,
}

impl Recognised {
    pub(super) fn open(source: &Source, options: &InputOptions, progress: &Progress) -> anyhow::Result<Self> {
        let name: Arc<str> = source.name().into();
        let told = options.told()?;
        let by = if options.is_le(source) { ToldBy::Name } else { ToldBy::Content };
        let mut bytes = source.bytes(progress, by)?;
        let first_line = |message: String| first_line(&name).error(message);
        let header = match (by, told) {
            (ToldBy::Name, _) | (_, Some(Format::Parquet)) => None,
            _ => header::peek(&mut bytes.window).unwrap_or_else(|error| Err(reading(&error))).map_err(first_line)?,
        };
        let format = match (by, told) {
            (ToldBy::Name, _) => Format::Le,
            (_, Some(format)) => format,
            _ => {
                let content = recognise(&mut bytes.window, LINE_LIMIT);
                options.settle(source, content.map_err(|error| first_line(reading(&error)))?)?
            }
        };
        Ok(Self { bytes, header, format })
    }
}

impl Input {
    /// Opens an input. For text it waits for the first bytes of the first record, or for the first line if that begins
    /// like a header or a JSON object.
    ///
    /// # Errors
    ///
    /// If the format is not known, the input cannot be opened, or its header is wrong.
    pub fn open(source: &Source, options: &InputOptions, progress: &Progress) -> anyhow::Result<Self> {
        source.hint("fingerprints");
        let name: Arc<str> = source.name().into();
        let selection = options.selection();
        let Recognised { bytes, header, format } = Recognised::open(source, options, progress)?;
        let digits = options.digits_of(format).map_err(|message| anyhow::anyhow!("{name}: {message}"))?;
        let quality = options.quality();
        if quality.is_some() && matches!(format, Format::Hex | Format::Dec | Format::Le) {
            bail!("{name}: --quality-column is for csv, json and parquet; this input has no columns");
        }
        let Opened { window, plain } = bytes;
        let body = match format {
            Format::Hex | Format::Dec => Body::Lines(window),
            Format::Ndjson => Body::Ndjson(window),
            Format::Json => Body::Json(window),
            Format::Csv | Format::Tsv => Body::Csv(window, options.delimiter_of(format)),
            Format::Le => Body::Le(window),
            Format::Parquet => {
                check_parquet(source)?;
                let bytes = Opened { window, plain };
                let temp_dir = options.temp_dir.as_deref();
                Body::Parquet(Box::new(Parquet::open(source, bytes, &selection, quality.as_ref(), temp_dir, progress)?))
            }
            Format::File => bail!("{name}: whole files are documents, which have no fingerprints yet"),
        };
        let header = match &body {
            Body::Parquet(parquet) => {
                let line = parquet.header().map(|line| Header::parse(line.as_bytes())).transpose();
                line.map_err(|message| anyhow::anyhow!("{name}: its metadata: {message}"))?.flatten()
            }
            _ => header,
        };
        if header.as_ref().is_some_and(|header| header.end) && !matches!(body, Body::Lines(_) | Body::Parquet(_)) {
            let message = "end=1 announces a last line `#end records=N`, which only hexadecimal and decimal lines \
                           have; leave it out";
            return Err(first_line(&name).error(message));
        }
        // The option takes precedence over the name.
        let named = width_of_name(source).filter(|_| options.format.is_none());
        Ok(Self { name, selection, header, digits, quality, body, named })
    }

    /// The header in the first line, if there is one.
    #[must_use]
    pub fn header(&self) -> Option<&Header> {
        self.header.as_ref()
    }

    /// Tells the rule what the header says about the ids.
    ///
    /// # Errors
    ///
    /// If the ids are known to be of another kind.
    pub fn tell_ids(&self, rule: &mut IdRule) -> anyhow::Result<()> {
        let Some(kind) = self.header.as_ref().and_then(|header| header.ids) else { return Ok(()) };
        rule.told(kind).map_err(|message| first_line(&self.name).error(message))
    }

    /// Width of the fingerprints, if the header, the name or the type of a column implies it.
    #[must_use]
    pub fn width(&self) -> Option<u32> {
        let header = self.header.as_ref().and_then(|header| header.width);
        let column = if let Body::Parquet(parquet) = &self.body { parquet.width() } else { None };
        header.or(column).or(self.named)
    }

    /// Number of records, if a Parquet file says it.
    #[must_use]
    pub fn rows(&self) -> Option<u64> {
        if let Body::Parquet(parquet) = &self.body { parquet.row_count() } else { None }
    }
}

/// The place of the first line.
pub(super) fn first_line(name: &Arc<str>) -> Place {
    Place { input: Arc::clone(name), unit: "line", number: 1 }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{input, reader};
    use fpstore::U256;

    #[test]
    fn headers_of_every_text_format() {
        let head = "\u{feff}#fpstore width=128 hasher=native\r\n";
        let hex = format!("{:032x}", 1_u128 << 64);
        let json = format!("{{\"fingerprint\":\"{hex}\"}}");
        for (name, body) in [
            ("a.hex", hex.clone()),
            ("a.hex.gz", hex.clone()),
            ("a.ndjson", json),
            ("a.csv", format!("fingerprint\n{hex}")),
        ] {
            let open = || input(name, format!("{head}{body}\n").as_bytes()).unwrap();
            assert_eq!(open().width(), Some(128));
            assert_eq!(open().header().unwrap().hasher.as_deref(), Some("native"));
            let error = open().reader::<u64>().unwrap_err().to_string();
            assert!(error.contains(": line 1: the input is of 128-bit fingerprints, the store of 64-bit"), "{error}");
            let mut reader = open().reader::<u128>().unwrap();
            assert_eq!(reader.next_entry().unwrap().unwrap().fingerprint, 1 << 64, "{name}");
            assert!(reader.next_entry().unwrap().is_none(), "{name}");
        }
    }

    #[test]
    fn headers_that_are_wrong() {
        let error = input("a.hex", b"#fpstore width=65").unwrap_err().to_string();
        assert!(error.contains("a.hex: line 1: the header says 65-bit"), "{error}");
        // Raw integers have no header.
        assert_eq!(
            reader::<u64>("a.bin", b"#fpstore").next_entry().unwrap().unwrap().fingerprint,
            0x6572_6f74_7370_6623
        );
    }

    #[test]
    fn names_that_promise_a_width() {
        let open = |name| input(name, &[0; 32]).unwrap();
        assert_eq!(open("a.u256").width(), Some(256));
        assert_eq!(open("a.bin").width(), None);
        assert!(open("a.u256").reader::<U256>().is_ok());
        assert!(open("a.bin").reader::<u128>().is_ok());
        let error = open("a.u256").reader::<u64>().unwrap_err().to_string();
        assert!(error.contains("a.u256: the name promises 256-bit") && error.contains("--format le"), "{error}");
    }
}
