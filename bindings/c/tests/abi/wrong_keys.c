/* Wrong uses of key indexes, and of the functions of whole stores: wrong_keys DIRECTORY. */
#include "check.h"

static const uint64_t key = UINT64_C(1) << 60;
static const size_t ends[] = {0, 1};

static void columns(fps_store *index)
{
    const size_t falling[] = {1, 0};
    const uint8_t sketch[8] = {0};
    const uint64_t id = 1;
    const char *text = "a";
    fps_key_columns given = {.struct_size = sizeof given, .rows = 1, .keys = &key, .offsets = ends, .numbers = &id};

    FAILS(FPS_INVALID_INPUT, "fps_key_columns is NULL", fps_keys_load(index, FPS_ADD, NULL, NULL, NULL, NULL, &error));
    FAILS(FPS_INVALID_INPUT, "deed is 8", fps_keys_load(index, 8, &given, NULL, NULL, NULL, &error));
    FAILS(FPS_UNSUPPORTED, "fps_remove_ids", fps_keys_load(index, FPS_REMOVE, &given, NULL, NULL, NULL, &error));
    given.offsets = falling;
    FAILS(FPS_INVALID_INPUT, "row 0: its offset", fps_keys_load(index, FPS_ADD, &given, NULL, NULL, NULL, &error));
    given.offsets = NULL;
    FAILS(FPS_INVALID_INPUT, "offsets is NULL", fps_keys_load(index, FPS_ADD, &given, NULL, NULL, NULL, &error));
    given.offsets = ends;
    given.keys = NULL;
    FAILS(FPS_INVALID_INPUT, "keys is NULL", fps_keys_load(index, FPS_ADD, &given, NULL, NULL, NULL, &error));
    given.keys = &key;
    given.sketches = sketch;
    FAILS(FPS_INVALID_INPUT, "no sketches", fps_keys_load(index, FPS_ADD, &given, NULL, NULL, NULL, &error));
    given.sketches = NULL;
    given.texts = &text;
    FAILS(FPS_INVALID_INPUT, "both numbers and texts", fps_keys_load(index, FPS_ADD, &given, NULL, NULL, NULL, &error));
    given.numbers = NULL;
    FAILS(FPS_INVALID_INPUT, "id", fps_keys_load(index, FPS_ADD, &given, NULL, NULL, NULL, &error));
    given.rows = (size_t)-1;
    FAILS(FPS_INVALID_INPUT, "more than memory", fps_keys_load(index, FPS_ADD, &given, NULL, NULL, NULL, &error));
    given.struct_size = 8;
    FAILS(FPS_INVALID_INPUT, "sizeof(fps_key_columns)",
          fps_keys_load(index, FPS_ADD, &given, NULL, NULL, NULL, &error));
}

static void questions(fps_store *index)
{
    const uint8_t sketch[8] = {0};
    fps_key_columns given = {.struct_size = sizeof given, .rows = 1, .keys = &key, .offsets = ends};
    fps_key_rule rule = {.struct_size = sizeof rule, .max_key_frequency = 3};
    fps_key_matches *matches = (fps_key_matches *)&given;
    fps_key_match match = {.struct_size = sizeof match};
    struct ArrowArrayStream stream;

    FAILS(FPS_INVALID_INPUT, "max_key_frequency", fps_keys_query(index, &key, 1, NULL, &rule, 0, &matches, &error));
    CHECK(matches == NULL && fps_key_matches_count(matches) == 0);
    FAILS(FPS_INVALID_INPUT, "no sketches", fps_keys_query(index, &key, 1, sketch, NULL, 0, &matches, &error));
    FAILS(FPS_INVALID_INPUT, "keys is NULL", fps_keys_query(index, NULL, 1, NULL, NULL, 0, &matches, &error));
    FAILS(FPS_INVALID_INPUT, "matches is NULL", fps_keys_query(index, &key, 1, NULL, NULL, 0, NULL, &error));
    FAILS(FPS_INVALID_INPUT, "matches is NULL", fps_key_matches_get(NULL, 0, &match, &error));
    OK(fps_keys_query(index, &key, 1, NULL, NULL, 0, &matches, &error));
    FAILS(FPS_INVALID_INPUT, "index 0", fps_key_matches_get(matches, 0, &match, &error));
    FAILS(FPS_INVALID_INPUT, "fps_key_match is NULL", fps_key_matches_get(matches, 0, NULL, &error));
    match.struct_size = 4;
    FAILS(FPS_INVALID_INPUT, "sizeof(fps_key_match)", fps_key_matches_get(matches, 0, &match, &error));
    fps_key_matches_free(matches);
    fps_key_matches_free(NULL);
    FAILS(FPS_INVALID_INPUT, "max_key_frequency", fps_keys_query_many(index, &given, &rule, 0, &stream, &error));
    CHECK(stream.release == NULL);
    rule.max_key_frequency = 0;
    rule.min_jaccard = 7;
    FAILS(FPS_INVALID_INPUT, "7", fps_keys_pairs(index, &rule, NULL, &stream, &error));
    rule.struct_size = 1;
    FAILS(FPS_INVALID_INPUT, "sizeof(fps_key_rule)", fps_keys_clusters(index, &rule, NULL, &stream, &error));
    FAILS(FPS_INVALID_INPUT, "store is NULL", fps_keys_join(index, NULL, NULL, NULL, &stream, &error));
    FAILS(FPS_INVALID_INPUT, "stream is NULL", fps_keys_keep(index, NULL, 0, NULL, NULL, &error));
}

