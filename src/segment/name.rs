//! The names of segment files.

const SEGMENT_SUFFIX: &str = ".segment";

pub(crate) fn is_segment_name(name: &str) -> bool {
    let number = name.strip_suffix(SEGMENT_SUFFIX).and_then(|digits| digits.parse().ok());
    number.is_some_and(|number| segment_name(number) == name)
}

pub(crate) fn segment_name(number: u64) -> String {
    format!("{number:08}{SEGMENT_SUFFIX}")
}
