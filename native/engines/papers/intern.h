/* intern.h - byte strings as dense ids.
 *
 * Law: equal bytes have one id as long as it has a reference; ids start at 1, are small, and are reused after the last
 * reference is released.
 */
#ifndef TM_INTERN_H
#define TM_INTERN_H

#include "base/idset.h"

typedef struct tm_interned {
    uint8_t *bytes; /* owned; NULL for a free id */
    uint32_t length;
    uint32_t holders; /* of a free id: the next free one */
} tm_interned;

typedef struct tm_intern {
    tm_memory *memory; /* borrowed */
    tm_heat heat;
    tm_interned *entries; /* entry 0 is never used */
    uint32_t capacity;
    uint32_t count;      /* entries ever used, entry 0 included */
    uint32_t free;       /* first free id, 0 for none */
    uint64_t text_bytes; /* of the copies, as charged */
    tm_idset ids;
} tm_intern;

void tm_intern_init(tm_intern *intern, tm_memory *memory, tm_heat heat);
void tm_intern_free(tm_intern *intern);

/* Return the id of `bytes`, which are copied, and add a reference. TM_NO_MEMORY: nothing has changed. */
int tm_intern_hold(tm_intern *intern, const uint8_t *bytes, uint32_t length, uint32_t *id);
/* Release a reference; the last one frees the id. */
void tm_intern_release(tm_intern *intern, uint32_t id);

/* Return the id of `bytes`, or 0. */
uint32_t tm_intern_find(const tm_intern *intern, const uint8_t *bytes, uint32_t length);

/* Compare the bytes of `id` with `bytes`: negative, 0 or positive. */
int tm_intern_compare(const tm_intern *intern, uint32_t id, const uint8_t *bytes, uint32_t length);

/* Note one search for each string. */
void tm_intern_probes(const tm_intern *intern, tm_probes *probes);

/* TM_OK, or TM_MISUSED and the reason. `holders[id]` is the number of references that the caller has on `id`. */
int tm_intern_validate(const tm_intern *intern, const uint32_t *holders, const char **reason);

#endif
