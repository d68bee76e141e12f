/* buckets.h - the hash from one (tag, name, operand) to the filters under it: its lookup.
 *
 * Law: as in buckets.c. A probe reads tags first, then the slots whose tag is that of the hash.
 */
#ifndef TM_ONEPATH_BUCKETS_H
#define TM_ONEPATH_BUCKETS_H

#include "engines/onepath/paths/branches.h"
#include "engines/onepath/paths/rows.h"

/* Filters under a pair from which on those that have a bucket may leave it: a bucket can be opened. */
#define ONEPATH_PAIR_MAX 16U

/* Entries in a bucket from which on those that can go further do so. */
#define ONEPATH_FULL_BUCKET_MAX 64U

/* Return one of 64 bits: where the bits of a key do not include it, a probe would find nothing. */
static inline uint64_t onepath_operand_bit(uint32_t operand) {
    return UINT64_C(1) << (operand * 0x9e3779b1U >> 26);
}

static inline uint64_t onepath_bucket_key(onepath_tag tag, uint32_t name, uint32_t operand) {
    return (uint64_t)tag << 56 | (uint64_t)name << 32 | operand;
}
/* Return the key behind a branch. */
static inline uint64_t onepath_key_in_branch(uint64_t key, uint32_t branch) {
    const uint64_t kept = UINT64_C(0xff000000ffffffff); /* tag and operand */
    return (key & kept) | (uint64_t)ONEPATH_IN_BRANCH << 56 | (uint64_t)branch << 32;
}
/* Return the key of what messages with a name reach behind a branch. */
static inline uint64_t onepath_name_key(uint32_t branch, uint32_t name, unsigned kind) {
    return onepath_key_in_branch(onepath_bucket_key(ONEPATH_BY_NAME, 0, name << 2 | kind), branch);
}
static inline onepath_tag onepath_key_tag(uint64_t key) {
    return (onepath_tag)(key >> 56 & ~(uint64_t)ONEPATH_IN_BRANCH);
}
static inline uint32_t onepath_key_branch(uint64_t key) {
    return key >> 56 & ONEPATH_IN_BRANCH ? (uint32_t)(key >> 32) & 0xffffff : 0;
}
/* Return the only bucket of an access test that has one; 0 if it may have several. */
static inline uint64_t onepath_bucket_of_test(onepath_test test) {
    static const uint8_t TAGS[ONEPATH_PATTERN + 1] = {
        [ONEPATH_BOOLEAN_EQ] = ONEPATH_BY_BOOLEAN,
        [ONEPATH_NUMBER_EQ] = ONEPATH_BY_NUMBER,
        [ONEPATH_STRING_EQ] = ONEPATH_BY_STRING,
        [ONEPATH_PATTERN] = ONEPATH_BY_PATTERN,
    };
    onepath_tag tag = (onepath_tag)TAGS[onepath_test_op(test)];
    return tag == 0 ? 0 : onepath_bucket_key(tag, onepath_test_name(test), onepath_test_operand(test));
}
/* Return the key of a pair; `name` is the rarer one. */
static inline uint64_t onepath_pair_key(uint32_t name, unsigned kind, uint32_t partner, unsigned partner_kind) {
    return (uint64_t)ONEPATH_BY_PAIR << 56 | ((uint64_t)name << 2 | kind) << 26 |
           ((uint64_t)partner << 2 | partner_kind);
}

#define ONEPATH_PARTNER_WORDS 8U
#define ONEPATH_PAIRS_FEW 3U /* up to this many the coarse bits are enough */

static inline uint32_t onepath_coarse_of(uint32_t partner_bit) {
    return partner_bit / 8;
}
static inline uint64_t onepath_coarse_bit(uint32_t partner_bit) {
    return UINT64_C(1) << onepath_coarse_of(partner_bit);
}

static inline uint32_t onepath_partner_bit(uint32_t partner, unsigned partner_kind) {
    return ((partner << 2 | partner_kind) * 0x9e3779b1U) >> 23;
}

