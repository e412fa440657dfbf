//! Records beside the store: another store, or a file that is loaded into a temporary store.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use fpstore::bulk::RecordSorter;
use fpstore::keys::KeySorter;
use fpstore::{Filters, Fingerprint, KeyIndex, Options, Parameters, Store};
use fpstore_tools::input::{Found, IdRule, Ids, Input, InputOptions, KeyReader, feed, is_store, sources};
use fpstore_tools::interrupt::{self, Temporary};
use fpstore_tools::memory;
use fpstore_tools::notice;
use fpstore_tools::progress::Progress;
use tempfile::TempDir;

use crate::job::{Job, open, width};

const WITHOUT_IDS: &str = "its records have no ids, and those of the store do";

/// Another store.
pub(crate) struct Other<F: Fingerprint> {
    pub(crate) store: Store<F>,
    /// Directory of the temporary store; removed on drop.
    _directory: Option<Directory>,
}

impl<F: Fingerprint> Other<F> {
    /// Opens a store, or loads a file with ids of this kind. The fingerprints must have the same width, and the same
    /// hasher if both are known.
    pub(crate) fn open(
        job: &Job<'_>,
        one: &Store<F>,
        other: &Path,
        input: &InputOptions,
        ids: Ids,
    ) -> anyhow::Result<Self> {
        let hasher = one.parameters().hasher();
        if is_store(other) {
            if input.any() {
                bail!("--format and the column options describe a file; {} is a directory", other.display());
            }
            if width(other)? != F::WIDTH {
                bail!(
                    "{}: its fingerprints have {} bits, those of the other store {}",
                    other.display(),
                    width(other)?,
                    F::WIDTH
                );
            }
            let store = open::<F>(other)?;
            fpstore::check_hashers("fingerprints", store.parameters().hasher(), hasher)
                .with_context(|| other.display().to_string())?;
            warn_if_empty(&store, &other.display().to_string());
            return Ok(Self { store, _directory: None });
        }
        let (directory, path, options) = temporary(job)?;
        let reading = InputOptions { temp_dir: Some(job.temp_dir()), ..input.clone() };
        let mut rule = IdRule::new(ids);
        let mut sorter = RecordSorter::<F>::new(&path, &options);
        for source in sources(&[other.into()], &reading)? {
            let input = Input::open(&source, &reading, &Progress::hidden())?;
            if let Some(found) = input.width().filter(|&found| found != F::WIDTH) {
                bail!("{}: its fingerprints have {found} bits, those of the store {}", source.name(), F::WIDTH);
            }
            let of_input = input.header().and_then(|header| header.hasher.as_deref());
            fpstore::check_hashers("fingerprints", of_input, hasher).with_context(|| source.name())?;
            input.tell_ids(&mut rule)?;
            let fed = feed(&mut input.reader::<F>()?, &mut rule, &mut |fingerprint, id| {
                interrupt::check()?;
                Ok(sorter.push(fingerprint, id)?)
            })?;
            if let Some(warning) = fed.numbered {
                notice::warn(warning);
            }
        }
        if ids != Ids::Auto && rule.found() == Some(Found::Numbered) {
            bail!("{}: {WITHOUT_IDS}", other.display());
        }
        let parameters = Parameters::new(one.parameters().max_distance())
            .with_width(F::WIDTH)
            .with_ids(rule.kind().unwrap_or_default());
        interrupt::check()?;
        let (store, _) = Store::create_loaded(&path, &parameters, &options, sorter.finish()?)?;
        warn_if_empty(&store, &other.display().to_string());
        Ok(Self { store, _directory: Some(directory) })
    }
}

/// Another key index.
pub(crate) struct OtherIndex {
    pub(crate) index: KeyIndex,
    _directory: Option<Directory>,
}

impl OtherIndex {
    /// Opens an index, or loads a file of records with keys for `one`, with ids of this kind.
    pub(crate) fn open(
        job: &Job<'_>,
        one: &KeyIndex,
        other: &Path,
        input: &InputOptions,
        ids: Ids,
    ) -> anyhow::Result<Self> {
        let name = || other.display().to_string();
        if is_store(other) {
            if input.any() {
                bail!("--format and the column options describe a file; {} is a directory", name());
            }
            let index = KeyIndex::open_read_only(other, &fpstore_tools::threads::options()).with_context(name)?;
            return Ok(Self { index, _directory: None });
        }
        let (directory, path, options) = temporary(job)?;
        let format = one.parameters().keys().unwrap_or_default();
        let reading = InputOptions { temp_dir: Some(job.temp_dir()), ..input.clone() };
        let (mut rule, mut sorter) = (IdRule::new(ids), KeySorter::new(&path, &options, format));
        for source in sources(&[other.into()], &reading)? {
            let reader = KeyReader::open(&source, &reading, &Progress::hidden())?;
            let hasher = reader.header().and_then(|header| header.hasher.as_deref());
            fpstore::check_hashers("keys", hasher, one.parameters().hasher()).with_context(|| source.name())?;
            reader.each(&mut rule, |id, keys, sketch| {
                interrupt::check()?;
                Ok(sorter.push(id, keys, sketch)?)
            })?;
        }
        let is_numbered = rule.found() == Some(Found::Numbered);
        if ids != Ids::Auto && is_numbered {
            bail!("{}: {WITHOUT_IDS}", name());
        }
        let parameters = Parameters::of_keys(format).with_ids(rule.kind().unwrap_or_default());
        let (index, _) = KeyIndex::create_loaded(&path, &parameters, &options, sorter.finish()?)?;
        if is_numbered {
            notice::warn(format_args!("{}: its records have no ids, and are numbered from 0", name()));
        }
        Ok(Self { index, _directory: Some(directory) })
    }
}

/// A temporary directory, removed on drop and by signals.
type Directory = (TempDir, Temporary);

/// Makes a temporary directory; returns it with the path of a store in it and the options of that store.
fn temporary(job: &Job<'_>) -> anyhow::Result<(Directory, PathBuf, Options)> {
    let directory = tempfile::Builder::new().prefix("fpdedup-").tempdir_in(job.temp_dir());
    let directory = directory.with_context(|| format!("cannot make a directory in {}", job.temp_dir().display()))?;
    let listed = Temporary::new(directory.path());
    let options = fpstore_tools::threads::options()
        .with_filters(Filters::Off)
        .with_load_memory(memory::of_load(Some(job.options.memory)))
        .with_temp_dir(Some(directory.path()));
    let path = directory.path().join("store");
    Ok(((directory, listed), path, options))
}

fn warn_if_empty<F: Fingerprint>(store: &Store<F>, name: &str) {
    if store.statistics().records == 0 {
        notice::warn(format_args!("{name}: it has no records"));
    }
}
