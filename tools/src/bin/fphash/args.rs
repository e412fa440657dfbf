//! Subcommands and options of `fphash`, as given on the command line.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Parser, Subcommand};
use fpsketch::compare::Measure;
use fpstore_tools::common::Common;
use fpstore_tools::documents::{DocumentOptions, LeaveOptions, RejectOptions};
use fpstore_tools::input::InputOptions;
use fpstore_tools::size;
use fpstore_tools::sketching::{FeatureOptions, SignatureOptions, SimhashOptions, WEIGHT};

use crate::verify::args::{self as verify, VerifyArgs};

const EXAMPLES: &str = "\
Documents are JSON objects (an object on each line, or an array), rows of CSV, TSV or Parquet with a column of text \
(or of \
ready-made tokens), or whole files, whose path is the id. JSON, Parquet, gzip and zstd are recognised by their \
content. Names \
that end in .json .ndjson .jsonl .csv .tsv .parquet are always records; other files are one document each, unless they \
hold \
JSON objects with that column. A directory stands for the files below it, a pattern such as 'pages/*.html' for the \
files that \
match. Input through a pipe that is neither JSON nor Parquet needs --format.

Documents without features (empty, or shorter than a shingle) all have the same sketch; they are left out with a \
warning: see \
--min-features. A document that cannot be read ends the run: see --on-error.

The first line of fingerprints describes them, and the last line, `#end records=N`, confirms that they are complete: a \
run that \
fails does not write it, and fpload then refuses its output. Do not move these lines (as sorting does). --json writes \
neither; each object of `fphash bands --json` names the hasher instead.

SIZE is a number of bytes, or 512M, 1G, 1GB, 1.5GiB: powers of 1024.

Exit code: 0 = done, or similar; 1 = not similar, or bits that are not sound; 2 = an error; 130 = Ctrl-C, 143 = SIGTERM.

Examples:
  fphash simhash docs.ndjson.gz > docs.hex && fpload --create store docs.hex     (in one: fpload --create --text)
  fphash simhash --preset 1e0ng --id-column path docs.parquet
  fphash simhash --on-error skip --rejects bad.tsv docs.ndjson -o docs.parquet
  zcat docs.csv.gz | fphash simhash --format csv --delimiter ';' -
  fphash simhash --features chars:8 --normalise markup,nfkc,lower pages/
  fphash minhash --num-perm 128 --json docs.ndjson           signatures
  fphash bands --threshold 0.8 docs.ndjson                   band keys: similar documents share at least one
  fphash bands --bands 20 --rows 5 --curve                   how likely documents of each similarity are found
  fphash compare a.txt b.txt                                 similarity of two documents
  fphash verify --evidence gone.tsv docs.ndjson              removed documents whose texts differ from the kept ones
  fphash weights docs.ndjson > idf.tsv                       weights of features, for simhash --weights
  fphash health store.hex                                    defects in the bits of fingerprints
  fphash presets                                             all presets";

const COMPARE: &str = "\
A and B are files if such files exist, otherwise fingerprints. The output is a line \
`distance<TAB>similarity<TAB>verdict`; the \
verdict is `similar` or `different`, and the exit code 0 or 1. Distance is the number of differing bits, or of \
differing places of \
signatures. Similarity is the share of equal bits (for string-hash: the smaller number / the larger one, as in its \
article), or the \
estimated Jaccard similarity of signatures. With --by there is a fourth column, the value of the texts, which decides.

bkdr joins the lines of a file without separators, as its Java class does, and two files are similar only above the \
threshold.

--matches writes the lines whose texts are similar, in their order and with the value in an additional column; with \
--json, \
objects with id_a, id_b and value. The exit code is 1 if there are none. Lines that begin with # are skipped.

Examples:
  fphash compare a.txt b.txt
  fphash compare --minhash --threshold 0.7 a.html b.html --normalise markup,lower
  fphash compare --preset bkdr --width 32 0a3a8712 0a3a8713
  fphash compare --by edit old.txt new.txt
  fpdedup pairs store | fphash compare --matches - --documents docs.ndjson.gz --by jaccard:chars:3 --threshold 0.7
  fphash compare --matches found.tsv --id-columns 1,5 --documents docs/ --by edit     after fpquery --with-query-id";