static void parameters(const char *directory)
{
    fps_key_parameters wrong = {.struct_size = sizeof wrong, .key_bits = 65};
    fps_store *other;
    FAILS(FPS_INVALID_INPUT, "65", fps_keys_create(in(directory, "new"), &wrong, NULL, &other, &error));
    CHECK(other == NULL);
    wrong.key_bits = 300;
    FAILS(FPS_INVALID_INPUT, "300", fps_keys_create(in(directory, "new"), &wrong, NULL, &other, &error));
    wrong.key_bits = 0;
    wrong.sketch_bits = 1 << 20;
    FAILS(FPS_INVALID_INPUT, "1048576", fps_keys_create(in(directory, "new"), &wrong, NULL, &other, &error));
    wrong.sketch_bits = 64;
    wrong.sample_bits = 3;
    FAILS(FPS_INVALID_INPUT, "3", fps_keys_create(in(directory, "new"), &wrong, NULL, &other, &error));
    wrong.sample_bits = 0;
    wrong.ids = "none";
    FAILS(FPS_INVALID_INPUT, "id", fps_keys_create(in(directory, "new"), &wrong, NULL, &other, &error));
    wrong.struct_size = 3;
    FAILS(FPS_INVALID_INPUT, "sizeof(fps_key_parameters)",
          fps_keys_create(in(directory, "new"), &wrong, NULL, &other, &error));
}

/* What one kind of store has, the other has not. */
static void other_kinds(fps_store *index, fps_store *store)
{
    fps_key_columns keys = {.struct_size = sizeof keys, .rows = 1, .keys = &key, .offsets = ends};
    fps_columns records = {.struct_size = sizeof records, .rows = 1, .fingerprints64 = &key};
    fps_key_matches *key_matches;
    struct ArrowArrayStream stream;
    fps_matches *matches;
    fps_store *snapshot;
    uint8_t near;

    FAILS(FPS_UNSUPPORTED, "key index", fps_load(index, FPS_ADD, &records, NULL, NULL, NULL, &error));
    FAILS(FPS_UNSUPPORTED, "key index", fps_insert64(index, 1, NULL, FPS_SYNC, NULL, &error));
    FAILS(FPS_UNSUPPORTED, "key index", fps_query64(index, 1, 3, &matches, &error));
    FAILS(FPS_UNSUPPORTED, "key index", fps_contains_near_many(index, &records, 3, &near, &error));
    FAILS(FPS_UNSUPPORTED, "key index", fps_pairs(index, 3, NULL, &stream, &error));
    FAILS(FPS_UNSUPPORTED, "key index", fps_clusters(index, 3, NULL, &stream, &error));
    FAILS(FPS_UNSUPPORTED, "key index", fps_keep(index, 3, 1, NULL, &stream, &error));
    CHECK(stream.release == NULL);
    OK(fps_snapshot(index, &snapshot, &error));
    FAILS(FPS_UNSUPPORTED, "key index", fps_query64(snapshot, 1, 3, &matches, &error));
    FAILS(FPS_UNSUPPORTED, "key index", fps_pairs(snapshot, 3, NULL, &stream, &error));
    FAILS(FPS_READ_ONLY, "snapshot", fps_keys_load(snapshot, FPS_ADD, &keys, NULL, NULL, NULL, &error));
    fps_store_free(snapshot);
    OK(fps_snapshot(store, &snapshot, &error));
    FAILS(FPS_UNSUPPORTED, "store of fingerprints", fps_keys_pairs(snapshot, NULL, NULL, &stream, &error));
    fps_store_free(snapshot);
    FAILS(FPS_UNSUPPORTED, "store of fingerprints", fps_keys_load(store, FPS_ADD, &keys, NULL, NULL, NULL, &error));
    FAILS(FPS_UNSUPPORTED, "store of fingerprints",
          fps_keys_query(store, &key, 1, NULL, NULL, 0, &key_matches, &error));
    FAILS(FPS_UNSUPPORTED, "store of fingerprints", fps_keys_pairs(store, NULL, NULL, &stream, &error));
    FAILS(FPS_UNSUPPORTED, "store of fingerprints", fps_keys_join(index, store, NULL, NULL, &stream, &error));
    FAILS(FPS_UNSUPPORTED, "store of fingerprints", fps_keys_keep(store, NULL, 0, NULL, &stream, &error));
}

