//! Opens the store or segment that a PATH names, read-only.

use std::path::Path;

use fpstore::admin::Statistics;
use fpstore::inspect::{self, SegmentRole, SegmentView};
use fpstore::{AnyStore, Filters, IdAssignment, KeyIndex, Parameters};
use fpstore_tools::common::SCHEMA_VERSION;
use serde::Serialize;

/// A store or one of its segments.
pub(crate) enum Opened {
    Store(Box<AnyStore>),
    Keys(Box<KeyIndex>),
    Segment(Box<SegmentView>),
}

impl Opened {
    /// Opens a directory as a store, anything else as a segment file.
    pub(crate) fn new(path: &Path) -> fpstore::Result<Self> {
        if !path.is_dir()
            && let Some(view) = inspect::open(path, &fpstore_tools::threads::options())?.pop()
        {
            return Ok(Self::Segment(Box::new(view)));
        }
        let options = fpstore_tools::threads::options().with_filters(Filters::Off);
        if fpstore::parameters_of(path, &options)?.keys().is_some() {
            return Ok(Self::Keys(Box::new(KeyIndex::open_read_only(path, &options)?)));
        }
        Ok(Self::Store(Box::new(AnyStore::open_read_only(path, &options)?)))
    }

    pub(crate) fn parameters(&self) -> &Parameters {
        match self {
            Self::Store(store) => store.parameters(),
            Self::Keys(index) => index.parameters(),
            Self::Segment(view) => view.parameters(),
        }
    }

    pub(crate) fn statistics(&self) -> Statistics {
        match self {
            Self::Store(store) => store.statistics(),
            Self::Keys(index) => index.statistics(),
            Self::Segment(view) => view.statistics(),
        }
    }

    /// The source of the ids; `None` of a segment, which does not record it.
    pub(crate) fn id_assignment(&self) -> Option<IdAssignment> {
        match self {
            Self::Store(store) => Some(store.id_assignment()),
            Self::Keys(index) => Some(index.id_assignment()),
            Self::Segment(_) => None,
        }
    }
}

/// Returns the segments at a PATH.
pub(crate) fn segments(path: &Path) -> fpstore::Result<Vec<SegmentView>> {
    inspect::open(path, &fpstore_tools::threads::options())
}

/// Returns all segments at a PATH, each with its role, which a segment itself does not record.
pub(crate) fn all_segments(path: &Path) -> fpstore::Result<Vec<(Option<SegmentRole>, SegmentView)>> {
    if path.is_dir() {
        let all = inspect::open_all(path, &fpstore_tools::threads::options())?.into_iter();
        return Ok(all.map(|(role, segment)| (Some(role), segment)).collect());
    }
    Ok(segments(path)?.into_iter().map(|segment| (None, segment)).collect())
}

/// Whether a path names a manifest.
pub(crate) fn is_manifest(path: &Path) -> bool {
    file_name(path) == "MANIFEST" && path.is_file()
}

/// Returns the name of a file without its directory.
pub(crate) fn file_name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// An object of a report, with the version of its schema first.
#[derive(Serialize)]
pub(crate) struct Versioned<T: Serialize> {
    schema_version: u32,
    #[serde(flatten)]
    object: T,
}

impl<T: Serialize> Versioned<T> {
    pub(crate) fn new(object: T) -> Self {
        Self { schema_version: SCHEMA_VERSION, object }
    }
}
