/* fpstore.h: a compressed store of similarity fingerprints on disk, or of MinHash bands and other keys (functions
 * fps_keys_*), for C and every language that calls C.
 *
 * Made by cbindgen from bindings/c/src; `FPSTORE_BLESS=1 cargo test -p fpstore-c` makes it anew.
 *
 * Rules
 * -----
 * Errors. Functions that may fail return FPS_OK (0) or the kind of the error. Their last argument is a place for the
 * error, or NULL: `*error` becomes an error to be freed with fps_error_free, or NULL. An error that was there is not
 * freed. Results that were not computed are NULL, or released streams; other values stay as they were.
 *
 * Pointers. An argument may be NULL only where its description says so; NULL elsewhere is an error, not a crash. A
 * pointer has to be to as much memory as its type, length or struct_size says. What a function is given stays the
 * caller's, except what a function frees or releases, and is not used after the call: strings and arrays are copied.
 *
 * Structures that begin with struct_size: set it to sizeof, and the fields that are not used to zero, as in
 * `fps_options options = {.struct_size = sizeof options};`. Later versions of the library add fields at the end only,
 * and take the structures of earlier ones. A version refuses a field that it does not know, unless it is zero.
 *
 * Texts are UTF-8; paths are bytes as the system has them (UTF-8 on Windows).
 *
 * Fingerprints are bytes of the store's width (8, 16 or 32), the most significant first. Functions that end with 64
 * take them as numbers; they are for stores of 64 bits alone.
 *
 * Streams are those of Arrow's C stream interface. The caller releases them with their `release`, before their end
 * too, which stops the work; `release` waits for its end. They stay readable when their store is closed or freed, and
 * hold the state that the store had when they were made. An error of the work comes from `get_next`, with a text from
 * `get_last_error`. A structure for a stream is overwritten, not released.
 *
 * Threads
 * -------
 * A store, key index or snapshot may be used by any number of threads at the same time, all functions but
 * fps_store_free: that needs to be the last call. Writes of many threads share their syncs. Two loads of a key index at
 * the same time do not see each other's ids. An fps_error, fps_matches or fps_key_matches may be used by one thread at
 * a time, or by many that only read it; a stream by one thread at a time. All may go from thread to thread.
 * Functions that are called back (fps_progress) run on the thread that called. One that asks for the end of its load
 * ends no other work; fps_store_stop ends the loads and compactions of all threads. They may use the store, and must
 * return: neither longjmp nor a C++ exception may leave them.
 * Of all functions, fps_store_stop alone may be called by a handler of signals. After fork, the child must not use what
 * its parent has opened, not even to close it.
 * The library must not be unloaded (dlclose): threads that have no more work may still be ending.
 * One process at a time has a store open for writing, any number with read_only.
 */


#ifndef FPSTORE_H
#define FPSTORE_H

#include <stddef.h>
#include <stdint.h>

/* The structures of Arrow's C data and C stream interfaces, as https://arrow.apache.org/docs/format/CDataInterface.html
 * defines them. */
#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE 2
#define ARROW_FLAG_MAP_KEYS_SORTED 4

struct ArrowSchema {
  const char *format;
  const char *name;
  const char *metadata;
  int64_t flags;
  int64_t n_children;
  struct ArrowSchema **children;
  struct ArrowSchema *dictionary;
  void (*release)(struct ArrowSchema *);
  void *private_data;
};

struct ArrowArray {
  int64_t length;
  int64_t null_count;
  int64_t offset;
  int64_t n_buffers;
  int64_t n_children;
  const void **buffers;
  struct ArrowArray **children;
  struct ArrowArray *dictionary;
  void (*release)(struct ArrowArray *);
  void *private_data;
};

#endif /* ARROW_C_DATA_INTERFACE */

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE

struct ArrowArrayStream {
  int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *out);
  int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *out);
  const char *(*get_last_error)(struct ArrowArrayStream *);
  void (*release)(struct ArrowArrayStream *);
  void *private_data;
};

#endif /* ARROW_C_STREAM_INTERFACE */

/**
 * The version of this interface. It grows with every addition; programs of earlier versions go on working.
 */
#define FPS_ABI 2

/**
 * Files are mapped, the fastest way.
 */
#define FPS_READ_MMAP 0

/**
 * Pages are read when they are needed, and checked; 64 MiB of them stay in memory.
 */
#define FPS_READ_PREAD 1

/**
 * Filters are made or read after the first 256 queries, while more run: a program with few queries has none.
 */
#define FPS_FILTERS_BACKGROUND 0

/**
 * Filters are made before opening returns.
 */
#define FPS_FILTERS_AT_OPEN 1

/**
 * There are no filters.
 */
#define FPS_FILTERS_OFF 2

/**
 * An error. Free it with fps_error_free.
 */
typedef struct fps_error fps_error;

/**
 * The matches of a query of a key index.
 */
typedef struct fps_key_matches fps_key_matches;

