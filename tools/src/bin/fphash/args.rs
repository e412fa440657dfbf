//! What was typed: subcommands and options of `fphash`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Parser, Subcommand};
use fpsketch::compare::Measure;
use fpstore_tools::common::Common;
use fpstore_tools::documents::{DocumentOptions, LeaveOptions, RejectOptions};
use fpstore_tools::input::InputOptions;
use fpstore_tools::size;
use fpstore_tools::sketching::{FeatureOptions, SimhashOptions};

const EXAMPLES: &str = "\
Documents are JSON objects (an object a line, or an array), rows of CSV, TSV or Parquet with a column of text (or of ready-made \
tokens), or whole files, whose path is the id. JSON, Parquet, gzip and zstd are told by their content; .json .ndjson .jsonl .csv \
.tsv .parquet are records everywhere, other names whole files, unless they hold JSON objects with that column. A directory stands \
for the files below it, a pattern such as 'pages/*.html' for those that match. What comes through a pipe and is neither JSON nor \
Parquet needs --format.

Documents that all look alike, since they have no features (empty, or shorter than a shingle), are left out with a warning: see \
--min-features. One that cannot be read ends the run: see --on-error.

The first line of fingerprints says what they are, and the last one, `#end records=N`, that they are all there: a run that \
fails does not write it, and fpload then refuses its output. Put neither elsewhere (as sorting does); --json writes none.

SIZE is a number of bytes, or 512M, 1G, 1GB, 1.5GiB: powers of 1024.

Exit code: 0 = done, or similar; 1 = not similar, or bits that are not sound; 2 = an error; 130 = Ctrl-C, 143 = SIGTERM.

Examples:
  fphash simhash docs.ndjson.gz > docs.hex && fpload --create store docs.hex     (in one: fpload --create --text)
  fphash simhash --preset 1e0ng --id-column path docs.parquet
  fphash simhash --on-error skip --rejects bad.tsv docs.ndjson -o docs.parquet
  zcat docs.csv.gz | fphash simhash --format csv --delimiter ';' -
  fphash simhash --features chars:8 --normalise markup,nfkc,lower pages/
  fphash minhash --num-perm 128 --json docs.ndjson           signatures
  fphash bands --threshold 0.8 docs.ndjson                   keys of which similar documents have one in common
  fphash bands --bands 20 --rows 5 --curve                   how likely documents of each similarity are found
  fphash compare a.txt b.txt                                 how similar are two documents?
  fphash weights docs.ndjson > idf.tsv                       weights of features, for simhash --weights
  fphash health store.hex                                    are the bits of these fingerprints sound?
  fphash presets                                             all definitions";

const COMPARE: &str = "\
A and B are whole files if there are such, else fingerprints. A line `distance<TAB>similarity<TAB>verdict`; the verdict \
is `similar` or `different`, and the exit code 0 or 1. Distance counts bits that differ, or places of signatures. Similarity is the \
share of bits that are equal (of string-hash: the smaller number / the larger one, as its article has it), or the estimated \
Jaccard similarity of signatures. With --by there is a fourth column, the value of the texts, and it decides.

bkdr, as its Java class does, takes the lines of a file without anything between them, and two for similar only above the threshold.

--matches writes the lines whose texts are similar, with the value in one more column, in their order; with --json objects with \
id_a, id_b and value. Exit code 1 if there are none. A line that begins with # is passed over.

Examples:
  fphash compare a.txt b.txt
  fphash compare --minhash --threshold 0.7 a.html b.html --normalise markup,lower
  fphash compare --preset bkdr --width 32 0a3a8712 0a3a8713
  fphash compare --by edit old.txt new.txt
  fpdedup pairs store | fphash compare --matches - --documents docs.ndjson.gz --by jaccard:chars:3 --threshold 0.7
  fphash compare --matches found.tsv --id-columns 1,5 --documents docs/ --by edit     after fpquery --with-query-id";

