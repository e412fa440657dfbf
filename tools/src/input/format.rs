//! Which format an input has: told by an option, by what it holds ([`super::recognise`]), or by the ending of its name.

use std::path::{Path, PathBuf};

use anyhow::bail;
use clap::ValueEnum;

use super::compression::ending;
use super::{Compression, Source};

/// How records are written in an input.
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
    /// The same with a TAB between the columns
    Tsv,
    /// A Parquet file
    Parquet,
    /// Of documents: the whole file is one, and its path is the id
    File,
}

impl Format {
    /// What the ending of the name says, below `.gz` or `.zst`. A name without an ending is read as hex, like
    /// standard input, if what it holds is not recognised.
    ///
    /// # Errors
    ///
    /// When the ending stands for nothing that this version reads.
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

/// The width that the ending of a name promises: `.u64`, `.u128` and `.u256` do.
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

/// The ending of the name in lower case, below `.gz` or `.zst`; or nothing.
pub(crate) fn ending_of(path: &Path) -> String {
    ending(&uncompressed(path))
}

/// Refuses an input in Parquet if the program cannot read that.
pub(crate) fn check_parquet(source: &Source) -> anyhow::Result<()> {
    if !cfg!(feature = "parquet") {
        bail!(
            "{}: this program was built without Parquet; build it with: cargo install fpstore-tools --features parquet",
            source.name()
        );
    }
    Ok(())
}

/// The name without `.gz` or `.zst`.
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
