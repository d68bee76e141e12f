/* titles.h - names of subscriptions, as JSON that is ready to be written.
 *
 * Law: sorted by id; at most TM_EVENTS_NAMES_MAX.
 */
#ifndef TM_RELAY_TITLES_H
#define TM_RELAY_TITLES_H

#include "base/memory.h"

typedef struct title {
    uint32_t id;
    uint32_t size;
    uint8_t *json; /* owned, with quotes */
} title;

typedef struct titles {
    title *all; /* owned */
    uint32_t count;
    uint32_t capacity;
} titles;

/* Return the title of an id; NULL: it has none. */
const title *titles_of(const titles *t, uint32_t id);

/* Set the title of an id, or remove it if `size` is 0; a tm_result, and nothing has changed unless it is TM_OK. */
int titles_set(titles *t, tm_memory *memory, uint32_t id, const uint8_t *name, size_t size);

void titles_free(titles *t, tm_memory *memory);

#endif