/**
 * The matches of a query.
 */
typedef struct fps_matches fps_matches;

/**
 * A store, or a snapshot of one.
 */
typedef struct fps_store fps_store;

/**
 * The result of a function: FPS_OK, or the kind of its error.
 */
typedef uint32_t fps_kind;

/**
 * What a new store is, for good. Zero or NULL in a field means the default, except in max_distance.
 */
typedef struct {
  /**
   * sizeof(fps_parameters).
   */
  size_t struct_size;
  /**
   * Bits of a fingerprint: 64 (the default), 128 or 256.
   */
  uint32_t width;
  /**
   * The distance in bits for which the tables are made. Larger ones are answered too, only slower. 3 is usual.
   */
  uint32_t max_distance;
  /**
   * The kind of ids: "u64" (the default: the store numbers records that come without ids), "text", or "none".
   */
  const char *ids;
  /**
   * "auto" (the default), "auto:space", "auto:latency", "auto:disk", or the name of a design such as "tables-4".
   */
  const char *plan;
  /**
   * "adaptive" (the default) or "xor".
   */
  const char *codec;
  /**
   * Bytes of a block.
   */
  uint32_t block_size;
  /**
   * 1 for an index of the ids, for work by id; otherwise 0.
   */
  uint32_t id_index;
  /**
   * The name of what makes the fingerprints; those of others are refused then.
   */
  const char *hasher;
} fps_parameters;

/**
 * How a store is opened. Zero or NULL in a field means the default.
 */
typedef struct {
  /**
   * sizeof(fps_options).
   */
  size_t struct_size;
  /**
   * 1 to change nothing and let another process write; otherwise 0. fps_create wants 0.
   */
  uint32_t read_only;
  /**
   * FPS_READ_MMAP or FPS_READ_PREAD.
   */
  uint32_t read_mode;
  /**
   * When filters are made: FPS_FILTERS_BACKGROUND, FPS_FILTERS_AT_OPEN or FPS_FILTERS_OFF.
   */
  uint32_t filters;
  /**
   * Threads of loads, compactions, pairs and batches, at most 1024; by default one a processor.
   */
  uint32_t threads;
  /**
   * Most bytes of filters; by default half of the memory that is available.
   */
  uint64_t filter_memory;
  /**
   * Bytes of memory of a load, beyond which it sorts on disk; by default half of the memory that is available.
   */
  uint64_t memory;
  /**
   * Directory of the temporary files of loads; by default that of the store or the one above.
   */
  const char *tmp_dir;
} fps_options;

/**
 * How a backup copies files, which never change.
 */
typedef uint32_t fps_backup_mode;

/**
 * What a write survives when the call returns.
 */
typedef uint32_t fps_durability;

/**
 * Ids in arrays: one of numbers or one of texts is given, the other is NULL.
 */
typedef struct {
  /**
   * sizeof(fps_ids).
   */
  size_t struct_size;
  /**
   * Number of ids.
   */
  size_t count;
  /**
   * Ids that are numbers.
   */
  const uint64_t *numbers;
  /**
   * Ids that are texts in UTF-8.
   */
  const char *const *texts;
  /**
   * The bytes of each text; NULL if the texts end with NUL.
   */
  const size_t *lengths;
} fps_ids;

/**
 * What a load does with the records.
 */
typedef uint32_t fps_deed;

/**
 * Records in arrays. One of the two arrays of fingerprints is given, and at most one of ids; the others are NULL.
 */
typedef struct {
  /**
   * sizeof(fps_columns).
   */
  size_t struct_size;
  /**
   * Number of records.
   */
  size_t rows;
  /**
   * Fingerprints of 64 bits.
   */
  const uint64_t *fingerprints64;
  /**
   * Fingerprints of the store's width, one after the other, each with its most significant byte first.
   */
  const uint8_t *fingerprints;
  /**
   * Ids that are numbers.
   */
  const uint64_t *numbers;
  /**
   * Ids that are texts in UTF-8.
   */
  const char *const *texts;
  /**
   * The bytes of each text; NULL if the texts end with NUL.
   */
  const size_t *lengths;
} fps_columns;

/**
 * Is told some twenty times a second, by the thread that called, how many records were read so far. Another value than
 * 0 asks for the end: the load then fails with FPS_STOPPED and leaves the store as it was. NULL is allowed.
 */
typedef int (*fps_progress)(void *context, uint64_t records);

/**
 * The result of a load.
 */
typedef struct {
  /**
   * sizeof(fps_loaded).
   */
  size_t struct_size;
  /**
   * Records that were given.
   */
  uint64_t records;
  /**
   * Records that were added; the others were there.
   */
  uint64_t added;
  /**
   * Records that were removed.
   */
  uint64_t removed;
  /**
   * Records without a fingerprint (null), which were left out.
   */
  uint64_t nulls;
} fps_loaded;

/**
 * What an fps_id holds.
 */
typedef uint32_t fps_id_kind;

