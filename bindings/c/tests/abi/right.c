/* All functions, compared with brute force: right DIRECTORY FINGERPRINTS, a file of 64-bit numbers of this machine. */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <time.h>

#include "streams.h"

enum { MOST = 4096, K = 3 };

static uint64_t all[MOST];
static size_t count;

static int told(void *context, uint64_t records)
{
    *(uint64_t *)context = records;
    return 0;
}

/* The record's number is its id. */
static void load(fps_store *store)
{
    static uint64_t ids[MOST];
    fps_columns columns = {.struct_size = sizeof columns, .rows = count, .fingerprints64 = all, .numbers = ids};
    fps_loaded loaded = {.struct_size = sizeof loaded};
    uint64_t seen = 0;
    for (size_t row = 0; row < count; row++)
        ids[row] = row;
    OK(fps_load(store, FPS_ADD, &columns, told, &seen, &loaded, &error));
    CHECK(loaded.struct_size == sizeof loaded && loaded.records == count && loaded.added == count && seen == count);
    OK(fps_load(store, FPS_ADD, &columns, NULL, NULL, &loaded, &error));
    CHECK(loaded.added == 0);
}

/* Some bits of a fingerprint flipped. */
static uint64_t near_to(size_t row)
{
    return all[row] ^ (UINT64_C(1) << row % 64) ^ (UINT64_C(1) << row / 64 % 64);
}

static void query(fps_store *store)
{
    enum { QUERIES = 200 };
    uint64_t queries[QUERIES];
    fps_columns columns = {.struct_size = sizeof columns, .rows = QUERIES, .fingerprints64 = queries};
    struct ArrowArrayStream stream;
    struct ArrowArray batch = {.release = NULL};
    const char *const names[] = {"query_row", "fingerprint", "distance", "id"}, *const formats[] = {"L", "L", "I", "L"};
    int64_t row = 0;

    for (size_t q = 0; q < QUERIES; q++)
        queries[q] = q % 4 ? near_to(q * 37 % count) : q * UINT64_C(0x9e3779b97f4a7c15);
    OK(fps_query_many(store, &columns, K, &stream, &error));
    check_columns(&stream, names, formats, 4);
    for (size_t q = 0; q < QUERIES; q++) {
        fps_matches *matches, *nearest;
        fps_match match = {.struct_size = sizeof match}, before = match;
        size_t expected = 0;
        int is_near;
        for (size_t r = 0; r < count; r++)
            expected += distance(all[r], queries[q]) <= K;
        OK(fps_query64(store, queries[q], K, &matches, &error));
        CHECK(fps_matches_count(matches) == expected);
        OK(fps_contains_near64(store, queries[q], K, &is_near, &error));
        CHECK(is_near == (expected > 0));
        OK(fps_nearest64(store, queries[q], 1, &nearest, &error));
        CHECK(fps_matches_count(nearest) == 1);
        for (size_t m = 0; m < expected; m++, before = match) {
            OK(fps_matches_get(matches, m, &match, &error));
            CHECK(match.width == 64 && match.id.kind == FPS_ID_NUMBER && all[match.id.number] == match.fingerprint64);
            CHECK(match.distance == distance(match.fingerprint64, queries[q]) && match.distance <= K);
            CHECK(match.fingerprint[0] == match.fingerprint64 >> 56 && match.fingerprint[8] == 0);
            /* In order, so each record once. */
            CHECK(m == 0 || before.distance < match.distance ||
                  (before.distance == match.distance &&
                   (before.fingerprint64 < match.fingerprint64 ||
                    (before.fingerprint64 == match.fingerprint64 && before.id.number < match.id.number))));
            if (m == 0) {
                fps_match first = {.struct_size = sizeof first};
                OK(fps_matches_get(nearest, 0, &first, &error));
                CHECK(first.distance == match.distance && first.id.number == match.id.number);
            }
            if (!batch.release || row == batch.length) {
                if (batch.release)
                    batch.release(&batch);
                CHECK(next(&stream, &batch));
                row = 0;
            }
            CHECK(numbers(&batch, 0)[row] == q && numbers(&batch, 1)[row] == match.fingerprint64);
            CHECK(distances(&batch, 2)[row] == match.distance && numbers(&batch, 3)[row] == match.id.number);
            row++;
        }
        fps_matches_free(matches);
        fps_matches_free(nearest);
    }
    CHECK(batch.release && row == batch.length);
    batch.release(&batch);
    CHECK(!next(&stream, &batch));
    stream.release(&stream);

    OK(fps_nearest_many(store, &columns, 1, 64, &stream, &error));
    for (row = 0; next(&stream, &batch); batch.release(&batch))
        row += batch.length;
    CHECK(row == QUERIES);
    stream.release(&stream);
}

