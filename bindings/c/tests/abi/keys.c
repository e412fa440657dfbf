/* Key indexes, compared with brute force: keys DIRECTORY FINGERPRINTS, whose bytes are keys. */
#include "streams.h"

enum { MOST = 300, KEYS = 6, SAMPLES = 8 };

/* A record has up to six of some 500 keys, and eight samples of a byte. */
static uint64_t keys[MOST * KEYS], ids[MOST];
static size_t offsets[MOST + 1];
static uint8_t sketches[MOST * SAMPLES];
static size_t count;

static void make(FILE *file)
{
    uint64_t one;
    for (; count < MOST && fread(&one, sizeof one, 1, file) == 1; count++) {
        size_t end = offsets[count];
        for (size_t k = 0; k < count % (KEYS + 1); k++) {
            uint64_t key = (one >> 9 * k & 511) << 48;
            int is_new = 1;
            for (size_t before = offsets[count]; before < end; before++)
                is_new &= keys[before] != key;
            if (is_new)
                keys[end++] = key;
        }
        for (size_t s = 0; s < SAMPLES; s++)
            sketches[count * SAMPLES + s] = (uint8_t)(one >> 8 * s & 3);
        ids[count] = count;
        offsets[count + 1] = end;
    }
    CHECK(count == MOST);
}

static uint64_t shared(size_t a, size_t b)
{
    uint64_t found = 0;
    for (size_t x = offsets[a]; x < offsets[a + 1]; x++)
        for (size_t y = offsets[b]; y < offsets[b + 1]; y++)
            found += keys[x] == keys[y];
    return found;
}

static double jaccard(size_t a, size_t b)
{
    double agreeing = 0, chance = 1.0 / 256, estimate;
    for (size_t s = 0; s < SAMPLES; s++)
        agreeing += sketches[a * SAMPLES + s] == sketches[b * SAMPLES + s];
    estimate = (agreeing / SAMPLES - chance) / (1 - chance);
    return estimate > 0 ? estimate : 0;
}

static int near(size_t a, size_t b, const fps_key_rule *rule)
{
    return shared(a, b) >= rule->min_shared && jaccard(a, b) >= rule->min_jaccard;
}

static const double *similarities(const struct ArrowArray *array, int column)
{
    return (const double *)array->children[column]->buffers[1] + array->children[column]->offset;
}

static int same(double a, double b)
{
    return a - b < 1e-9 && b - a < 1e-9;
}

static fps_key_columns all(void)
{
    fps_key_columns columns = {.struct_size = sizeof columns, .rows = count, .keys = keys, .offsets = offsets,
                               .sketches = sketches, .numbers = ids};
    return columns;
}

static int told(void *context, uint64_t records)
{
    *(uint64_t *)context = records;
    return 0;
}

static void load(fps_store *index)
{
    fps_key_columns columns = all();
    fps_loaded loaded = {.struct_size = sizeof loaded};
    uint64_t seen = 0;
    char *json;
    OK(fps_keys_load(index, FPS_ADD, &columns, told, &seen, &loaded, &error));
    CHECK(loaded.records == count && loaded.added == count && seen == count);
    OK(fps_keys_load(index, FPS_ADD, &columns, NULL, NULL, &loaded, &error));
    CHECK(loaded.added == 0 && loaded.removed == 0);
    OK(fps_keys_load(index, FPS_REPLACE, &columns, NULL, NULL, &loaded, &error));
    CHECK(loaded.added == count && loaded.removed == count);
    OK(fps_compact(index, &error));
    OK(fps_stats(index, &json, &error));
    CHECK(strstr(json, "\"records\":300,") && strstr(json, "\"kind\":\"keys\""));
    fps_text_free(json);
}

/* The next row of a stream of matches, pairs or others. */
struct reader {
    struct ArrowArrayStream stream;
    struct ArrowArray batch;
    int64_t row;
};

static int next_row(struct reader *reader)
{
    reader->row++;
    while (!reader->batch.release || reader->row >= reader->batch.length) {
        if (reader->batch.release)
            reader->batch.release(&reader->batch);
        if (!next(&reader->stream, &reader->batch)) {
            reader->stream.release(&reader->stream);
            return 0;
        }
        reader->row = 0;
    }
    return 1;
}