/**
 * The id of a record. Its fields stay the same in all versions.
 */
typedef struct {
  /**
   * FPS_ID_NONE and others.
   */
  fps_id_kind kind;
  /**
   * The number or the count.
   */
  uint64_t number;
  /**
   * The text in UTF-8: 1 to 4096 bytes without TAB, CR, LF and NUL. In answers no NUL follows it.
   */
  const char *text;
  /**
   * Its bytes.
   */
  size_t length;
} fps_id;

/**
 * A record near a query.
 */
typedef struct {
  /**
   * sizeof(fps_match).
   */
  size_t struct_size;
  /**
   * Number of bits in which the fingerprints differ.
   */
  uint32_t distance;
  /**
   * Bits of the fingerprint.
   */
  uint32_t width;
  /**
   * The fingerprint as a number, if it has 64 bits; otherwise 0.
   */
  uint64_t fingerprint64;
  /**
   * The fingerprint: an eighth as many bytes as bits, the most significant first.
   */
  uint8_t fingerprint[32];
  /**
   * The id, or the count. Its text lives as long as the matches.
   */
  fps_id id;
} fps_match;

/**
 * What fps_insert_if_new has done.
 */
typedef struct {
  /**
   * sizeof(fps_outcome).
   */
  size_t struct_size;
  /**
   * 1 if the record was added, because there was none near it with another id; otherwise 0.
   */
  uint32_t inserted;
  /**
   * 1 if the store has numbered the added record; otherwise 0.
   */
  uint32_t is_numbered;
  /**
   * This number.
   */
  uint64_t number;
} fps_outcome;

/**
 * What work over all pairs may take. Zero or NULL in a field means the default.
 */
typedef struct {
  /**
   * sizeof(fps_pair_options).
   */
  size_t struct_size;
  /**
   * Bytes of memory; 1 GiB by default.
   */
  uint64_t memory;
  /**
   * Directory of temporary files.
   */
  const char *tmp_dir;
} fps_pair_options;

/**
 * The rule that makes clusters of near records.
 */
typedef uint32_t fps_linkage;

/**
 * Which record of a cluster is kept, and comes first by priority.
 */
typedef uint32_t fps_keeper;

/**
 * How clusters are made. Zero or NULL in a field means the default.
 */
typedef struct {
  /**
   * sizeof(fps_cluster_options).
   */
  size_t struct_size;
  /**
   * FPS_LINKAGE_DEFAULT and others.
   */
  fps_linkage linkage;
  /**
   * FPS_KEEP_SMALLEST or FPS_KEEP_LARGEST.
   */
  fps_keeper keeper;
  /**
   * Ids by priority, of the kind of the store's, the most important one first; other ids follow, the smallest
   * first. Only with FPS_KEEP_SMALLEST, and not of a store without ids.
   */
  const fps_ids *first;
  /**
   * Bytes of memory; 1 GiB by default.
   */
  uint64_t memory;
  /**
   * Directory of temporary files.
   */
  const char *tmp_dir;
} fps_cluster_options;

/**
 * What a new key index is, for good. Zero or NULL in a field means the default.
 */
typedef struct {
  /**
   * sizeof(fps_key_parameters).
   */
  size_t struct_size;
  /**
   * Leading bits of a key that are stored: 1 to 64; 48 by default.
   */
  uint32_t key_bits;
  /**
   * Bits of the sketch of a record, at most 8192; 0 for none.
   */
  uint32_t sketch_bits;
  /**
   * Bits of a sample of a sketch: 1 (the default), 2, 4, 8 or 16.
   */
  uint32_t sample_bits;
  /**
   * Bytes of a block.
   */
  uint32_t block_size;
  /**
   * The kind of ids: "u64" (the default) or "text".
   */
  const char *ids;
  /**
   * The name of what makes the keys.
   */
  const char *hasher;
} fps_key_parameters;

/**
 * Records of keys in arrays. At most one of the arrays of ids is given; what is not given is NULL.
 */
typedef struct {
  /**
   * sizeof(fps_key_columns).
   */
  size_t struct_size;
  /**
   * Number of records.
   */
  size_t rows;
  /**
   * The keys of all records, one record after the other.
   */
  const uint64_t *keys;
  /**
   * rows + 1 numbers that do not fall: the keys of record r are `keys[offsets[r]]` to
   * `keys[offsets[r + 1] - 1]`.
   */
  const size_t *offsets;
  /**
   * Sketches, one after the other, each of as many bytes as sketches of the index have.
   */
  const uint8_t *sketches;
  /**
   * Ids that are numbers.
   */
  const uint64_t *numbers;
  /**
   * Ids that are texts in UTF-8.
   */
  const char *const *texts;
  /**
   * The bytes of each text; NULL if the texts end with NUL.
   */
  const size_t *lengths;
} fps_key_columns;

/**
 * Which records are near. Zero in a field means the default.
 */
