/* buckets.c - the hash from one (tag, name, operand) to the filters under it.
 *
 * Law: a slot exists as long as it has an entry or a single; the slot of an opened bucket as long as it has a fork or
 * the bucket another slot. Blocks keep their class when rows are removed, until all are removed, so that a removal
 * never allocates. Segments are chosen by the hash's top bits and grow one by one.
 */
#include "engines/onepath/paths/buckets.h"

#include <string.h>

#include "base/probes.h"
#include "engines/onepath/state.h"

#define SEGMENT_SLOTS_MIN 8U
#define ENTRY_UNITS 2U
#define SINGLE_UNITS 1U
#define NODE_UNITS 1U
#define FORK_UNITS 3U
#define ROWS_MAX 4095U /* of a slot: its counts have 12 bits, and moving its rows takes microseconds */

_Static_assert(sizeof(onepath_entry) == ENTRY_UNITS * 8 && sizeof(onepath_single) == SINGLE_UNITS * 8, "arena units");
_Static_assert(sizeof(onepath_node) == NODE_UNITS * 8 && sizeof(onepath_fork) == FORK_UNITS * 8, "arena units");

void onepath_buckets_init(onepath_buckets *buckets, tm_memory *memory) {
    memset(buckets, 0, sizeof *buckets);
    buckets->memory = memory;
    buckets->key = memory->key;
    tm_arena_init(&buckets->arena, memory, TM_HOT);
}

static void free_tags(onepath_buckets *buckets, onepath_segment *segment) {
    TM_DELETE(buckets->memory, TM_HOT, segment->tags, uint8_t, segment->capacity + ONEPATH_TAG_GROUP);
}

void onepath_buckets_clear(onepath_buckets *buckets) {
    for (unsigned i = 0; i < ONEPATH_SEGMENTS; i++) {
        TM_DELETE(buckets->memory, TM_HOT, buckets->segments[i].slots, onepath_slot, buckets->segments[i].capacity);
        free_tags(buckets, &buckets->segments[i]);
    }
    tm_arena_clear(&buckets->arena);
    onepath_buckets_init(buckets, buckets->memory);
}

static inline onepath_segment *segment_of(onepath_buckets *buckets, uint64_t hash) {
    return &buckets->segments[hash >> 58];
}

/* ---- slots ---- */

static void set_tag(onepath_segment *segment, uint32_t at, uint8_t tag) {
    segment->tags[at] = tag;
    if (at < ONEPATH_TAG_GROUP) {
        segment->tags[segment->capacity + at] = tag;
    }
}

/* Insert a slot where a probe for its hash finds it; there must be room. */
static onepath_slot *place(onepath_segment *segment, uint64_t hash, onepath_slot slot) {
    uint32_t at = onepath_segment_home(segment, hash);
    while (segment->tags[at] != 0) {
        at = onepath_segment_after(segment, at);
    }
    set_tag(segment, at, onepath_tag_of(hash));
    segment->slots[at] = slot;
    segment->count++;
    return &segment->slots[at];
}

/* Reserve a slot. Segments are at most four fifths full and grow by a quarter: a probe that ends at a tag costs little,
 * an empty slot costs more. */
static bool reserve_slot(onepath_buckets *buckets, onepath_segment *segment) {
    if ((segment->count + 1) * 5 <= segment->capacity * 4) {
        return true;
    }
    onepath_segment larger = {.capacity = segment->capacity + segment->capacity / 4 + SEGMENT_SLOTS_MIN};
    larger.slots = TM_NEW(buckets->memory, TM_HOT, onepath_slot, larger.capacity);
    larger.tags =
        larger.slots == NULL ? NULL : TM_NEW(buckets->memory, TM_HOT, uint8_t, larger.capacity + ONEPATH_TAG_GROUP);
    if (larger.tags == NULL) {
        TM_DELETE(buckets->memory, TM_HOT, larger.slots, onepath_slot, larger.capacity);
        return false;
    }
    for (uint32_t at = 0; at < segment->capacity; at++) {
        if (segment->tags[at] != 0) {
            place(&larger, onepath_bucket_hash(buckets, segment->slots[at].key), segment->slots[at]);
        }
    }
    TM_DELETE(buckets->memory, TM_HOT, segment->slots, onepath_slot, segment->capacity);
    free_tags(buckets, segment);
    *segment = larger;
    return true;
}

