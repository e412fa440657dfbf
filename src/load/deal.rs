//! Records divided among many stores: those of each part and group of a join that is too large for one machine.

use crate::error::{Error, Result};
use crate::extsort::{NumberedRecord, Workspace};
use crate::fingerprint::{Fingerprint, IdKind, Record};
use crate::format::parameters::Parameters;
use crate::load::bulk_load::LoadReport;
use crate::load::create::create;
use crate::load::records::{RecordSorter, SortedRecords};
use crate::options::Options;
use crate::plan::{Design, Part};
use crate::version::{RecordIter, Snapshot};
use std::path::{Path, PathBuf};

/// Each group has a sorter, whose least memory is a quarter of a MiB.
const MOST_GROUPS: u32 = 4096;

/// Most sorters of several parts at once.
const MOST_SORTERS: usize = 512;

/// A store that [`deal`] made.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DealtStore {
    /// The part of the join.
    pub part: Part,
    /// The group of the part.
    pub group: u32,
    /// Its directory.
    pub path: PathBuf,
    /// The report of its load.
    pub report: LoadReport,
}

/// Divides the records of a state among stores: one for each part of a join at distance `k`, and each of its groups
/// that has records. `place` names the directory of a store, which must not exist. With one group, all parts share the
/// store of part 0.
///
/// They have one record of each fingerprint, the one with the smallest id, and a single table, which is enough for
/// joins. The pairs of a part are between fingerprints of one of its groups, so each group may be joined by itself
/// ([`crate::pairs::Pairs::of_part`]), with the stores that other calls made of other records
/// ([`crate::pairs::Pairs::with_more`]). The pairs of all parts together are all pairs, each once.
///
/// Memory is that of a load ([`Options::with_load_memory`]); temporary files have no names.
///
/// ```
/// use fpstore::bulk::deal;
/// use fpstore::{Options, Parameters, Record, Records, Store};
/// # let directory = tempfile::tempdir()?;
/// # let folder = directory.path();
/// let options = Options::new();
/// let records = [(0b0000, 7u64), (0b0000, 8), (0b0111, 9)].map(|(fingerprint, id)| Record::new(fingerprint, id));
/// let records = Records::WithIds(records.to_vec());
/// let (store, _) = Store::<u64>::create_loaded(&folder.join("all"), &Parameters::new(3), &options, records)?;
/// let place = |part: fpstore::pairs::Part, group| folder.join(format!("{}-{group}", part.number()));
/// let dealt = deal(&store.snapshot(), 3, 1, &place, &options)?;
/// assert_eq!(dealt.iter().map(|one| one.report.added()).collect::<Vec<_>>(), [2, 2, 2, 2]);
/// assert!(dealt.iter().all(|one| one.path == dealt[0].path));
/// // The first 16 bits are the same, so the pairs belong to part 0.
/// let pairs = |number: usize| -> fpstore::Result<usize> {
///     let store = Store::<u64>::open_read_only(&dealt[number].path, &options)?;
///     Ok(store.pairs(3)?.of_part(dealt[number].part)?.records()?.count())
/// };
/// assert_eq!((pairs(0)?, pairs(3)?), (1, 0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// `InvalidInput` if the distance exceeds the width, there are to be no groups or more than 4,096, or the records have no
/// ids; those of reading and of creating a store.
pub fn deal<F: Fingerprint>(
    records: &Snapshot<F>,
    k: u32,
    groups: u32,
    place: &dyn Fn(Part, u32) -> PathBuf,
    options: &Options,
) -> Result<Vec<DealtStore>> {
    let parameters = records.parameters();
    if parameters.ids() == IdKind::None {
        let message = "records without ids cannot be divided among stores";
        return Err(Error::invalid(message).with_remedy("give each record an id").at_path(records.path()));
    }
    if groups > MOST_GROUPS {
        let message = format!("records are divided into {MOST_GROUPS} groups at most, not into {groups}");
        return Err(Error::invalid(message));
    }
    let parameters = parameters.clone().with_design(Design::Tables { parts: 1 }).with_id_index(false);
    // Refuses a distance that has too many parts.
    Part::new(0, k)?.groups::<F>(groups)?;
    let mut made = Vec::new();
    let all: Vec<Part> = Part::all(k).collect();
    let parts = if groups == 1 { all.get(..1).unwrap_or_default() } else { &all };
    for parts in parts.chunks(parts_at_once(records, parts.len(), groups, options)) {
        let groups_of = |&part: &Part| {
            // The sorters of all groups share the memory with the load of one of them.
            let workspace =
                Workspace::new(&place(part, 0), options).part(2).part(parts.len() as u64 * u64::from(groups));
            let sorters: Vec<_> = (0..groups).map(|_| RecordSorter::within(workspace.clone())).collect();
            Ok((part, part.groups::<F>(groups)?, sorters))
        };
        let mut dealt = parts.iter().map(groups_of).collect::<Result<Vec<_>>>()?;
        let mut last = None;
        for record in RecordIter::new(records.read_view()) {
            let Record { fingerprint, id } = record?;
            if last.replace(fingerprint) == Some(fingerprint) {
                continue;
            }
            for (_, of_group, sorters) in &mut dealt {
                if let Some(sorter) = sorters.get_mut(of_group.of(fingerprint) as usize) {
                    sorter.push(fingerprint, id.as_ref())?;
                }
            }
        }
        for (part, _, sorters) in dealt {
            for (group, sorter) in (0..).zip(sorters) {
                let sorted = sorter.finish()?;
                if sorted.is_empty() {
                    continue;
                }
                let path = place(part, group);
                let report = load(&path, sorted, &parameters, options)?;
                made.push(DealtStore { part, group, path, report });
            }
        }
    }
    if groups == 1 {
        let of_all = |one: &DealtStore| all.iter().map(|&part| DealtStore { part, ..one.clone() }).collect();
        return Ok(made.first().map_or_else(Vec::new, of_all));
    }
    Ok(made)
}

/// All parts if the memory holds their records, which are then read once; otherwise one, because records that sorters
/// write to temporary files take longer than reading them again.
fn parts_at_once<F: Fingerprint>(records: &Snapshot<F>, parts: usize, groups: u32, options: &Options) -> usize {
    // Texts take more memory than is known, and each sorter may have a file.
    if records.parameters().ids() != IdKind::Number || parts.saturating_mul(groups as usize) > MOST_SORTERS {
        return 1;
    }
    // Sorting in memory takes a copy.
    let bytes = records.statistics().records.saturating_mul(2 * size_of::<NumberedRecord<F>>() as u64);
    let memory = Workspace::new(records.path(), options).part(2).memory_of_records();
    if bytes.saturating_mul(parts as u64) <= memory { parts } else { 1 }
}

fn load<F: Fingerprint>(
    path: &Path,
    records: SortedRecords<F>,
    parameters: &Parameters,
    options: &Options,
) -> Result<LoadReport> {
    let (store, report) = create(path, parameters, options, Some(records))?;
    store.close()?;
    Ok(report)
}
