//! Reads all inputs to their end, in the order of the command line.

use std::path::Path;

use anyhow::bail;
use fpstore::{Fingerprint, IdKind, Options, RecordSorter, SortedRecords};
use fpstore_tools::input::{Format, IdRule, Ids, Input, InputOptions, Source, feed};
use fpstore_tools::progress::Progress;

use crate::args::Args;
use crate::hasher::Hasher;

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
        // As the load itself does it: the system's place for temporary files may be memory.
        let around = args.store.as_deref().and_then(|store| store.ancestors().find(|above| above.is_dir()));
        let temp_dir = args.tmp_dir.as_deref().or(around).map(Path::to_owned);
        let options = InputOptions { temp_dir, ..args.options.clone() };
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

    /// Number of records that can be told without reading: of raw integers, and of a Parquet file that comes first.
    fn least_records<F: Fingerprint>(&self) -> anyhow::Result<u64> {
        let mut least = self.first.as_ref().and_then(Input::rows).unwrap_or(0);
        for source in &self.sources {
            if let (Format::Le, Some(bytes)) = (self.options.format_of(source)?, source.plain_length()?) {
                least = least.saturating_add(bytes / u64::from(F::WIDTH / 8));
            }
        }
        Ok(least)
    }

    /// The records of all inputs, for the store at `path`.
    pub(crate) fn gather<F: Fingerprint>(
        self,
        args: &Args,
        path: &Path,
        ids: Ids,
        loading: &Options,
    ) -> anyhow::Result<Gathered<F>> {
        let mut sorter = RecordSorter::<F>::new(path, loading);
        sorter.check_room(self.least_records::<F>()?)?;
        let Self { sources, options, mut first, progress } = self;
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