const HEALTH: &str = "\
Bits are numbered from 0, the most significant one. All records count, including equal ones. The report lists bits \
that are dead \
(never 1), constant (always 1), biased (1 in less than 25% or more than 75%), mirrored (always equal to an earlier \
bit, or always \
opposite to it), pairs that are strongly correlated (|phi| > 0.5), and values that very many records have, each with a \
remedy.

Exit code: 0 = sound, or fewer than 100 records, too few for a verdict; 1 = there are defects; 2 = an error.

Examples:
  fpdump scan store | fphash health -
  fphash simhash docs.ndjson.gz | fphash health -
  fphash health --json new.u64 | jq .findings";

const SIMHASH: &str = "\
A text without features (empty, shorter than words:N, or of stop words alone) is left out; with --min-features 0 its \
fingerprint is \
0, with string-hash ffff..., because ties are ones, and with 1e0ng that of one empty feature. Distinct features count, \
except empty \
ones and those of weight 0. The fingerprint of one feature is its hash. chars:N counts code points, so an emoji beyond \
U+FFFF is one \
character; only string-hash-java and lucene count UTF-16 units, as Java does. Ready-made tokens are features as they \
are: \
--features and --normalise do not apply to them.

A table of weights is a text file with a line `feature<TAB>weight` for each feature; a first line \
`#default<TAB>weight` sets the \
weight of all other features, which is 1 otherwise. `fphash weights` computes such a table from documents (tf-idf).

Examples:
  fphash simhash docs.ndjson.gz > docs.hex
  fphash simhash --width 128 --id-column url --text-column body pages.parquet
  fphash simhash --features unicode:1 --stop-words english.txt docs.csv
  fphash simhash --features tokens --weights levels.tsv docs.ndjson      weights of 1 to 5, say
  fphash simhash --features jieba:1 --weights count chinese/
  fphash simhash --preset bkdr --width 32 --json segmented.ndjson
  fphash simhash --min-features 5 --rejects short.tsv -o pages.tsv.gz pages/     leave short texts out, and list them
  fphash simhash --like store new.ndjson | fpquery --only new store      parameters as the store records them";

const MINHASH: &str = "\
HEX consists of the lowest bits of all places, one after another; for lucene, of all terms. --json writes the places \
as numbers, or \
the terms as the hex of their UTF-16 units. The share of equal places estimates the Jaccard similarity s of two sets \
of features, \
with a standard error of sqrt(s (1 - s) / places). A text without features is left out; with --min-features 0 its \
places have all \
bits set, and it has no terms.

datatrove makes the signatures of datatrove 0.10.1 for English text, as its stage 1 does with the default configuration, \
seed 1; datatrove-32, \
datatrove-sha1 and datatrove-sha1-32 are those of other hash configurations. The words are exactly those of datatrove \
under Python \
3.11 (spaCy 3.8.18), unless a character is newer than the Unicode of that Python. For other languages, give the shingles \
that datatrove \
makes as --tokens-column.

Examples:
  fphash minhash --json docs.ndjson
  fphash minhash --preset datasketch --features words:5 --num-perm 256 --json docs.ndjson
  fphash minhash --preset lucene --bucket-count 512 --features words:5 --json docs.ndjson
  fphash minhash --num-perm 256 --bits 1 docs.ndjson | fpload --create --max-distance 40 store -";

const BANDS: &str = "\
A key is the XXH3 of the places of a band, with the number of the band as its seed. Two documents with the same key in \
the same \
band are candidates. A text without features is left out; with --min-features 0 it is listed without keys. For lucene, \
each bucket \
is a place.

Examples:
  fphash bands --threshold 0.8 docs.ndjson | sort -k 1,2 > keys.tsv      candidates become neighbours
  fphash bands --threshold 0.8 --curve                                   bands and rows for a threshold, and their \
  curve
  fphash bands --preset datatrove --bands 26 --rows 11 docs.ndjson       the buckets of datatrove's MinHash
  fphash bands --preset lucene --terms docs.ndjson                       keys of Lucene's terms
  fphash bands --sentences=3 docs.ndjson                                 keys of the three longest sentences";

