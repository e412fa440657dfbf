//! The names of segment files, and of the files of their filters.

use std::path::{Path, PathBuf};

const SEGMENT_SUFFIX: &str = ".segment";
const FILTERS_SUFFIX: &str = ".filters";

pub(crate) fn is_segment_name(name: &str) -> bool {
    number_of(name, SEGMENT_SUFFIX).is_some()
}

pub(crate) fn segment_name(number: u64) -> String {
    format!("{number:08}{SEGMENT_SUFFIX}")
}

/// The number of the segment by the name of the file of its filters; `None` if it is no such file.
pub(crate) fn segment_of_filters(name: &str) -> Option<u64> {
    number_of(name, FILTERS_SUFFIX)
}

/// Whether a path names a file of filters.
pub(crate) fn is_filters(path: &Path) -> bool {
    path.file_name().is_some_and(|name| segment_of_filters(&name.to_string_lossy()).is_some())
}

/// The file of the filters of a segment.
pub(crate) fn filters_path(segment: &Path) -> PathBuf {
    segment.with_extension(&FILTERS_SUFFIX[1..])
}

fn number_of(name: &str, suffix: &str) -> Option<u64> {
    let number = name.strip_suffix(suffix)?.parse().ok()?;
    (format!("{number:08}{suffix}") == name).then_some(number)
}
