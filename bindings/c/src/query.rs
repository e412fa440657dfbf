//! The records near one fingerprint, or near many.
#![allow(unsafe_code, reason = "functions of a C ABI")]

use std::ffi::c_int;

use arrow_array::Array;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use fpstore::{AnyFingerprint, Id, IdRef, Match, Result};
use fpstore_bindings::input::invalid;
use fpstore_bindings::{Question, Stop};

use crate::border::{border, border_or, fps_error, fps_kind};
use crate::columns::{Given, fps_columns};
use crate::given;
use crate::id::{fingerprint_of, fps_id, id_of};
use crate::store::{Asked, ask, asked, fps_store, with_store};
use crate::stream::export;
use crate::versioned::{Out, Versioned};

/// The matches of a query.
#[derive(Debug)]
pub struct fps_matches(Vec<Match<AnyFingerprint>>);

impl fps_matches {
    pub(crate) fn new(matches: Vec<Match<AnyFingerprint>>) -> Self {
        Self(matches)
    }
}

/// A record near a query.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct fps_match {
    /// sizeof(fps_match).
    pub struct_size: usize,
    /// Number of bits in which the fingerprints differ.
    pub distance: u32,
    /// Bits of the fingerprint.
    pub width: u32,
    /// The fingerprint as a number, if it has 64 bits; otherwise 0.
    pub fingerprint64: u64,
    /// The fingerprint: an eighth as many bytes as bits, the most significant first.
    pub fingerprint: [u8; 32],
    /// The id, or the count. Its text lives as long as the matches.
    pub id: fps_id,
}

// SAFETY: plain numbers and a pointer; the size comes first.
unsafe impl Versioned for fps_match {
    const NAME: &'static str = "fps_match";
    const LEAST: usize = size_of::<Self>();
}

/// All records within distance `k`, by distance, then fingerprint, then id. Any `k` is answered exactly; one beyond the
/// max_distance of the store takes longer. Free the matches with fps_matches_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fps_query(
    store: *const fps_store,
    fingerprint: *const u8,
    length: usize,
    k: u32,
    matches: *mut *mut fps_matches,
    error: *mut *mut fps_error,
) -> fps_kind {
    // SAFETY: the rules of the header.
    unsafe { border(error, || found(store, matches, || Ok(Single::Within(fingerprint_of(fingerprint, length)?, k)))) }
}

/// As fps_query, for 64 bits.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fps_query64(
    store: *const fps_store,
    fingerprint: u64,
    k: u32,
    matches: *mut *mut fps_matches,
    error: *mut *mut fps_error,
) -> fps_kind {
    // SAFETY: the rules of the header.
    unsafe { border(error, || found(store, matches, || Ok(Single::Within(fingerprint.into(), k)))) }
}

/// The `count` nearest records, in the order of fps_query. Free the matches with fps_matches_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fps_nearest(
    store: *const fps_store,
    fingerprint: *const u8,
    length: usize,
    count: usize,
    matches: *mut *mut fps_matches,
    error: *mut *mut fps_error,
) -> fps_kind {
    // SAFETY: the rules of the header.
    unsafe {
        border(error, || found(store, matches, || Ok(Single::Nearest(fingerprint_of(fingerprint, length)?, count))))
    }
}

/// As fps_nearest, for 64 bits.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fps_nearest64(
    store: *const fps_store,
    fingerprint: u64,
    count: usize,
    matches: *mut *mut fps_matches,
    error: *mut *mut fps_error,
) -> fps_kind {
    // SAFETY: the rules of the header.
    unsafe { border(error, || found(store, matches, || Ok(Single::Nearest(fingerprint.into(), count)))) }
}

/// What is asked of one fingerprint.
enum Single {
    Within(AnyFingerprint, u32),
    Nearest(AnyFingerprint, usize),
}

unsafe fn found(
    store: *const fps_store,
    matches: *mut *mut fps_matches,
    single: impl FnOnce() -> Result<Single>,
) -> Result<()> {
    given::check(matches, "the place for the matches")?;
    // SAFETY: the rules of the header.
    unsafe {
        given::set(matches, std::ptr::null_mut());
        let found = match single()? {
            Single::Within(query, k) => ask(store, |store| store.query(query, k), |state| state.query(query, k)),
            Single::Nearest(query, count) => {
                ask(store, |store| store.nearest(query, count), |state| state.nearest(query, count))
            }
        };
        given::give(matches, fps_matches::new(found?));
    }
    Ok(())
}

/// The records of an id, by fingerprint, at distance 0. The store needs an index of ids. Free the matches with
/// fps_matches_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fps_get_id(
    store: *const fps_store,
    id: *const fps_id,
    matches: *mut *mut fps_matches,
    error: *mut *mut fps_error,
) -> fps_kind {
    // SAFETY: the rules of the header.
    unsafe {
        border(error, || {
            given::check(matches, "the place for the matches")?;
            given::set(matches, std::ptr::null_mut());
            let id = id_of(id)?;
            let found = with_store(store, |store| store.get_id(id))?;
            let id = match id {
                IdRef::Text(text) => Id::from(text),
                IdRef::Number(number) => Id::Number(number),
                IdRef::None => return Err(invalid("the id is FPS_ID_NONE; expected FPS_ID_NUMBER or _TEXT")),
            };
            let matched = |fingerprint| Match { distance: 0, fingerprint, id: id.clone() };
            given::give(matches, fps_matches::new(found.into_iter().map(matched).collect()));
            Ok(())
        })
    }
}

