/* buckets.h - the hash from one (tag, name, operand) to the filters under it: how it is looked into.
 *
 * Law: as in buckets.c. A probe reads tags first, then the slots whose tag is that of the hash.
 */
#ifndef TM_ONEPATH_BUCKETS_H
#define TM_ONEPATH_BUCKETS_H

#include "engines/onepath/paths/branches.h"
#include "engines/onepath/paths/rows.h"

/* So many under a pair, and those may leave it that have a bucket, which can be opened. */
#define TAMIS_PAIR_MAX 16U

/* More entries than this in a bucket, and those which can stand further on do so. */
#define TAMIS_CROWD_MAX 64U

/* One of 64 bits: a probe is not worth making where a key's bits do not have it. */
static inline uint64_t tamis_operand_bit(uint32_t operand) {
    return UINT64_C(1) << (operand * 0x9e3779b1U >> 26);
}

static inline uint64_t tamis_bucket_key(tamis_tag tag, uint32_t name, uint32_t operand) {
    return (uint64_t)tag << 56 | (uint64_t)name << 32 | operand;
}
/* The same key behind a branch. */
static inline uint64_t tamis_key_in_branch(uint64_t key, uint32_t branch) {
    const uint64_t kept = UINT64_C(0xff000000ffffffff); /* tag and operand */
    return (key & kept) | (uint64_t)TAMIS_IN_BRANCH << 56 | (uint64_t)branch << 32;
}
/* Behind a branch, what messages with a name reach. */
static inline uint64_t tamis_name_key(uint32_t branch, uint32_t name, unsigned kind) {
    return tamis_key_in_branch(tamis_bucket_key(TAMIS_BY_NAME, 0, name << 2 | kind), branch);
}
static inline tamis_tag tamis_key_tag(uint64_t key) {
    return (tamis_tag)(key >> 56 & ~(uint64_t)TAMIS_IN_BRANCH);
}
static inline uint32_t tamis_key_branch(uint64_t key) {
    return key >> 56 & TAMIS_IN_BRANCH ? (uint32_t)(key >> 32) & 0xffffff : 0;
}
/* The only bucket of an access test that has one; 0: it may have several. */
static inline uint64_t tamis_bucket_of_test(tamis_test test) {
    static const uint8_t TAGS[TAMIS_PATTERN + 1] = {
        [TAMIS_BOOLEAN_EQ] = TAMIS_BY_BOOLEAN,
        [TAMIS_NUMBER_EQ] = TAMIS_BY_NUMBER,
        [TAMIS_STRING_EQ] = TAMIS_BY_STRING,
        [TAMIS_PATTERN] = TAMIS_BY_PATTERN,
    };
    tamis_tag tag = (tamis_tag)TAGS[tamis_test_op(test)];
    return tag == 0 ? 0 : tamis_bucket_key(tag, tamis_test_name(test), tamis_test_operand(test));
}
/* Of the rarer name and its partner. */
static inline uint64_t tamis_pair_key(uint32_t name, unsigned kind, uint32_t partner, unsigned partner_kind) {
    return (uint64_t)TAMIS_BY_PAIR << 56 | ((uint64_t)name << 2 | kind) << 26 | ((uint64_t)partner << 2 | partner_kind);
}

#define TAMIS_PARTNER_WORDS 8U
#define TAMIS_PAIRS_FEW 3U /* up to so many the coarse bits will do */

static inline uint32_t tamis_coarse_of(uint32_t partner_bit) {
    return partner_bit / 8;
}
static inline uint64_t tamis_coarse_bit(uint32_t partner_bit) {
    return UINT64_C(1) << tamis_coarse_of(partner_bit);
}

static inline uint32_t tamis_partner_bit(uint32_t partner, unsigned partner_kind) {
    return ((partner << 2 | partner_kind) * 0x9e3779b1U) >> 23;
}

void tamis_buckets_init(tamis_buckets *buckets, tm_memory *memory);
void tamis_buckets_clear(tamis_buckets *buckets);
/* `row`, where it is not NULL: of the entry in its slot. */
bool tamis_buckets_add_entry(tamis_buckets *buckets, uint64_t key, tamis_entry entry, uint32_t *row);
bool tamis_buckets_add_single(tamis_buckets *buckets, uint64_t key, tamis_single single);
/* `row`: where the entry may be in its slot; then where it was. The entry that stands there now; NULL: none. */
const tamis_entry *tamis_buckets_remove_entry(tamis_buckets *buckets, uint64_t key, uint32_t rest, uint32_t *row);
void tamis_buckets_remove_single(tamis_buckets *buckets, uint64_t key, uint32_t handle);
/* Make the bucket an opened one, which has no fork yet; false: no memory. It ends with its last fork and row. */
bool tamis_buckets_open(tamis_buckets *buckets, uint64_t key);
/* Into the node of an opened bucket; false: no memory. */
bool tamis_buckets_add_fork(tamis_buckets *buckets, uint64_t key, tamis_fork fork);
void tamis_buckets_remove_fork(tamis_buckets *buckets, uint64_t key, uint32_t branch);
/* Ask for the memory in which the search for each of these begins: they lie far apart. */
void tamis_buckets_ask(const tamis_buckets *buckets, const uint64_t *keys, uint32_t count);
/* One search for each slot in use. */
void tamis_buckets_probes(const tamis_buckets *buckets, tm_probes *probes);