static void pairs(fps_store *store)
{
    const char *const names[] = {"id_a", "id_b", "distance", "fp_a", "fp_b"};
    const char *const formats[] = {"L", "L", "I", "L", "L"};
    fps_pair_options options = {.struct_size = sizeof options, .memory = 64 << 20};
    struct ArrowArrayStream stream;
    struct ArrowArray batch;
    uint64_t expected = 0, sum = 0, found = 0, found_sum = 0;

    for (uint64_t a = 0; a < count; a++)
        for (uint64_t b = a + 1; b < count; b++)
            if (distance(all[a], all[b]) <= K) {
                expected++;
                sum += (a + 1) * (b + 1) * 31 + a + b;
            }
    OK(fps_pairs(store, K, &options, &stream, &error));
    check_columns(&stream, names, formats, 5);
    for (; next(&stream, &batch); batch.release(&batch))
        for (int64_t row = 0; row < batch.length; row++, found++) {
            uint64_t a = numbers(&batch, 0)[row], b = numbers(&batch, 1)[row];
            CHECK(numbers(&batch, 3)[row] == all[a] && numbers(&batch, 4)[row] == all[b]);
            CHECK(distances(&batch, 2)[row] == distance(all[a], all[b]) && distance(all[a], all[b]) <= K);
            found_sum += (a + 1) * (b + 1) * 31 + a + b;
        }
    CHECK(expected > 100 && found == expected && found_sum == sum);
    stream.release(&stream);
    /* One that is not read to its end. */
    OK(fps_pairs(store, 12, NULL, &stream, &error));
    CHECK(next(&stream, &batch));
    batch.release(&batch);
    stream.release(&stream);
}

/* The records of one store go to another, which is read after it was freed. */
static void copy(fps_store *store, const char *path)
{
    struct ArrowArrayStream stream;
    struct ArrowArray batch;
    fps_store *other;
    fps_loaded loaded = {.struct_size = sizeof loaded};
    size_t rows = 0;
    uint64_t written = 1;
    char *json, *other_json;

    OK(fps_create(path, NULL, NULL, &other, &error));
    OK(fps_records(store, &stream, &error));
    OK(fps_load_stream(other, FPS_ADD, &stream, NULL, NULL, NULL, NULL, &loaded, &error));
    CHECK(stream.release == NULL && loaded.added == count);
    OK(fps_compact(other, &error));
    OK(fps_save_filters(other, &written, &error));
    CHECK(written == 0);
    OK(fps_save_filters(other, NULL, &error));
    OK(fps_stats(store, &json, &error));
    OK(fps_stats(other, &other_json, &error));
    CHECK(json[0] == '{' && strstr(json, "\"records\":") && strstr(json, "\"tables\":[{"));
    CHECK(strncmp(json, other_json, strcspn(json, ",")) == 0);
    fps_text_free(json);
    fps_text_free(other_json);
    OK(fps_join(store, other, 0, NULL, &stream, &error));
    fps_store_free(other);
    /* Streams do not keep others from writing. */
    OK(fps_open(path, NULL, &other, &error));
    for (; next(&stream, &batch); batch.release(&batch))
        rows += (size_t)batch.length;
    fps_store_free(other);
    CHECK(rows >= count);
    stream.release(&stream);
}