const HEALTH: &str = "\
Bits are numbered from 0, the most significant one. All records count, equal ones too. Named are bits that are dead (never 1), constant \
(always 1), biased (1 in less than 25% or more than 75%), mirrored (always equal to an earlier bit, or always opposite to it), pairs \
that are strongly correlated (|phi| > 0.5), and values that very many records have, with what can be done about it.

Exit code: 0 = sound, or fewer than 100 records, of which nothing can be told; 1 = something is wrong; 2 = an error.

Examples:
  fpdump scan store | fphash health -
  fphash simhash docs.ndjson.gz | fphash health -
  fphash health --json new.u64 | jq .findings";

const SIMHASH: &str = "\
A text without features (an empty one, one shorter than words:N, or of stop words alone) is left out; with --min-features 0 it has \
fingerprint 0, ffff... with string-hash, where a tie is a one, and with 1e0ng that of one empty feature. Distinct features count, \
empty ones and those of weight 0 do not. With one feature the fingerprint is its hash. chars:N counts code points, so that an emoji beyond \
U+FFFF is one; only string-hash-java and lucene count UTF-16 units, as Java does. Ready-made tokens are features as they are: \
--features and --normalise do nothing to them.

A table of weights is a text file with a line `feature<TAB>weight` for each feature; a first line `#default<TAB>weight` says what \
all others count, else they count 1. `fphash weights` makes one of documents (tf-idf).

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
HEX is the lowest bits of all places, one after another; of lucene, all terms. --json writes the places as numbers, or the terms as \
the hex of their UTF-16 units. The share of equal places estimates the Jaccard similarity s of two sets of features, with a \
standard error of sqrt(s (1 - s) / places). A text without features is left out; with --min-features 0 it has all bits set in every place, and no terms.

Examples:
  fphash minhash --json docs.ndjson
  fphash minhash --preset datasketch --features words:5 --num-perm 256 --json docs.ndjson
  fphash minhash --preset lucene --bucket-count 512 --features words:5 --json docs.ndjson
  fphash minhash --num-perm 256 --bits 1 docs.ndjson | fpload --create --max-distance 40 store -";

const BANDS: &str = "\
A key is the XXH3 of the places of a band, with the number of the band as its seed. Two documents with the same key in the same \
band are candidates. A text without features is left out; with --min-features 0 it is there and has no keys. Of lucene, each bucket is a place.

Examples:
  fphash bands --threshold 0.8 docs.ndjson | sort -k 1,2 > keys.tsv      candidates are neighbours now
  fphash bands --threshold 0.8 --curve                                   which bands and rows are these, and what do they find?
  fphash bands --sentences=3 docs.ndjson                                 keys of the three longest sentences";

/// Documents to fingerprints.
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
    /// How similar two documents are, or those of every line of a file: `DISTANCE<TAB>SIMILARITY<TAB>VERDICT`
    #[command(after_help = COMPARE)]
    Compare(CompareArgs),
    /// Weights of features by the number of documents that they occur in (inverse document frequency)
    Weights(WeightsArgs),
    /// Whether every bit of fingerprints tells something: dead, constant, mirrored, biased ones
    #[command(after_help = HEALTH)]
    Health(HealthArgs),
    /// All definitions of simhash and MinHash
    Presets,
}

impl What {
    /// The memory that it is told to keep within.
    pub(crate) fn memory(&self) -> Option<u64> {
        match self {
            Self::Simhash(args) => args.documents.reading.memory,
            Self::Minhash(args) => args.documents.reading.memory,
            Self::Bands(args) => args.reading.memory,
            Self::Weights(args) => args.documents.reading.memory,
            Self::Compare(args) => args.memory,
            Self::Health(_) | Self::Presets => None,
        }
    }
}

/// Which documents are read.
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

    /// Memory that the program may take, from 64MiB on: documents are read only so far ahead. One that is larger is worked on all
    /// the same, and so is a page of Parquet that is larger (with a warning) [default: 512MiB]
    #[arg(long, value_name = "SIZE", value_parser = size::parse_memory)]
    pub(crate) memory: Option<u64>,
}