static void query(fps_store *index, const fps_key_rule *rule)
{
    const char *const names[] = {"query_row", "id", "shared", "jaccard"}, *const formats[] = {"L", "L", "L", "g"};
    struct reader reader = {.row = 0};
    fps_key_columns columns = all();
    uint64_t found = 0;

    OK(fps_keys_query_many(index, &columns, rule, 0, &reader.stream, &error));
    check_columns(&reader.stream, names, formats, 4);
    for (size_t q = 0; q < count; q++) {
        fps_key_matches *matches, *most;
        fps_key_match match = {.struct_size = sizeof match}, before = match;
        size_t expected = 0, own = offsets[q + 1] - offsets[q];
        for (size_t row = 0; row < count; row++)
            expected += near(q, row, rule);
        OK(fps_keys_query(index, keys + offsets[q], own, sketches + q * SAMPLES, rule, 0, &matches, &error));
        OK(fps_keys_query(index, keys + offsets[q], own, sketches + q * SAMPLES, rule, 2, &most, &error));
        CHECK(fps_key_matches_count(matches) == expected);
        CHECK(fps_key_matches_count(most) == (expected < 2 ? expected : 2));
        for (size_t m = 0; m < expected; m++, before = match, found++) {
            OK(fps_key_matches_get(matches, m, &match, &error));
            CHECK(match.id.kind == FPS_ID_NUMBER && match.is_estimated == 1 && near(q, match.id.number, rule));
            CHECK(match.shared == shared(q, match.id.number) && same(match.jaccard, jaccard(q, match.id.number)));
            CHECK(m == 0 || match.shared < before.shared ||
                  (match.shared == before.shared && match.id.number > before.id.number));
            CHECK(next_row(&reader) && numbers(&reader.batch, 0)[reader.row] == q);
            CHECK(numbers(&reader.batch, 1)[reader.row] == match.id.number);
            CHECK(numbers(&reader.batch, 2)[reader.row] == match.shared);
            CHECK(same(similarities(&reader.batch, 3)[reader.row], match.jaccard));
        }
        fps_key_matches_free(matches);
        fps_key_matches_free(most);
    }
    CHECK(!next_row(&reader) && found > count);
}

static void pairs(fps_store *index, const fps_key_rule *rule, const char *path)
{
    const char *const names[] = {"id_a", "id_b", "shared", "jaccard"}, *const formats[] = {"L", "L", "L", "g"};
    fps_key_parameters parameters = {.struct_size = sizeof parameters, .key_bits = 64, .sketch_bits = 64,
                                     .sample_bits = 8};
    fps_pair_options options = {.struct_size = sizeof options, .memory = 64 << 20};
    fps_key_columns columns = all();
    struct reader reader = {.row = 0};
    uint64_t expected = 0, found = 0;
    fps_store *other;

    for (size_t a = 0; a < count; a++)
        for (size_t b = a + 1; b < count; b++)
            expected += near(a, b, rule);
    OK(fps_keys_pairs(index, rule, &options, &reader.stream, &error));
    check_columns(&reader.stream, names, formats, 4);
    for (; next_row(&reader); found++) {
        uint64_t a = numbers(&reader.batch, 0)[reader.row], b = numbers(&reader.batch, 1)[reader.row];
        CHECK(a < b && near(a, b, rule) && numbers(&reader.batch, 2)[reader.row] == shared(a, b));
        CHECK(same(similarities(&reader.batch, 3)[reader.row], jaccard(a, b)));
    }
    CHECK(found == expected && found > 100);

    OK(fps_keys_create(path, &parameters, NULL, &other, &error));
    columns.rows = 10;
    OK(fps_keys_load(other, FPS_ADD, &columns, NULL, NULL, NULL, &error));
    expected = 0;
    for (size_t a = 0; a < count; a++)
        for (size_t b = 0; b < 10; b++)
            expected += near(a, b, rule);
    OK(fps_keys_join(index, other, rule, NULL, &reader.stream, &error));
    fps_store_free(other);
    CHECK((uint64_t)rows_of(&reader.stream) == expected);
}