/* Wide fingerprints with text ids, written one by one and together. */
static void write_wide(const char *path)
{
    fps_parameters parameters = {
        .struct_size = sizeof parameters, .width = 128, .max_distance = K, .ids = "text", .plan = "auto:space",
        .codec = "adaptive", .block_size = 512, .id_index = 1, .hasher = "sha"};
    fps_options reading = {.struct_size = sizeof reading, .read_only = 1, .read_mode = FPS_READ_PREAD,
                           .filters = FPS_FILTERS_OFF, .threads = 2, .filter_memory = 1 << 20, .memory = 1 << 20};
    uint8_t one[16] = {1, 2, 3}, near[16] = {1, 2, 2}, three[3][16] = {{9}, {8}, {7}};
    const char *texts[] = {"nine", "eight", "sevenxx"};
    const size_t lengths[] = {4, 5, 5};
    fps_columns columns = {.struct_size = sizeof columns, .rows = 3, .fingerprints = three[0], .texts = texts,
                           .lengths = lengths};
    const char *const columns_of_new[] = {"inserted", "number", "id", "distance"};
    fps_id a = text_id("a"), b = text_id("b"), seven = text_id("seven");
    fps_outcome outcome = {.struct_size = sizeof outcome};
    fps_match match = {.struct_size = sizeof match};
    fps_matches *matches;
    fps_store *store, *reader;
    struct ArrowArrayStream stream;
    struct ArrowArray batch;
    uint64_t removed;
    int flag;

    OK(fps_create(path, &parameters, NULL, &store, &error));
    CHECK(fps_store_width(store) == 128);
    OK(fps_insert(store, one, 16, &a, FPS_SYNC, NULL, &error));
    OK(fps_insert_if_new(store, near, 16, &b, K, FPS_SYNC_ALL, &outcome, &matches, &error));
    CHECK(!outcome.inserted && !outcome.is_numbered && fps_matches_count(matches) == 1);
    OK(fps_matches_get(matches, 0, &match, &error));
    CHECK(match.distance == 1 && match.width == 128 && memcmp(match.fingerprint, one, 16) == 0);
    CHECK(match.id.kind == FPS_ID_TEXT && match.id.length == 1 && match.id.text[0] == 'a');
    fps_matches_free(matches);
    OK(fps_insert_if_new(store, near, 16, &b, 0, FPS_BUFFERED, &outcome, NULL, &error));
    CHECK(outcome.inserted);
    OK(fps_open(path, &reading, &reader, &error));
    OK(fps_insert_many(store, &columns, FPS_SYNC, &error));
    OK(fps_refresh(reader, &flag, &error));
    CHECK(flag == 1);
    OK(fps_query(reader, three[2], 16, 0, &matches, &error));
    OK(fps_matches_get(matches, 0, &match, &error));
    CHECK(match.id.length == 5 && memcmp(match.id.text, "seven", 5) == 0);
    fps_matches_free(matches);
    fps_store_free(reader);
    /* All are near to themselves. */
    OK(fps_insert_if_new_many(store, &columns, K, FPS_SYNC, &stream, &error));
    check_columns(&stream, columns_of_new, (const char *const[]){"b", "L", "U", "I"}, 4);
    CHECK(next(&stream, &batch) && batch.length == 3);
    CHECK((*(const uint8_t *)batch.children[0]->buffers[1] & 7) == 0);
    CHECK(memcmp(batch.children[2]->buffers[2], "nineeightseven", 14) == 0);
    batch.release(&batch);
    CHECK(!next(&stream, &batch));
    stream.release(&stream);
    OK(fps_remove(store, near, 16, &b, FPS_SYNC, &flag, &error));
    CHECK(flag == 1);
    OK(fps_remove_id(store, &seven, FPS_SYNC, &removed, &error));
    CHECK(removed == 1);
    OK(fps_remove_many(store, &columns, FPS_SYNC, &removed, &error));
    CHECK(removed == 2);
    OK(fps_nearest(store, near, 16, 9, &matches, &error));
    CHECK(fps_matches_count(matches) == 1);
    fps_matches_free(matches);
    OK(fps_contains_near(store, near, 16, 0, &flag, &error));
    CHECK(flag == 0);
    OK(fps_store_close(store, &error));
    OK(fps_store_close(store, &error));
    fps_store_free(store);
}

