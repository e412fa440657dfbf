/* Clusters, snapshots, copies and changes of a store, compared with brute force: whole DIRECTORY FINGERPRINTS. */
#include "streams.h"

enum { MOST = 1200, K = 3 };

static uint64_t all[MOST], ids[MOST];
static size_t count;

/* The record's number is its id, but for the order: so the first by id is not the first by fingerprint. */
static void load(fps_store *store)
{
    fps_columns columns = {.struct_size = sizeof columns, .rows = count, .fingerprints64 = all, .numbers = ids};
    fps_loaded loaded = {.struct_size = sizeof loaded};
    for (size_t row = 0; row < count; row++)
        ids[row] = row;
    OK(fps_load(store, FPS_ADD, &columns, NULL, NULL, &loaded, &error));
    CHECK(loaded.added == count);
}

static int near(uint64_t a, uint64_t b)
{
    return distance(all[a], all[b]) <= K;
}

/* The keeper of each record by star linkage, where records come in this order. */
static void stars(const uint64_t *order, uint64_t *keepers)
{
    for (size_t row = 0; row < count; row++)
        keepers[row] = UINT64_MAX;
    for (size_t at = 0; at < count; at++) {
        if (keepers[order[at]] != UINT64_MAX)
            continue;
        for (size_t row = 0; row < count; row++)
            if (keepers[row] == UINT64_MAX && near(order[at], row))
                keepers[row] = order[at];
    }
}

/* The smallest record that a chain of near ones links with each. */
static void components(uint64_t *labels)
{
    int changed = 1;
    for (size_t row = 0; row < count; row++)
        labels[row] = row;
    while (changed) {
        changed = 0;
        for (size_t a = 0; a < count; a++)
            for (size_t b = 0; b < a; b++)
                if (near(a, b) && labels[a] != labels[b]) {
                    labels[a] = labels[b] = labels[a] < labels[b] ? labels[a] : labels[b];
                    changed = 1;
                }
    }
}

static void check_kept(fps_store *store, const fps_cluster_options *options, const uint64_t *order)
{
    const char *const names[] = {"id", "keeper", "cluster", "distance"}, *const formats[] = {"L", "L", "L", "I"};
    static uint64_t keepers[MOST], smallest[MOST];
    struct ArrowArrayStream stream;
    struct ArrowArray batch;
    size_t kept = 0, removed = 0;

    stars(order, keepers);
    for (size_t row = 0; row < count; row++)
        smallest[row] = UINT64_MAX;
    for (size_t row = 0; row < count; row++)
        if (row < smallest[keepers[row]])
            smallest[keepers[row]] = row;
    OK(fps_keep(store, K, 0, options, &stream, &error));
    check_columns(&stream, names, formats, 1);
    for (; next(&stream, &batch); batch.release(&batch))
        for (int64_t row = 0; row < batch.length; row++, kept++)
            CHECK(keepers[numbers(&batch, 0)[row]] == numbers(&batch, 0)[row]);
    stream.release(&stream);
    OK(fps_keep(store, K, 1, options, &stream, &error));
    check_columns(&stream, names, formats, 4);
    for (; next(&stream, &batch); batch.release(&batch))
        for (int64_t row = 0; row < batch.length; row++, removed++) {
            uint64_t id = numbers(&batch, 0)[row], keeper = numbers(&batch, 1)[row];
            CHECK(keepers[id] == keeper && id != keeper && numbers(&batch, 2)[row] == smallest[keeper]);
            CHECK(distances(&batch, 3)[row] == distance(all[id], all[keeper]));
        }
    stream.release(&stream);
    CHECK(kept + removed == count && removed > 50);
}

static void clusters(fps_store *store)
{
    const char *const names[] = {"id", "cluster"}, *const formats[] = {"L", "L"};
    static uint64_t labels[MOST], order[MOST], first[50];
    fps_ids listed = {.struct_size = sizeof listed, .count = 50, .numbers = first};
    fps_cluster_options options = {.struct_size = sizeof options, .memory = 64 << 20};
    struct ArrowArrayStream stream;
    struct ArrowArray batch;
    size_t rows = 0;

    components(labels);
    OK(fps_clusters(store, K, NULL, &stream, &error));
    check_columns(&stream, names, formats, 2);
    for (; next(&stream, &batch); batch.release(&batch))
        for (int64_t row = 0; row < batch.length; row++, rows++)
            CHECK(labels[numbers(&batch, 0)[row]] == numbers(&batch, 1)[row]);
    CHECK(rows == count);
    stream.release(&stream);

    for (size_t row = 0; row < count; row++)
        order[row] = row;
    check_kept(store, NULL, order);
    options.linkage = FPS_LINKAGE_STAR;
    check_kept(store, &options, order);
    /* The last ones come first, the largest of them at the very beginning. */
    for (size_t row = 0; row < count; row++)
        order[row] = row < 50 ? count - 1 - row : row - 50;
    for (size_t row = 0; row < 50; row++)
        first[row] = order[row];
    options.first = &listed;
    check_kept(store, &options, order);
    options.first = NULL;
    options.keeper = FPS_KEEP_LARGEST;
    for (size_t row = 0; row < count; row++)
        order[row] = count - 1 - row;
    check_kept(store, &options, order);
    options.linkage = FPS_LINKAGE_COMPLETE;
    OK(fps_keep(store, K, 1, &options, &stream, &error));
    CHECK(rows_of(&stream) > 0);
}