/* Erase a slot; later slots move up where their probe passes it. */
static void drop_slot(onepath_buckets *buckets, onepath_slot *slot) {
    onepath_segment *segment = segment_of(buckets, onepath_bucket_hash(buckets, slot->key));
    uint32_t capacity = segment->capacity;
    uint32_t hole = (uint32_t)(slot - segment->slots);
    for (uint32_t at = onepath_segment_after(segment, hole); segment->tags[at] != 0;
         at = onepath_segment_after(segment, at)) {
        uint32_t home = onepath_segment_home(segment, onepath_bucket_hash(buckets, segment->slots[at].key));
        if ((at + capacity - home) % capacity >= (at + capacity - hole) % capacity) {
            segment->slots[hole] = segment->slots[at];
            set_tag(segment, hole, segment->tags[at]);
            hole = at;
        }
    }
    segment->slots[hole] = (onepath_slot){0};
    set_tag(segment, hole, 0);
    segment->count--;
    buckets->slot_count--;
    if (segment->count == 0) {
        TM_DELETE(buckets->memory, TM_HOT, segment->slots, onepath_slot, segment->capacity);
        free_tags(buckets, segment);
        *segment = (onepath_segment){0};
    }
}

/* ---- rows ---- */

/* Return the units in use of a slot's block. */
static uint32_t units_of(const onepath_buckets *buckets, const onepath_slot *slot) {
    if (slot->is_opened) {
        return slot->block == 0 ? 0 : NODE_UNITS + onepath_slot_node(buckets, slot)->count * FORK_UNITS;
    }
    return slot->entry_count * ENTRY_UNITS + slot->single_count * SINGLE_UNITS;
}

/* Reserve `more` units in the slot's block; false if out of memory. Rows keep their order. */
static bool reserve_units(onepath_buckets *buckets, onepath_slot *slot, uint32_t more) {
    uint32_t used = units_of(buckets, slot);
    if (slot->block != 0 && used + more <= tm_arena_class_units(slot->size_class)) {
        return true;
    }
    unsigned size_class = tm_arena_class(used + more);
    uint32_t block = tm_arena_take(&buckets->arena, size_class);
    if (block == 0) {
        return false;
    }
    if (slot->block != 0) {
        uint64_t *to = tm_arena_at(&buckets->arena, block);
        const uint64_t *from = tm_arena_at(&buckets->arena, slot->block);
        uint32_t to_end = tm_arena_class_units(size_class);
        uint32_t from_end = tm_arena_class_units(slot->size_class);
        memcpy(to, from, sizeof *to * (used - slot->single_count));
        memcpy(to + to_end - slot->single_count, from + from_end - slot->single_count, sizeof *to * slot->single_count);
        tm_arena_give(&buckets->arena, slot->block, slot->size_class);
    }
    slot->block = block;
    slot->size_class = size_class & 63;
    return true;
}

/* Add a slot without a block to a bucket and mark all its slots as shared if there are several; NULL if out of
 * memory. */
static onepath_slot *add_slot(onepath_buckets *buckets, onepath_slot slot) {
    uint64_t hash = onepath_bucket_hash(buckets, slot.key);
    onepath_segment *segment = segment_of(buckets, hash);
    if (!reserve_slot(buckets, segment)) {
        return NULL;
    }
    uint32_t at = onepath_segment_home(segment, hash);
    onepath_slot *other;
    while ((other = (onepath_slot *)onepath_segment_next(segment, slot.key, onepath_tag_of(hash), &at)) != NULL) {
        other->is_shared = 1;
        slot.is_shared = 1;
    }
    buckets->slot_count++;
    return place(segment, hash, slot);
}