typedef struct {
  /**
   * sizeof(fps_key_rule).
   */
  size_t struct_size;
  /**
   * Keys that near records share at least; 1 by default.
   */
  uint64_t min_shared;
  /**
   * With sketches: the Jaccard similarity, 0 to 1, that the sketches of near records estimate at least.
   */
  double min_jaccard;
  /**
   * Keys of more records do not count; 0 for no limit. For pairs and clusters; in a query it has to be 0.
   */
  uint64_t max_key_frequency;
} fps_key_rule;

/**
 * A record that shares keys with a query.
 */
typedef struct {
  /**
   * sizeof(fps_key_match).
   */
  size_t struct_size;
  /**
   * Number of keys that both have.
   */
  uint64_t shared;
  /**
   * 1 if `jaccard` is known; 0 without sketches.
   */
  uint32_t is_estimated;
  /**
   * The Jaccard similarity that their sketches estimate, or 0.
   */
  double jaccard;
  /**
   * The id. Its text lives as long as the matches.
   */
  fps_id id;
} fps_key_match;

/**
 * No error.
 */
#define FPS_OK 0

/**
 * There is nothing at the path.
 */
#define FPS_NOT_FOUND 1

/**
 * There is something where a store was to be created.
 */
#define FPS_ALREADY_EXISTS 2

/**
 * Bytes on disk are not the written ones.
 */
#define FPS_DAMAGED 3

/**
 * This version, or this store, does not support the request.
 */
#define FPS_UNSUPPORTED 4

/**
 * An argument or a record is not acceptable.
 */
#define FPS_INVALID_INPUT 5

/**
 * Another process has the store open for writing.
 */
#define FPS_LOCKED 6

/**
 * The store was opened for reading only.
 */
#define FPS_READ_ONLY 7

/**
 * An earlier write failed and left the state on disk unknown: open the store again.
 */
#define FPS_POISONED 8

/**
 * The work was stopped.
 */
#define FPS_STOPPED 9

/**
 * The operating system refused.
 */
#define FPS_IO 10

/**
 * A mistake in fpstore: please report the message. Free the store; its files are as after a crash.
 */
#define FPS_PANIC 11

/**
 * Files of their own.
 */
#define FPS_BACKUP_COPY 0

/**
 * Hard links, where the file system has them: fast and without taking space. Damage to such a file affects both
 * stores.
 */
#define FPS_BACKUP_LINK 1

/**
 * No id: the store numbers its records, or has counts.
 */
#define FPS_ID_NONE 0

/**
 * A number.
 */
#define FPS_ID_NUMBER 1

/**
 * A text.
 */
#define FPS_ID_TEXT 2

/**
 * Where there are no ids: how many records the fingerprint has. In answers only.
 */
#define FPS_ID_COUNT 3

/**
 * A power failure (fdatasync).
 */
#define FPS_SYNC 0

/**
 * The end of the process, but perhaps not a power failure.
 */
#define FPS_BUFFERED 1

/**
 * A power failure, with the metadata of the file (fsync), for file systems that need it.
 */
#define FPS_SYNC_ALL 2

/**
 * Adds them.
 */
#define FPS_ADD 0

/**
 * Adds them, and removes other fingerprints of the same ids. Without an index of ids, all records are read.
 */
#define FPS_REPLACE 1

/**
 * Removes them.
 */
#define FPS_REMOVE 2

/**
 * FPS_LINKAGE_SINGLE for clusters, FPS_LINKAGE_STAR for what is kept.
 */
#define FPS_LINKAGE_DEFAULT 0

/**
 * Connected components: chains of near records link any two of a cluster.
 */
#define FPS_LINKAGE_SINGLE 1

/**
 * By priority: a record that is in no cluster begins one, of all near records that are in none.
 */
#define FPS_LINKAGE_STAR 2

/**
 * By priority: a record joins the first cluster all of whose members are near it, or begins one.
 */
#define FPS_LINKAGE_COMPLETE 3

/**
 * That with the smallest id.
 */
#define FPS_KEEP_SMALLEST 0

/**
 * That with the largest id.
 */
#define FPS_KEEP_LARGEST 1

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * The version of the interface that the library has, FPS_ABI or later.
 */
uint32_t fps_abi_version(void);

/**
 * The version of the library as text, such as "0.1.0".
 */
const char *fps_version(void);

/**
 * The kind of an error; FPS_OK of NULL.
 */
fps_kind fps_error_kind(const fps_error *error);

/**
 * What went wrong, where, and what to do about it: a sentence in UTF-8 that lives as long as the error. Empty for
 * NULL.
 */
const char *fps_error_message(const fps_error *error);

/**
 * The file or directory concerned, which lives as long as the error; NULL if there is none.
 */
const char *fps_error_path(const fps_error *error);

/**
 * Returns 1 and sets `*offset` if the error is about a byte of a file, otherwise 0.
 */
int fps_error_offset(const fps_error *error, uint64_t *offset);