void onepath_buckets_init(onepath_buckets *buckets, tm_memory *memory);
void onepath_buckets_clear(onepath_buckets *buckets);
/* Add an entry; false if out of memory. `row`, where it is not NULL, is set to its row in its slot. */
bool onepath_buckets_add_entry(onepath_buckets *buckets, uint64_t key, onepath_entry entry, uint32_t *row);
/* Add a single; false if out of memory. */
bool onepath_buckets_add_single(onepath_buckets *buckets, uint64_t key, onepath_single single);
/* Remove an entry. `row`: where it may be in its slot, then where it was. Returns the entry that has moved there, or
 * NULL. */
const onepath_entry *onepath_buckets_remove_entry(onepath_buckets *buckets, uint64_t key, uint32_t rest, uint32_t *row);
/* Remove the single of a filter, which must be there. */
void onepath_buckets_remove_single(onepath_buckets *buckets, uint64_t key, uint32_t handle);
/* Open the bucket, which gets no fork yet; false if out of memory. It is closed with its last fork and row. */
bool onepath_buckets_open(onepath_buckets *buckets, uint64_t key);
/* Add a fork to the node of an opened bucket; false if out of memory. */
bool onepath_buckets_add_fork(onepath_buckets *buckets, uint64_t key, onepath_fork fork);
/* Remove a branch's fork, which must be there; an opened bucket without forks and rows is closed. */
void onepath_buckets_remove_fork(onepath_buckets *buckets, uint64_t key, uint32_t branch);
/* Prefetch where the search for each of these keys begins: those places are far apart. */
void onepath_buckets_ask(const onepath_buckets *buckets, const uint64_t *keys, uint32_t count);
/* Note one search for each slot in use. */
void onepath_buckets_probes(const onepath_buckets *buckets, tm_probes *probes);

static inline uint64_t onepath_bucket_hash(const onepath_buckets *buckets, uint64_t key) {
    return tm_hash_u64(key, &buckets->key);
}
static inline const onepath_segment *onepath_segment_of(const onepath_buckets *buckets, uint64_t hash) {
    return &buckets->segments[hash >> 58];
}
static inline uint8_t onepath_tag_of(uint64_t hash) {
    return (uint8_t)(hash >> 32) | 1;
}

static inline uint32_t onepath_segment_home(const onepath_segment *segment, uint64_t hash) {
    return (uint32_t)((uint64_t)(uint32_t)hash * segment->capacity >> 32);
}
static inline uint32_t onepath_segment_after(const onepath_segment *segment, uint32_t at) {
    return at + 1 == segment->capacity ? 0 : at + 1;
}
/* Eight tags are compared at a time. onepath_zero_bytes sets the high bit of each byte of `group` that is zero. */
#define ONEPATH_TAG_GROUP 8U

static inline uint64_t onepath_zero_bytes(uint64_t group) {
    const uint64_t low = 0x7f7f7f7f7f7f7f7fU;
    return ~(((group & low) + low) | group | low);
}
/* Return the index of the first byte whose high bit is set, 7 where none is. */
static inline uint32_t onepath_first_byte(uint64_t group) {
    return (uint32_t)__builtin_ctzll(group | UINT64_C(1) << 63) / 8;
}
static inline uint32_t onepath_segment_wrap(const onepath_segment *segment, uint32_t at) {
    return at - (at >= segment->capacity ? segment->capacity : 0);
}

/* The tags of a group, by the high bit of each byte: those that equal the tag, before the first empty one, and the
 * empty ones. */
typedef struct onepath_tagged {
    uint64_t same;
    uint64_t empty;
} onepath_tagged;

static inline onepath_tagged onepath_tags_at(const onepath_segment *segment, uint8_t tag, uint32_t at) {
    uint64_t group = tm_load64(segment->tags + at);
    uint64_t empty = onepath_zero_bytes(group);
    uint64_t same = onepath_zero_bytes(group ^ tag * UINT64_C(0x0101010101010101)) & (empty - 1) & ~empty;
    return (onepath_tagged){same, empty};
}