/* Return a slot of the bucket with room for one more row, which is made if needed; NULL if out of memory. */
static onepath_slot *use_slot(onepath_buckets *buckets, uint64_t key, uint32_t units) {
    uint64_t hash = onepath_bucket_hash(buckets, key);
    onepath_segment *segment = segment_of(buckets, hash);
    onepath_slot *slot = NULL;
    if (segment->count != 0) {
        uint32_t at = onepath_segment_home(segment, hash);
        do {
            slot = (onepath_slot *)onepath_segment_next(segment, key, onepath_tag_of(hash), &at);
        } while (slot != NULL && (slot->is_opened || slot->entry_count + slot->single_count == ROWS_MAX));
    }
    slot = slot != NULL ? slot : add_slot(buckets, (onepath_slot){.key = key});
    if (slot != NULL && !reserve_units(buckets, slot, units)) {
        if (slot->block == 0) {
            drop_slot(buckets, slot);
        }
        slot = NULL;
    }
    return slot;
}

bool onepath_buckets_add_entry(onepath_buckets *buckets, uint64_t key, onepath_entry entry, uint32_t *row) {
    onepath_slot *slot = use_slot(buckets, key, ENTRY_UNITS);
    if (slot == NULL) {
        return false;
    }
    if (row != NULL) {
        *row = slot->entry_count;
    }
    onepath_slot_entries(buckets, slot)[slot->entry_count++] = entry;
    return true;
}

/* Singles of interfaces that use cells come first: coverers are searched for among them. */
bool onepath_buckets_add_single(onepath_buckets *buckets, uint64_t key, onepath_single single) {
    onepath_slot *slot = use_slot(buckets, key, SINGLE_UNITS);
    if (slot == NULL) {
        return false;
    }
    onepath_single *rows = onepath_slot_singles(buckets, slot);
    uint32_t at = slot->single_count++;
    if (single.interface < ONEPATH_CELL_INTERFACES && at > 0) {
        rows[-(ptrdiff_t)at] = rows[0];
        at = 0;
    }
    rows[-(ptrdiff_t)at] = single;
    return true;
}

void onepath_buckets_ask(const onepath_buckets *buckets, const uint64_t *keys, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        uint64_t hash = onepath_bucket_hash(buckets, keys[i]);
        const onepath_segment *segment = onepath_segment_of(buckets, hash);
        if (segment->count != 0) {
            uint32_t home = onepath_segment_home(segment, hash);
            __builtin_prefetch(segment->tags + home);
            __builtin_prefetch(segment->slots + home);
        }
    }
}

static void erase(onepath_buckets *buckets, onepath_slot *slot) {
    tm_arena_give(&buckets->arena, slot->block, slot->size_class);
    drop_slot(buckets, slot);
}

/* Remove the slot of an opened bucket that has no fork, once it is the bucket's only slot. */
static void close_if_idle(onepath_buckets *buckets, uint64_t key) {
    onepath_full_bucket full_bucket = onepath_bucket_is_full(buckets, key);
    if (full_bucket.opened != NULL && full_bucket.slots == 1 &&
        onepath_slot_node(buckets, full_bucket.opened)->count == 0) {
        erase(buckets, (onepath_slot *)full_bucket.opened);
        buckets->opened_count--;
    }
}

static void drop_if_empty(onepath_buckets *buckets, onepath_slot *slot) {
    if (slot->entry_count + slot->single_count == 0) {
        uint64_t key = slot->key;
        erase(buckets, slot);
        close_if_idle(buckets, key);
    }
}