/* Functions of a store as a whole. */
static void wholes(fps_store *store, const char *directory)
{
    const uint64_t numbers[] = {1};
    const char *texts[] = {"a"};
    fps_ids ids = {.struct_size = sizeof ids, .count = 1};
    fps_cluster_options options = {.struct_size = sizeof options, .linkage = 4};
    fps_columns queries = {.struct_size = sizeof queries, .rows = 1, .fingerprints64 = numbers};
    struct ArrowArrayStream stream;
    fps_id id = number_id(1), none = {.kind = FPS_ID_NONE};
    fps_matches *matches;
    char *json = (char *)directory;

    FAILS(FPS_INVALID_INPUT, "linkage is 4", fps_clusters(store, 3, &options, &stream, &error));
    options.linkage = FPS_LINKAGE_STAR;
    options.keeper = 2;
    FAILS(FPS_INVALID_INPUT, "keeper is 2", fps_keep(store, 3, 0, &options, &stream, &error));
    options.keeper = FPS_KEEP_LARGEST;
    options.first = &ids;
    FAILS(FPS_INVALID_INPUT, "FPS_KEEP_SMALLEST", fps_keep(store, 3, 0, &options, &stream, &error));
    options.keeper = FPS_KEEP_SMALLEST;
    FAILS(FPS_INVALID_INPUT, "neither numbers nor texts", fps_keep(store, 3, 0, &options, &stream, &error));
    ids.texts = texts;
    FAILS(FPS_INVALID_INPUT, "of kind text", fps_keep(store, 3, 0, &options, &stream, &error));
    ids.texts = NULL;
    options.struct_size = 5;
    FAILS(FPS_INVALID_INPUT, "sizeof(fps_cluster_options)", fps_keep(store, 3, 0, &options, &stream, &error));
    FAILS(FPS_INVALID_INPUT, "65", fps_clusters(store, 65, NULL, &stream, &error));
    FAILS(FPS_INVALID_INPUT, "65", fps_keep(store, 65, 1, NULL, &stream, &error));
    FAILS(FPS_INVALID_INPUT, "stream is NULL", fps_keep(store, 3, 1, NULL, NULL, &error));
    FAILS(FPS_INVALID_INPUT, "neither numbers nor texts", fps_remove_ids(store, &ids, NULL, &error));
    ids.numbers = numbers;
    ids.texts = texts;
    FAILS(FPS_INVALID_INPUT, "both numbers and texts", fps_remove_ids(store, &ids, NULL, &error));
    ids.numbers = NULL;
    FAILS(FPS_INVALID_INPUT, "id", fps_remove_ids(store, &ids, NULL, &error));
    FAILS(FPS_INVALID_INPUT, "fps_ids is NULL", fps_remove_ids(store, NULL, NULL, &error));
    ids.struct_size = 5;
    FAILS(FPS_INVALID_INPUT, "sizeof(fps_ids)", fps_remove_ids(store, &ids, NULL, &error));
    FAILS(FPS_UNSUPPORTED, "id", fps_replace64(store, 1, &id, FPS_SYNC, NULL, &error));
    FAILS(FPS_UNSUPPORTED, "id", fps_get_id(store, &id, &matches, &error));
    CHECK(matches == NULL);
    FAILS(FPS_INVALID_INPUT, "NULL", fps_get_id(store, &none, NULL, &error));
    FAILS(FPS_INVALID_INPUT, "answers is NULL", fps_contains_near_many(store, &queries, 3, NULL, &error));
    FAILS(FPS_INVALID_INPUT, "snapshot is NULL", fps_snapshot(store, NULL, &error));
    FAILS(FPS_INVALID_INPUT, "mode is 2", fps_backup(store, in(directory, "copy"), 2, NULL, &error));
    FAILS(FPS_INVALID_INPUT, "path is NULL", fps_backup(store, NULL, FPS_BACKUP_COPY, NULL, &error));
    FAILS(FPS_ALREADY_EXISTS, "store", fps_backup(store, in(directory, "store"), FPS_BACKUP_COPY, NULL, &error));
    FAILS(FPS_NOT_FOUND, "missing", fps_verify(in(directory, "missing"), &json, &error));
    CHECK(json == NULL);
    FAILS(FPS_INVALID_INPUT, "NULL", fps_verify(in(directory, "store"), NULL, &error));
    OK(fps_verify(in(directory, "damaged"), &json, &error));
    CHECK(strstr(json, "\"sound\":false") && strstr(json, "\"offset\":"));
    fps_text_free(json);
}

int main(int n, char **arguments)
{
    const char *directory = arguments[1];
    fps_store *index, *store;
    CHECK(n == 2);
    OK(fps_keys_create(in(directory, "index"), NULL, NULL, &index, &error));
    OK(fps_create(in(directory, "store"), NULL, NULL, &store, &error));
    columns(index);
    questions(index);
    parameters(directory);
    other_kinds(index, store);
    wholes(store, directory);
    fps_store_free(index);
    fps_store_free(store);
    puts("wrong_keys");
    return 0;
}
