/* names.h - attribute names as dense ids, one cache line each.
 *
 * Law: a name lives as long as a constraint refers to it; its id is reused afterwards. `references` doubles as the
 * name's popularity, by which access paths are chosen. A lookup touches one slot and one record.
 *
 *     slots: open addressing, linear probing        records
 *     +--------+----+                               +-------------------------------------------------------+
 *     | hash32 | id | ----------------------------> | head (16 bytes) | length | refs | bytes | keys[3]      |
 *     +--------+----+                               +-------------------------------------------------------+
 */
#ifndef TM_ONEPATH_NAMES_H
#define TM_ONEPATH_NAMES_H

#include "base/idset.h"
#include "tm.h"

#define TM_NO_NAME UINT32_MAX
#define TM_NAMES_MAX (1U << 24) /* a name id has 24 bits in a compiled test */

struct onepath_key;

typedef struct onepath_name {
    tm_head head;
    uint32_t length;
    uint32_t references; /* constraints that use the name; 0: a free record, then `length` is the next free id */
    uint8_t *bytes;      /* owned copy */
    struct onepath_key *keys[4]; /* owned by the engine: by kind of value, NULL if no filter is placed there */
} onepath_name;

_Static_assert(sizeof(onepath_name) == 64, "one cache line");

typedef struct onepath_names {
    tm_memory *memory; /* borrowed */
    tm_hash_key key;
    onepath_name *records;
    tm_idset set;          /* of words, by hash: the hash and, in the lower half, the id + 1 */
    uint32_t record_count; /* high-water mark of ids */
    uint32_t record_capacity;
    uint32_t live;
    uint32_t free;       /* first free record or TM_NO_NAME */
    uint64_t text_bytes; /* of the copies, as charged */
    uint32_t version;    /* changes with every name that is added or removed; never 0 */
} onepath_names;

void onepath_names_init(onepath_names *names, tm_memory *memory);
void onepath_names_clear(onepath_names *names);

/* Return the id of the name and add a reference; TM_NO_NAME if out of memory, then nothing changed. Copies `bytes`. */
uint32_t onepath_names_acquire(onepath_names *names, const uint8_t *bytes, uint32_t length);
/* Release a reference; the last one frees the id. */
void onepath_names_release(onepath_names *names, uint32_t id);

/* true if the bytes between the heads of two names of this length are equal; their heads must be equal. */
static inline bool onepath_middles_are_equal(const uint8_t *a, const uint8_t *b, uint32_t length) {
    if (length <= TM_INLINE_BYTES) {
        return true; /* there are no such bytes */
    }
    if (length > 2 * TM_INLINE_BYTES) {
        return memcmp(a, b, length) == 0;
    }
    const uint32_t from[2] = {sizeof(uint64_t), length - 2 * (uint32_t)sizeof(uint64_t)};
    return tm_load64(a + from[0]) == tm_load64(b + from[0]) && tm_load64(a + from[1]) == tm_load64(b + from[1]);
}

static inline bool onepath_name_is(const onepath_name *name, tm_head head, const uint8_t *bytes, uint32_t length) {
    uint64_t differs = (name->head.low ^ head.low) | (name->head.high ^ head.high) | (name->length ^ length);
    return differs == 0 && onepath_middles_are_equal(name->bytes, bytes, length);
}

/* Return the name of a slot that is not empty. */
static inline const onepath_name *onepath_name_in(const onepath_names *names, uint64_t slot) {
    return &names->records[(uint32_t)slot - 1];
}

static inline uint32_t onepath_names_find(const onepath_names *names, const uint8_t *bytes, uint32_t length) {
    tm_head head = tm_head_of(bytes, length);
    uint32_t hash = (uint32_t)tm_hash_headed(head, bytes, length, &names->key);
    tm_idset_search search = tm_idset_start(&names->set, hash);
    const uint64_t *slots = search.slots;
    /* Nine in ten are in the first two slots: one branch for both. */
    uint64_t slot = slots[(search.at + (slots[search.at] >> 32 != hash)) & search.mask];
    if (slot >> 32 == hash && slot != 0 && onepath_name_is(onepath_name_in(names, slot), head, bytes, length)) {
        return (uint32_t)slot - 1;
    }
    while ((slot = tm_idset_next_word(&search)) != 0) {
        if (slot >> 32 == hash && onepath_name_is(onepath_name_in(names, slot), head, bytes, length)) {
            return (uint32_t)slot - 1;
        }
    }
    return TM_NO_NAME;
}

/* Return the memo that onepath_names_recall stores for an id. */
static inline uint64_t onepath_names_memo(const onepath_names *names, uint32_t id) {
    return (uint64_t)names->version << 32 | id;
}

/* Return the id of the name, from `*memo` if it is valid: 0 or what an earlier call for that name stored; NULL: no
 * memo. */
static inline uint32_t onepath_names_recall(const onepath_names *names, uint64_t *memo, const uint8_t *bytes,
                                            uint32_t length) {
    if (memo != NULL && *memo >> 32 == names->version) {
        return (uint32_t)*memo;
    }
    uint32_t id = onepath_names_find(names, bytes, length);
    if (memo != NULL) {
        *memo = onepath_names_memo(names, id);
    }
    return id;
}

/* TM_OK or TM_MISUSED with a reason. */
int onepath_names_validate(const onepath_names *names, const char **reason);

/* Note one search for each name. */
void onepath_names_probes(const onepath_names *names, tm_probes *probes);

#endif