static void many(fps_store *store)
{
    enum { QUERIES = 100 };
    uint64_t queries[QUERIES];
    uint8_t found[QUERIES + 1] = {[QUERIES] = 7};
    fps_columns columns = {.struct_size = sizeof columns, .rows = QUERIES, .fingerprints64 = queries};
    int sum = 0;
    for (size_t q = 0; q < QUERIES; q++)
        queries[q] = q % 2 ? all[q * 7 % count] ^ (UINT64_C(5) << q % 60) : q * UINT64_C(0x9e3779b97f4a7c15);
    OK(fps_contains_near_many(store, &columns, K, found, &error));
    for (size_t q = 0; q < QUERIES; q++) {
        uint8_t expected = 0;
        for (size_t row = 0; row < count; row++)
            expected |= distance(all[row], queries[q]) <= K;
        CHECK(found[q] == expected);
        sum += found[q];
    }
    CHECK(found[QUERIES] == 7 && sum > 0 && sum < QUERIES);
    columns.rows = 0;
    OK(fps_contains_near_many(store, &columns, K, NULL, &error));
}

/* A snapshot answers as the store did, to all questions, and takes no writes. */
static void snapshots(const char *path)
{
    fps_store *store, *snapshot, *again;
    fps_matches *matches;
    struct ArrowArrayStream stream;
    uint64_t one = 5, removed;
    uint8_t found = 9;
    fps_columns columns = {.struct_size = sizeof columns, .rows = 1, .fingerprints64 = &one};
    char *json;
    int is_near;

    OK(fps_create(path, NULL, NULL, &store, &error));
    OK(fps_insert64(store, 4, NULL, FPS_SYNC, NULL, &error));
    OK(fps_snapshot(store, &snapshot, &error));
    OK(fps_snapshot(snapshot, &again, &error));
    OK(fps_insert64(store, 5, NULL, FPS_SYNC, NULL, &error));
    OK(fps_compact(store, &error));
    OK(fps_store_close(store, &error));
    for (int number = 0; number < 2; number++) {
        fps_match match = {.struct_size = sizeof match};
        fps_store *asked = number ? again : snapshot;
        CHECK(fps_store_width(asked) == 64);
        OK(fps_query64(asked, 5, 1, &matches, &error));
        CHECK(fps_matches_count(matches) == 1);
        OK(fps_matches_get(matches, 0, &match, &error));
        CHECK(match.fingerprint64 == 4 && match.distance == 1 && match.id.number == 0);
        fps_matches_free(matches);
        OK(fps_nearest64(asked, 5, 9, &matches, &error));
        CHECK(fps_matches_count(matches) == 1);
        fps_matches_free(matches);
        OK(fps_contains_near64(asked, 5, 0, &is_near, &error));
        CHECK(is_near == 0);
        OK(fps_contains_near_many(asked, &columns, 0, &found, &error));
        CHECK(found == 0);
        OK(fps_query_many(asked, &columns, 1, &stream, &error));
        CHECK(rows_of(&stream) == 1);
        OK(fps_nearest_many(asked, &columns, 3, 64, &stream, &error));
        CHECK(rows_of(&stream) == 1);
        OK(fps_records(asked, &stream, &error));
        CHECK(rows_of(&stream) == 1);
        OK(fps_pairs(asked, K, NULL, &stream, &error));
        CHECK(rows_of(&stream) == 0);
        OK(fps_join(asked, snapshot, K, NULL, &stream, &error));
        CHECK(rows_of(&stream) == 1);
        OK(fps_clusters(asked, K, NULL, &stream, &error));
        CHECK(rows_of(&stream) == 1);
        OK(fps_keep(asked, K, 0, NULL, &stream, &error));
        CHECK(rows_of(&stream) == 1);
        OK(fps_stats(asked, &json, &error));
        CHECK(strstr(json, "\"records\":1,"));
        fps_text_free(json);
        FAILS(FPS_READ_ONLY, "snapshot", fps_insert64(asked, 1, NULL, FPS_SYNC, NULL, &error));
        FAILS(FPS_READ_ONLY, "snapshot", fps_remove_many(asked, &columns, FPS_SYNC, &removed, &error));
        FAILS(FPS_READ_ONLY, "snapshot", fps_load(asked, FPS_ADD, &columns, NULL, NULL, NULL, &error));
        FAILS(FPS_READ_ONLY, "snapshot", fps_compact(asked, &error));
        FAILS(FPS_READ_ONLY, "snapshot", fps_backup(asked, in(path, "copy"), FPS_BACKUP_COPY, NULL, &error));
    }
    OK(fps_store_close(snapshot, &error));
    FAILS(FPS_INVALID_INPUT, "closed", fps_query64(snapshot, 5, 1, &matches, &error));
    fps_store_free(snapshot);
    fps_store_free(again);
    fps_store_free(store);
}

