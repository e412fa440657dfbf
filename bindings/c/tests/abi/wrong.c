/* Wrong uses: each is an error of a known kind with a message: wrong DIRECTORY, which has "damaged", a store with a
 * flipped byte. */
#include "check.h"

static fps_store *store;

static void null_pointers(const char *directory)
{
    fps_id id = number_id(1);
    fps_store *other = (fps_store *)&id;
    fps_columns columns = {.struct_size = sizeof columns};
    fps_match match = {.struct_size = sizeof match};
    fps_matches *matches;
    struct ArrowArrayStream stream;
    uint8_t one[8] = {0};
    int flag;
    char *json;

    FAILS(FPS_INVALID_INPUT, "path is NULL", fps_open(NULL, NULL, &other, &error));
    CHECK(other == NULL);
    FAILS(FPS_INVALID_INPUT, "path is NULL", fps_create(NULL, NULL, NULL, &other, &error));
    FAILS(FPS_INVALID_INPUT, "place for the store is NULL", fps_open(directory, NULL, NULL, &error));
    FAILS(FPS_INVALID_INPUT, "place for the store is NULL", fps_create(directory, NULL, NULL, NULL, &error));
    FAILS(FPS_INVALID_INPUT, "store is NULL", fps_store_close(NULL, &error));
    FAILS(FPS_INVALID_INPUT, "store is NULL", fps_sync(NULL, FPS_SYNC, &error));
    FAILS(FPS_INVALID_INPUT, "store is NULL", fps_compact(NULL, &error));
    FAILS(FPS_INVALID_INPUT, "store is NULL", fps_save_filters(NULL, NULL, &error));
    FAILS(FPS_INVALID_INPUT, "store is NULL", fps_refresh(NULL, &flag, &error));
    FAILS(FPS_INVALID_INPUT, "store is NULL", fps_stats(NULL, &json, &error));
    CHECK(json == NULL);
    FAILS(FPS_INVALID_INPUT, "NULL", fps_stats(store, NULL, &error));
    FAILS(FPS_INVALID_INPUT, "store is NULL", fps_insert64(NULL, 1, &id, FPS_SYNC, NULL, &error));
    FAILS(FPS_INVALID_INPUT, "fingerprint is NULL", fps_insert(store, NULL, 8, &id, FPS_SYNC, NULL, &error));
    FAILS(FPS_INVALID_INPUT, "store is NULL", fps_remove64(NULL, 1, &id, FPS_SYNC, NULL, &error));
    FAILS(FPS_INVALID_INPUT, "store is NULL", fps_remove_id(NULL, &id, FPS_SYNC, NULL, &error));
    FAILS(FPS_INVALID_INPUT, "store is NULL", fps_query64(NULL, 1, 3, &matches, &error));
    CHECK(matches == NULL && fps_matches_count(matches) == 0);
    FAILS(FPS_INVALID_INPUT, "matches is NULL", fps_query64(store, 1, 3, NULL, &error));
    FAILS(FPS_INVALID_INPUT, "matches is NULL", fps_nearest(store, one, 8, 1, NULL, &error));
    FAILS(FPS_INVALID_INPUT, "answer is NULL", fps_contains_near64(store, 1, 3, NULL, &error));
    FAILS(FPS_INVALID_INPUT, "matches is NULL", fps_matches_get(NULL, 0, &match, &error));
    FAILS(FPS_INVALID_INPUT, "store is NULL", fps_load(NULL, FPS_ADD, &columns, NULL, NULL, NULL, &error));
    FAILS(FPS_INVALID_INPUT, "fps_columns is NULL", fps_load(store, FPS_ADD, NULL, NULL, NULL, NULL, &error));
    FAILS(FPS_INVALID_INPUT, "fps_columns is NULL", fps_insert_many(store, NULL, FPS_SYNC, &error));
    FAILS(FPS_INVALID_INPUT, "fps_columns is NULL", fps_remove_many(store, NULL, FPS_SYNC, NULL, &error));
    FAILS(FPS_INVALID_INPUT, "stream is NULL",
          fps_load_stream(store, FPS_ADD, NULL, NULL, NULL, NULL, NULL, NULL, &error));
    FAILS(FPS_INVALID_INPUT, "stream is NULL", fps_query_many(store, &columns, 3, NULL, &error));
    FAILS(FPS_INVALID_INPUT, "fps_columns is NULL", fps_query_many(store, NULL, 3, &stream, &error));
    CHECK(stream.release == NULL);
    FAILS(FPS_INVALID_INPUT, "stream is NULL", fps_pairs(store, 3, NULL, NULL, &error));
    FAILS(FPS_INVALID_INPUT, "store is NULL", fps_join(store, NULL, 3, NULL, &stream, &error));
    FAILS(FPS_INVALID_INPUT, "store is NULL", fps_records(NULL, &stream, &error));
    CHECK(stream.release == NULL);
    FAILS(FPS_INVALID_INPUT, "released",
          fps_load_stream(store, FPS_ADD, &stream, NULL, NULL, NULL, NULL, NULL, &error));
    columns.rows = 2;
    FAILS(FPS_INVALID_INPUT, "fingerprints is NULL", fps_insert_many(store, &columns, FPS_SYNC, &error));
    /* Without a place for the error there is the kind. */
    CHECK(fps_sync(NULL, FPS_SYNC, NULL) == FPS_INVALID_INPUT);
    fps_store_free(NULL);
    fps_store_stop(NULL, 1);
    fps_matches_free(NULL);
    fps_text_free(NULL);
    fps_error_free(NULL);
    CHECK(fps_error_kind(NULL) == FPS_OK && fps_error_message(NULL)[0] == 0 && fps_error_path(NULL) == NULL);
    CHECK(fps_error_offset(NULL, NULL) == 0 && fps_error_row(NULL, NULL) == 0 && fps_store_width(NULL) == 0);
}

