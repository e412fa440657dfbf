//! Filters in a file beside their segment, so that a program which opens the store reads them instead of making them
//! (format-spec/filters.md).
//!
//! The file is a copy of what the segment tells, and may be missing. One that is damaged, of another segment, or has
//! filters of other shapes than those wanted is not used: they are made from the keys. `verify` reports the damage.

use super::filter::Filter;
use crate::env::{Env, ReadMode, TempFile};
use crate::error::{Error, Result};
use crate::format::fields::Fields;
use crate::format::filters::{FIXED, FiltersHead, SavedFilter, SavedShape};
use crate::format::footer::Span;
use crate::plan::filter_shape::FilterShape;
use crate::segment::damage::Damage;
use crate::segment::file::SegmentFile;
use crate::segment::name::filters_path;
use crate::segment::reader::Segment;
use crate::segment::table::{Scratch, Table};
use std::path::Path;
use std::sync::Arc;
use xxhash_rust::xxh64::Xxh64;

/// Words that are hashed and copied at a time: they fit a cache.
const PIECE: usize = 1 << 15;

/// Saves the filters of a segment's tables beside it. Returns the bytes written: none if a file has all of them, or has
/// larger ones.
pub(crate) fn save_filters(env: &Arc<dyn Env>, segment: &Segment) -> Result<u64> {
    let tables = segment.tables().iter().zip(0..=u8::MAX);
    let filters: Vec<_> = tables.filter_map(|(table, number)| Some((number, table, table.filter()?))).collect();
    if filters.iter().all(|(_, table, _)| table.filter_is_saved()) {
        return Ok(0);
    }
    let described = |&(number, table, filter): &(u8, &Table, &Filter)| {
        let shape = SavedShape::new(filter.shape());
        SavedFilter { table: number, shape, is_skewed: table.is_skewed(), hash: hash(filter.words()) }
    };
    let head = FiltersHead { segment: segment.footer_checksum(), filters: filters.iter().map(described).collect() };
    // A file that cannot be read is replaced.
    if let Ok(Some((_, found))) = read_head(&**env, segment)
        && found.filters.iter().any(|found| head.filters.iter().any(|filter| found.is_larger(filter)))
    {
        return Ok(0);
    }
    let path = filters_path(segment.path());
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let mut file = TempFile::create(env, path.parent().unwrap_or(Path::new("")), &name)?;
    file.write(&head.write())?;
    for (.., filter) in &filters {
        pieces(filter.words()).try_for_each(|bytes| file.write(&bytes))?;
    }
    let written = file.written();
    file.commit()?;
    filters.iter().for_each(|(_, table, _)| table.set_filter_saved());
    Ok(written)
}

fn hash(words: &[u64]) -> u64 {
    let mut hasher = Xxh64::new(0);
    pieces(words).for_each(|bytes| hasher.update(&bytes));
    hasher.digest()
}

/// The bytes of words, in pieces.
fn pieces(words: &[u64]) -> impl Iterator<Item = Vec<u8>> {
    words.chunks(PIECE).map(|words| words.iter().flat_map(|word| word.to_le_bytes()).collect())
}

/// A saved filter of a table that may have one of this shape, or the smaller one because its keys are skewed; with
/// whether they are. `None` if there is none, or no memory.
pub(crate) fn saved_filter(
    env: &dyn Env,
    segment: &Segment,
    table: usize,
    shape: FilterShape,
) -> Result<Option<(Filter, bool)>> {
    let Some((file, head)) = read_head(env, segment)? else { return Ok(None) };
    let smaller = FilterShape::Bloom(shape.smaller());
    for (saved, span) in head.places() {
        let wanted = if saved.is_skewed { smaller } else { shape };
        if usize::from(saved.table) == table && saved.shape == SavedShape::new(wanted) {
            return Ok(read_filter(&file, span, &saved, wanted)?.map(|filter| (filter, saved.is_skewed)));
        }
    }
    Ok(None)
}

/// The file of a segment's filters and its head; `None` without a file.
fn read_head(env: &dyn Env, segment: &Segment) -> Result<Option<(SegmentFile, FiltersHead)>> {
    let found = open(env, &filters_path(segment.path()))?;
    Ok(found.filter(|(_, head)| head.segment == segment.footer_checksum()))
}