/* A snapshot answers as its index did. A stream of it keeps no other process from writing. */
static void snapshots(const char *path)
{
    const uint64_t three[] = {UINT64_C(1) << 60, UINT64_C(1) << 60, UINT64_C(1) << 60};
    const size_t ends[] = {0, 1, 2, 3};
    const uint64_t names[] = {1, 2, 3};
    fps_key_columns columns = {.struct_size = sizeof columns, .rows = 2, .keys = three, .offsets = ends,
                               .numbers = names};
    fps_store *index, *snapshot, *again;
    fps_key_matches *matches;
    struct ArrowArrayStream stream;
    char *json;

    OK(fps_keys_create(path, NULL, NULL, &index, &error));
    OK(fps_keys_load(index, FPS_ADD, &columns, NULL, NULL, NULL, &error));
    OK(fps_snapshot(index, &snapshot, &error));
    OK(fps_snapshot(snapshot, &again, &error));
    columns.rows = 3;
    OK(fps_keys_load(index, FPS_ADD, &columns, NULL, NULL, NULL, &error));
    OK(fps_keys_pairs(index, NULL, NULL, &stream, &error));
    OK(fps_store_close(index, &error));
    fps_store_free(index);
    OK(fps_open(path, NULL, &index, &error));
    CHECK(rows_of(&stream) == 3);
    CHECK(fps_store_width(snapshot) == 0);
    OK(fps_keys_query(again, three, 1, NULL, NULL, 0, &matches, &error));
    CHECK(fps_key_matches_count(matches) == 2);
    fps_key_matches_free(matches);
    OK(fps_keys_query_many(snapshot, &columns, NULL, 0, &stream, &error));
    CHECK(rows_of(&stream) == 6);
    OK(fps_keys_pairs(snapshot, NULL, NULL, &stream, &error));
    CHECK(rows_of(&stream) == 1);
    OK(fps_keys_join(snapshot, index, NULL, NULL, &stream, &error));
    CHECK(rows_of(&stream) == 6);
    OK(fps_keys_clusters(snapshot, NULL, NULL, &stream, &error));
    CHECK(rows_of(&stream) == 2);
    OK(fps_keys_keep(snapshot, NULL, 0, NULL, &stream, &error));
    CHECK(rows_of(&stream) == 1);
    OK(fps_stats(snapshot, &json, &error));
    CHECK(strstr(json, "\"records\":2,"));
    fps_text_free(json);
    fps_store_free(snapshot);
    fps_store_free(again);
    fps_store_free(index);
}

/* Stars: each record is kept, unless one that is kept is near and has a smaller id. */
static void clusters(fps_store *index, const fps_key_rule *rule)
{
    const char *const names[] = {"id", "keeper", "cluster", "shared_keys", "jaccard"};
    const char *const formats[] = {"L", "L", "L", "L", "g"};
    fps_cluster_options stars = {.struct_size = sizeof stars, .linkage = FPS_LINKAGE_STAR};
    static size_t keepers[MOST];
    struct reader reader = {.row = 0};
    size_t kept = 0, removed = 0, labelled = 0;

    for (size_t a = 0; a < count; a++) {
        keepers[a] = a;
        for (size_t b = 0; b < a && keepers[a] == a; b++)
            if (keepers[b] == b && near(a, b, rule))
                keepers[a] = b;
    }
    OK(fps_keys_keep(index, rule, 0, NULL, &reader.stream, &error));
    for (; next_row(&reader); kept++)
        CHECK(keepers[numbers(&reader.batch, 0)[reader.row]] == numbers(&reader.batch, 0)[reader.row]);
    reader.row = 0;
    OK(fps_keys_keep(index, rule, 1, NULL, &reader.stream, &error));
    check_columns(&reader.stream, names, formats, 5);
    for (; next_row(&reader); removed++) {
        uint64_t id = numbers(&reader.batch, 0)[reader.row], keeper = numbers(&reader.batch, 1)[reader.row];
        CHECK(keepers[id] == keeper && id != keeper && numbers(&reader.batch, 2)[reader.row] == keeper);
        CHECK(numbers(&reader.batch, 3)[reader.row] == shared(id, keeper));
        CHECK(same(similarities(&reader.batch, 4)[reader.row], jaccard(id, keeper)));
    }
    CHECK(kept + removed == count && removed > 20);
    reader.row = 0;
    OK(fps_keys_clusters(index, rule, &stars, &reader.stream, &error));
    for (; next_row(&reader); labelled++)
        CHECK(keepers[numbers(&reader.batch, 0)[reader.row]] == numbers(&reader.batch, 1)[reader.row]);
    CHECK(labelled == count);
}