/* Return the next index with the tag from `at` on, or ONEPATH_NONE if an empty slot comes first. */
static inline uint32_t onepath_segment_tagged(const onepath_segment *segment, uint8_t tag, uint32_t at) {
    for (;;) {
        onepath_tagged seen = onepath_tags_at(segment, tag, at);
        if (seen.same != 0) {
            return onepath_segment_wrap(segment, at + onepath_first_byte(seen.same));
        }
        if (seen.empty != 0) {
            return ONEPATH_NONE;
        }
        at = onepath_segment_wrap(segment, at + ONEPATH_TAG_GROUP);
    }
}
/* Return the next slot with the key from `*at` on, which starts at the home of the hash; NULL if there are no
 * others. */
static inline const onepath_slot *onepath_segment_next(const onepath_segment *segment, uint64_t key, uint8_t tag,
                                                       uint32_t *at) {
    for (;;) {
        uint32_t here = onepath_segment_tagged(segment, tag, *at);
        if (here == ONEPATH_NONE) {
            return NULL;
        }
        *at = onepath_segment_after(segment, here);
        if (segment->slots[here].key == key) {
            return &segment->slots[here];
        }
    }
}
/* Return the first slot of a bucket that has rows, or NULL. */
static inline const onepath_slot *onepath_buckets_find(const onepath_buckets *buckets, uint64_t key) {
    uint64_t hash = onepath_bucket_hash(buckets, key);
    const onepath_segment *segment = onepath_segment_of(buckets, hash);
    if (segment->count == 0) {
        return NULL;
    }
    uint32_t at = onepath_segment_home(segment, hash);
    const onepath_slot *slot = onepath_segment_next(segment, key, onepath_tag_of(hash), &at);
    return slot != NULL && slot->is_opened ? onepath_segment_next(segment, key, onepath_tag_of(hash), &at) : slot;
}
static inline onepath_entry *onepath_slot_entries(const onepath_buckets *buckets, const onepath_slot *slot) {
    return (onepath_entry *)tm_arena_at(&buckets->arena, slot->block);
}
/* Singles are stored backwards: number i is [-i]. */
static inline onepath_single *onepath_slot_singles(const onepath_buckets *buckets, const onepath_slot *slot) {
    return (onepath_single *)tm_arena_at(&buckets->arena, slot->block + tm_arena_class_units(slot->size_class) - 1);
}
static inline onepath_node *onepath_slot_node(const onepath_buckets *buckets, const onepath_slot *slot) {
    return (onepath_node *)tm_arena_at(&buckets->arena, slot->block);
}

/* The fill of a bucket. */
typedef struct onepath_full_bucket {
    uint32_t entries;
    uint32_t singles;
    uint32_t slots;
    const onepath_slot *opened; /* slot of the node; NULL: not opened */
} onepath_full_bucket;

/* Find the fill of a bucket. */
onepath_full_bucket onepath_bucket_is_full(const onepath_buckets *buckets, uint64_t key);
/* Find the fill of several buckets and prefetch the nodes of those that are opened; the searches overlap. */
void onepath_full_buckets(const onepath_buckets *buckets, const uint64_t *keys, uint32_t count,
                          onepath_full_bucket *full_buckets);
/* Return the number of filters behind an opened bucket; 0 for NULL. */
static inline uint32_t onepath_filters_behind(const onepath_buckets *buckets, const onepath_slot *opened) {
    return opened == NULL ? 0 : onepath_slot_node(buckets, opened)->filters;
}
/* Return the entry of a bucket that has this `rest`; it must be there. `row`: where it may be in its slot. */
onepath_entry *onepath_buckets_entry(const onepath_buckets *buckets, uint64_t key, uint32_t rest, uint32_t row);
int onepath_buckets_validate(const onepath_buckets *buckets, const char **reason);

#endif