/// Makes fingerprints of documents
#[derive(Clone, Debug, Parser)]
#[command(name = "fphash", version, after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) what: What,

    #[command(flatten)]
    pub(crate) common: Common,
}

#[derive(Clone, Debug, Subcommand)]
pub(crate) enum What {
    /// A fingerprint of each document: `HEX<TAB>ID`, as fpload reads it
    #[command(after_help = SIMHASH)]
    Simhash(SimhashArgs),
    /// A signature of each document: `HEX<TAB>ID`, or with --json the numbers
    #[command(after_help = MINHASH)]
    Minhash(MinhashArgs),
    /// Band keys of each document: `BAND<TAB>HEX<TAB>ID`
    #[command(after_help = BANDS)]
    Bands(BandsArgs),
    /// Similarity of two documents, or of the documents on every line of a file: `DISTANCE<TAB>SIMILARITY<TAB>VERDICT`
    #[command(after_help = COMPARE)]
    Compare(CompareArgs),
    /// Confirms removed documents by their texts: evidence of fpdedup with the similarity of each document and its
    /// keeper
    #[command(after_help = verify::EXAMPLES)]
    Verify(Box<VerifyArgs>),
    /// Weights of features by the number of documents that they occur in (inverse document frequency)
    Weights(WeightsArgs),
    /// Whether every bit of fingerprints is useful: finds dead, constant, mirrored and biased bits
    #[command(after_help = HEALTH)]
    Health(HealthArgs),
    /// All presets of simhash and MinHash
    Presets,
}

impl What {
    /// Memory limit of the command.
    pub(crate) fn memory(&self) -> Option<u64> {
        match self {
            Self::Simhash(args) => args.documents.reading.memory,
            Self::Minhash(args) => args.documents.reading.memory,
            Self::Bands(args) => args.reading.memory,
            Self::Weights(args) => args.documents.reading.memory,
            Self::Compare(args) => args.memory,
            Self::Verify(args) => args.memory,
            Self::Health(_) | Self::Presets => None,
        }
    }
}

/// The documents to read.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Documents {
    /// Files or directories with documents, or patterns of names; - is standard input
    #[arg(value_name = "INPUT", required = true)]
    pub(crate) inputs: Vec<OsString>,

    #[command(flatten)]
    pub(crate) reading: Reading,
}

/// How documents are read.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Reading {
    #[command(flatten)]
    pub(crate) options: DocumentOptions,

    /// Memory of the program, at least 64MiB: it limits how far documents are read ahead. A larger document or page of
    /// Parquet is processed all the same, the page with a warning [default: 512MiB]
    #[arg(long, value_name = "SIZE", value_parser = size::parse_memory)]
    pub(crate) memory: Option<u64>,
}

/// Destination of the results.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct OutputOptions {
    /// File for the results instead of standard output; it appears when it is complete. The extension determines the
    /// format: .tsv, .txt, .hex as on standard output, .ndjson as with --json, .csv (named columns, without the
    /// hasher), .parquet (a row for each document, with the hasher for fpload); .gz and .zst are compressed
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Clone, Debug, clap::Args)]
pub(crate) struct SimhashArgs {
    #[command(flatten)]
    pub(crate) documents: Documents,

    #[command(flatten)]
    pub(crate) leave: LeaveOptions,

    #[command(flatten)]
    pub(crate) output: OutputOptions,

    /// Bits of a fingerprint: 64 or 128; bkdr and string-hash take any number from 1, 1e0ng multiples of 8. Stores have
    /// 64 or 128 [default: 64]
    #[arg(long, value_name = "BITS")]
    pub(crate) width: Option<u32>,

    #[command(flatten)]
    pub(crate) options: SimhashOptions,
}

#[derive(Clone, Debug, clap::Args)]
pub(crate) struct MinhashArgs {
    #[command(flatten)]
    pub(crate) documents: Documents,

