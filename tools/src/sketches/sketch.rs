//! The sketch of a document, and its representations.

use std::io::Write;

use fpsketch::{LuceneTerm, packed};

use crate::common::SCHEMA_VERSION;
use crate::documents::DocumentId;

/// The sketch of a document.
#[derive(Clone, Debug)]
pub enum Sketch {
    /// A fingerprint, and its width in bits.
    Fingerprint(u128, u32),
    /// The places of a signature, and the number of low bits that are kept of each.
    Signature(Vec<u64>, u32),
    /// Terms of lucene.
    Terms(Vec<LuceneTerm>),
    /// Keys of bands.
    Keys(Vec<u64>),
}

/// Kind of all sketches in an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Fingerprints or signatures of this many bits.
    Bits(usize),
    /// Terms of lucene.
    Terms,
    /// Keys of bands.
    Keys,
}

/// Representation of sketches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Fingerprint input, or a line for each key.
    Tsv,
    /// A JSON object for each document.
    Json,
    /// The columns of lines, with their names.
    Csv,
    /// Separate cells.
    Parquet,
}

/// A sketch in the representation of the output.
#[derive(Debug)]
pub enum Row {
    /// As text.
    Text(Vec<u8>),
    /// As cells.
    Cells(DocumentId, Sketch),
}

impl Kind {
    /// Names of the columns of CSV.
    pub(super) fn names(self) -> &'static str {
        match self {
            Self::Bits(_) => "fingerprint,id",
            Self::Terms => "terms,id",
            Self::Keys => "band,key,id",
        }
    }
}

impl Sketch {
    /// Formats the sketch of the document with that id.
    #[must_use]
    pub fn row(self, style: Style, id: DocumentId) -> Row {
        let mut text = Vec::new();
        // Writing to memory does not fail.
        let _ = match style {
            Style::Parquet => return Row::Cells(id, self),
            Style::Json => self.json(&id, &mut text),
            Style::Tsv => self.lines(b'\t', &mut text, |text| id.push_column(text)),
            Style::Csv => self.lines(b',', &mut text, |text| push_csv(&id, text)),
        };
        Row::Text(text)
    }

    /// Appends a line, or one for each key; `push_id` appends the id with its separator.
    fn lines(&self, separator: u8, out: &mut Vec<u8>, push_id: impl Fn(&mut Vec<u8>)) -> std::io::Result<()> {
        if let Self::Keys(keys) = self {
            for (number, key) in keys.iter().enumerate() {
                write!(out, "{number}{}{key:016x}", char::from(separator))?;
                push_id(out);
                out.push(b'\n');
            }
            return Ok(());
        }
        self.hex(out)?;
        push_id(out);
        out.push(b'\n');
        Ok(())
    }

    /// Appends all of the sketch as hexadecimal digits.
    fn hex(&self, out: &mut Vec<u8>) -> std::io::Result<()> {
        match self {
            Self::Fingerprint(bits, width) => write!(out, "{bits:0digits$x}", digits = width.div_ceil(4) as usize),
            Self::Signature(places, bits) => {
                packed(places, *bits).iter().try_for_each(|byte| write!(out, "{byte:02x}"))
            }
            Self::Terms(terms) => terms.iter().flatten().try_for_each(|unit| write!(out, "{unit:04x}")),
            Self::Keys(keys) => keys.iter().try_for_each(|key| write!(out, "{key:016x}")),
        }
    }

    fn json(&self, id: &DocumentId, out: &mut Vec<u8>) -> std::io::Result<()> {
        write!(out, "{{\"schema_version\":{SCHEMA_VERSION},\"id\":")?;
        id.push_json(out);
        match self {
            Self::Fingerprint(bits, width) => {
                out.extend_from_slice(b",\"fingerprint\":\"");
                self.hex(out)?;
                out.push(b'"');
                if !width.is_multiple_of(4) {
                    write!(out, ",\"bits\":\"{bits:0width$b}\"", width = *width as usize)?;
                }
                out.extend_from_slice(b"}\n");
                Ok(())
            }
            Self::Signature(places, bits) => {
                let mask = u64::MAX >> (u64::BITS - bits);
                array(out, "signature", places, |place| (place & mask).to_string())
            }
            Self::Terms(terms) => array(out, "terms_hex", terms, |term| {
                let units: String = term.iter().map(|unit| format!("{unit:04x}")).collect();
                format!("\"{units}\"")
            }),
            Self::Keys(keys) => array(out, "bands", keys, |key| format!("\"{key:016x}\"")),
        }
    }

