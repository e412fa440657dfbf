//! A run: the open segments with the writes of a range of sequence numbers.

use crate::error::{Error, ErrorKind, Result};
use crate::fingerprint::IdKind;
use crate::format::manifest::{ManifestData, RunEntry, SegmentEntry};
use crate::format::parameters::Parameters;
use crate::options::Options;
use crate::plan::Design;
use crate::segment::{Segment, segment_name};
use crate::version::manifest;
use crate::version::membership::RunSegment;
use std::path::Path;
use std::sync::{Arc, OnceLock};

#[derive(Clone, Debug)]
pub(crate) struct Run {
    pub(crate) entry: RunEntry,
    /// Records of older runs that this run hides.
    pub(crate) tombstones: Option<Arc<Segment>>,
    pub(crate) records: Option<Arc<Segment>>,
    pub(crate) id_index: Option<Arc<Segment>>,
    /// Keys with the numbers of the run's records.
    pub(crate) keys: Option<Arc<Segment>>,
    /// The net number of records, once it was counted, if `entry` does not have it.
    pub(crate) counted: OnceLock<i64>,
}

/// The parameters of a segment of records. Those of a key index are numbered, and have their number as fingerprint.
pub(crate) fn of_records(parameters: &Parameters) -> Parameters {
    parameters.clone().with_keys(None)
}

/// The parameters of a segment of keys: keys in place of fingerprints, numbers of records in place of ids.
pub(crate) fn of_keys(parameters: &Parameters) -> Parameters {
    of_id_index(parameters).with_keys(parameters.keys())
}

/// The parameters of a segment of tombstones. Only look-ups of known records read it, in its primary table.
pub(crate) fn of_tombstones(parameters: &Parameters) -> Parameters {
    of_records(parameters).with_design(Design::Tables { parts: 1 }).with_max_distance(0).with_id_index(false)
}

/// The parameters of an id index: hashes of ids in place of fingerprints, and ranks of fingerprints in place of ids.
pub(crate) fn of_id_index(parameters: &Parameters) -> Parameters {
    of_tombstones(parameters).with_width(64).with_ids(IdKind::Number).with_hasher(None)
}

impl Run {
    /// Opens the segments of an entry and checks that the entry means them.
    pub(crate) fn open(store: &Path, options: &Options, parameters: &Parameters, entry: &RunEntry) -> Result<Self> {
        let open = |segment: &Option<SegmentEntry>, parameters: &Parameters| {
            segment.map(|segment| open_segment(store, options, parameters, &segment).map(Arc::new)).transpose()
        };
        let run = Self {
            entry: *entry,
            tombstones: open(&entry.tombstones, &of_tombstones(parameters))?,
            records: open(&entry.records, &of_records(parameters))?,
            id_index: open(&entry.id_index, &of_id_index(parameters))?,
            keys: open(&entry.keys, &of_keys(parameters))?,
            counted: OnceLock::new(),
        };
        run.keys.as_ref().map_or(Ok(()), |keys| keys.check_keys(entry.records()))?;
        Ok(run)
    }

    /// The run with these sequence numbers and this net number of records; `None` without segments.
    pub(crate) fn numbered(self, first: u64, last: u64, net: Option<i64>) -> Option<Arc<Self>> {
        let entry = RunEntry { first, last, net, ..self.entry };
        (!self.is_empty()).then(|| Arc::new(Self { entry, ..self }))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.tombstones.is_none() && self.records.is_none()
    }

    pub(crate) fn segments(&self) -> impl Iterator<Item = &Arc<Segment>> {
        [&self.tombstones, &self.records, &self.id_index, &self.keys].into_iter().flatten()
    }
}

/// The segments with the records and the tombstones of runs, newest first.
pub(crate) fn run_segments(runs: &[Arc<Run>]) -> impl Iterator<Item = RunSegment> {
    let open = |segment: &Option<Arc<Segment>>, is_tombstones| {
        segment.as_ref().map(|segment| RunSegment { segment: Arc::clone(segment), is_tombstones })
    };
    runs.iter().rev().flat_map(move |run| [open(&run.records, false), open(&run.tombstones, true)]).flatten()
}

/// The manifest and the runs of a store. Open runs are taken from `known`.
pub(crate) fn open_runs(path: &Path, options: &Options, known: &[Arc<Run>]) -> Result<(ManifestData, Vec<Arc<Run>>)> {
    loop {
        let manifest = manifest::read(&*options.env, path)?;
        let runs = manifest.runs.iter().map(|entry| match known.iter().find(|run| run.entry == *entry) {
            Some(run) => Ok(Arc::clone(run)),
            None => Run::open(path, options, &manifest.parameters, entry).map(Arc::new),
        });
        match runs.collect() {
            Ok(runs) => return Ok((manifest, runs)),
            // A writer may have replaced segments since the manifest was read.
            Err(_) if manifest::read(&*options.env, path)? != manifest => {}
            Err(error) => return Err(error),
        }
    }
}

/// Opens a segment and checks that it is the one that the manifest names.
pub(crate) fn open_segment(
    store: &Path,
    options: &Options,
    parameters: &Parameters,
    entry: &SegmentEntry,
) -> Result<Segment> {
    let path = store.join(segment_name(entry.number));
    let segment = Segment::open_cached(&*options.env, &path, options.read_mode, &options.page_cache);
    let segment = segment.map_err(|error| match error.kind() {
        ErrorKind::NotFound => Error::damaged("a segment of the store is missing").at_path(&path),
        _ => error,
    })?;
    let footer = segment.footer();
    let found = (segment.file().length(), footer.records, footer.fingerprints, segment.footer_checksum());
    let expected = (entry.file_length, entry.records, entry.fingerprints, entry.footer_checksum);
    if found != expected || footer.parameters != *parameters {
        return Err(Error::damaged("the segment is not the one that the manifest names").at_path(&path));
    }
    Ok(segment)
}

/// The role of a segment in its run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SegmentRole {
    /// Records.
    Records,
    /// Records of older runs that the run hides.
    Tombstones,
    /// The positions of the ids of the run's records.
    IdIndex,
    /// The keys of the run's records, in a key index.
    Keys,
}

impl SegmentRole {
    /// The parts of a run with their roles.
    pub(crate) fn each<T>([tombstones, records, id_index, keys]: [T; 4]) -> [(Self, T); 4] {
        [(Self::Tombstones, tombstones), (Self::Records, records), (Self::IdIndex, id_index), (Self::Keys, keys)]
    }

    /// The parameters of a segment of this role, given those of the store.
    pub(crate) fn parameters(self, of_store: &Parameters) -> Parameters {
        match self {
            Self::Records => of_records(of_store),
            Self::Tombstones => of_tombstones(of_store),
            Self::IdIndex => of_id_index(of_store),
            Self::Keys => of_keys(of_store),
        }
    }

    /// The name of the role.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Tombstones => "removals",
            Self::Records => "records",
            Self::IdIndex => "id index",
            Self::Keys => "keys",
        }
    }
}
