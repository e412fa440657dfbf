//! Reads several inputs one after another as if they were one.

use std::collections::VecDeque;

use anyhow::{Context, bail};
use fpstore::{Fingerprint, Id};

use super::{Entry, Header, Input, InputOptions, RawId, Reader, Source, numbered};
use crate::progress::Progress;

/// Several inputs, of which one is open.
#[derive(Debug)]
pub struct Series<F: Fingerprint> {
    reader: Reader<F>,
    left: VecDeque<Source>,
    options: InputOptions,
    progress: Progress,
    header: Option<Header>,
    /// Records without ids in the current input.
    without_ids: u64,
    numbered: Vec<String>,
}

impl<F: Fingerprint> Series<F> {
    /// Opens the first of the inputs; there must be at least one.
    ///
    /// # Errors
    ///
    /// Errors of [`Reader::open`].
    pub fn open(sources: Vec<Source>, options: &InputOptions, progress: &Progress) -> anyhow::Result<Self> {
        let mut left = VecDeque::from(sources);
        let Some(first) = left.pop_front() else { bail!("there is no input") };
        let input = Input::open(&first, options, progress)?;
        let header = input.header().cloned();
        let (options, progress) = (options.clone(), progress.clone());
        Ok(Self { reader: input.reader()?, left, options, progress, header, without_ids: 0, numbered: Vec::new() })
    }

    /// The first header so far.
    #[must_use]
    pub fn header(&self) -> Option<&Header> {
        self.header.as_ref()
    }

    /// A warning for each completed input whose records have no ids although a column may hold them.
    #[must_use]
    pub fn numbered(&self) -> &[String] {
        &self.numbered
    }

    /// Returns the next record with its id, converted by `own_id`, or `None` at the end of the last input.
    ///
    /// # Errors
    ///
    /// Errors of [`Reader::next_entry`], of `own_id` and of opening an input, and an input whose fingerprints were made
    /// by another hasher.
    pub fn next_record(
        &mut self,
        own_id: impl FnOnce(RawId<'_>) -> Result<Option<Id>, String>,
    ) -> anyhow::Result<Option<(F, Option<Id>)>> {
        loop {
            if let Some(Entry { fingerprint, id }) = self.reader.next_entry()? {
                return match own_id(id) {
                    Ok(id) => {
                        self.without_ids += u64::from(id.is_none());
                        Ok(Some((fingerprint, id)))
                    }
                    Err(message) => Err(self.reader.here().error(message)),
                };
            }
            self.numbered.extend(numbered(&self.reader, std::mem::take(&mut self.without_ids)));
            let Some(source) = self.left.pop_front() else { return Ok(None) };
            let input = Input::open(&source, &self.options, &self.progress)?;
            let hasher = |header: Option<&Header>| header.and_then(|header| header.hasher.clone());
            let (found, first) = (hasher(input.header()), hasher(self.header.as_ref()));
            fpstore::check_hashers("fingerprints", found.as_deref(), first.as_deref())
                .with_context(|| source.name())?;
            self.header = self.header.take().or_else(|| input.header().cloned());
            self.reader = input.reader()?;
        }
    }

    /// As [`Reader::ready`].
    #[must_use]
    pub fn ready(&self) -> bool {
        self.reader.ready()
    }
}

#[cfg(test)]
mod tests {
    use super::super::sources;
    use super::*;

    #[test]
    fn inputs_of_several_formats_in_their_order() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("1.hex"), "#fpstore width=64 hasher=x\n0000000000000001\n").unwrap();
        std::fs::write(dir.path().join("2.csv"), "fingerprint\n").unwrap();
        std::fs::write(dir.path().join("3.json"), "[{\"fingerprint\":3,\"id\":7}]").unwrap();
        let open = || {
            let options = InputOptions::default();
            Series::<u64>::open(sources(&[dir.path().into()], &options).unwrap(), &options, &Progress::hidden())
                .unwrap()
        };
        let mut series = open();
        assert_eq!(series.header().and_then(|header| header.hasher.as_deref()), Some("x"));
        assert_eq!(series.next_record(|id| id.own()).unwrap(), Some((1, None)));
        assert_eq!(series.next_record(|id| id.own()).unwrap(), Some((3, Some(Id::Number(7)))));
        assert_eq!(series.next_record(|id| id.own()).unwrap(), None);

        std::fs::write(dir.path().join("2.hex"), "#fpstore hasher=y\n").unwrap();
        let mut series = open();
        assert!(series.next_record(|id| id.own()).unwrap().is_some());
        let error = format!("{:#}", series.next_record(|id| id.own()).unwrap_err());
        assert!(error.contains("2.hex: ") && error.contains("made by y"), "{error}");
    }
}
