/* What the C programs of the tests share. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fpstore.h"

/* Ends the program if a condition does not hold. */
#define CHECK(condition)                                                               \
    do {                                                                               \
        if (!(condition)) {                                                            \
            fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #condition); \
            exit(1);                                                                   \
        }                                                                              \
    } while (0)

/* Ends the program if a call fails, with its message. */
#define OK(call)                                                                                  \
    do {                                                                                          \
        fps_error *error;                                                                         \
        fps_kind kind = (call);                                                                   \
        if (kind != FPS_OK) {                                                                     \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, fps_error_message(error)); \
            exit(1);                                                                              \
        }                                                                                         \
        CHECK(error == NULL);                                                                     \
    } while (0)

/* Ends the program unless a call fails with this kind, and a message that has this text. */
#define FAILS(expected, text, call)                                                                     \
    do {                                                                                                \
        fps_error *error = NULL;                                                                        \
        fps_kind kind = (call);                                                                         \
        if (kind != (expected) || fps_error_kind(error) != kind || !strstr(fps_error_message(error), text)) { \
            fprintf(stderr, "%s:%d: %s: kind %" PRIu32 ", %s\n", __FILE__, __LINE__, #call, kind,       \
                    fps_error_message(error));                                                          \
            exit(1);                                                                                    \
        }                                                                                               \
        fps_error_free(error);                                                                          \
    } while (0)

static inline fps_id number_id(uint64_t number)
{
    fps_id id = {.kind = FPS_ID_NUMBER, .number = number};
    return id;
}

static inline fps_id text_id(const char *text)
{
    fps_id id = {.kind = FPS_ID_TEXT, .text = text, .length = strlen(text)};
    return id;
}

/* A path in a directory; forgotten with the process. */
static inline const char *in(const char *directory, const char *name)
{
    static char paths[8][1024];
    static int next;
    char *path = paths[next++ % 8];
    snprintf(path, sizeof paths[0], "%s/%s", directory, name);
    return path;
}