    /// Memory in bytes.
    #[cfg_attr(not(feature = "parquet"), expect(dead_code, reason = "for Parquet"))]
    pub(super) fn bytes(&self) -> usize {
        size_of::<Self>()
            + match self {
                Self::Fingerprint(..) => 0,
                Self::Signature(places, _) => size_of_val(places.as_slice()),
                Self::Terms(terms) => size_of_val(terms.as_slice()),
                Self::Keys(keys) => size_of_val(keys.as_slice()),
            }
    }

    /// Returns the bytes of a signature, or the text of terms.
    #[cfg_attr(not(feature = "parquet"), allow(dead_code, reason = "for Parquet"))]
    pub(super) fn cell(&self) -> Vec<u8> {
        let mut cell = Vec::new();
        match self {
            Self::Fingerprint(bits, width) => {
                let bytes = bits.to_be_bytes();
                cell.extend_from_slice(bytes.get(bytes.len() - width.div_ceil(8) as usize..).unwrap_or_default());
            }
            Self::Signature(places, bits) => cell = packed(places, *bits),
            // Writing to memory does not fail.
            Self::Terms(_) | Self::Keys(_) => drop(self.hex(&mut cell)),
        }
        cell
    }
}

/// Ends an object with an array.
fn array<T>(out: &mut Vec<u8>, name: &str, values: &[T], value: impl Fn(&T) -> String) -> std::io::Result<()> {
    let values: Vec<String> = values.iter().map(value).collect();
    writeln!(out, ",\"{name}\":[{}]}}", values.join(","))
}

/// Appends a comma and the id as a cell of CSV, quoted only if necessary.
fn push_csv(id: &DocumentId, out: &mut Vec<u8>) {
    out.push(b',');
    match id {
        DocumentId::None => {}
        DocumentId::Number(number) => out.extend_from_slice(number.to_string().as_bytes()),
        DocumentId::Text(text) if text.contains([',', '"', '\r', '\n']) => {
            out.extend_from_slice(format!("\"{}\"", text.replace('"', "\"\"")).as_bytes());
        }
        DocumentId::Text(text) => out.extend_from_slice(text.as_bytes()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(sketch: &Sketch, style: Style, id: DocumentId) -> String {
        match sketch.clone().row(style, id) {
            Row::Text(text) => String::from_utf8(text).unwrap(),
            Row::Cells(..) => panic!("cells"),
        }
    }

    #[test]
    fn every_kind_in_every_style() {
        let id = || DocumentId::Text("a,\"b\"".to_owned());
        let fingerprint = Sketch::Fingerprint(0x1f, 7);
        assert_eq!(text(&fingerprint, Style::Tsv, DocumentId::None), "1f\n");
        assert_eq!(text(&fingerprint, Style::Csv, id()), "1f,\"a,\"\"b\"\"\"\n");
        assert_eq!(
            text(&fingerprint, Style::Json, DocumentId::Number(7)),
            "{\"schema_version\":1,\"id\":7,\"fingerprint\":\"1f\",\"bits\":\"0011111\"}\n"
        );
        assert_eq!(fingerprint.cell(), [0x1f]);
        let signature = Sketch::Signature(vec![1, 2, 3], 8);
        assert_eq!(text(&signature, Style::Tsv, DocumentId::Number(1)), "010203\t1\n");
        assert!(text(&signature, Style::Json, DocumentId::None).ends_with(",\"id\":null,\"signature\":[1,2,3]}\n"));
        let keys = Sketch::Keys(vec![10, 11]);
        assert_eq!(text(&keys, Style::Csv, DocumentId::Number(3)), "0,000000000000000a,3\n1,000000000000000b,3\n");
        assert!(text(&keys, Style::Json, DocumentId::None).contains("\"bands\":[\"000000000000000a\",\"00"));
        let terms = Sketch::Terms(vec![[1; 8]]);
        assert_eq!(text(&terms, Style::Tsv, DocumentId::None), format!("{}\n", "0001".repeat(8)));
    }
}