/* Return an entry that must be there and its slot; tries `row` first. */
static onepath_entry *find_entry(const onepath_buckets *buckets, uint64_t key, uint32_t rest, uint32_t row,
                                 onepath_slot **found) {
    uint64_t hash = onepath_bucket_hash(buckets, key);
    const onepath_segment *segment = onepath_segment_of(buckets, hash);
    uint32_t home = onepath_segment_home(segment, hash);
    uint32_t at = home;
    while ((*found = (onepath_slot *)onepath_segment_next(segment, key, onepath_tag_of(hash), &at)) != NULL) {
        onepath_entry *rows = onepath_slot_entries(buckets, *found);
        if (row < (*found)->entry_count && rows[row].rest == rest) {
            return &rows[row];
        }
    }
    for (at = home;;) {
        *found = (onepath_slot *)onepath_segment_next(segment, key, onepath_tag_of(hash), &at);
        onepath_entry *rows = onepath_slot_entries(buckets, *found);
        for (uint32_t i = 0; i < (*found)->entry_count; i++) {
            if (rows[i].rest == rest) {
                return &rows[i];
            }
        }
    }
}

onepath_entry *onepath_buckets_entry(const onepath_buckets *buckets, uint64_t key, uint32_t rest, uint32_t row) {
    onepath_slot *slot;
    return find_entry(buckets, key, rest, row, &slot);
}

const onepath_entry *onepath_buckets_remove_entry(onepath_buckets *buckets, uint64_t key, uint32_t rest,
                                                  uint32_t *row) {
    onepath_slot *slot;
    onepath_entry *entry = find_entry(buckets, key, rest, *row, &slot);
    *row = (uint32_t)(entry - onepath_slot_entries(buckets, slot));
    *entry = onepath_slot_entries(buckets, slot)[--slot->entry_count];
    const onepath_entry *moved = *row < slot->entry_count ? entry : NULL;
    drop_if_empty(buckets, slot);
    return moved;
}

/* ---- opened buckets ---- */

onepath_full_bucket onepath_bucket_is_full(const onepath_buckets *buckets, uint64_t key) {
    onepath_full_bucket full_bucket = {0};
    uint64_t hash = onepath_bucket_hash(buckets, key);
    const onepath_segment *segment = onepath_segment_of(buckets, hash);
    if (segment->count == 0) {
        return full_bucket;
    }
    uint32_t at = onepath_segment_home(segment, hash);
    const onepath_slot *slot;
    while ((slot = onepath_segment_next(segment, key, onepath_tag_of(hash), &at)) != NULL) {
        full_bucket.entries += slot->entry_count;
        full_bucket.singles += slot->single_count;
        full_bucket.slots++;
        full_bucket.opened = slot->is_opened ? slot : full_bucket.opened;
    }
    return full_bucket;
}

void onepath_full_buckets(const onepath_buckets *buckets, const uint64_t *keys, uint32_t count,
                          onepath_full_bucket *full_buckets) {
    onepath_buckets_ask(buckets, keys, count);
    for (uint32_t i = 0; i < count; i++) {
        full_buckets[i] = onepath_bucket_is_full(buckets, keys[i]);
        if (full_buckets[i].opened != NULL) {
            __builtin_prefetch(onepath_slot_node(buckets, full_buckets[i].opened));
        }
    }
}

bool onepath_buckets_open(onepath_buckets *buckets, uint64_t key) {
    onepath_slot *slot = add_slot(buckets, (onepath_slot){.key = key, .is_opened = 1});
    if (slot == NULL) {
        return false;
    }
    if (!reserve_units(buckets, slot, NODE_UNITS)) {
        drop_slot(buckets, slot);
        return false;
    }
    *onepath_slot_node(buckets, slot) = (onepath_node){0};
    buckets->opened_count++;
    return true;
}

bool onepath_buckets_add_fork(onepath_buckets *buckets, uint64_t key, onepath_fork fork) {
    onepath_slot *slot = (onepath_slot *)onepath_bucket_is_full(buckets, key).opened;
    if (!reserve_units(buckets, slot, FORK_UNITS)) {
        return false;
    }
    onepath_node *node = onepath_slot_node(buckets, slot);
    node->forks[node->count++] = fork;
    node->guards += onepath_fork_goes_by(fork.what) == ONEPATH_FORK_TEST;
    return true;
}