static inline uint64_t tamis_bucket_hash(const tamis_buckets *buckets, uint64_t key) {
    return tm_hash_u64(key, &buckets->key);
}
static inline const tamis_segment *tamis_segment_of(const tamis_buckets *buckets, uint64_t hash) {
    return &buckets->segments[hash >> 58];
}
static inline uint8_t tamis_tag_of(uint64_t hash) {
    return (uint8_t)(hash >> 32) | 1;
}

static inline uint32_t tamis_segment_home(const tamis_segment *segment, uint64_t hash) {
    return (uint32_t)((uint64_t)(uint32_t)hash * segment->capacity >> 32);
}
static inline uint32_t tamis_segment_after(const tamis_segment *segment, uint32_t at) {
    return at + 1 == segment->capacity ? 0 : at + 1;
}
/* Eight tags at a time: the high bit of each byte of `group` that is zero. */
#define TAMIS_TAG_GROUP 8U

static inline uint64_t tamis_zero_bytes(uint64_t group) {
    const uint64_t low = 0x7f7f7f7f7f7f7f7fU;
    return ~(((group & low) + low) | group | low);
}
/* The number of the first byte whose high bit is set, 7 where none is. */
static inline uint32_t tamis_first_byte(uint64_t group) {
    return (uint32_t)__builtin_ctzll(group | UINT64_C(1) << 63) / 8;
}
static inline uint32_t tamis_segment_wrap(const tamis_segment *segment, uint32_t at) {
    return at - (at >= segment->capacity ? segment->capacity : 0);
}

/* Of the group of tags at a place, by the high bit of each byte: those that are the same, up to an empty one. */
typedef struct tamis_tagged {
    uint64_t same;
    uint64_t empty;
} tamis_tagged;

static inline tamis_tagged tamis_tags_at(const tamis_segment *segment, uint8_t tag, uint32_t at) {
    uint64_t group = tm_load64(segment->tags + at);
    uint64_t empty = tamis_zero_bytes(group);
    uint64_t same = tamis_zero_bytes(group ^ tag * UINT64_C(0x0101010101010101)) & (empty - 1) & ~empty;
    return (tamis_tagged){same, empty};
}

/* The next place with the tag from `at` on, or TAMIS_NONE at an empty one. */
static inline uint32_t tamis_segment_tagged(const tamis_segment *segment, uint8_t tag, uint32_t at) {
    for (;;) {
        tamis_tagged seen = tamis_tags_at(segment, tag, at);
        if (seen.same != 0) {
            return tamis_segment_wrap(segment, at + tamis_first_byte(seen.same));
        }
        if (seen.empty != 0) {
            return TAMIS_NONE;
        }
        at = tamis_segment_wrap(segment, at + TAMIS_TAG_GROUP);
    }
}
/* The next slot with the key from `*at` on, which starts at the home of the hash; NULL: no more. */
static inline const tamis_slot *tamis_segment_next(const tamis_segment *segment, uint64_t key, uint8_t tag,
                                                   uint32_t *at) {
    for (;;) {
        uint32_t here = tamis_segment_tagged(segment, tag, *at);
        if (here == TAMIS_NONE) {
            return NULL;
        }
        *at = tamis_segment_after(segment, here);
        if (segment->slots[here].key == key) {
            return &segment->slots[here];
        }
    }
}
/* The first slot of a bucket that has rows, or NULL. */
static inline const tamis_slot *tamis_buckets_find(const tamis_buckets *buckets, uint64_t key) {
    uint64_t hash = tamis_bucket_hash(buckets, key);
    const tamis_segment *segment = tamis_segment_of(buckets, hash);
    if (segment->count == 0) {
        return NULL;
    }
    uint32_t at = tamis_segment_home(segment, hash);
    const tamis_slot *slot = tamis_segment_next(segment, key, tamis_tag_of(hash), &at);
    return slot != NULL && slot->is_opened ? tamis_segment_next(segment, key, tamis_tag_of(hash), &at) : slot;
}
static inline tamis_entry *tamis_slot_entries(const tamis_buckets *buckets, const tamis_slot *slot) {
    return (tamis_entry *)tm_arena_at(&buckets->arena, slot->block);
}
/* Singles stand backwards: number i is [-i]. */
static inline tamis_single *tamis_slot_singles(const tamis_buckets *buckets, const tamis_slot *slot) {
    return (tamis_single *)tm_arena_at(&buckets->arena, slot->block + tm_arena_class_units(slot->size_class) - 1);
}
static inline tamis_node *tamis_slot_node(const tamis_buckets *buckets, const tamis_slot *slot) {
    return (tamis_node *)tm_arena_at(&buckets->arena, slot->block);
}

/* How full a bucket is. */
typedef struct tamis_crowd {
    uint32_t entries;
    uint32_t singles;
    uint32_t slots;
    const tamis_slot *opened; /* NULL: it is not */
} tamis_crowd;

tamis_crowd tamis_buckets_crowd(const tamis_buckets *buckets, uint64_t key);
/* The same of several, which are asked for together, and so are the nodes of those that are opened. */
void tamis_buckets_crowds(const tamis_buckets *buckets, const uint64_t *keys, uint32_t count, tamis_crowd *crowds);
/* Filters that stand behind an opened bucket; of NULL none. */
static inline uint32_t tamis_filters_behind(const tamis_buckets *buckets, const tamis_slot *opened) {
    return opened == NULL ? 0 : tamis_slot_node(buckets, opened)->filters;
}
/* The entry of a bucket that says so in `rest`: it is there. `row`: where it may be in its slot. */
tamis_entry *tamis_buckets_entry(const tamis_buckets *buckets, uint64_t key, uint32_t rest, uint32_t row);
int tamis_buckets_validate(const tamis_buckets *buckets, const char **reason);

#endif
