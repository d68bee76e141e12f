/* tamis_buckets.c - the hash from one (tag, name, operand) to the filters under it.
 *
 * Law: a slot exists as long as it has an entry or a single; blocks are at most a third empty when they grow, and keep
 * their class when they shrink until they are empty, so that a removal never allocates. Segments are chosen by the
 * hash's top bits and grow one by one.
 */
#include <string.h>

#include "tamis.h"

#define SEGMENT_SLOTS_MIN 8U
#define ENTRY_UNITS 2U
#define SINGLE_UNITS 1U
#define ROWS_MAX ((1U << 26) - 1)

_Static_assert(sizeof(tamis_entry) == ENTRY_UNITS * 8 && sizeof(tamis_single) == SINGLE_UNITS * 8, "arena units");

void tamis_buckets_init(tamis_buckets *buckets, tm_memory *memory, uint64_t seed) {
    memset(buckets, 0, sizeof *buckets);
    buckets->memory = memory;
    buckets->seed = seed;
    tm_arena_init(&buckets->arena, memory, TM_HOT);
}

void tamis_buckets_clear(tamis_buckets *buckets) {
    for (unsigned i = 0; i < TAMIS_SEGMENTS; i++) {
        TM_DELETE(buckets->memory, TM_HOT, buckets->segments[i].slots, tamis_slot, buckets->segments[i].capacity);
        TM_DELETE(buckets->memory, TM_HOT, buckets->segments[i].tags, uint8_t, buckets->segments[i].capacity);
    }
    tm_arena_clear(&buckets->arena);
    tamis_buckets_init(buckets, buckets->memory, buckets->seed);
}

static inline tamis_segment *segment_of(tamis_buckets *buckets, uint64_t hash) {
    return &buckets->segments[hash >> 58];
}

/* ---- slots --------------------------------------------------------------------------------------------------------
 */

/* Put a slot where a probe for its hash finds it; there is room. */
static tamis_slot *place(tamis_segment *segment, uint64_t hash, tamis_slot slot) {
    uint32_t mask = segment->capacity - 1;
    uint32_t at = (uint32_t)hash & mask;
    while (segment->tags[at] != 0) {
        at = (at + 1) & mask;
    }
    segment->tags[at] = tamis_tag_of(hash);
    segment->slots[at] = slot;
    segment->count++;
    return &segment->slots[at];
}

/* At most two thirds full. */
static bool reserve_slot(tamis_buckets *buckets, tamis_segment *segment) {
    if ((segment->count + 1) * 3 <= segment->capacity * 2) {
        return true;
    }
    tamis_segment larger = {.capacity = segment->capacity == 0 ? SEGMENT_SLOTS_MIN : segment->capacity * 2};
    larger.slots = TM_NEW(buckets->memory, TM_HOT, tamis_slot, larger.capacity);
    larger.tags = larger.slots == NULL ? NULL : TM_NEW(buckets->memory, TM_HOT, uint8_t, larger.capacity);
    if (larger.tags == NULL) {
        TM_DELETE(buckets->memory, TM_HOT, larger.slots, tamis_slot, larger.capacity);
        return false;
    }
    for (uint32_t at = 0; at < segment->capacity; at++) {
        if (segment->tags[at] != 0) {
            place(&larger, tamis_bucket_hash(buckets, segment->slots[at].key), segment->slots[at]);
        }
    }
    TM_DELETE(buckets->memory, TM_HOT, segment->slots, tamis_slot, segment->capacity);
    TM_DELETE(buckets->memory, TM_HOT, segment->tags, uint8_t, segment->capacity);
    *segment = larger;
    return true;
}

/* The slot of `key`, made if need be; NULL: no memory. */
static tamis_slot *use_slot(tamis_buckets *buckets, uint64_t key) {
    tamis_slot *slot = (tamis_slot *)tamis_buckets_find(buckets, key);
    if (slot != NULL) {
        return slot;
    }
    uint64_t hash = tamis_bucket_hash(buckets, key);
    tamis_segment *segment = segment_of(buckets, hash);
    return reserve_slot(buckets, segment) ? place(segment, hash, (tamis_slot){.key = key}) : NULL;
}

/* Erase a slot that holds nothing; those behind it move up where their probe passes it. */
static void drop_slot(tamis_buckets *buckets, tamis_slot *slot) {
    if (slot->entry_count + slot->single_count != 0) {
        return;
    }
    tamis_segment *segment = segment_of(buckets, tamis_bucket_hash(buckets, slot->key));
    uint32_t mask = segment->capacity - 1;
    uint32_t hole = (uint32_t)(slot - segment->slots);
    for (uint32_t at = (hole + 1) & mask; segment->tags[at] != 0; at = (at + 1) & mask) {
        uint32_t home = (uint32_t)tamis_bucket_hash(buckets, segment->slots[at].key) & mask;
        if (((at - home) & mask) >= ((at - hole) & mask)) {
            segment->slots[hole] = segment->slots[at];
            segment->tags[hole] = segment->tags[at];
            hole = at;
        }
    }
    segment->slots[hole] = (tamis_slot){0};
    segment->tags[hole] = 0;
    segment->count--;
}

