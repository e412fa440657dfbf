//! The path of a write: checks, back-pressure, operations, log and memtable, durability.

use crate::db::resolved::Resolved;
use crate::db::store_inner::StoreInner;
use crate::db::write_batch::{Write, WriteSummary, only_insert};
use crate::db::writer::{Done, Writer, check_id_assignment};
use crate::error::{Error, Result};
use crate::fingerprint::{Id, IdAssignment, IdKind, check_text};
use crate::format::log::MOST_BYTES;
use crate::wal::{Durability, Promise};

const RECORD_BYTES: usize = 16;

impl StoreInner {
    pub(crate) fn write(&self, batch: &[Write], durability: Durability) -> Result<WriteSummary> {
        self.check_batch(batch)?;
        self.slow_down();
        // The result of a removal without an id depends on the number of records.
        let counts = self.context.parameters.ids() == IdKind::None && !only_insert(batch);
        let counting = counts.then(|| self.counting.lock());
        let (written, promise) = self.write_in_turn(batch)?;
        // Released first, so that waiting threads share a sync.
        drop(counting);
        match promise {
            Some(_) => self.wait_durable(promise.as_ref(), durability)?,
            // The batch changes nothing because of writes of earlier processes, which must be durable too.
            None => self.make_durable(durability)?,
        }
        Ok(written)
    }

    /// Waits until the promised frames are durable. A failure poisons the store.
    pub(crate) fn wait_durable(&self, promise: Option<&Promise>, durability: Durability) -> Result<()> {
        let Some(promise) = promise else { return Ok(()) };
        promise.log.sync(promise.end, durability).inspect_err(|error| self.poison(error))
    }

    pub(crate) fn write_with(&self, writer: &mut Writer, batch: &[Write]) -> Done {
        let mut resolved = Resolved::new(self, batch);
        self.decide(writer, batch)?;
        for write in batch {
            self.resolve(writer, write, &mut resolved)?;
        }
        let Resolved { operations, written, .. } = resolved;
        let promise = self.commit(writer, &operations)?;
        Ok((written, promise))
    }

    fn check_batch(&self, batch: &[Write]) -> Result<()> {
        let mut bytes = 0usize;
        for write in batch {
            let id = match write {
                Write::Insert(_, id) | Write::Remove(_, id) => {
                    self.check_id(id.as_ref(), matches!(write, Write::Remove(..)))?;
                    id.as_ref()
                }
                Write::RemoveId(id) | Write::Replace(_, id) => {
                    self.context.check_id_index()?;
                    self.check_id(id.as_ref(), true)?;
                    id.as_ref()
                }
                Write::RemoveFingerprint(_) => None,
            };
            bytes += 8 * self.context.parameters.words() + RECORD_BYTES + id.and_then(Id::text).map_or(0, str::len);
        }
        if bytes > MOST_BYTES {
            return Err(Error::invalid(format!("a batch of {} writes is too large", batch.len()))
                .at_path(&self.context.path)
                .with_remedy("write it in several batches, or load it in bulk"));
        }
        Ok(())
    }

    pub(crate) fn check_id(&self, id: Option<&Id>, removes: bool) -> Result<()> {
        let refuse = |has: &str, remedy| Err(self.refused((has, remedy)));
        match (self.context.parameters.ids(), id) {
            (IdKind::Number, Some(Id::Number(_))) | (IdKind::None, None) => Ok(()),
            (IdKind::Number, None) if !removes => Ok(()),
            (IdKind::Text, Some(Id::Text(text))) => check_text(text).map_err(|error| error.at_path(&self.context.path)),
            (IdKind::None, Some(_)) => refuse("has no ids, the record has", "give it none"),
            (IdKind::Number, _) => refuse("has ids of 64-bit numbers, the record has not", "give it a number"),
            (IdKind::Text, _) => refuse("has text ids, the record has not", "give it a text"),
        }
    }

    pub(crate) fn refused(&self, (has, remedy): (&str, &'static str)) -> Error {
        Error::invalid(format!("the store {has}")).at_path(&self.context.path).with_remedy(remedy)
    }

    /// Fixes the id assignment with the first record, and refuses others.
    fn decide(&self, writer: &mut Writer, batch: &[Write]) -> Result<()> {
        if self.context.parameters.ids() != IdKind::Number {
            return Ok(());
        }
        for write in batch {
            let wanted = match write {
                Write::Insert(_, None) => IdAssignment::Auto,
                Write::Insert(_, Some(_)) | Write::Replace(..) => IdAssignment::Explicit,
                Write::Remove(..) | Write::RemoveFingerprint(_) | Write::RemoveId(_) => continue,
            };
            let has = writer.id_assignment;
            check_id_assignment(has, wanted).map_err(|refused| self.refused(refused))?;
            // A running load may have fixed it for itself only.
            if has == IdAssignment::Undecided || !writer.is_assignment_kept {
                self.decide_id_assignment(writer, wanted)?;
            }
        }
        Ok(())
    }

    fn resolve(&self, writer: &mut Writer, write: &Write, resolved: &mut Resolved) -> Result<()> {
        match write {
            Write::Insert(fingerprint, id) => {
                let id = match (id, self.context.parameters.ids()) {
                    (Some(id), _) => id.clone(),
                    (None, IdKind::None) => Id::Count(1),
                    (None, _) => {
                        let number = writer.next_id;
                        writer.next_id = number.checked_add(1).ok_or_else(|| {
                            Error::invalid("the store has no numbers left").at_path(&self.context.path)
                        })?;
                        resolved.written.first_number.get_or_insert(number);
                        Id::Number(number)
                    }
                };
                resolved.insert(*fingerprint, id);
                Ok(())
            }
            Write::Remove(fingerprint, id) => {
                let id = id.clone().unwrap_or(Id::Count(1));
                if resolved.has(*fingerprint, &id)? {
                    resolved.remove(*fingerprint, id);
                }
                Ok(())
            }
            Write::RemoveFingerprint(fingerprint) => {
                resolved.remove_fingerprint(*fingerprint, self.context.parameters.ids())
            }
            Write::RemoveId(Some(id)) => resolved.remove_id(id, None).map(|_| ()),
            Write::Replace(fingerprint, Some(id)) => {
                if !resolved.remove_id(id, Some(*fingerprint))? {
                    resolved.insert(*fingerprint, id.clone());
                }
                Ok(())
            }
            // `check_batch` has refused these.
            Write::RemoveId(None) | Write::Replace(_, None) => Ok(()),
        }
    }
}