static void sizes(const char *path)
{
    struct {
        fps_options options;
        uint64_t later;
    } newer = {{.struct_size = sizeof newer}, 0};
    fps_options options = {.struct_size = sizeof options};
    fps_parameters parameters = {.struct_size = 0};
    fps_columns columns = {.struct_size = sizeof columns - 1};
    fps_pair_options pair_options = {.struct_size = 1};
    fps_loaded loaded = {.struct_size = 8};
    fps_outcome outcome = {.struct_size = (size_t)-1};
    fps_match match = {.struct_size = 0};
    fps_id id = number_id(77);
    fps_matches *matches;
    struct ArrowArrayStream stream;
    fps_store *other;

    FAILS(FPS_INVALID_INPUT, "struct_size of fps_parameters is 0", fps_create(path, &parameters, NULL, &other, &error));
    FAILS(FPS_INVALID_INPUT, "struct_size of fps_columns", fps_query_many(store, &columns, 3, &stream, &error));
    FAILS(FPS_INVALID_INPUT, "struct_size of fps_pair_options is 1",
          fps_pairs(store, 3, &pair_options, &stream, &error));
    CHECK(stream.release == NULL);
    memset(&stream, 1, sizeof stream);
    FAILS(FPS_INVALID_INPUT, "fps_pair_options", fps_join(store, store, 3, &pair_options, &stream, &error));
    CHECK(stream.release == NULL);
    memset(&stream, 1, sizeof stream);
    FAILS(FPS_INVALID_INPUT, "durability is 9", fps_insert_if_new_many(store, &columns, 3, 9, &stream, &error));
    CHECK(stream.release == NULL);
    columns.struct_size = sizeof columns;
    FAILS(FPS_INVALID_INPUT, "struct_size of fps_loaded is 8",
          fps_load(store, FPS_ADD, &columns, NULL, NULL, &loaded, &error));
    FAILS(FPS_INVALID_INPUT, "struct_size of fps_outcome",
          fps_insert_if_new64(store, 1, &id, 0, FPS_SYNC, &outcome, NULL, &error));
    OK(fps_query64(store, 1, 64, &matches, &error));
    CHECK(fps_matches_count(matches) == 1);
    FAILS(FPS_INVALID_INPUT, "struct_size of fps_match is 0", fps_matches_get(matches, 0, &match, &error));
    match.struct_size = sizeof match;
    FAILS(FPS_INVALID_INPUT, "1 matches", fps_matches_get(matches, 1, &match, &error));
    fps_matches_free(matches);
    options.struct_size--;
    FAILS(FPS_INVALID_INPUT, "sizeof(fps_options)", fps_create(path, NULL, &options, &other, &error));
    /* A program that was compiled with a later header. */
    newer.later = 1;
    FAILS(FPS_UNSUPPORTED, "does not know", fps_create(path, NULL, &newer.options, &other, &error));
    newer.later = 0;
    OK(fps_create(path, NULL, &newer.options, &other, &error));
    {
        struct {
            fps_loaded loaded;
            uint64_t later;
        } result = {{.struct_size = sizeof result}, 0};
        uint64_t one = 3;
        columns.rows = 1;
        columns.fingerprints64 = &one;
        OK(fps_load(other, FPS_ADD, &columns, NULL, NULL, &result.loaded, &error));
        CHECK(result.loaded.struct_size == sizeof result && result.loaded.added == 1 && result.later == 0);
    }
    fps_store_free(other);
}