/**
 * Returns 1 and sets `*row` if the error is about a row of what was given, from 0, otherwise 0. Of
 * fps_insert_if_new_many that is the row at which it ended, whatever the error.
 */
int fps_error_row(const fps_error *error, uint64_t *row);

/**
 * Frees an error. NULL is allowed.
 */
void fps_error_free(fps_error *error);

/**
 * Creates an empty store at a path where there is nothing, and opens it. NULL for the parameters makes one of 64 bits
 * for distance 3, NULL for the options takes the defaults. Free the store with fps_store_free.
 */
fps_kind fps_create(const char *path,
                    const fps_parameters *parameters,
                    const fps_options *options,
                    fps_store **store,
                    fps_error **error);

/**
 * Opens the store of fingerprints, or the key index, at a path. NULL for the options takes the defaults. Free the
 * store with fps_store_free.
 */
fps_kind fps_open(const char *path,
                  const fps_options *options,
                  fps_store **store,
                  fps_error **error);

/**
 * Closes a store and reports errors. Later calls, except fps_store_free, fail with FPS_INVALID_INPUT. Calls of other
 * threads go on: the store then closes when they end, and errors of closing are not reported. Streams stay readable.
 * What was acknowledged is safe without closing.
 */
fps_kind fps_store_close(fps_store *store,
                         fps_error **error);

/**
 * Closes a store, if it is open, and frees it. No other call may use it at the same time or later; streams may be read
 * on. NULL is allowed.
 */
void fps_store_free(fps_store *store);

/**
 * With 1, asks all long work of a store to end, until this is called with 0 or the store is closed. Fail with
 * FPS_STOPPED: loads, fps_insert_many, fps_remove_many, fps_remove_ids, fps_compact and fps_backup, which leave the
 * store as it was; fps_insert_if_new_many, after the rows before; fps_save_filters, after the segments before and when
 * the filters are made; and other writes that have to replace the manifest, such as the first one of a store. Streams
 * of pairs and clusters that write temporary files fail too. Background threads go on. May be called by any thread and
 * by a handler of signals.
 */
void fps_store_stop(const fps_store *store,
                    int stop);

/**
 * Bits of a fingerprint of the store; 0 if it is NULL, closed or a key index.
 */
uint32_t fps_store_width(const fps_store *store);

/**
 * Makes a snapshot of a store or key index, which becomes `*snapshot`: the store as it is now. Queries, streams,
 * fps_stats and fps_store_width take it in place of the store; functions that write, fps_backup and fps_refresh fail
 * with FPS_READ_ONLY. It stays as it is while the store is written, compacted, closed or freed, and holds the files
 * that it needs. Free it with fps_store_free.
 */
fps_kind fps_snapshot(const fps_store *store,
                      fps_store **snapshot,
                      fps_error **error);

/**
 * Sizes and counts as a JSON object with the fields of `fpdump stats --json`. Free the text with fps_text_free.
 */
fps_kind fps_stats(const fps_store *store,
                   char **json,
                   fps_error **error);

/**
 * Verifies every byte of the store at a path, or of a segment or log of one, even if it is too damaged to open. The
 * store may be open. Damage is not an error: the text is a JSON object with the fields of `fpdump verify --json`, `sound`
 * and `damages` among them. Free it with fps_text_free.
 */
fps_kind fps_verify(const char *path,
                    char **json,
                    fps_error **error);

/**
 * Copies the present state of a store to a new directory and verifies the copy, while other threads read and write.
 * Sets `*records`, unless that is NULL, to the number of records in it.
 */
fps_kind fps_backup(const fps_store *store,
                    const char *path,
                    fps_backup_mode mode,
                    uint64_t *records,
                    fps_error **error);

/**
 * Frees a text of fps_stats or fps_verify. NULL is allowed.
 */
void fps_text_free(char *text);

/**
 * Makes earlier writes as durable as this.
 */
fps_kind fps_sync(const fps_store *store, fps_durability durability, fps_error **error);

/**
 * Merges all runs to one.
 */
fps_kind fps_compact(const fps_store *store, fps_error **error);

/**
 * Saves prefix filters in files beside the segments, so that programs read them instead of making them; sets
 * `*written`, unless it is NULL, to the bytes written. They take 1 to 4 bytes a fingerprint and table.
 */
fps_kind fps_save_filters(const fps_store *store, uint64_t *written, fps_error **error);

/**
 * Moves a store that is open with read_only on to the latest state; sets `*changed`, unless it is NULL, to 1 if there
 * was one, otherwise to 0.
 */
fps_kind fps_refresh(const fps_store *store,
                     int *changed,
                     fps_error **error);

/**
 * Removes all records of many ids, durably and all or nothing; sets `*removed`, unless that is NULL, to their number.
 * Of a store of fingerprints or a key index. Without an index of ids, all records are read.
 */
fps_kind fps_remove_ids(const fps_store *store,
                        const fps_ids *ids,
                        uint64_t *removed,
                        fps_error **error);