/// Where the results go.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct OutputOptions {
    /// File for the results instead of standard output; it appears when it is whole. The ending tells the format: .tsv, .txt,
    /// .hex as on standard output, .ndjson as with --json, .csv (named columns, and no word of the hasher), .parquet (a row for each document; fpload takes
    /// the hasher from it); .gz and .zst are compressed
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

    /// Bits of a fingerprint: 64 or 128; bkdr and string-hash take any number from 1 on, 1e0ng multiples of 8. Stores have
    /// 64 or 128 [default: 64]
    #[arg(long, value_name = "BITS")]
    pub(crate) width: Option<u32>,

    #[command(flatten)]
    pub(crate) options: SimhashOptions,
}

/// How signatures are made.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct SignatureOptions {
    /// Definition of MinHash: native, datasketch, datasketch-legacy, lucene; see `fphash presets`
    #[arg(long, value_name = "NAME", default_value = "native", help_heading = "Sketch options")]
    pub(crate) preset: String,

    /// Places of a signature [default: 128]
    #[arg(long, value_name = "N", help_heading = "Sketch options")]
    pub(crate) num_perm: Option<usize>,

    /// Seed of the functions; only signatures of the same one are comparable [default: 1]
    #[arg(long, value_name = "N", help_heading = "Sketch options")]
    pub(crate) seed: Option<u32>,

    #[command(flatten)]
    pub(crate) features: FeatureOptions,

    /// Of lucene: number of hash functions [default: 1]
    #[arg(long, value_name = "N", help_heading = "Options of lucene")]
    pub(crate) hash_count: Option<u32>,

    /// Of lucene: buckets of each function [default: 512]
    #[arg(long, value_name = "N", help_heading = "Options of lucene")]
    pub(crate) bucket_count: Option<u32>,

    /// Of lucene: values kept in a bucket [default: 1]
    #[arg(long, value_name = "N", help_heading = "Options of lucene")]
    pub(crate) hash_set_size: Option<u32>,

    /// Of lucene: whether empty buckets are filled with the value of the next [default: true with more than one bucket]
    #[arg(long, value_name = "true|false", help_heading = "Options of lucene")]
    pub(crate) with_rotation: Option<bool>,
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

    /// Keep the lowest bits of each place only, 1 to 32. With 64, 128 or 256 places and one bit they are fingerprints that
    /// a store takes
    #[arg(long, value_name = "B", value_parser = clap::value_parser!(u32).range(1..=32), default_value_t = 32, help_heading = "Sketch options")]
    pub(crate) bits: u32,
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

    /// Bands and rows that fit this Jaccard similarity best [default: 0.8]
    #[arg(long, value_name = "T", conflicts_with_all = ["bands", "rows"], help_heading = "Sketch options")]
    pub(crate) threshold: Option<f64>,

    /// With --threshold: how much wrong candidates weigh beside missed ones, 0 to 1
    #[arg(long, value_name = "W", default_value_t = 0.5, help_heading = "Sketch options")]
    pub(crate) false_positive_weight: f64,

    /// Number of bands
    #[arg(long, value_name = "B", requires = "rows", help_heading = "Sketch options")]
    pub(crate) bands: Option<usize>,

    /// Places of the signature in a band
    #[arg(long, value_name = "R", requires = "bands", help_heading = "Sketch options")]
    pub(crate) rows: Option<usize>,

    /// In place of bands of a signature, keys of the N longest sentences of each document
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = true, default_missing_value = "3", conflicts_with_all = ["threshold", "bands", "rows"], help_heading = "Sketch options")]
    pub(crate) sentences: Option<usize>,

    /// Show how likely documents of each similarity become candidates, and read nothing
    #[arg(long, conflicts_with_all = ["inputs", "sentences"])]
    pub(crate) curve: bool,
}

