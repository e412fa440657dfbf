//! Input formats, determined by an option, by the content ([`super::recognise`]), or by the extension of the name.

use std::path::{Path, PathBuf};

use anyhow::bail;
use clap::ValueEnum;

use super::compression::ending;
use super::{Compression, Source};

/// Format of the records in an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Lines of hexadecimal digits (16 for 64 bits), then a TAB and the id if there are ids
    Hex,
    /// Lines of a decimal number, then a TAB and the id if there are ids
    Dec,
    /// Raw little-endian integers as wide as the fingerprints, no ids
    Le,
    /// A JSON object a line
    Ndjson,
    /// An array of JSON objects, or objects one after another that may be longer than a line
    Json,
    /// A row of columns, which are named in the first row
    Csv,
    /// Like csv, with a TAB between the columns
    Tsv,
    /// A Parquet file
    Parquet,
    /// For documents: the whole file is one, and its path is the id
    File,
}

impl Format {
    /// Returns the format that the extension of the name implies, below `.gz` or `.zst`. A name without an extension
    /// means hex, like standard input, if the content is not recognised.
    ///
    /// # Errors
    ///
    /// If the extension is not known.
    pub fn of(path: &Path) -> anyhow::Result<Self> {
        Ok(match ending_of(path).as_str() {
            "" | "txt" | "tsv" | "hex" => Self::Hex,
            "u64" | "u128" | "u256" | "bin" => Self::Le,
            "ndjson" | "jsonl" => Self::Ndjson,
            "json" => Self::Json,
            "csv" => Self::Csv,
            "parquet" => Self::Parquet,
            _ => bail!(
                "{}: neither the content nor the ending of the name tells the format; say it with --format \
                 hex|dec|le|ndjson|json|csv|tsv|parquet",
                path.display()
            ),
        })
    }
}

/// Returns the width that the extension of a name implies: `.u64`, `.u128` and `.u256` do.
#[must_use]
pub fn width_of_name(source: &Source) -> Option<u32> {
    let Source::File(path) = source else { return None };
    match ending_of(path).as_str() {
        "u64" => Some(64),
        "u128" => Some(128),
        "u256" => Some(256),
        _ => None,
    }
}

/// Returns the extension of the name in lower case, below `.gz` or `.zst`, or an empty string.
pub(crate) fn ending_of(path: &Path) -> String {
    ending(&uncompressed(path))
}

/// Rejects a Parquet input in a build without Parquet.
pub(crate) fn check_parquet(source: &Source) -> anyhow::Result<()> {
    if !cfg!(feature = "parquet") {
        bail!(
            "{}: this program was built without Parquet; build it with: cargo install fpstore-tools --features parquet",
            source.name()
        );
    }
    Ok(())
}

/// Returns the name without `.gz` or `.zst`.
fn uncompressed(path: &Path) -> PathBuf {
    match Compression::of(path) {
        Compression::None => path.to_owned(),
        Compression::Gzip | Compression::Zstd => path.with_extension(""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endings() {
        let of = |name: &str| Format::of(Path::new(name)).unwrap();
        for name in ["a.txt", "a.tsv", "a.hex", "a.hex.gz", "a.TSV.ZST", "plain", "/dev/fd/63", "a.gz"] {
            assert_eq!(of(name), Format::Hex, "{name}");
        }
        for name in ["a.u64", "a.u128", "a.u256.zst", "a.bin", "dir.txt/a.u64.gz", "a.b.u64"] {
            assert_eq!(of(name), Format::Le, "{name}");
        }
        assert_eq!(of("a.ndjson"), Format::Ndjson);
        assert_eq!(of("a.jsonl.zst"), Format::Ndjson);
        assert_eq!(of("a.json.gz"), Format::Json);
        assert_eq!(of("a.csv.gz"), Format::Csv);
        assert_eq!(of("a.Parquet"), Format::Parquet);
    }

    #[test]
    fn endings_that_promise_a_width() {
        let width = |name: &str| width_of_name(&Source::File(name.into()));
        assert_eq!(width("a.u64"), Some(64));
        assert_eq!(width("a.U128.gz"), Some(128));
        assert_eq!(width("a.u256.zst"), Some(256));
        for name in ["a.bin", "a.hex", "u128", "a.u64.b", "a.u512"] {
            assert_eq!(width(name), None, "{name}");
        }
        assert_eq!(width_of_name(&Source::Standard), None);
    }

    #[test]
    fn endings_that_stand_for_nothing() {
        for name in ["a.xls.gz", "a.u512"] {
            let error = Format::of(Path::new(name)).unwrap_err().to_string();
            assert!(error.contains("--format") && error.contains(name), "{error}");
        }
    }
}