/**
 * Loads records of arrays, durably and all or nothing. `loaded` may be NULL.
 */
fps_kind fps_load(const fps_store *store,
                  fps_deed deed,
                  const fps_columns *records,
                  fps_progress progress,
                  void *context,
                  fps_loaded *loaded,
                  fps_error **error);

/**
 * Loads the records of a stream of record batches, durably and all or nothing, and releases the stream, after an error
 * too. Fingerprints are uint64 (or int64 with the same bits) or fixed_size_binary with the most significant byte
 * first, ids any integers or strings. `fingerprint_column` NULL stands for "fingerprint", `id_column` NULL for "id",
 * if there is such a column. Another thread than that of the caller may read the stream. `loaded` may be NULL.
 */
fps_kind fps_load_stream(const fps_store *store,
                         fps_deed deed,
                         struct ArrowArrayStream *records,
                         const char *fingerprint_column,
                         const char *id_column,
                         fps_progress progress,
                         void *context,
                         fps_loaded *loaded,
                         fps_error **error);

/**
 * All records within distance `k`, by distance, then fingerprint, then id. Any `k` is answered exactly; one beyond the
 * max_distance of the store takes longer. Free the matches with fps_matches_free.
 */
fps_kind fps_query(const fps_store *store,
                   const uint8_t *fingerprint,
                   size_t length,
                   uint32_t k,
                   fps_matches **matches,
                   fps_error **error);

/**
 * As fps_query, for 64 bits.
 */
fps_kind fps_query64(const fps_store *store,
                     uint64_t fingerprint,
                     uint32_t k,
                     fps_matches **matches,
                     fps_error **error);

/**
 * The `count` nearest records, in the order of fps_query. Free the matches with fps_matches_free.
 */
fps_kind fps_nearest(const fps_store *store,
                     const uint8_t *fingerprint,
                     size_t length,
                     size_t count,
                     fps_matches **matches,
                     fps_error **error);

/**
 * As fps_nearest, for 64 bits.
 */
fps_kind fps_nearest64(const fps_store *store,
                       uint64_t fingerprint,
                       size_t count,
                       fps_matches **matches,
                       fps_error **error);

/**
 * The records of an id, by fingerprint, at distance 0. The store needs an index of ids. Free the matches with
 * fps_matches_free.
 */
fps_kind fps_get_id(const fps_store *store, const fps_id *id, fps_matches **matches, fps_error **error);

/**
 * Number of matches; 0 of NULL.
 */
size_t fps_matches_count(const fps_matches *matches);

/**
 * Sets `*found` to the match of this index, from 0. The caller has set its struct_size.
 */
fps_kind fps_matches_get(const fps_matches *matches, size_t index, fps_match *found, fps_error **error);

/**
 * Frees matches. NULL is allowed.
 */
void fps_matches_free(fps_matches *matches);

/**
 * Sets `*near` to 1 if there is a record within distance `k`, otherwise to 0. Takes less time than fps_query.
 */
fps_kind fps_contains_near(const fps_store *store,
                           const uint8_t *fingerprint,
                           size_t length,
                           uint32_t k,
                           int *near,
                           fps_error **error);

/**
 * As fps_contains_near, for 64 bits.
 */
fps_kind fps_contains_near64(const fps_store *store,
                             uint64_t fingerprint,
                             uint32_t k,
                             int *near,
                             fps_error **error);

/**
 * The records within distance `k` of each of many fingerprints, on all threads of the store: `query_row` (uint64),
 * `fingerprint` (uint64, or fixed_size_binary), `distance` (uint32), and `id` (uint64 or utf8) or `count` (uint64).
 * Rows come in the order of the queries, which are copied, and each as fps_query orders them.
 */
fps_kind fps_query_many(const fps_store *store,
                        const fps_columns *queries,
                        uint32_t k,
                        struct ArrowArrayStream *out,
                        fps_error **error);

/**
 * The `count` nearest records of each of many fingerprints, if they are within distance `k`. As fps_query_many.
 */
fps_kind fps_nearest_many(const fps_store *store,
                          const fps_columns *queries,
                          size_t count,
                          uint32_t k,
                          struct ArrowArrayStream *out,
                          fps_error **error);

/**
 * Whether there is a record within distance `k` of each of many fingerprints, on all threads of the store: sets the
 * bytes of `near`, as many as there are fingerprints, to 1 or 0.
 */
fps_kind fps_contains_near_many(const fps_store *store,
                                const fps_columns *queries,
                                uint32_t k,
                                uint8_t *near,
                                fps_error **error);

/**
 * Adds a record. Without an id (NULL) the store numbers it, and sets `*number` unless that is NULL.
 */
fps_kind fps_insert(const fps_store *store,
                    const uint8_t *fingerprint,
                    size_t length,
                    const fps_id *id,
                    fps_durability durability,
                    uint64_t *number,
                    fps_error **error);

/**
 * As fps_insert, for 64 bits.
 */