    #[command(flatten)]
    pub(crate) leave: LeaveOptions,

    #[command(flatten)]
    pub(crate) output: OutputOptions,

    #[command(flatten)]
    pub(crate) options: SignatureOptions,

    /// Keep only the lowest bits of each place, 1 to 64 [default: all, 32, or 64 for datatrove and datatrove-sha1].
    /// With 64, 128 or 256 places and one bit, signatures are fingerprints that a store takes
    #[arg(
        long,
        value_name = "B",
        value_parser = clap::value_parser!(u32).range(1..=64),
        help_heading = "Sketch options"
    )]
    pub(crate) bits: Option<u32>,
}

#[derive(Clone, Debug, clap::Args)]
pub(crate) struct BandsArgs {
    /// Files or directories with documents; - is standard input
    #[arg(value_name = "INPUT", required_unless_present = "curve")]
    pub(crate) inputs: Vec<OsString>,

    #[command(flatten)]
    pub(crate) reading: Reading,

    #[command(flatten)]
    pub(crate) leave: LeaveOptions,

    #[command(flatten)]
    pub(crate) output: OutputOptions,

    #[command(flatten)]
    pub(crate) options: SignatureOptions,

    /// Choose the bands and rows that fit this Jaccard similarity best [default: 0.8]
    #[arg(long, value_name = "T", conflicts_with_all = ["bands", "rows"], help_heading = "Sketch options")]
    pub(crate) threshold: Option<f64>,

    /// With --threshold: weight of false candidates against missed ones, 0 to 1
    #[arg(long, value_name = "W", default_value_t = WEIGHT, help_heading = "Sketch options")]
    pub(crate) false_positive_weight: f64,

    /// Number of bands [default: those of --threshold; for datatrove 14, of 8 rows]
    #[arg(long, value_name = "B", requires = "rows", help_heading = "Sketch options")]
    pub(crate) bands: Option<usize>,

    /// Places of the signature in a band
    #[arg(long, value_name = "R", requires = "bands", help_heading = "Sketch options")]
    pub(crate) rows: Option<usize>,

    /// In place of bands of a signature, keys of the N longest sentences of each document
    #[arg(
        long,
        value_name = "N",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "3",
        conflicts_with_all = ["threshold", "bands", "rows"],
        help_heading = "Sketch options"
    )]
    pub(crate) sentences: Option<usize>,

    /// With --preset lucene, in place of bands: the key of each distinct term, the XXH64 of the bytes that --json of
    /// `fphash minhash` writes in hexadecimal
    #[arg(long, conflicts_with_all = ["threshold", "bands", "rows", "sentences"], help_heading = "Sketch options")]
    pub(crate) terms: bool,

    /// Show how likely documents of each similarity become candidates; read no input
    #[arg(long, conflicts_with_all = ["inputs", "sentences", "terms"])]
    pub(crate) curve: bool,
}

#[derive(Clone, Debug, clap::Args)]
pub(crate) struct CompareArgs {
    /// Two documents, each a file or - for standard input, or two fingerprints in hexadecimal
    #[arg(value_names = ["A", "B"], num_args = 2, required_unless_present = "matches")]
    pub(crate) pair: Vec<OsString>,

    /// Documents are similar from this value on (up to this value, for euclidean) [default: 0.95 for fingerprints, 0.8
    /// for --minhash and for --by; none for euclidean]
    #[arg(long, value_name = "T")]
    pub(crate) threshold: Option<f64>,

    /// Compare the texts themselves, after the steps of --normalise (by default none): edit (1 - edits / length),
    /// substring (longest common substring / length), `cosine[:FEATURES]`, `euclidean[:FEATURES]`, `jaccard[:FEATURES]`
    #[arg(long, value_name = "MEASURE")]
    pub(crate) by: Option<Measure>,