static void values(const char *directory)
{
    uint8_t wide[32] = {0};
    uint64_t words[2] = {1, 2};
    const char *texts[] = {"a", NULL}, *bad[] = {"a", "\xff"};
    fps_columns columns = {.struct_size = sizeof columns, .rows = 2, .fingerprints64 = words, .texts = texts};
    fps_parameters parameters = {.struct_size = sizeof parameters, .width = 96};
    fps_options options = {.struct_size = sizeof options, .read_mode = 7};
    fps_id id = number_id(1), text = text_id("a\tb"), none = {.kind = FPS_ID_NONE}, strange = {.kind = 9};
    fps_id no_utf8 = text_id("\xc3"), null_text = {.kind = FPS_ID_TEXT, .length = 3}, fine = text_id("a");
    struct ArrowArrayStream stream;
    fps_matches *matches;
    fps_store *other;
    fps_error *of_row;
    uint64_t row;
    char *json;

    FAILS(FPS_INVALID_INPUT, "128 bits where 64", fps_insert(store, wide, 16, &id, FPS_SYNC, NULL, &error));
    FAILS(FPS_INVALID_INPUT, "7 bytes", fps_insert(store, wide, 7, &id, FPS_SYNC, NULL, &error));
    FAILS(FPS_INVALID_INPUT, "256", fps_query(store, wide, 32, 3, &matches, &error));
    CHECK(matches == NULL);
    FAILS(FPS_INVALID_INPUT, "65", fps_query64(store, 1, 65, &matches, &error));
    FAILS(FPS_INVALID_INPUT, "65", fps_pairs(store, 65, NULL, &stream, &error));
    FAILS(FPS_INVALID_INPUT, "id", fps_insert64(store, 1, &none, FPS_SYNC, NULL, &error));
    FAILS(FPS_INVALID_INPUT, "kind 9", fps_insert64(store, 1, &strange, FPS_SYNC, NULL, &error));
    FAILS(FPS_INVALID_INPUT, "id", fps_insert64(store, 1, &fine, FPS_SYNC, NULL, &error));
    FAILS(FPS_INVALID_INPUT, "not UTF-8", fps_insert64(store, 1, &no_utf8, FPS_SYNC, NULL, &error));
    FAILS(FPS_INVALID_INPUT, "text of the id is NULL", fps_insert64(store, 1, &null_text, FPS_SYNC, NULL, &error));
    FAILS(FPS_INVALID_INPUT, "durability is 3", fps_insert64(store, 1, &id, 3, NULL, &error));
    FAILS(FPS_INVALID_INPUT, "deed is 5", fps_load(store, 5, &columns, NULL, NULL, NULL, &error));
    FAILS(FPS_INVALID_INPUT, "row 1: the id is NULL", fps_load(store, FPS_ADD, &columns, NULL, NULL, NULL, &error));
    CHECK(fps_insert_if_new_many(store, &columns, 3, FPS_SYNC, &stream, &of_row) == FPS_INVALID_INPUT);
    CHECK(fps_error_row(of_row, NULL) == 1 && fps_error_row(of_row, &row) == 1 && row == 1);
    fps_error_free(of_row);
    columns.texts = bad;
    FAILS(FPS_INVALID_INPUT, "row 1: the id is not UTF-8", fps_insert_many(store, &columns, FPS_SYNC, &error));
    columns.numbers = words;
    FAILS(FPS_INVALID_INPUT, "both numbers and texts", fps_insert_many(store, &columns, FPS_SYNC, &error));
    columns.fingerprints = wide;
    FAILS(FPS_INVALID_INPUT, "both fingerprints64", fps_insert_many(store, &columns, FPS_SYNC, &error));
    columns.rows = (size_t)-1;
    columns.fingerprints64 = NULL;
    FAILS(FPS_INVALID_INPUT, "more than memory", fps_insert_many(store, &columns, FPS_SYNC, &error));
    FAILS(FPS_INVALID_INPUT, "96", fps_create(in(directory, "new"), &parameters, NULL, &other, &error));
    parameters.width = 64;
    parameters.ids = "uuid";
    FAILS(FPS_INVALID_INPUT, "uuid", fps_create(in(directory, "new"), &parameters, NULL, &other, &error));
    parameters.ids = "text";
    parameters.plan = "best";
    FAILS(FPS_INVALID_INPUT, "best", fps_create(in(directory, "new"), &parameters, NULL, &other, &error));
    parameters.plan = NULL;
    parameters.id_index = 2;
    FAILS(FPS_INVALID_INPUT, "id_index is 2", fps_create(in(directory, "new"), &parameters, NULL, &other, &error));
    FAILS(FPS_INVALID_INPUT, "read_mode is 7", fps_open(in(directory, "new"), &options, &other, &error));
    options.read_mode = FPS_READ_MMAP;
    options.threads = 1025;
    FAILS(FPS_INVALID_INPUT, "expected 1 to 1024", fps_open(in(directory, "new"), &options, &other, &error));
    options.threads = 0;
    options.read_only = 1;
    FAILS(FPS_INVALID_INPUT, "read_only", fps_create(in(directory, "new"), NULL, &options, &other, &error));
    /* Texts with a TAB. */
    parameters.id_index = 0;
    OK(fps_create(in(directory, "texts"), &parameters, NULL, &other, &error));
    FAILS(FPS_INVALID_INPUT, "id", fps_insert64(other, 1, &text, FPS_SYNC, NULL, &error));
    FAILS(FPS_UNSUPPORTED, "id", fps_remove_id(other, &fine, FPS_SYNC, NULL, &error));
    /* What can be closed twice is closed. */
    OK(fps_store_close(other, &error));
    FAILS(FPS_INVALID_INPUT, "closed", fps_insert64(other, 1, &fine, FPS_SYNC, NULL, &error));
    FAILS(FPS_INVALID_INPUT, "closed", fps_query64(other, 1, 3, &matches, &error));
    FAILS(FPS_INVALID_INPUT, "closed", fps_stats(other, &json, &error));
    FAILS(FPS_INVALID_INPUT, "closed", fps_pairs(other, 3, NULL, &stream, &error));
    fps_store_free(other);
}

