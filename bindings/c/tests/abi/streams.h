/* How the C programs of the tests read streams of record batches. */
#include "check.h"

static inline unsigned distance(uint64_t a, uint64_t b)
{
    return (unsigned)__builtin_popcountll(a ^ b);
}

/* A column of numbers of an array of record batches. */
static inline const uint64_t *numbers(const struct ArrowArray *array, int column)
{
    return (const uint64_t *)array->children[column]->buffers[1] + array->children[column]->offset;
}

static inline const uint32_t *distances(const struct ArrowArray *array, int column)
{
    return (const uint32_t *)array->children[column]->buffers[1] + array->children[column]->offset;
}

/* The next batch of a stream; 0 at its end. */
static inline int next(struct ArrowArrayStream *stream, struct ArrowArray *array)
{
    CHECK(stream->get_next(stream, array) == 0);
    return array->release != NULL;
}

static inline void check_columns(struct ArrowArrayStream *stream, const char *const *names, const char *const *formats, int n)
{
    struct ArrowSchema schema;
    CHECK(stream->get_schema(stream, &schema) == 0 && schema.n_children == n);
    for (int column = 0; column < n; column++) {
        CHECK(strcmp(schema.children[column]->name, names[column]) == 0);
        CHECK(strcmp(schema.children[column]->format, formats[column]) == 0);
    }
    schema.release(&schema);
}

/* The text of a row of a column of utf8, which must fit. */
static inline const char *text(const struct ArrowArray *array, int column, int64_t row)
{
    static char texts[4][256];
    static int next_text;
    const int32_t *offsets = (const int32_t *)array->children[column]->buffers[1] + array->children[column]->offset;
    int32_t length = offsets[row + 1] - offsets[row];
    char *out = texts[next_text++ % 4];
    CHECK(length < 256);
    memcpy(out, (const char *)array->children[column]->buffers[2] + offsets[row], (size_t)length);
    out[length] = 0;
    return out;
}

/* Reads a stream to its end, and returns the number of its rows. */
static inline int64_t rows_of(struct ArrowArrayStream *stream)
{
    struct ArrowArray batch;
    int64_t rows = 0;
    for (; next(stream, &batch); batch.release(&batch))
        rows += batch.length;
    stream->release(stream);
    return rows;
}