/* Text ids, without sketches. */
static void texts(const char *path)
{
    const char *const names[] = {"a", "b", "c"};
    const uint64_t three[] = {UINT64_C(1) << 60, UINT64_C(2) << 60, UINT64_C(2) << 60};
    const size_t ends[] = {0, 2, 3, 3};
    fps_key_parameters parameters = {.struct_size = sizeof parameters, .ids = "text", .hasher = "mine"};
    fps_options reading = {.struct_size = sizeof reading, .read_only = 1};
    fps_key_columns columns = {.struct_size = sizeof columns, .rows = 3, .keys = three, .offsets = ends,
                               .texts = names};
    fps_ids gone = {.struct_size = sizeof gone, .count = 1, .texts = names};
    fps_key_match match = {.struct_size = sizeof match};
    fps_key_rule rule = {.struct_size = sizeof rule, .max_key_frequency = 1};
    struct ArrowArrayStream stream;
    struct ArrowArray batch;
    fps_key_matches *matches;
    fps_store *index;
    uint64_t removed;

    OK(fps_keys_create(path, &parameters, NULL, &index, &error));
    OK(fps_keys_load(index, FPS_ADD, &columns, NULL, NULL, NULL, &error));
    OK(fps_keys_query(index, three + 1, 1, NULL, NULL, 0, &matches, &error));
    CHECK(fps_key_matches_count(matches) == 2);
    OK(fps_key_matches_get(matches, 1, &match, &error));
    CHECK(match.id.length == 1 && match.id.text[0] == 'b' && match.shared == 1 && !match.is_estimated);
    fps_key_matches_free(matches);
    OK(fps_keys_pairs(index, NULL, NULL, &stream, &error));
    CHECK(next(&stream, &batch) && batch.length == 1);
    CHECK(strcmp(text(&batch, 0, 0), "a") == 0 && strcmp(text(&batch, 1, 0), "b") == 0);
    batch.release(&batch);
    stream.release(&stream);
    OK(fps_keys_pairs(index, &rule, NULL, &stream, &error));
    CHECK(rows_of(&stream) == 0);
    OK(fps_remove_ids(index, &gone, &removed, &error));
    CHECK(removed == 1);
    OK(fps_store_close(index, &error));
    fps_store_free(index);
    OK(fps_open(path, &reading, &index, &error));
    CHECK(fps_store_width(index) == 0);
    OK(fps_keys_query(index, three, 2, NULL, NULL, 0, &matches, &error));
    CHECK(fps_key_matches_count(matches) == 1);
    fps_key_matches_free(matches);
    fps_store_free(index);
}

/* A stream of one batch of two records: lists of keys, and ids. */
static int batches_made;

static void forget_schema(struct ArrowSchema *schema)
{
    schema->release = NULL;
}

static void forget_array(struct ArrowArray *array)
{
    array->release = NULL;
}

static void forget_stream(struct ArrowArrayStream *stream)
{
    stream->release = NULL;
}

static int get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
    static struct ArrowSchema item, columns[2], *children[] = {&columns[0], &columns[1]}, *items[] = {&item};
    (void)stream;
    item = (struct ArrowSchema){.format = "L", .name = "item", .release = forget_schema};
    columns[0] = (struct ArrowSchema){.format = "+l", .name = "keys", .n_children = 1, .children = items,
                                      .release = forget_schema};
    columns[1] = (struct ArrowSchema){.format = "L", .name = "id", .release = forget_schema};
    *out = (struct ArrowSchema){.format = "+s", .name = "", .n_children = 2, .children = children,
                                .release = forget_schema};
    return 0;
}