/* The error of a call that has a path, and of damage an offset. */
static void places(const char *directory)
{
    fps_options options = {.struct_size = sizeof options, .read_only = 1};
    fps_error *error;
    fps_store *other;
    struct ArrowArrayStream stream;
    struct ArrowArray batch;
    uint64_t offset = 0;
    int failed;

    CHECK(fps_open(in(directory, "missing"), NULL, &other, &error) == FPS_NOT_FOUND && other == NULL);
    CHECK(strstr(fps_error_path(error), "missing") && strlen(fps_error_message(error)) > 0);
    CHECK(fps_error_offset(error, &offset) == 0 && fps_error_row(error, &offset) == 0);
    fps_error_free(error);
    FAILS(FPS_ALREADY_EXISTS, "store", fps_create(in(directory, "store"), NULL, NULL, &other, &error));
    FAILS(FPS_LOCKED, "store", fps_open(in(directory, "store"), NULL, &other, &error));
    OK(fps_open(in(directory, "store"), &options, &other, &error));
    FAILS(FPS_READ_ONLY, "store", fps_insert64(other, 1, NULL, FPS_SYNC, NULL, &error));
    fps_store_free(other);
    /* A flipped byte is found when the store is opened, or when it is read. */
    if (fps_open(in(directory, "damaged"), &options, &other, &error)) {
        CHECK(fps_error_kind(error) == FPS_DAMAGED && strstr(fps_error_path(error), "damaged"));
        CHECK(fps_error_offset(error, &offset) == 1);
        fps_error_free(error);
    } else {
        OK(fps_records(other, &stream, &error));
        while ((failed = stream.get_next(&stream, &batch)) == 0 && batch.release)
            batch.release(&batch);
        CHECK(failed && strstr(stream.get_last_error(&stream), "(at byte "));
        stream.release(&stream);
        fps_store_free(other);
    }
}

int main(int n, char **arguments)
{
    const char *directory = arguments[1];
    fps_id id = number_id(1);
    CHECK(n == 2);
    OK(fps_create(in(directory, "store"), NULL, NULL, &store, &error));
    OK(fps_insert64(store, 1, &id, FPS_SYNC, NULL, &error));
    null_pointers(directory);
    sizes(in(directory, "sized"));
    values(directory);
    places(directory);
    fps_store_free(store);
    puts("wrong");
    return 0;
}
