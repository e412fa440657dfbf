//! Documents that are left out: unreadable documents with `--on-error skip`, and documents with too few features.
//!
//! Each is counted, and listed in a file in the order of the input: input, line or record (empty for whole files),
//! reason. The file appears when the input has been read to its end.

use std::collections::BTreeMap;
use std::fmt;
use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context, anyhow};
use clap::ValueEnum;

use super::{Fault, FaultKind, Location, Made};
use crate::notice;
use crate::number::{count, count_of};
use crate::output::File;

/// Places in a summary, if no file lists all of them.
const SHOWN: usize = 3;

/// Action for a document that cannot be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum OnError {
    /// The run ends with exit code 2
    #[default]
    Fail,
    /// The document is left out, counted, and listed by --rejects
    Skip,
}

/// Options of every program that can leave documents out.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct RejectOptions {
    /// Action for a document that cannot be read (no text, not UTF-8, malformed, too long, an id that no store takes):
    /// fail ends the run, skip leaves it out. A read error in an input always ends the run [default: fail]
    #[arg(long, value_enum, value_name = "fail|skip", help_heading = "Input options")]
    pub on_error: Option<OnError>,

    /// File that lists the documents that are left out: input, line or record (empty for whole files) and reason, with
    /// TABs between them; .gz and .zst are compressed
    #[arg(long, value_name = "FILE", value_parser = parse_rejects, help_heading = "Input options")]
    pub rejects: Option<PathBuf>,
}

/// Options of every program that makes sketches of documents.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct LeaveOptions {
    #[command(flatten)]
    #[allow(missing_docs, reason = "its fields say it")]
    pub rejects: RejectOptions,

    /// Leave out documents with fewer distinct features, which all look alike: they get no line, are counted, and are
    /// listed by --rejects. 0 keeps all [default: 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=1_000_000), help_heading = "Sketch \
    options")]
    pub min_features: Option<u32>,
}

impl LeaveOptions {
    /// Whether any of the options was given.
    #[must_use]
    pub fn any(&self) -> bool {
        self.rejects.on_error.is_some() || self.rejects.rejects.is_some() || self.min_features.is_some()
    }

    /// Fewest distinct features of a document.
    #[must_use]
    pub fn least(&self) -> usize {
        self.min_features.unwrap_or(1) as usize
    }
}

fn parse_rejects(text: &str) -> Result<PathBuf, String> {
    match text {
        "" | "-" => Err("name a file; standard output is for results".to_owned()),
        path => Ok(path.into()),
    }
}

/// Decides which documents are left out, counts and lists them.
pub struct Rejects {
    skip: bool,
    file: Option<File>,
    left_out: LeftOut,
}

/// Counts of the documents that were left out.
#[derive(Clone, Debug, Default)]
pub struct LeftOut {
    /// Number of documents, including those left out.
    pub documents: u64,
    reasons: BTreeMap<FaultKind, u64>,
    first: Vec<String>,
    file: Option<PathBuf>,
}

impl Rejects {
    /// Opens the list, if the options name one.
    ///
    /// # Errors
    ///
    /// If the file cannot be created.
    pub fn open(options: &RejectOptions) -> anyhow::Result<Self> {
        let file = options.rejects.as_ref().map(|path| File::named("--rejects", path)).transpose()?;
        let left_out = LeftOut { file: options.rejects.clone(), ..LeftOut::default() };
        Ok(Self { skip: options.on_error == Some(OnError::Skip), file, left_out })
    }

    /// Returns the result for a document, unless the document is left out.
    ///
    /// # Errors
    ///
    /// If the document cannot be read and `--on-error` is `fail`, or the list cannot be written.
    pub fn keep<T>(&mut self, made: Made<Result<T, Fault>>) -> anyhow::Result<Option<(Location, T)>> {
        let Made { place, result } = made;
        match result.and_then(|result| result) {
            Ok(result) => Ok(Some((place, result))),
            Err(fault) => self.leave_out(&place, &fault).map(|()| None),
        }
    }

