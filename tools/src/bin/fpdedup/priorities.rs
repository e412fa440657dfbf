//! `--keep`: which record of a cluster is kept, and which records come first where clusters depend on the order.

use std::path::Path;
use std::sync::Arc;

use anyhow::bail;
use fpstore::IdKind;
use fpstore::clusters::Keeper;
use fpstore_tools::input::{AttributeReader, IdRule, Ids, InputOptions, Source};
use fpstore_tools::notice;
use fpstore_tools::number::{count, count_of};
use fpstore_tools::progress::Progress;
use fpstore_tools::ranks::{First, IdRanker, IdRanks};

use crate::args::Order;
use crate::job::{Budget, Job};

/// The keeper that `--keep` names.
pub(crate) struct Kept {
    pub(crate) keeper: Keeper,
    priorities: Option<Arc<Priorities>>,
}

impl Kept {
    /// Reads the priorities if `--keep` is a file.
    pub(crate) fn read(
        job: &Job<'_>,
        order: &Order,
        id_column: Option<&str>,
        kind: IdKind,
        budget: Budget,
    ) -> anyhow::Result<Self> {
        let keeper = match order.keep.to_str() {
            Some("smallest") => Keeper::Smallest,
            Some("largest") => Keeper::Largest,
            _ => {
                let priorities = Arc::new(Priorities::read(job, order, id_column, kind, budget)?);
                let of_ids = Arc::clone(&priorities);
                let keeper = Keeper::Ranked(Arc::new(move |id| of_ids.ranks.rank(id)));
                return Ok(Self { keeper, priorities: Some(priorities) });
            }
        };
        if order.keep_by.is_some() {
            bail!("--keep-by names a column of a file; say which with --keep FILE");
        }
        Ok(Self { keeper, priorities: None })
    }

    /// Bytes of memory that the priorities take.
    pub(crate) fn bytes(&self) -> u64 {
        self.priorities.as_ref().map_or(0, |priorities| priorities.ranks.bytes())
    }

    /// Warns of listed ids that no record has, once all records were read.
    pub(crate) fn warn_of_unknown(&self) {
        if let Some(unknown) = self.priorities.as_ref().and_then(|priorities| priorities.unknown()) {
            notice::warn(unknown);
        }
    }
}

/// The ids of a file with their ranks: those of a list by their lines, those of a table by a column.
struct Priorities {
    name: String,
    /// Where the ids are, for a message.
    form: String,
    ranks: IdRanks,
}

impl Priorities {
    fn read(
        job: &Job<'_>,
        order: &Order,
        id_column: Option<&str>,
        kind: IdKind,
        budget: Budget,
    ) -> anyhow::Result<Self> {
        let path = Path::new(&order.keep);
        let name = path.display().to_string();
        if kind == IdKind::None {
            bail!("--keep {name}: the store has no ids; use smallest or largest");
        }
        if let Err(error) = path.metadata() {
            bail!("--keep {name}: neither smallest nor largest, nor a file: {error}");
        }
        let (source, progress) = (Source::File(path.to_owned()), Progress::hidden());
        let (first, reader, form) = match &order.keep_by {
            Some(column) => {
                let id_column = id_column.map(str::to_owned);
                let options = InputOptions { id_column, temp_dir: Some(job.temp_dir()), ..InputOptions::default() };
                let reader = AttributeReader::open(&source, column, &options, &progress)?;
                (
                    order.keep_order,
                    reader,
                    format!("the column \"{}\" has ids as the store does", options.selection().id),
                )
            }
            None => {
                let form = "a file has one id on each line, as the store has it".to_owned();
                (First::Min, AttributeReader::list(&source, &progress)?, form)
            }
        };
        let space = job.space(budget);
        let mut ranker = IdRanker::new(kind, first, space.clone());
        reader.each(&mut IdRule::new(Ids::Is(kind)), |id, value| ranker.push(id, value))?;
        job.check_space(&name, ranker.beyond_memory(), &space)?;
        Ok(Self { name, form, ranks: ranker.finish()? })
    }

    /// Returns a warning about ids that no record has.
    fn unknown(&self) -> Option<String> {
        let Self { name, form, .. } = self;
        let (listed, unknown) = (self.ranks.count(), self.ranks.unknown());
        match unknown {
            _ if listed == 0 => Some(format!("{name} lists no ids; the smallest id of each cluster is kept")),
            0 => None,
            _ if unknown == listed => Some(format!(
                "{name}: none of its {} is in the store; the smallest id of each cluster is kept ({form})",
                count_of(listed, "id")
            )),
            _ => Some(format!("{name}: not in the store: {} of its {}", count(unknown), count_of(listed, "id"))),
        }
    }
}