void onepath_buckets_remove_fork(onepath_buckets *buckets, uint64_t key, uint32_t branch) {
    onepath_node *node = onepath_slot_node(buckets, onepath_bucket_is_full(buckets, key).opened);
    uint32_t at = 0;
    while (node->forks[at].branch != branch) {
        at++;
    }
    node->guards -= onepath_fork_goes_by(node->forks[at].what) == ONEPATH_FORK_TEST;
    for (uint32_t i = 0; i < at; i++) {
        node->forks[i].behind -= i + node->forks[i].behind >= at;
    }
    node->count--;
    memmove(&node->forks[at], &node->forks[at + 1], sizeof node->forks[0] * (node->count - at));
    close_if_idle(buckets, key);
}

/* ---- removing singles ---- */

void onepath_buckets_remove_single(onepath_buckets *buckets, uint64_t key, uint32_t handle) {
    uint64_t hash = onepath_bucket_hash(buckets, key);
    const onepath_segment *segment = onepath_segment_of(buckets, hash);
    uint32_t next = onepath_segment_home(segment, hash);
    for (;;) {
        onepath_slot *slot = (onepath_slot *)onepath_segment_next(segment, key, onepath_tag_of(hash), &next);
        onepath_single *rows = onepath_slot_singles(buckets, slot);
        for (ptrdiff_t at = 0; at < slot->single_count; at++) {
            if (rows[-at].handle == handle) {
                rows[-at] = rows[-(ptrdiff_t)--slot->single_count];
                drop_if_empty(buckets, slot);
                return;
            }
        }
    }
}

/* true if the slot is found under its key, and is the only one there unless it is marked as shared. */
static bool is_reachable(const onepath_buckets *buckets, const onepath_segment *segment, const onepath_slot *slot) {
    uint64_t hash = onepath_bucket_hash(buckets, slot->key);
    uint32_t at = onepath_segment_home(segment, hash);
    const onepath_slot *next;
    uint32_t found = 0;
    uint32_t others = 0;
    while ((next = onepath_segment_next(segment, slot->key, onepath_tag_of(hash), &at)) != NULL) {
        found += next == slot;
        others += next != slot;
    }
    return found == 1 && (others == 0 || slot->is_shared);
}

int onepath_buckets_validate(const onepath_buckets *buckets, const char **reason) {
    uint32_t slots = 0;
    for (unsigned i = 0; i < ONEPATH_SEGMENTS; i++) {
        const onepath_segment *segment = &buckets->segments[i];
        uint32_t count = 0;
        for (uint32_t at = 0; at < segment->capacity; at++) {
            const onepath_slot *slot = &segment->slots[at];
            if (segment->tags[at] == 0) {
                continue;
            }
            count++;
            if (!is_reachable(buckets, segment, slot)) {
                *reason = "a bucket is not found under its key";
                return TM_MISUSED;
            }
            uint32_t units = units_of(buckets, slot);
            if (units == 0 || slot->block == 0 || units > tm_arena_class_units(slot->size_class)) {
                *reason = "a bucket has no use or no room for its rows";
                return TM_MISUSED;
            }
        }
        if (count != segment->count) {
            *reason = "a segment's count of buckets is wrong";
            return TM_MISUSED;
        }
        slots += count;
    }
    if (slots != buckets->slot_count) {
        *reason = "the count of all buckets is wrong";
        return TM_MISUSED;
    }
    return TM_OK;
}

void onepath_buckets_probes(const onepath_buckets *buckets, tm_probes *probes) {
    for (unsigned i = 0; i < ONEPATH_SEGMENTS; i++) {
        const onepath_segment *segment = &buckets->segments[i];
        for (uint32_t at = 0; at < segment->capacity; at++) {
            if (segment->tags[at] != 0) {
                uint64_t hash = onepath_bucket_hash(buckets, segment->slots[at].key);
                tm_probes_note(probes, onepath_segment_home(segment, hash), at, segment->capacity);
            }
        }
    }
}