/// Number of matches; 0 of NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fps_matches_count(matches: *const fps_matches) -> usize {
    // SAFETY: the rules of the header.
    border_or(0, || unsafe { matches.as_ref() }.map_or(0, |matches| matches.0.len()))
}

/// Sets `*found` to the match of this index, from 0. The caller has set its struct_size.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fps_matches_get(
    matches: *const fps_matches,
    index: usize,
    found: *mut fps_match,
    error: *mut *mut fps_error,
) -> fps_kind {
    // SAFETY: the rules of the header.
    unsafe {
        border(error, || {
            given::check(found, "fps_match")?;
            let (out, matches) = (Out::new(found)?, &given::required(matches, "the matches")?.0);
            let Some(found) = matches.get(index) else {
                return Err(invalid(format!("there are {} matches, so none has the index {index}", matches.len())));
            };
            let mut fingerprint = [0; 32];
            let bytes = found.fingerprint.to_be_bytes();
            fingerprint.iter_mut().zip(&bytes).for_each(|(to, from)| *to = *from);
            out.set(fps_match {
                struct_size: size_of::<fps_match>(),
                distance: found.distance,
                width: found.fingerprint.width(),
                fingerprint64: <[u8; 8]>::try_from(bytes).map_or(0, u64::from_be_bytes),
                fingerprint,
                id: fps_id::of(&found.id),
            });
            Ok(())
        })
    }
}

/// Frees matches. NULL is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fps_matches_free(matches: *mut fps_matches) {
    // SAFETY: the rules of the header; `given::give` has made them.
    border_or((), || unsafe { given::free(matches) });
}

/// Sets `*near` to 1 if there is a record within distance `k`, otherwise to 0. Takes less time than fps_query.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fps_contains_near(
    store: *const fps_store,
    fingerprint: *const u8,
    length: usize,
    k: u32,
    near: *mut c_int,
    error: *mut *mut fps_error,
) -> fps_kind {
    // SAFETY: the rules of the header.
    unsafe { border(error, || contains_near(store, fingerprint_of(fingerprint, length)?, k, near)) }
}

/// As fps_contains_near, for 64 bits.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fps_contains_near64(
    store: *const fps_store,
    fingerprint: u64,
    k: u32,
    near: *mut c_int,
    error: *mut *mut fps_error,
) -> fps_kind {
    // SAFETY: the rules of the header.
    unsafe { border(error, || contains_near(store, fingerprint.into(), k, near)) }
}

unsafe fn contains_near(store: *const fps_store, query: AnyFingerprint, k: u32, near: *mut c_int) -> Result<()> {
    given::check(near, "the place for the answer")?;
    // SAFETY: the rules of the header.
    unsafe {
        let found = ask(store, |store| store.contains_near(query, k), |state| state.contains_near(query, k))?;
        given::set(near, c_int::from(found.is_some()));
    }
    Ok(())
}

/// The records within distance `k` of each of many fingerprints, on all threads of the store: `query_row` (uint64),
/// `fingerprint` (uint64, or fixed_size_binary), `distance` (uint32), and `id` (uint64 or utf8) or `count` (uint64).
/// Rows come in the order of the queries, which are copied, and each as fps_query orders them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fps_query_many(
    store: *const fps_store,
    queries: *const fps_columns,
    k: u32,
    out: *mut FFI_ArrowArrayStream,
    error: *mut *mut fps_error,
) -> fps_kind {
    // SAFETY: the rules of the header.
    unsafe { border(error, || many(store, queries, Question::Within(k), out)) }
}

/// The `count` nearest records of each of many fingerprints, if they are within distance `k`. As fps_query_many.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fps_nearest_many(
    store: *const fps_store,
    queries: *const fps_columns,
    count: usize,
    k: u32,
    out: *mut FFI_ArrowArrayStream,
    error: *mut *mut fps_error,
) -> fps_kind {
    // SAFETY: the rules of the header.
    unsafe { border(error, || many(store, queries, Question::Nearest(count, k), out)) }
}

unsafe fn many(
    store: *const fps_store,
    queries: *const fps_columns,
    question: Question,
    out: *mut FFI_ArrowArrayStream,
) -> Result<()> {
    // SAFETY: the rules of the header.
    unsafe {
        export(out, || {
            let Asked { snapshot, threads } = asked(store)?;
            let (column, _) = Given::new(queries, snapshot.parameters().width())?.whole()?;
            fpstore_bindings::queries(&snapshot, &column, question, threads)
        })
    }
}

/// Whether there is a record within distance `k` of each of many fingerprints, on all threads of the store: sets the
/// bytes of `near`, as many as there are fingerprints, to 1 or 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fps_contains_near_many(
    store: *const fps_store,
    queries: *const fps_columns,
    k: u32,
    near: *mut u8,
    error: *mut *mut fps_error,
) -> fps_kind {
    // SAFETY: the rules of the header.
    unsafe {
        border(error, || {
            let Asked { snapshot, threads } = asked(store)?;
            let (column, _) = Given::new(queries, snapshot.parameters().width())?.whole()?;
            if !column.is_empty() {
                given::check(near, "the place for the answers")?;
            }
            let found = fpstore_bindings::contains_near(&snapshot, &column, k, threads, &Stop::default())?;
            found.into_iter().enumerate().for_each(|(row, is_near)| given::set(near.add(row), u8::from(is_near)));
            Ok(())
        })
    }
}