/* A store that numbers its records. */
static void write_numbered(const char *path)
{
    fps_store *store;
    uint64_t number = 9;
    fps_outcome outcome = {.struct_size = sizeof outcome};
    OK(fps_create(path, NULL, NULL, &store, &error));
    CHECK(fps_store_width(store) == 64);
    OK(fps_insert64(store, 5, NULL, FPS_SYNC, &number, &error));
    CHECK(number == 0);
    OK(fps_insert_if_new64(store, ~UINT64_C(0), NULL, K, FPS_SYNC, &outcome, NULL, &error));
    CHECK(outcome.inserted && outcome.is_numbered && outcome.number == 1);
    OK(fps_sync(store, FPS_SYNC_ALL, &error));
    fps_store_free(store);
}

enum { THREADS = 4, FAMILIES = 32 };
static int inserted[THREADS];
static fps_store *shared;

/* Inserts one of each family; each thread has members of its own. */
static void *race(void *thread)
{
    int number = (int)(intptr_t)thread;
    for (uint64_t family = 0; family < FAMILIES; family++) {
        fps_outcome outcome = {.struct_size = sizeof outcome};
        uint64_t one = (family * UINT64_C(0x9e3779b97f4a7c15)) ^ (UINT64_C(1) << number);
        fps_id id = number_id(family * THREADS + (uint64_t)number);
        OK(fps_insert_if_new64(shared, one, &id, K, FPS_BUFFERED, &outcome, NULL, &error));
        inserted[number] += (int)outcome.inserted;
    }
    return NULL;
}

static void write_from_threads(const char *path)
{
    pthread_t threads[THREADS];
    int sum = 0;
    OK(fps_create(path, NULL, NULL, &shared, &error));
    for (intptr_t thread = 0; thread < THREADS; thread++)
        CHECK(pthread_create(&threads[thread], NULL, race, (void *)thread) == 0);
    for (int thread = 0; thread < THREADS; thread++) {
        CHECK(pthread_join(threads[thread], NULL) == 0);
        sum += inserted[thread];
    }
    CHECK(sum == FAMILIES);
    fps_store_free(shared);
}

/* A stream of batches without end, made here. Each has one column of 64-bit numbers. */
static int released;
static uint64_t made;
static struct timespec pause_of_stream = {.tv_nsec = 5000000};

static void release_schema(struct ArrowSchema *schema)
{
    schema->release = NULL;
    released++;
}

static void release_array(struct ArrowArray *array)
{
    array->release = NULL;
    released++;
}

static void release_stream(struct ArrowArrayStream *stream)
{
    stream->release = NULL;
    released++;
}

static int get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
    static struct ArrowSchema child, *children[] = {&child};
    (void)stream;
    child = (struct ArrowSchema){.format = "L", .name = "fp", .release = release_schema};
    *out = (struct ArrowSchema){.format = "+s", .name = "", .n_children = 1, .children = children,
                                .release = release_schema};
    return 0;
}

static int get_next(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
    static uint64_t values[2];
    static const void *buffers[] = {NULL, values}, *none[] = {NULL};
    static struct ArrowArray child, *children[] = {&child};
    (void)stream;
    nanosleep(&pause_of_stream, NULL);
    if (made == 400)
        return 5;
    values[0] = values[1] = made++;
    child = (struct ArrowArray){.length = 2, .n_buffers = 2, .buffers = buffers, .release = release_array};
    *out = (struct ArrowArray){.length = 2, .n_buffers = 1, .n_children = 1, .buffers = none, .children = children,
                               .release = release_array};
    return 0;
}

static const char *get_last_error(struct ArrowArrayStream *stream)
{
    (void)stream;
    return "the source has dried up";
}

static int enough(void *context, uint64_t records)
{
    (void)context;
    return records >= 4;
}

