//! Reads all inputs to their end, in the order of the command line.

use std::path::Path;

use anyhow::bail;
use fpstore::{Fingerprint, IdKind, Options, RecordSorter, SortedRecords};
use fpstore_tools::input::{IdRule, Ids, Input, InputOptions, Source, feed};
use fpstore_tools::progress::Progress;

use crate::args::Args;
use crate::creation::Hasher;

/// The inputs of a load, none of them read; the first one is open, so that its width is known.
pub(crate) struct Inputs {
    sources: Vec<Source>,
    options: InputOptions,
    first: Option<Input>,
    progress: Progress,
}

/// What was read.
pub(crate) struct Gathered<F: Fingerprint> {
    pub(crate) records: SortedRecords<F>,
    pub(crate) rule: IdRule,
    pub(crate) hasher: Hasher,
}

impl Inputs {
    /// What can be seen to be wrong without reading (names, formats) is found first.
    pub(crate) fn open(args: &Args) -> anyhow::Result<Self> {
        let sources: Vec<Source> = args.inputs.iter().map(|name| Source::new(name)).collect();
        if sources.iter().filter(|source| **source == Source::Standard).count() > 1 {
            bail!("standard input can be read only once");
        }
        let options = InputOptions { temp_dir: args.tmp_dir.clone(), ..args.options.clone() };
        let mut total = Some(0);
        for source in &sources {
            options.format_of(source)?;
            let length = source.length()?;
            total = total.zip(length).map(|(total, length)| total + length);
        }
        let progress = if args.common.shows_progress() { Progress::bytes(total) } else { Progress::hidden() };
        let first = sources.first().map(|source| Input::open(source, &options, &progress)).transpose()?;
        Ok(Self { sources, options, first, progress })
    }

    /// The width that the first input says its fingerprints have.
    pub(crate) fn width(&self) -> Option<u32> {
        self.first.as_ref().and_then(Input::width)
    }

    /// What the first input says its ids are.
    pub(crate) fn ids(&self) -> Option<IdKind> {
        self.first.as_ref().and_then(Input::header).and_then(|header| header.ids)
    }

    /// The records of all inputs, for the store at `path`.
    pub(crate) fn gather<F: Fingerprint>(
        self,
        args: &Args,
        path: &Path,
        ids: Ids,
        loading: &Options,
    ) -> anyhow::Result<Gathered<F>> {
        let Self { sources, options, mut first, progress } = self;
        let mut sorter = RecordSorter::<F>::new(path, loading);
        let (mut rule, mut hasher) = (IdRule::new(ids), Hasher::new(args.hasher.as_deref()));
        for source in &sources {
            progress.message(format!("reading {}", source.name()));
            let input = match first.take() {
                Some(input) => input,
                None => Input::open(source, &options, &progress)?,
            };
            hasher.meet(&source.name(), input.header())?;
            feed(&mut input.reader::<F>()?, &mut rule, &mut |fingerprint, id| Ok(sorter.push(fingerprint, id)?))?;
        }
        progress.message("sorting".to_owned());
        let records = sorter.finish()?;
        progress.finish();
        Ok(Gathered { records, rule, hasher })
    }
}