    /// Leaves a document out.
    ///
    /// # Errors
    ///
    /// Errors of [`Rejects::keep`].
    pub fn leave_out(&mut self, place: &Location, fault: &Fault) -> anyhow::Result<()> {
        if !self.skip && !fault.is_harmless() {
            return Err(anyhow!("{place}: {fault} (--on-error skip leaves such documents out)"));
        }
        *self.left_out.reasons.entry(fault.kind).or_default() += 1;
        if let Some(file) = &mut self.file {
            let number = place.number().map_or(String::new(), |number| number.to_string());
            let (input, reason) = (cell(place.input()), cell(&fault.to_string()));
            writeln!(file, "{input}\t{number}\t{reason}").with_context(|| file.name())?;
        } else if self.left_out.first.len() < SHOWN {
            self.left_out.first.push(format!("{place}: {fault}"));
        }
        Ok(())
    }

    /// Completes the list and returns the counts, of `documents` documents.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub fn finish(self, documents: u64) -> anyhow::Result<LeftOut> {
        self.file.map_or(Ok(()), File::finish)?;
        Ok(LeftOut { documents, ..self.left_out })
    }
}

/// Escapes TABs and line feeds.
fn cell(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { c.escape_default().to_string() } else { c.to_string() }).collect()
}

impl LeftOut {
    /// Number of documents that were left out.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.reasons.values().sum()
    }

    /// Number of documents left out for each reason.
    #[must_use]
    pub fn reasons(&self) -> BTreeMap<&'static str, u64> {
        self.reasons.iter().map(|(kind, number)| (kind.name(), *number)).collect()
    }

    /// Warns if documents were left out.
    pub fn warn(&self) {
        if self.total() > 0 {
            let (list, hint) = (self.list(), self.hint());
            notice::warn(format_args!("left out {self}{list}{hint}"));
        }
    }

    /// Returns where they are listed, or the first of them.
    fn list(&self) -> String {
        match &self.file {
            Some(file) => format!("; see {}", file.display()),
            None if self.first.len() as u64 == self.total() => format!("; {}", self.first.join("; ")),
            None => format!("; the first: {}; --rejects FILE lists all", self.first.join("; ")),
        }
    }

    fn hint(&self) -> &'static str {
        if self.reasons.contains_key(&FaultKind::LongWithoutFeatures) {
            ". Long texts without features are Chinese or Japanese without spaces, mostly: try --features chars:4, \
             unicode:2 \
             or jieba:1"
        } else {
            ""
        }
    }
}

/// Writes how many documents were left out, and why.
impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (total, documents) = (count(self.total()), count_of(self.documents, "document"));
        let reasons: Vec<String> =
            self.reasons.iter().map(|(kind, number)| format!("{} {}", count(*number), kind.name())).collect();
        write!(f, "{total} of {documents}: {}", reasons.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::Place;
    use fpsketch::TooFew;

    #[test]
    fn what_is_left_out_is_counted_and_listed() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("rejects.tsv");
        let options = RejectOptions { on_error: Some(OnError::Skip), rejects: Some(path.clone()) };
        let mut rejects = Rejects::open(&options).unwrap();
        let place = |number| Location::At(Place { input: "a\tb".into(), unit: "line", number });
        let null = Fault::new(FaultKind::Null, "the text is null");
        rejects.leave_out(&place(3), &null).unwrap();
        rejects.leave_out(&Location::Whole("x.png".into()), &Fault::new(FaultKind::NotText, "is\nnot text")).unwrap();
        let made = Made { place: place(4), result: Ok(Ok(7)) };
        assert_eq!(rejects.keep(made).unwrap().map(|(_, made)| made), Some(7));
        let few: Made<Result<u32, Fault>> =
            Made { place: place(5), result: Ok(Err(Fault::features(TooFew { features: 0 }, 1, 9))) };
        assert!(rejects.keep(few).unwrap().is_none());
        assert!(!path.exists());
        let left_out = rejects.finish(1000).unwrap();
        let text = "3 of 1,000 documents: 1 null text, 1 not UTF-8, 1 too few features";
        assert_eq!((left_out.to_string().as_str(), left_out.hint()), (text, ""));
        assert_eq!(
            std::fs::read_to_string(path).unwrap(),
            "a\\tb\t3\tthe text is null\nx.png\t\tis\\nnot text\na\\tb\t5\t0 features, fewer than --min-features 1\n"
        );
        let mut strict = Rejects::open(&RejectOptions::default()).unwrap();
        assert!(strict.leave_out(&place(1), &Fault::features(TooFew { features: 1 }, 2, 300)).is_ok());
        let error = strict.leave_out(&place(2), &null).unwrap_err().to_string();
        assert_eq!(error, "a\tb: line 2: the text is null (--on-error skip leaves such documents out)");
        assert!(!strict.finish(2).unwrap().hint().is_empty());
    }
}
