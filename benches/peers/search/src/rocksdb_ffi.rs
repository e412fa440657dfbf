//! The part of RocksDB's C interface (`rocksdb/c.h`, release 7) that the peer needs, in safe Rust.
//!
//! The crate `rocksdb` would compile RocksDB itself, which takes long; Debian packages the library.

use crate::peer::Result;
use std::ffi::{CStr, CString, c_char, c_double, c_int, c_uchar, c_void};
use std::marker::PhantomData;
use std::path::Path;
use std::ptr::{null, null_mut};

/// An object of the library; the names of variables give its type.
type Object = *mut c_void;

#[link(name = "rocksdb")]
unsafe extern "C" {
    fn rocksdb_options_create() -> Object;
    fn rocksdb_options_destroy(options: Object);
    fn rocksdb_options_set_create_if_missing(options: Object, on: c_uchar);
    fn rocksdb_options_set_compression(options: Object, kind: c_int);
    fn rocksdb_options_set_prefix_extractor(options: Object, transform: Object);
    fn rocksdb_options_set_block_based_table_factory(options: Object, table: Object);
    fn rocksdb_slicetransform_create_fixed_prefix(bytes: usize) -> Object;
    fn rocksdb_block_based_options_create() -> Object;
    fn rocksdb_block_based_options_destroy(table: Object);
    fn rocksdb_block_based_options_set_block_cache(table: Object, cache: Object);
    fn rocksdb_block_based_options_set_filter_policy(table: Object, policy: Object);
    fn rocksdb_block_based_options_set_whole_key_filtering(table: Object, on: c_uchar);
    fn rocksdb_cache_create_lru(bytes: usize) -> Object;
    fn rocksdb_cache_destroy(cache: Object);
    fn rocksdb_filterpolicy_create_bloom_full(bits_a_key: c_double) -> Object;
    fn rocksdb_envoptions_create() -> Object;
    fn rocksdb_envoptions_destroy(env: Object);
    fn rocksdb_sstfilewriter_create(env: Object, options: Object) -> Object;
    fn rocksdb_sstfilewriter_open(writer: Object, path: *const c_char, error: *mut *mut c_char);
    fn rocksdb_sstfilewriter_put(
        writer: Object,
        key: *const u8,
        key_length: usize,
        value: *const u8,
        value_length: usize,
        error: *mut *mut c_char,
    );
    fn rocksdb_sstfilewriter_finish(writer: Object, error: *mut *mut c_char);
    fn rocksdb_sstfilewriter_destroy(writer: Object);
    fn rocksdb_ingestexternalfileoptions_create() -> Object;
    fn rocksdb_ingestexternalfileoptions_set_move_files(options: Object, on: c_uchar);
    fn rocksdb_ingestexternalfileoptions_destroy(options: Object);
    fn rocksdb_ingest_external_file(
        database: Object,
        paths: *const *const c_char,
        count: usize,
        options: Object,
        error: *mut *mut c_char,
    );
    fn rocksdb_open(options: Object, path: *const c_char, error: *mut *mut c_char) -> Object;
    fn rocksdb_close(database: Object);
    fn rocksdb_compact_range(database: Object, from: *const u8, from_length: usize, to: *const u8, to_length: usize);
    fn rocksdb_readoptions_create() -> Object;
    fn rocksdb_readoptions_destroy(options: Object);
    fn rocksdb_readoptions_set_prefix_same_as_start(options: Object, on: c_uchar);
    fn rocksdb_create_iterator(database: Object, options: Object) -> Object;
    fn rocksdb_iter_destroy(iterator: Object);
    fn rocksdb_iter_seek(iterator: Object, key: *const u8, length: usize);
    fn rocksdb_iter_next(iterator: Object);
    fn rocksdb_iter_valid(iterator: Object) -> c_uchar;
    fn rocksdb_iter_key(iterator: Object, length: *mut usize) -> *const u8;
    fn rocksdb_iter_get_error(iterator: Object, error: *mut *mut c_char);
    fn rocksdb_free(memory: *mut c_void);
}

const LZ4: c_int = 4;

/// Calls a function that reports its error through a last argument.
fn checked<T>(call: impl FnOnce(*mut *mut c_char) -> T) -> Result<T> {
    let mut error = null_mut();
    let result = call(&mut error);
    if error.is_null() {
        return Ok(result);
    }
    // SAFETY: the library's error is a string that ends with 0; the caller must free it.
    let message = unsafe { CStr::from_ptr(error) }.to_string_lossy().into_owned();
    // SAFETY: as above; it is not used again.
    unsafe { rocksdb_free(error.cast()) };
    Err(message.into())
}

fn c_path(path: &Path) -> Result<CString> {
    Ok(CString::new(path.as_os_str().as_encoded_bytes())?)
}

/// An open database of 8-byte keys, most significant byte first.
pub(crate) struct Database {
    database: Object,
    options: Object,
}

