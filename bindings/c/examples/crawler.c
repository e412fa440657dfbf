/* A crawler's check: is this page new, or nearly the same as one that was seen before?
 *
 *     crawler STORE < pages
 *
 * reads lines of a 64-bit fingerprint in hexadecimal digits and an address, adds those that have no page within
 * distance 3 in the store, and says of the others which one is near. The store is made when there is none. README.md
 * beside this folder tells how to compile it.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fpstore.h"

enum { DISTANCE = 3 };

/* Says what went wrong, and ends the program. */
static void fail(fps_error *error)
{
    fprintf(stderr, "crawler: %s\n", fps_error_message(error));
    fps_error_free(error);
    exit(2);
}

/* Opens the store, or creates it. */
static fps_store *opened(const char *path)
{
    fps_options options = {.struct_size = sizeof options};
    fps_parameters parameters = {.struct_size = sizeof parameters};
    fps_store *store;
    fps_error *error;
    fps_kind kind = fps_open(path, &options, &store, &error);

    if (kind == FPS_NOT_FOUND) {
        fps_error_free(error);
        parameters.max_distance = DISTANCE;
        parameters.ids = "text";
        kind = fps_create(path, &parameters, &options, &store, &error);
    }
    if (kind != FPS_OK)
        fail(error);
    return store;
}

static void check(fps_store *store, uint64_t fingerprint, const char *address)
{
    fps_id id = {FPS_ID_TEXT, 0, address, strlen(address)};
    fps_outcome outcome = {.struct_size = sizeof outcome};
    fps_match match = {.struct_size = sizeof match};
    fps_matches *near;
    fps_error *error;

    /* One sync at the end makes all of them durable: see main. */
    if (fps_insert_if_new64(store, fingerprint, &id, DISTANCE, FPS_BUFFERED, &outcome, &near, &error))
        fail(error);
    if (outcome.inserted) {
        printf("new\t%s\n", address);
    } else {
        if (fps_matches_get(near, 0, &match, &error))
            fail(error);
        printf("seen\t%s\t%.*s\t%u\n", address, (int)match.id.length, match.id.text, match.distance);
    }
    fps_matches_free(near);
}

int main(int count, char **arguments)
{
    static char line[8192], address[4097];
    uint64_t fingerprint;
    fps_store *store;
    fps_error *error;

    if (count != 2) {
        fprintf(stderr, "usage: crawler STORE < pages\n");
        return 2;
    }
    store = opened(arguments[1]);
    while (fgets(line, sizeof line, stdin)) {
        if (sscanf(line, "%16" SCNx64 " %4096s", &fingerprint, address) != 2) {
            fprintf(stderr, "crawler: expected a fingerprint and an address: %s", line);
            fps_store_free(store);
            return 2;
        }
        check(store, fingerprint, address);
    }
    if (fps_sync(store, FPS_SYNC, &error) || fps_store_close(store, &error))
        fail(error);
    fps_store_free(store);
    return 0;
}