fps_kind fps_insert64(const fps_store *store,
                      uint64_t fingerprint,
                      const fps_id *id,
                      fps_durability durability,
                      uint64_t *number,
                      fps_error **error);

/**
 * Adds records, all or nothing.
 */
fps_kind fps_insert_many(const fps_store *store,
                         const fps_columns *records,
                         fps_durability durability,
                         fps_error **error);

/**
 * Adds a record unless there is one with another id within distance `k`, in one step: of many threads that add near
 * records at the same time, one does. `near`, unless it is NULL, becomes records that were near: those with the same
 * id, then one of the nearest with another id. Free it with fps_matches_free. `outcome` may be NULL.
 */
fps_kind fps_insert_if_new(const fps_store *store,
                           const uint8_t *fingerprint,
                           size_t length,
                           const fps_id *id,
                           uint32_t k,
                           fps_durability durability,
                           fps_outcome *outcome,
                           fps_matches **near,
                           fps_error **error);

/**
 * As fps_insert_if_new, for 64 bits.
 */
fps_kind fps_insert_if_new64(const fps_store *store,
                             uint64_t fingerprint,
                             const fps_id *id,
                             uint32_t k,
                             fps_durability durability,
                             fps_outcome *outcome,
                             fps_matches **near,
                             fps_error **error);

/**
 * Adds each of some records that has no record with another id within distance `k`, one after the other, with one sync
 * at the end. The stream has a row for each: `inserted` (bool), `number` (uint64, if the store has numbered it), and
 * where it was not added, `id` (or `count`; of texts large_utf8) and `distance` (uint32) of the reason: the same
 * record, or one of the nearest with another id. After an error the records before its row were added
 * (fps_error_row), with this durability.
 */
fps_kind fps_insert_if_new_many(const fps_store *store,
                                const fps_columns *records,
                                uint32_t k,
                                fps_durability durability,
                                struct ArrowArrayStream *out,
                                fps_error **error);

/**
 * Removes a record; sets `*removed`, unless that is NULL, to 1 if it was there, otherwise to 0.
 */
fps_kind fps_remove(const fps_store *store,
                    const uint8_t *fingerprint,
                    size_t length,
                    const fps_id *id,
                    fps_durability durability,
                    int *removed,
                    fps_error **error);

/**
 * As fps_remove, for 64 bits.
 */
fps_kind fps_remove64(const fps_store *store,
                      uint64_t fingerprint,
                      const fps_id *id,
                      fps_durability durability,
                      int *removed,
                      fps_error **error);

/**
 * Removes records, all or nothing; sets `*removed`, unless that is NULL, to the number of those that were there.
 */
fps_kind fps_remove_many(const fps_store *store,
                         const fps_columns *records,
                         fps_durability durability,
                         uint64_t *removed,
                         fps_error **error);

/**
 * Removes all records of an id; sets `*removed`, unless that is NULL, to their number. The store needs an index of
 * ids.
 */
fps_kind fps_remove_id(const fps_store *store,
                       const fps_id *id,
                       fps_durability durability,
                       uint64_t *removed,
                       fps_error **error);

/**
 * Gives an id this fingerprint alone, in one step; sets `*removed`, unless that is NULL, to the number of its records
 * that were removed. The store needs an index of ids.
 */
fps_kind fps_replace(const fps_store *store,
                     const uint8_t *fingerprint,
                     size_t length,
                     const fps_id *id,
                     fps_durability durability,
                     uint64_t *removed,
                     fps_error **error);

/**
 * As fps_replace, for 64 bits.
 */
fps_kind fps_replace64(const fps_store *store,
                       uint64_t fingerprint,
                       const fps_id *id,
                       fps_durability durability,
                       uint64_t *removed,
                       fps_error **error);

/**
 * All pairs of records within distance `k`, each once: `id_a`, `id_b` (or `count_a`, `count_b`), `distance` (uint32),
 * `fp_a`, `fp_b`. The order is the same each time. NULL for the options takes the defaults.
 */
fps_kind fps_pairs(const fps_store *store,
                   uint32_t k,
                   const fps_pair_options *options,
                   struct ArrowArrayStream *out,
                   fps_error **error);

/**
 * All pairs of a record of one store and one of another within distance `k`. As fps_pairs.
 */
fps_kind fps_join(const fps_store *store,
                  const fps_store *other,
                  uint32_t k,
                  const fps_pair_options *options,
                  struct ArrowArrayStream *out,
                  fps_error **error);

/**
 * All records by fingerprint, then id: `fingerprint`, and `id` or `count`.
 */
fps_kind fps_records(const fps_store *store, struct ArrowArrayStream *out, fps_error **error);

/**
 * The cluster of every record within distance `k`: `id` and `cluster`, the smallest id of the cluster; without ids,
 * `fingerprint` and `cluster`. NULL for the options takes the defaults.
 */
fps_kind fps_clusters(const fps_store *store,
                      uint32_t k,
                      const fps_cluster_options *options,
                      struct ArrowArrayStream *out,
                      fps_error **error);