static int get_next(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
    static const uint64_t values[] = {UINT64_C(1) << 60, UINT64_C(2) << 60, UINT64_C(2) << 60}, names[] = {7, 9};
    static const int32_t ends[] = {0, 2, 3};
    static const void *of_values[] = {NULL, values}, *of_lists[] = {NULL, ends}, *of_ids[] = {NULL, names};
    static const void *none[] = {NULL};
    static struct ArrowArray item, columns[2], *children[] = {&columns[0], &columns[1]}, *items[] = {&item};
    (void)stream;
    out->release = NULL;
    if (batches_made++)
        return 0;
    item = (struct ArrowArray){.length = 3, .n_buffers = 2, .buffers = of_values, .release = forget_array};
    columns[0] = (struct ArrowArray){.length = 2, .n_buffers = 2, .n_children = 1, .buffers = of_lists,
                                     .children = items, .release = forget_array};
    columns[1] = (struct ArrowArray){.length = 2, .n_buffers = 2, .buffers = of_ids, .release = forget_array};
    *out = (struct ArrowArray){.length = 2, .n_buffers = 1, .n_children = 2, .buffers = none, .children = children,
                               .release = forget_array};
    return 0;
}

static const char *get_last_error(struct ArrowArrayStream *stream)
{
    (void)stream;
    return "";
}

static void load_stream(const char *path)
{
    const struct ArrowArrayStream source = {.get_schema = get_schema, .get_next = get_next,
                                            .get_last_error = get_last_error, .release = forget_stream};
    struct ArrowArrayStream stream = source;
    fps_loaded loaded = {.struct_size = sizeof loaded};
    fps_key_match match = {.struct_size = sizeof match};
    const uint64_t key = UINT64_C(2) << 60;
    fps_key_matches *matches;
    fps_store *index;

    OK(fps_keys_create(path, NULL, NULL, &index, &error));
    OK(fps_keys_load_stream(index, FPS_ADD, &stream, NULL, NULL, NULL, NULL, NULL, &loaded, &error));
    CHECK(stream.release == NULL && loaded.added == 2);
    OK(fps_keys_query(index, &key, 1, NULL, NULL, 0, &matches, &error));
    CHECK(fps_key_matches_count(matches) == 2);
    OK(fps_key_matches_get(matches, 1, &match, &error));
    CHECK(match.id.number == 9 && match.shared == 1);
    fps_key_matches_free(matches);
    batches_made = 0;
    stream = source;
    FAILS(FPS_INVALID_INPUT, "no column 'sketch'",
          fps_keys_load_stream(index, FPS_ADD, &stream, "keys", "id", "sketch", NULL, NULL, NULL, &error));
    CHECK(stream.release == NULL);
    fps_store_free(index);
}

static void backup(fps_store *index, const char *path)
{
    uint64_t records;
    char *json;
    OK(fps_backup(index, path, FPS_BACKUP_COPY, &records, &error));
    CHECK(records == count);
    OK(fps_verify(path, &json, &error));
    CHECK(strstr(json, "\"sound\":true"));
    fps_text_free(json);
}

int main(int n, char **arguments)
{
    fps_key_parameters parameters = {.struct_size = sizeof parameters, .key_bits = 64, .sketch_bits = 64,
                                     .sample_bits = 8, .block_size = 512};
    fps_key_rule any = {.struct_size = sizeof any, .min_shared = 1};
    fps_key_rule strict = {.struct_size = sizeof strict, .min_shared = 2, .min_jaccard = 0.3};
    FILE *file = n == 3 ? fopen(arguments[2], "rb") : NULL;
    const char *directory = arguments[1];
    fps_store *index;

    CHECK(file);
    make(file);
    fclose(file);
    OK(fps_keys_create(in(directory, "index"), &parameters, NULL, &index, &error));
    load(index);
    query(index, &any);
    query(index, &strict);
    pairs(index, &any, in(directory, "some"));
    pairs(index, &strict, in(directory, "others"));
    clusters(index, &any);
    clusters(index, &strict);
    backup(index, in(directory, "copy"));
    fps_store_free(index);
    texts(in(directory, "texts"));
    snapshots(in(directory, "frozen"));
    load_stream(in(directory, "stream"));
    puts("keys");
    return 0;
}