/* Replacing and removing by id. */
static void by_id(const char *path)
{
    fps_parameters parameters = {.struct_size = sizeof parameters, .max_distance = K, .ids = "text", .id_index = 1};
    const char *texts[] = {"a", "b", "c"};
    const uint64_t three[] = {1, 2, 3}, others[] = {4, 2, 6};
    fps_columns columns = {.struct_size = sizeof columns, .rows = 3, .fingerprints64 = three, .texts = texts};
    fps_ids gone = {.struct_size = sizeof gone, .count = 2, .texts = texts};
    fps_loaded loaded = {.struct_size = sizeof loaded};
    fps_match match = {.struct_size = sizeof match};
    fps_matches *matches;
    fps_id a = text_id("a"), none = text_id("none");
    uint8_t bytes[8] = {[7] = 9};
    uint64_t removed;
    fps_store *store;

    OK(fps_create(path, &parameters, NULL, &store, &error));
    OK(fps_load(store, FPS_ADD, &columns, NULL, NULL, NULL, &error));
    columns.fingerprints64 = others;
    OK(fps_load(store, FPS_REPLACE, &columns, NULL, NULL, &loaded, &error));
    CHECK(loaded.added == 2 && loaded.removed == 2);
    OK(fps_replace64(store, 8, &a, FPS_SYNC, &removed, &error));
    CHECK(removed == 1);
    OK(fps_replace(store, bytes, 8, &a, FPS_SYNC, NULL, &error));
    OK(fps_get_id(store, &a, &matches, &error));
    CHECK(fps_matches_count(matches) == 1);
    OK(fps_matches_get(matches, 0, &match, &error));
    CHECK(match.fingerprint64 == 9 && match.distance == 0 && match.id.length == 1 && match.id.text[0] == 'a');
    fps_matches_free(matches);
    OK(fps_get_id(store, &none, &matches, &error));
    CHECK(fps_matches_count(matches) == 0);
    fps_matches_free(matches);
    OK(fps_load(store, FPS_REMOVE, &columns, NULL, NULL, &loaded, &error));
    CHECK(loaded.records == 3 && loaded.removed == 2);
    OK(fps_remove_ids(store, &gone, &removed, &error));
    CHECK(removed == 1);
    OK(fps_remove_ids(store, &gone, NULL, &error));
    fps_store_free(store);
}

static void copies(fps_store *store, const char *directory)
{
    struct ArrowArrayStream stream;
    uint64_t records;
    fps_store *copy;
    char *json;
    for (fps_backup_mode mode = FPS_BACKUP_COPY; mode <= FPS_BACKUP_LINK; mode++) {
        const char *path = in(directory, mode ? "link" : "copy");
        OK(fps_backup(store, path, mode, &records, &error));
        CHECK(records == count);
        OK(fps_verify(path, &json, &error));
        CHECK(json[0] == '{' && strstr(json, "\"sound\":true") && strstr(json, "\"damages\":[]"));
        fps_text_free(json);
        OK(fps_open(path, NULL, &copy, &error));
        OK(fps_join(copy, store, 0, NULL, &stream, &error));
        CHECK((size_t)rows_of(&stream) >= count);
        fps_store_free(copy);
    }
}

int main(int n, char **arguments)
{
    fps_store *store;
    FILE *file = n == 3 ? fopen(arguments[2], "rb") : NULL;
    const char *directory = arguments[1];
    CHECK(file);
    count = fread(all, sizeof all[0], MOST, file);
    fclose(file);
    OK(fps_create(in(directory, "store"), NULL, NULL, &store, &error));
    load(store);
    clusters(store);
    many(store);
    copies(store, directory);
    fps_store_free(store);
    snapshots(in(directory, "frozen"));
    by_id(in(directory, "by-id"));
    puts("whole");
    return 0;
}
