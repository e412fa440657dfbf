//! Gathers the records of several inputs, all with ids or all without.

use fpstore::{Record, Records};

use super::{Entry, Reader};

/// What a record is refused with when others before it did differently.
const MIXED_WITH: &str =
    "this record has an id, those before it have none; a load is either all with ids or all without";
const MIXED_WITHOUT: &str = "this record has no id, those before it have; a load is either all with ids or all without";

/// Holds all records to what the first one did: an id, or none.
#[derive(Clone, Copy, Debug, Default)]
pub struct IdRule(Option<bool>);

impl IdRule {
    /// Whether the records have ids; not known before the first.
    #[must_use]
    pub fn with_ids(self) -> Option<bool> {
        self.0
    }

    /// Checks one more record.
    ///
    /// # Errors
    ///
    /// When it has an id and those before it have none, or the reverse.
    #[inline]
    pub fn check(&mut self, entry: Entry) -> Result<(), &'static str> {
        match (*self.0.get_or_insert(entry.id.is_some()), entry.id) {
            (true, Some(_)) | (false, None) => Ok(()),
            (false, Some(_)) => Err(MIXED_WITH),
            (true, None) => Err(MIXED_WITHOUT),
        }
    }
}

/// Records of several inputs, for a load.
#[derive(Debug, Default)]
pub struct Collector {
    rule: IdRule,
    with_ids: Vec<Record>,
    numbered: Vec<u64>,
}

impl Collector {
    /// Reads an input to its end.
    ///
    /// # Errors
    ///
    /// Those of the reader, and a record with an id after one without, or the reverse.
    pub fn read(&mut self, reader: &mut Reader) -> anyhow::Result<()> {
        while let Some(entry) = reader.next_entry()? {
            self.rule.check(entry).map_err(|message| reader.here().error(message))?;
            match entry.id {
                Some(id) => self.with_ids.push(Record { fingerprint: entry.fingerprint, id }),
                None => {
                    self.numbered.push(entry.fingerprint);
                    // They have no ids either.
                    reader.take_ready(&mut self.numbered);
                }
            }
        }
        Ok(())
    }

    /// What was gathered.
    #[must_use]
    pub fn finish(self) -> Records {
        if self.rule.with_ids() == Some(true) {
            Records::WithIds(self.with_ids)
        } else {
            Records::Numbered(self.numbered)
        }
    }
}