/* ---- rows ---------------------------------------------------------------------------------------------------------
 */

/* A block with room for one row more than `count`; 0: no memory. Moves the rows, frees the old block. */
static uint32_t reserve_row(tm_arena *arena, uint32_t block, uint32_t count, unsigned *size_class, uint32_t row_units) {
    if (block != 0 && (count + 1) * row_units <= tm_arena_class_units(*size_class)) {
        return block;
    }
    if (count == ROWS_MAX) {
        return 0;
    }
    unsigned larger = tm_arena_class((count + 1) * row_units);
    uint32_t moved = tm_arena_take(arena, larger);
    if (moved == 0) {
        return 0;
    }
    if (block != 0) {
        memcpy(tm_arena_at(arena, moved), tm_arena_at(arena, block), (size_t)count * row_units * 8);
        tm_arena_give(arena, block, *size_class);
    }
    *size_class = larger;
    return moved;
}

bool tamis_buckets_add_entry(tamis_buckets *buckets, uint64_t key, tamis_entry entry) {
    tamis_slot *slot = use_slot(buckets, key);
    if (slot == NULL) {
        return false;
    }
    unsigned size_class = slot->entry_class;
    uint32_t block = reserve_row(&buckets->arena, slot->entries, slot->entry_count, &size_class, ENTRY_UNITS);
    if (block == 0) {
        drop_slot(buckets, slot);
        return false;
    }
    slot->entries = block;
    slot->entry_class = size_class & 63;
    ((tamis_entry *)tm_arena_at(&buckets->arena, block))[slot->entry_count++] = entry;
    return true;
}

/* Singles of interfaces that use cells stand first: coverers are looked for among them. */
bool tamis_buckets_add_single(tamis_buckets *buckets, uint64_t key, tamis_single single) {
    tamis_slot *slot = use_slot(buckets, key);
    if (slot == NULL) {
        return false;
    }
    unsigned size_class = slot->single_class;
    uint32_t block = reserve_row(&buckets->arena, slot->singles, slot->single_count, &size_class, SINGLE_UNITS);
    if (block == 0) {
        drop_slot(buckets, slot);
        return false;
    }
    slot->singles = block;
    slot->single_class = size_class & 63;
    tamis_single *rows = (tamis_single *)tm_arena_at(&buckets->arena, block);
    uint32_t at = slot->single_count++;
    if (single.interface < TAMIS_CELL_INTERFACES && at > 0) {
        rows[at] = rows[0];
        at = 0;
    }
    rows[at] = single;
    return true;
}

void tamis_buckets_remove_entry(tamis_buckets *buckets, uint64_t key, uint32_t body) {
    tamis_slot *slot = (tamis_slot *)tamis_buckets_find(buckets, key);
    tamis_entry *rows = (tamis_entry *)tm_arena_at(&buckets->arena, slot->entries);
    uint32_t at = 0;
    while (rows[at].body != body) {
        at++;
    }
    rows[at] = rows[--slot->entry_count];
    if (slot->entry_count == 0) {
        tm_arena_give(&buckets->arena, slot->entries, slot->entry_class);
        slot->entries = 0;
        drop_slot(buckets, slot);
    }
}

void tamis_buckets_remove_single(tamis_buckets *buckets, uint64_t key, uint32_t handle) {
    tamis_slot *slot = (tamis_slot *)tamis_buckets_find(buckets, key);
    tamis_single *rows = (tamis_single *)tm_arena_at(&buckets->arena, slot->singles);
    uint32_t at = 0;
    while (rows[at].handle != handle) {
        at++;
    }
    rows[at] = rows[--slot->single_count];
    if (slot->single_count == 0) {
        tm_arena_give(&buckets->arena, slot->singles, slot->single_class);
        slot->singles = 0;
        drop_slot(buckets, slot);
    }
}

int tamis_buckets_validate(const tamis_buckets *buckets, const char **reason) {
    for (unsigned i = 0; i < TAMIS_SEGMENTS; i++) {
        const tamis_segment *segment = &buckets->segments[i];
        uint32_t count = 0;
        for (uint32_t at = 0; at < segment->capacity; at++) {
            const tamis_slot *slot = &segment->slots[at];
            if (segment->tags[at] == 0) {
                continue;
            }
            count++;
            if (tamis_buckets_find(buckets, slot->key) != slot) {
                *reason = "a bucket is not found under its key";
                return TM_MISUSED;
            }
            if (slot->entry_count + slot->single_count == 0 || (slot->entry_count != 0) != (slot->entries != 0) ||
                (slot->single_count != 0) != (slot->singles != 0)) {
                *reason = "a bucket is kept for nothing or lost its rows";
                return TM_MISUSED;
            }
        }
        if (count != segment->count) {
            *reason = "a segment's count of buckets is wrong";
            return TM_MISUSED;
        }
    }
    return TM_OK;
}