impl Database {
    /// Makes a database: LZ4, blocks of 4 KiB (RocksDB's default), a Bloom filter of 10 bits a key over the first
    /// `prefix` bytes.
    pub(crate) fn create(path: &Path, prefix: usize, cache: &Cache) -> Result<Self> {
        let path = c_path(path)?;
        // SAFETY: plain calls with live objects. Transform and filter policy pass to the options that they are set in;
        // the cache is shared.
        unsafe {
            let table = rocksdb_block_based_options_create();
            rocksdb_block_based_options_set_block_cache(table, cache.0);
            rocksdb_block_based_options_set_filter_policy(table, rocksdb_filterpolicy_create_bloom_full(10.0));
            rocksdb_block_based_options_set_whole_key_filtering(table, 0);
            let options = rocksdb_options_create();
            rocksdb_options_set_create_if_missing(options, 1);
            rocksdb_options_set_compression(options, LZ4);
            rocksdb_options_set_prefix_extractor(options, rocksdb_slicetransform_create_fixed_prefix(prefix));
            rocksdb_options_set_block_based_table_factory(options, table);
            rocksdb_block_based_options_destroy(table);
            let opened = checked(|error| rocksdb_open(options, path.as_ptr(), error));
            if opened.is_err() {
                rocksdb_options_destroy(options);
            }
            Ok(Self { database: opened?, options })
        }
    }

    /// Adds a table file with these keys, which ascend strictly; `path` is a temporary name for the file.
    pub(crate) fn ingest(&mut self, path: &Path, keys: impl Iterator<Item = u64>) -> Result<()> {
        let path = c_path(path)?;
        // SAFETY: every object is live until its destruction at the end; keys and paths live during the calls.
        unsafe {
            let env = rocksdb_envoptions_create();
            let writer = rocksdb_sstfilewriter_create(env, self.options);
            let mut written = checked(|error| rocksdb_sstfilewriter_open(writer, path.as_ptr(), error));
            for key in keys {
                let key = key.to_be_bytes();
                written = written.and_then(|()| {
                    checked(|error| rocksdb_sstfilewriter_put(writer, key.as_ptr(), key.len(), key.as_ptr(), 0, error))
                });
            }
            written = written.and_then(|()| checked(|error| rocksdb_sstfilewriter_finish(writer, error)));
            rocksdb_sstfilewriter_destroy(writer);
            rocksdb_envoptions_destroy(env);
            written?;
            let how = rocksdb_ingestexternalfileoptions_create();
            rocksdb_ingestexternalfileoptions_set_move_files(how, 1);
            let added = checked(|error| rocksdb_ingest_external_file(self.database, &path.as_ptr(), 1, how, error));
            rocksdb_ingestexternalfileoptions_destroy(how);
            added
        }
    }

    pub(crate) fn compact(&mut self) {
        // SAFETY: the database is open; null means no limit.
        unsafe { rocksdb_compact_range(self.database, null(), 0, null(), 0) }
    }

    pub(crate) fn cursor(&self) -> Cursor<'_> {
        // SAFETY: the database is open, and stays so while it is borrowed. An iterator copies its options.
        unsafe {
            let options = rocksdb_readoptions_create();
            rocksdb_readoptions_set_prefix_same_as_start(options, 1);
            let iterator = rocksdb_create_iterator(self.database, options);
            rocksdb_readoptions_destroy(options);
            Cursor { iterator, database: PhantomData }
        }
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        // SAFETY: made by `create`, not used again; cursors borrow the database, so none is left.
        unsafe {
            rocksdb_close(self.database);
            rocksdb_options_destroy(self.options);
        }
    }
}

/// A position in a database, among the keys of one prefix.
pub(crate) struct Cursor<'a> {
    iterator: Object,
    database: PhantomData<&'a Database>,
}

impl Cursor<'_> {
    /// Moves to the first key with its prefix that is not below `key`.
    pub(crate) fn seek(&mut self, key: u64) {
        let key = key.to_be_bytes();
        // SAFETY: the iterator is live, the key lives during the call.
        unsafe { rocksdb_iter_seek(self.iterator, key.as_ptr(), key.len()) }
    }

    /// The current key; none after the last one of the prefix.
    pub(crate) fn key(&mut self) -> Result<Option<u64>> {
        // SAFETY: the iterator is live. Only a valid one has a key, which is valid until it moves.
        unsafe {
            if rocksdb_iter_valid(self.iterator) == 0 {
                checked(|error| rocksdb_iter_get_error(self.iterator, error))?;
                return Ok(None);
            }
            let mut length = 0;
            let key = rocksdb_iter_key(self.iterator, &mut length);
            Ok(Some(u64::from_be_bytes(std::slice::from_raw_parts(key, length).try_into()?)))
        }
    }

    /// Moves to the next key; call it only at a key.
    pub(crate) fn advance(&mut self) {
        // SAFETY: the iterator is live. The call is invalid on an iterator without a key, so the code checks that
        // first.
        unsafe {
            if rocksdb_iter_valid(self.iterator) != 0 {
                rocksdb_iter_next(self.iterator);
            }
        }
    }
}

impl Drop for Cursor<'_> {
    fn drop(&mut self) {
        // SAFETY: made by `cursor`, not used again; the database that it borrows is still open.
        unsafe { rocksdb_iter_destroy(self.iterator) }
    }
}

/// A block cache that databases share.
pub(crate) struct Cache(Object);

impl Cache {
    pub(crate) fn new(bytes: usize) -> Self {
        // SAFETY: a plain call.
        Self(unsafe { rocksdb_cache_create_lru(bytes) })
    }
}

impl Drop for Cache {
    fn drop(&mut self) {
        // SAFETY: made by `new`; databases hold it by a counted reference of their own.
        unsafe { rocksdb_cache_destroy(self.0) }
    }
}