    /// Filter: lines with the ids of two documents in two of their columns, as `fpdedup pairs` writes them; lines with
    /// similar texts are written, with the value in an additional column. - is standard input
    #[arg(
        long,
        value_name = "FILE",
        requires_all = ["by", "documents"],
        conflicts_with_all = ["pair", "minhash", "preset", "width", "weights", "num_perm", "features", "tokens_column"],
        help_heading = "Filter options"
    )]
    pub(crate) matches: Option<OsString>,

    /// The documents of --matches: files or directories; - is standard input. Documents without ids are numbered from
    /// 0, as a store numbers them
    #[arg(long, value_name = "INPUT", num_args = 1.., requires = "matches", help_heading = "Filter options")]
    pub(crate) documents: Vec<OsString>,

    /// The columns of the ids; the first column is 1
    #[arg(
        long,
        value_name = "A,B",
        value_delimiter = ',',
        default_value = "4,5",
        requires = "matches",
        help_heading = "Filter options"
    )]
    pub(crate) id_columns: Vec<usize>,

    #[command(flatten)]
    pub(crate) document_options: DocumentOptions,

    /// Memory of --matches, at least 64MiB, or as much as the largest texts take [default: 512MiB]
    #[arg(long, value_name = "SIZE", value_parser = size::parse_memory, requires = "matches", help_heading = "Filter \
    options")]
    pub(crate) memory: Option<u64>,

    /// Directory for temporary files, as large as the texts of --matches [default: the system's]
    #[arg(long, value_name = "DIR", requires = "matches", help_heading = "Filter options")]
    pub(crate) tmp_dir: Option<PathBuf>,

    /// Compare signatures of MinHash instead of simhash; --preset is one of native, datasketch, datasketch-legacy,
    /// datatrove (and its variants), lucene (with its default parameters)
    #[arg(long, conflicts_with_all = ["width", "weights"])]
    pub(crate) minhash: bool,

    /// Preset of simhash, or of MinHash with --minhash
    #[arg(long, value_name = "NAME", default_value = "native", help_heading = "Sketch options")]
    pub(crate) preset: String,

    /// Bits of a fingerprint [default: 64]
    #[arg(long, value_name = "BITS", help_heading = "Sketch options")]
    pub(crate) width: Option<u32>,

    /// Weight of a feature: count, distinct or a file [default: the preset's]
    #[arg(long, value_name = "count|distinct|FILE", help_heading = "Sketch options")]
    pub(crate) weights: Option<PathBuf>,

    /// With --minhash: places of a signature [default: 128, for datatrove 112]
    #[arg(long, value_name = "N", requires = "minhash", help_heading = "Sketch options")]
    pub(crate) num_perm: Option<usize>,

    #[command(flatten)]
    pub(crate) features: FeatureOptions,
}

#[derive(Clone, Debug, clap::Args)]
pub(crate) struct WeightsArgs {
    #[command(flatten)]
    pub(crate) documents: Documents,

    #[command(flatten)]
    pub(crate) rejects: RejectOptions,

    /// Preset of simhash whose features are counted [default: native]
    #[arg(long, value_name = "NAME", help_heading = "Sketch options")]
    pub(crate) preset: Option<fpsketch::SimhashPreset>,

    #[command(flatten)]
    pub(crate) features: FeatureOptions,

    /// Leave out features of fewer documents; they get the weight of a feature that never occurred
    #[arg(long, value_name = "N", default_value_t = 2)]
    pub(crate) min_documents: u64,
}

#[derive(Clone, Debug, clap::Args)]
pub(crate) struct HealthArgs {
    /// Files of fingerprints, as for fpload; - is standard input
    #[arg(value_name = "FILE", required = true)]
    pub(crate) inputs: Vec<OsString>,

    /// Bits of a fingerprint: 64, 128 or 256 [default: that of the first input, if it is known, or 64]
    #[arg(long, value_name = "BITS", value_parser = fpstore_tools::width::parse)]
    pub(crate) width: Option<u32>,

    #[command(flatten)]
    pub(crate) options: InputOptions,
}

#[cfg(test)]
mod tests {
    use super::Args;
    use clap::CommandFactory;

    #[test]
    fn the_definition_is_sound() {
        Args::command().debug_assert();
    }
}