#[derive(Clone, Debug, clap::Args)]
pub(crate) struct CompareArgs {
    /// Two documents, each a file or - for standard input, or two fingerprints in hexadecimal digits
    #[arg(value_names = ["A", "B"], num_args = 2, required_unless_present = "matches")]
    pub(crate) pair: Vec<OsString>,

    /// Similar from this value on (up to this one, for euclidean) [default: 0.95 of fingerprints, 0.8 of --minhash and of
    /// --by; none for euclidean]
    #[arg(long, value_name = "T")]
    pub(crate) threshold: Option<f64>,

    /// Compare the texts themselves, as --normalise leaves them (as they are unless told): edit (1 - edits / length),
    /// substring (the longest common one / length), `cosine[:FEATURES]`, `euclidean[:FEATURES]`, `jaccard[:FEATURES]`
    #[arg(long, value_name = "MEASURE")]
    pub(crate) by: Option<Measure>,

    /// Filter: lines with the ids of two documents in two of their columns, as `fpdedup pairs` writes them; those whose texts are
    /// similar are written, with the value in one more column. - is standard input
    #[arg(
        long,
        value_name = "FILE",
        requires_all = ["by", "documents"],
        conflicts_with_all = ["pair", "minhash", "preset", "width", "weights", "num_perm", "features", "tokens_column"],
        help_heading = "Filter options"
    )]
    pub(crate) matches: Option<OsString>,

    /// The documents of --matches: files or directories; - is standard input. Those without ids are numbered from 0, as a
    /// store numbers them
    #[arg(long, value_name = "INPUT", num_args = 1.., requires = "matches", help_heading = "Filter options")]
    pub(crate) documents: Vec<OsString>,

    /// The columns with the ids; the first column is 1
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

    /// Memory that --matches is to keep within, from 64MiB on, or as much as the largest texts take [default: 512MiB]
    #[arg(long, value_name = "SIZE", value_parser = size::parse_memory, requires = "matches", help_heading = "Filter options")]
    pub(crate) memory: Option<u64>,

    /// Directory for temporary files, as large as the texts of --matches [default: the system's]
    #[arg(long, value_name = "DIR", requires = "matches", help_heading = "Filter options")]
    pub(crate) tmp_dir: Option<PathBuf>,

    /// Compare signatures of MinHash instead of simhash; --preset is one of native, datasketch, datasketch-legacy, lucene
    /// (with its default parameters)
    #[arg(long, conflicts_with_all = ["width", "weights"])]
    pub(crate) minhash: bool,

    /// Definition of simhash, or of MinHash with --minhash
    #[arg(long, value_name = "NAME", default_value = "native", help_heading = "Sketch options")]
    pub(crate) preset: String,

    /// Bits of a fingerprint [default: 64]
    #[arg(long, value_name = "BITS", help_heading = "Sketch options")]
    pub(crate) width: Option<u32>,

    /// What a feature counts: count, distinct or a file [default: the preset's]
    #[arg(long, value_name = "count|distinct|FILE", help_heading = "Sketch options")]
    pub(crate) weights: Option<PathBuf>,

    /// With --minhash: places of a signature [default: 128]
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

    /// Definition of simhash whose features are counted [default: native]
    #[arg(long, value_name = "NAME", help_heading = "Sketch options")]
    pub(crate) preset: Option<fpsketch::SimhashPreset>,

    #[command(flatten)]
    pub(crate) features: FeatureOptions,

    /// Leave out features of fewer documents; they weigh what one weighs that never occurred
    #[arg(long, value_name = "N", default_value_t = 2)]
    pub(crate) min_documents: u64,
}

#[derive(Clone, Debug, clap::Args)]
pub(crate) struct HealthArgs {
    /// Files with fingerprints, as fpload reads them; - is standard input
    #[arg(value_name = "FILE", required = true)]
    pub(crate) inputs: Vec<OsString>,

    /// Bits of a fingerprint: 64, 128 or 256 [default: what the first input says of itself, or 64]
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