fn open(env: &dyn Env, path: &Path) -> Result<Option<(SegmentFile, FiltersHead)>> {
    // Read once and in order: a map would only take more time.
    let file = match env.open(path, ReadMode::Pread) {
        Ok(file) => SegmentFile::new(path, file),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Error::io("cannot open", path, error)),
    };
    let mut buffer = Vec::new();
    let fixed = Span { offset: 0, length: FIXED as u64 };
    let length = FiltersHead::length(file.read(fixed, &mut buffer)?);
    let bytes = file.read(Span { offset: 0, length }, &mut buffer)?;
    let head = FiltersHead::parse(&mut Fields::new(bytes, 0), file.length()).map_err(|error| error.at_path(path))?;
    Ok(Some((file, head)))
}

fn read_filter(file: &SegmentFile, span: Span, saved: &SavedFilter, shape: FilterShape) -> Result<Option<Filter>> {
    Filter::read(shape, |words| {
        let mut rest = words.iter_mut();
        read_words(file, span, saved, |bytes| {
            let read = bytes.chunks_exact(8).filter_map(|word| word.first_chunk());
            read.zip(&mut rest).for_each(|(bytes, word)| *word = u64::from_le_bytes(*bytes));
        })
    })
}

/// Visits the words of a filter in pieces and checks their hash.
fn read_words(file: &SegmentFile, span: Span, saved: &SavedFilter, mut visit: impl FnMut(&[u8])) -> Result<()> {
    let mut hasher = Xxh64::new(0);
    file.visit(span, |_, bytes| {
        hasher.update(bytes);
        visit(bytes);
        Ok(())
    })?;
    if hasher.digest() == saved.hash {
        return Ok(());
    }
    let error = Error::damaged(format!("the hash of the filter of table {} does not hold", saved.table));
    Err(error.at_path(file.path()).at_offset(span.offset))
}

/// Checks every byte of the file of filters of the segment at `path` and, if `segment` gives it, that every key passes.
/// `None` if there is no such file.
pub(crate) fn verify_filters(
    env: &dyn Env,
    path: &Path,
    segment: impl FnOnce() -> Option<Segment>,
) -> Result<Option<(Vec<Damage>, u64)>> {
    let path = filters_path(path);
    let damage = |error| {
        let damage = Damage::from_error(&path, "filters", error)?;
        let message = format!("{}; queries make the filters anew: remove the file", damage.message);
        Ok::<_, Error>(Damage { message, ..damage })
    };
    let (file, head) = match open(env, &path) {
        Ok(Some(opened)) => opened,
        Ok(None) => return Ok(None),
        Err(error) => return Ok(Some((vec![damage(error)?], 0))),
    };
    let (segment, mut damages) = (segment(), Vec::new());
    if segment.as_ref().is_some_and(|segment| segment.footer_checksum() != head.segment) {
        damages.push(damage(Error::damaged("filters of another segment").at_path(&path).at_offset(12))?);
    }
    let belongs = damages.is_empty();
    for (saved, span) in head.places() {
        let checked = match segment.as_ref().filter(|_| belongs) {
            Some(segment) => check_filter(&file, span, &saved, segment),
            None => read_words(&file, span, &saved, |_| ()),
        };
        if let Err(error) = checked {
            damages.push(damage(error)?);
        }
    }
    Ok(Some((damages, file.length())))
}

/// Checks that every key of its table passes a filter. Takes the memory of the filter.
fn check_filter(file: &SegmentFile, span: Span, saved: &SavedFilter, segment: &Segment) -> Result<()> {
    let wrong = |what: &str| Error::damaged(format!("{what} table {}", saved.table)).at_offset(span.offset);
    let table = segment.tables().get(usize::from(saved.table));
    let shape = table.and_then(|table| table.filter_shape().map(|shape| (table, shape)));
    let Some((table, shape)) = shape else { return Err(wrong("a filter of the missing or small")) };
    let smaller = shape.smaller();
    let kinds = [Some(shape), smaller.within(saved.shape.bytes()).map(FilterShape::Bloom)];
    let Some(shape) = kinds.into_iter().flatten().find(|&shape| SavedShape::new(shape) == saved.shape) else {
        return Err(wrong("a filter of another shape than those of"));
    };
    // Without the memory, nothing reads the filter either.
    let Some(filter) = read_filter(file, span, saved, shape)? else { return read_words(file, span, saved, |_| ()) };
    let mut scratch = Scratch::default();
    for block in 0..table.index().len() {
        table.prefetch_ahead(block);
        // The segment's own damage is reported with it.
        let Ok(keys) = table.heads(block, &mut scratch) else { break };
        if !keys.iter().all(|&key| filter.passes(key)) {
            return Err(wrong("a key does not pass the filter of"));
        }
    }
    Ok(())
}