/* Loads that are stopped, or whose stream fails, leave the store as it was. */
static void load_streams(const char *path)
{
    const struct ArrowArrayStream endless = {.get_schema = get_schema, .get_next = get_next,
                                             .get_last_error = get_last_error, .release = release_stream};
    struct ArrowArrayStream stream = endless;
    fps_store *store;
    fps_matches *matches;
    OK(fps_create(path, NULL, NULL, &store, &error));
    FAILS(FPS_STOPPED, "stopped", fps_load_stream(store, FPS_ADD, &stream, "fp", NULL, enough, NULL, NULL, &error));
    CHECK(stream.release == NULL && made >= 2 && made < 400);
    stream = endless;
    FAILS(FPS_INVALID_INPUT, "dried up",
          fps_load_stream(store, FPS_ADD, &stream, "fp", NULL, NULL, NULL, NULL, &error));
    made = 0;
    stream = endless;
    FAILS(FPS_INVALID_INPUT, "no column 'fingerprint'",
          fps_load_stream(store, FPS_ADD, &stream, NULL, NULL, NULL, NULL, NULL, &error));
    CHECK(stream.release == NULL && released > 0);
    fps_store_stop(store, 1);
    made = 0;
    stream = endless;
    FAILS(FPS_STOPPED, "stopped", fps_load_stream(store, FPS_ADD, &stream, "fp", NULL, NULL, NULL, NULL, &error));
    fps_store_stop(store, 0);
    OK(fps_query64(store, 0, 64, &matches, &error));
    CHECK(fps_matches_count(matches) == 0);
    fps_matches_free(matches);
    OK(fps_insert64(store, 1, NULL, FPS_SYNC, NULL, &error));
    fps_store_free(store);
}

/* What other threads do, until they are not wanted any more, while a load is stopped. */
static volatile int is_over;
static const char *copies;

static void *work_on(void *store)
{
    uint64_t one, number = 0;
    fps_columns columns = {.struct_size = sizeof columns, .rows = 1, .fingerprints64 = &one};
    while (!is_over) {
        fps_loaded loaded = {.struct_size = sizeof loaded};
        char path[1024];
        one = ++number << 32;
        OK(fps_load(store, FPS_ADD, &columns, NULL, NULL, &loaded, &error));
        CHECK(loaded.added == 1);
        OK(fps_compact(store, &error));
        snprintf(path, sizeof path, "%s/%" PRIu64, copies, number);
        OK(fps_backup(store, path, FPS_BACKUP_COPY, NULL, &error));
    }
    return NULL;
}

static int at_once(void *context, uint64_t records)
{
    (void)context;
    (void)records;
    return 1;
}

/* A load that its function asks to end waits for its stream; other work of the store goes on meanwhile. */
static void stop_one_load(const char *path, const char *directory)
{
    pthread_t thread;
    copies = directory;
    OK(fps_create(path, NULL, NULL, &shared, &error));
    CHECK(pthread_create(&thread, NULL, work_on, shared) == 0);
    pause_of_stream = (struct timespec){.tv_sec = 1};
    for (int turn = 0; turn < 2; turn++) {
        struct ArrowArrayStream stream = {.get_schema = get_schema, .get_next = get_next,
                                          .get_last_error = get_last_error, .release = release_stream};
        made = 0;
        FAILS(FPS_STOPPED, "stopped",
              fps_load_stream(shared, FPS_ADD, &stream, "fp", NULL, at_once, NULL, NULL, &error));
    }
    is_over = 1;
    CHECK(pthread_join(thread, NULL) == 0);
    fps_store_free(shared);
}

int main(int n, char **arguments)
{
    fps_store *store;
    FILE *file = n == 3 ? fopen(arguments[2], "rb") : NULL;
    const char *directory = arguments[1];
    CHECK(file && fps_abi_version() >= FPS_ABI && strchr(fps_version(), '.'));
    count = fread(all, sizeof all[0], MOST, file);
    fclose(file);
    OK(fps_create(in(directory, "store"), NULL, NULL, &store, &error));
    load(store);
    query(store);
    pairs(store);
    copy(store, in(directory, "copy"));
    fps_store_free(store);
    write_wide(in(directory, "wide"));
    write_numbered(in(directory, "numbered"));
    write_from_threads(in(directory, "threads"));
    load_streams(in(directory, "streams"));
    stop_one_load(in(directory, "stopped"), directory);
    puts("right");
    return 0;
}
