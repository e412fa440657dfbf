//! Inputs that hold fingerprints.

use anyhow::Context;
use fpstore::bulk::RecordSorter;
use fpstore::{Fingerprint, IdKind, IdRef};
use fpstore_tools::input::{Format, IdRule, Ids, Input, InputOptions, Source, ToldBy, feed, sources};
use fpstore_tools::notice;
use fpstore_tools::progress::Progress;

use crate::args::Args;
use crate::creation;
use crate::gather::{Gathered, Load, PassedOver};
use crate::hasher::Hasher;

/// Files of fingerprints, none of which has been read; the first one is open, so that its width is known.
pub(crate) struct Fingerprints {
    sources: Vec<Source>,
    options: InputOptions,
    first: Option<Input>,
    progress: Progress,
}

impl Fingerprints {
    /// Opens the inputs, after all checks that need no reading (names, formats).
    pub(super) fn open(args: &Args) -> anyhow::Result<Self> {
        let options = InputOptions { temp_dir: args.temp_dir(), ..args.options.clone() };
        let sources = sources(&args.inputs, &options)?;
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

    /// Width of the first input, if it is known.
    pub(super) fn width(&self) -> Option<u32> {
        self.first.as_ref().and_then(Input::width)
    }

    /// Returns the number of records in raw integers and Parquet files, which is known without reading.
    fn least_records<F: Fingerprint>(&self) -> anyhow::Result<u64> {
        let mut least = 0u64;
        for (source, number) in self.sources.iter().zip(0..) {
            let format = self.options.format_of(source)?;
            let by = if format == Format::Le { ToldBy::Name } else { ToldBy::Content };
            let Some(bytes) = source.plain_length(by)? else { continue };
            let records = match (format, &self.first) {
                (Format::Le, _) => bytes / u64::from(F::WIDTH / 8),
                (Format::Parquet, Some(first)) if number == 0 => first.rows().unwrap_or(0),
                (Format::Parquet, _) => Input::open(source, &self.options, &Progress::hidden())?.rows().unwrap_or(0),
                _ => 0,
            };
            least = least.saturating_add(records);
        }
        Ok(least)
    }

    /// Reads the records of all inputs.
    pub(super) fn gather<F: Fingerprint>(self, load: Load<'_>) -> anyhow::Result<Gathered<F>> {
        let Load { args, store, .. } = load;
        let ids = store.map_or_else(|| creation::wanted_ids(args), |store| Ids::Is(store.ids()));
        let mut sorter = RecordSorter::<F>::new(load.path, load.options);
        if ids == Ids::Is(IdKind::None) {
            sorter = sorter.counted();
        }
        sorter.check_space(self.least_records::<F>()?)?;
        let Self { sources, options, mut first, progress } = self;
        let mut below_quality = 0;
        let (mut rule, mut hasher) = (IdRule::new(ids), Hasher::new(args.hasher.as_deref()));
        for source in &sources {
            progress.message(format!("reading {}", source.name()));
            let input = match first.take() {
                Some(input) => input,
                None => Input::open(source, &options, &progress)?,
            };
            hasher.meet(&source.name(), input.header())?;
            if let Some(store) = store {
                hasher.check(store).with_context(|| source.name())?;
            }
            input.tell_ids(&mut rule)?;
            let push = &mut |fingerprint, id: IdRef<'_>| Ok(sorter.push(fingerprint, id)?);
            let fed = feed(&mut input.reader::<F>()?, &mut rule, push)?;
            below_quality += fed.below_quality;
            if let Some(warning) = fed.numbered {
                let otherwise = if args.create { " (or say --ids none)" } else { "" };
                notice::warn(format_args!("{warning}{otherwise}"));
            }
        }
        progress.message("sorting".to_owned());
        let records = sorter.finish()?;
        progress.finish();
        Ok(Gathered { records, rule, hasher, passed_over: PassedOver { below_quality, ..PassedOver::default() } })
    }
}
