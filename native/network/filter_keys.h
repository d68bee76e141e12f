/* filter_keys.h - keys of the filters in the network table: 32 bits of a filter's issuer and id, equal at every router.
 *
 * Law: every filter has a key while it is installed. A key that several filters share names none of them.
 */
#ifndef TM_FILTER_KEYS_H
#define TM_FILTER_KEYS_H

#include "base/idset.h"

#define FILTER_KEY_SHARED (UINT32_MAX - 1) /* no handle, like FILTER_NONE */

typedef struct tm_filter_keys {
    tm_memory *memory; /* borrowed */
    uint32_t *keys;    /* owned; by handle */
    uint32_t capacity;
    uint32_t surplus; /* filters less their different keys */
    tm_idset set;     /* of handles + 1, by key */
} tm_filter_keys;

/* Return the key of the filter `id` of a router. */
uint32_t tm_filter_key(uint64_t issuer, uint64_t id);

void tm_filter_keys_init(tm_filter_keys *keys, tm_memory *memory);
void tm_filter_keys_clear(tm_filter_keys *keys);

/* Make room for a filter of this handle. TM_NO_MEMORY: nothing has changed. */
int tm_filter_keys_reserve(tm_filter_keys *keys, uint32_t handle);
/* Add a filter, after tm_filter_keys_reserve. */
void tm_filter_keys_add(tm_filter_keys *keys, uint32_t handle, uint32_t key);
/* Remove a filter that was added. */
void tm_filter_keys_remove(tm_filter_keys *keys, uint32_t handle);

/* Return the handle of the filter with this key; FILTER_NONE: there is none. FILTER_KEY_SHARED: there are several. */
uint32_t tm_filter_keys_find(const tm_filter_keys *keys, uint32_t key);
/* Write the key of a filter; false: it names no filter. */
static inline bool tm_filter_keys_of(const tm_filter_keys *keys, uint32_t handle, uint32_t *key) {
    *key = keys->keys[handle];
    return keys->surplus == 0 || tm_filter_keys_find(keys, *key) == handle;
}
/* true if exactly `count` filters have a key, and each is found by it */
bool tm_filter_keys_are_sound(const tm_filter_keys *keys, uint32_t count);

#endif