/**
 * Which records are kept at distance `k`, one of each cluster: `id`; without ids, `fingerprint`. With `evidence` other
 * than 0 a row for each of the others in their place: `id`, `keeper`, `cluster` and `distance` (uint32); without ids,
 * `fingerprint` in place of `id`, and `count`. NULL for the options takes the defaults.
 */
fps_kind fps_keep(const fps_store *store,
                  uint32_t k,
                  int evidence,
                  const fps_cluster_options *options,
                  struct ArrowArrayStream *out,
                  fps_error **error);

/**
 * Creates an empty key index at a path where there is nothing, and opens it: as fps_create. fps_open opens it later.
 */
fps_kind fps_keys_create(const char *path,
                         const fps_key_parameters *parameters,
                         const fps_options *options,
                         fps_store **store,
                         fps_error **error);

/**
 * Loads records of keys of arrays, durably and all or nothing. FPS_ADD leaves out records whose id is there,
 * FPS_REPLACE replaces those; fps_remove_ids removes. `loaded` may be NULL.
 */
fps_kind fps_keys_load(const fps_store *store,
                       fps_deed deed,
                       const fps_key_columns *records,
                       fps_progress progress,
                       void *context,
                       fps_loaded *loaded,
                       fps_error **error);

/**
 * Loads the records of a stream of record batches. As fps_keys_load and fps_load_stream: `keys` is a column of lists
 * of uint64, or of binary or strings, whose keys are their XXH64. A column that is NULL stands for "keys", and for
 * "id" and "sketch", if there are such columns.
 */
fps_kind fps_keys_load_stream(const fps_store *store,
                              fps_deed deed,
                              struct ArrowArrayStream *records,
                              const char *keys_column,
                              const char *id_column,
                              const char *sketch_column,
                              fps_progress progress,
                              void *context,
                              fps_loaded *loaded,
                              fps_error **error);

/**
 * All pairs of near records of a key index, each once: `id_a`, `id_b`, `shared` (uint64) and `jaccard` (float64, null
 * without sketches). NULL for the rule and the options takes the defaults.
 */
fps_kind fps_keys_pairs(const fps_store *store,
                        const fps_key_rule *rule,
                        const fps_pair_options *options,
                        struct ArrowArrayStream *out,
                        fps_error **error);

/**
 * All near pairs of a record of one key index and one of another. As fps_keys_pairs.
 */
fps_kind fps_keys_join(const fps_store *store,
                       const fps_store *other,
                       const fps_key_rule *rule,
                       const fps_pair_options *options,
                       struct ArrowArrayStream *out,
                       fps_error **error);

/**
 * The records of a key index that share keys with a record of `count` keys and, unless it is NULL, a sketch: those
 * that share most first, then by id; `most` of them, or all with 0. NULL for the rule takes the defaults. Free the
 * matches with fps_key_matches_free.
 */
fps_kind fps_keys_query(const fps_store *store,
                        const uint64_t *keys,
                        size_t count,
                        const uint8_t *sketch,
                        const fps_key_rule *rule,
                        size_t most,
                        fps_key_matches **matches,
                        fps_error **error);

/**
 * The matches of each of many records, on all threads of the index: `query_row` (uint64), `id`, `shared` (uint64) and
 * `jaccard` (float64, null without sketches). Rows come in the order of the queries, which are copied, and each as
 * fps_keys_query orders them.
 */
fps_kind fps_keys_query_many(const fps_store *store,
                             const fps_key_columns *queries,
                             const fps_key_rule *rule,
                             size_t most,
                             struct ArrowArrayStream *out,
                             fps_error **error);

/**
 * Number of matches; 0 of NULL.
 */
size_t fps_key_matches_count(const fps_key_matches *matches);

/**
 * Sets `*found` to the match of this index, from 0. The caller has set its struct_size.
 */
fps_kind fps_key_matches_get(const fps_key_matches *matches,
                             size_t index,
                             fps_key_match *found,
                             fps_error **error);

/**
 * Frees matches. NULL is allowed.
 */
void fps_key_matches_free(fps_key_matches *matches);

/**
 * The cluster of every record of a key index. As fps_clusters, with the rule of fps_keys_pairs.
 */
fps_kind fps_keys_clusters(const fps_store *store,
                           const fps_key_rule *rule,
                           const fps_cluster_options *options,
                           struct ArrowArrayStream *out,
                           fps_error **error);

/**
 * Which records of a key index are kept, or the evidence on the others: `id`, `keeper`, `cluster`, `shared_keys`
 * (uint64) and `jaccard` (float64, null without sketches). As fps_keep, with the rule of fps_keys_pairs.
 */
fps_kind fps_keys_keep(const fps_store *store,
                       const fps_key_rule *rule,
                       int evidence,
                       const fps_cluster_options *options,
                       struct ArrowArrayStream *out,
                       fps_error **error);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* FPSTORE_H */
