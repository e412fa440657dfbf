//! Which format an input has: told by an option, or by the ending of its name.

use std::path::Path;

use anyhow::bail;
use clap::ValueEnum;

/// How records are written in an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Lines of 16 hexadecimal digits, then a TAB and the id if there are ids
    Hex,
    /// Lines of a decimal number, then a TAB and the id if there are ids
    Dec,
    /// Raw little-endian integers of 8 bytes, no ids
    Le,
    /// A JSON object a line
    Ndjson,
}

/// How an input is compressed. Always told by the ending of its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    /// Not at all.
    None,
    /// `.gz`
    Gzip,
    /// `.zst`
    Zstd,
}

impl Compression {
    /// What the ending of the name says.
    #[must_use]
    pub fn of(path: &Path) -> Self {
        match ending(path).as_str() {
            "gz" => Self::Gzip,
            "zst" => Self::Zstd,
            _ => Self::None,
        }
    }
}

impl Format {
    /// What the ending of the name says, below `.gz` or `.zst`. A name without an ending is read as hex, like
    /// standard input.
    ///
    /// # Errors
    ///
    /// When the ending stands for nothing that this version reads.
    pub fn of(path: &Path) -> anyhow::Result<Self> {
        let inner = match Compression::of(path) {
            Compression::None => path.to_owned(),
            Compression::Gzip | Compression::Zstd => path.with_extension(""),
        };
        Ok(match ending(&inner).as_str() {
            "" | "txt" | "tsv" | "hex" => Self::Hex,
            "u64" | "bin" => Self::Le,
            "ndjson" | "jsonl" => Self::Ndjson,
            "u128" | "u256" => bail!(
                "{}: the name promises fingerprints wider than 64 bits, which are not supported yet; if they have 64 \
                 bits, say --format le",
                path.display()
            ),
            known @ ("csv" | "parquet") => bail!("{}: the format {known} is not supported yet", path.display()),
            _ => bail!(
                "{}: the ending of the name does not tell the format; say it with --format hex|dec|le|ndjson",
                path.display()
            ),
        })
    }
}

/// The ending of the name in lower case, or nothing.
fn ending(path: &Path) -> String {
    path.extension().map(|ending| ending.to_string_lossy().to_ascii_lowercase()).unwrap_or_default()
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
        for name in ["a.u64", "a.bin", "dir.txt/a.u64.gz", "a.b.u64"] {
            assert_eq!(of(name), Format::Le, "{name}");
        }
        assert_eq!(of("a.ndjson"), Format::Ndjson);
        assert_eq!(of("a.jsonl.zst"), Format::Ndjson);
    }

    #[test]
    fn endings_that_stand_for_nothing() {
        for (name, part) in [
            ("a.csv", "not supported yet"),
            ("a.parquet", "not supported yet"),
            ("a.u128", "wider than 64"),
            ("a.json", "--format"),
            ("a.xls.gz", "--format"),
        ] {
            let error = Format::of(Path::new(name)).unwrap_err().to_string();
            assert!(error.contains(part) && error.contains(name), "{error}");
        }
    }
}
