/* subscriptions.c - see subscriptions.h. */
#include "switch/subscribers/subscriptions.h"

#include <string.h>

#include "base/hash.h"
#include "switch/subscribers/worker_groups.h"
#include "tm.h"

#define ROWS_MIN 16U
#define LOAD_PERCENT 66U                     /* slots of four bytes are cheap, long probes are not */
#define SHRUNK_UNITS_MIN (UINT32_C(1) << 17) /* 1 MiB */
#define COPIED_UNITS_MAX (UINT32_C(1) << 22) /* 32 MiB, which takes about ten milliseconds */

void tm_subscriptions_init(tm_subscriptions *subscriptions, tm_memory *memory, tm_table *table) {
    *subscriptions = (tm_subscriptions){.memory = memory, .table = table, .free = SUBSCRIPTION_NONE};
    subscriptions->set.percent_max = LOAD_PERCENT;
    tm_arena_init(&subscriptions->bytes, memory, TM_COLD);
    tm_programs_init(&subscriptions->programs, memory);
    tm_folded_names_init(&subscriptions->folded, memory);
    tm_worker_groups_init(&subscriptions->groups, memory);
}

void tm_subscriptions_clear(tm_subscriptions *subscriptions) {
    tm_memory *memory = subscriptions->memory;
    TM_DELETE(memory, TM_COLD, subscriptions->rows, tm_subscription, subscriptions->row_capacity);
    tm_idset_free(&subscriptions->set, memory, TM_COLD);
    TM_DELETE(memory, TM_COLD, subscriptions->kept, tm_kept_filter, subscriptions->kept_capacity);
    tm_arena_clear(&subscriptions->bytes);
    tm_programs_clear(&subscriptions->programs);
    tm_folded_names_clear(&subscriptions->folded);
    tm_worker_groups_clear(&subscriptions->groups);
    tm_subscriptions_init(subscriptions, memory, subscriptions->table);
}

/* ---- the set of (subscriber, id) ---- */

static uint64_t hash_pair(const tm_subscriptions *subscriptions, uint32_t subscriber, uint32_t id) {
    return tm_hash_u64((uint64_t)subscriber << 32 | id, &subscriptions->memory->key);
}

static uint64_t hash_of(const void *owner, uint64_t next) {
    const tm_subscriptions *subscriptions = owner;
    const tm_subscription *row = &subscriptions->rows[next - 1];
    return hash_pair(subscriptions, row->subscriber, row->id);
}

static bool reserve_slot(tm_subscriptions *subscriptions) {
    return tm_idset_reserve(&subscriptions->set, subscriptions->memory, TM_COLD, hash_of, subscriptions) == TM_OK;
}

static bool reserve_row(tm_subscriptions *subscriptions) {
    if (subscriptions->free != SUBSCRIPTION_NONE || subscriptions->row_count < subscriptions->row_capacity) {
        return true;
    }
    uint32_t capacity = subscriptions->row_capacity + subscriptions->row_capacity / 4 + ROWS_MIN;
    tm_subscription *rows = TM_RESIZE(subscriptions->memory, TM_COLD, subscriptions->rows, tm_subscription,
                                      subscriptions->row_capacity, capacity);
    if (rows == NULL) {
        return false;
    }
    subscriptions->rows = rows;
    subscriptions->row_capacity = capacity;
    return true;
}

static bool reserve_stored(tm_subscriptions *subscriptions, uint32_t handle) {
    if (handle >= subscriptions->kept_capacity) {
        uint32_t capacity = handle + handle / 4 + ROWS_MIN;
        tm_kept_filter *kept = TM_RESIZE(subscriptions->memory, TM_COLD, subscriptions->kept, tm_kept_filter,
                                         subscriptions->kept_capacity, capacity);
        if (kept == NULL) {
            return false;
        }
        subscriptions->kept = kept;
        subscriptions->kept_capacity = capacity;
    }
    for (; subscriptions->stored_count <= handle; subscriptions->stored_count++) {
        subscriptions->kept[subscriptions->stored_count] = (tm_kept_filter){.subscription = SUBSCRIPTION_NONE};
    }
    return true;
}

uint32_t tm_subscriptions_find(const tm_subscriptions *subscriptions, uint32_t subscriber, uint32_t id) {
    tm_idset_search at = tm_idset_start(&subscriptions->set, hash_pair(subscriptions, subscriber, id));
    for (uint32_t next; (next = tm_idset_next(&at)) != 0;) {
        const tm_subscription *row = &subscriptions->rows[next - 1];
        if (row->subscriber == subscriber && row->id == id) {
            return next - 1;
        }
    }
    return SUBSCRIPTION_NONE;
}

/* ---- a subscription's life ---- */

int tm_subscriptions_begin(tm_subscriptions *subscriptions, uint32_t subscriber, uint32_t id, bool own_messages,
                           uint32_t *list, uint32_t *row) {
    if (tm_subscriptions_find(subscriptions, subscriber, id) != SUBSCRIPTION_NONE) {
        return TM_MISUSED;
    }
    if (!reserve_slot(subscriptions) || !reserve_row(subscriptions)) {
        return TM_NO_MEMORY;
    }
    *row = subscriptions->free;
    if (*row != SUBSCRIPTION_NONE) {
        subscriptions->free = subscriptions->rows[*row].next;
    } else {
        *row = subscriptions->row_count++;
    }
    subscriptions->rows[*row] = (tm_subscription){.subscriber = subscriber,
                                                  .id = id,
                                                  .filters = SUBSCRIPTION_NONE,
                                                  .next = *list,
                                                  .previous = SUBSCRIPTION_NONE,
                                                  .own_messages = own_messages,
                                                  .in_use = true};
    if (*list != SUBSCRIPTION_NONE) {
        subscriptions->rows[*list].previous = *row;
    }
    *list = *row;
    tm_idset_insert(&subscriptions->set, hash_pair(subscriptions, subscriber, id), *row + 1);
    subscriptions->live++;
    return TM_OK;
}

int tm_subscriptions_join(tm_subscriptions *subscriptions, uint32_t row, const tm_subscribe *subscribe) {
    uint32_t joined =
        tm_worker_groups_join(&subscriptions->groups, subscribe->group, subscribe->group_size, subscribe->group_number);
    subscriptions->rows[row].group = joined;
    return joined == WORKER_GROUP_NONE ? TM_NO_MEMORY : TM_OK;
}

static uint32_t units_of(uint32_t size) {
    return (size + 7) / 8;
}

int tm_subscriptions_note_dialect(tm_subscriptions *subscriptions, uint32_t row, const uint8_t *name, uint8_t size) {
    uint32_t block = tm_arena_take(&subscriptions->bytes, tm_arena_class(units_of(size)));
    if (block == 0) {
        return TM_NO_MEMORY;
    }
    memcpy(tm_arena_at(&subscriptions->bytes, block), name, size);
    tm_subscription *at = &subscriptions->rows[row];
    at->dialect = block;
    at->dialect_size = size;
    at->table_bytes += size;
    return TM_OK;
}

int tm_subscriptions_decide_by(tm_subscriptions *subscriptions, uint32_t row, const uint8_t *program, uint32_t size) {
    uint32_t number = tm_programs_add(&subscriptions->programs, row, program, size);
    if (number == PROGRAM_NONE) {
        return TM_NO_MEMORY;
    }
    subscriptions->rows[row].program = number;
    subscriptions->rows[row].table_bytes += size;
    return TM_OK;
}

/* Note the filter of a handle, with its packed bytes if something may read them. false: no memory. */
static bool keep(tm_subscriptions *subscriptions, uint32_t handle, uint32_t row, const uint8_t *filter, uint32_t size) {
    uint32_t block = 0;
    const tm_subscription *of = &subscriptions->rows[row];
    if (!of->is_unlisted || of->is_folded || handle < SUBSCRIPTIONS_PLANNED_MAX) {
        block = tm_arena_take(&subscriptions->bytes, tm_arena_class(units_of(size)));
        if (block == 0) {
            return false;
        }
        memcpy(tm_arena_at(&subscriptions->bytes, block), filter, size);
    }
    subscriptions->kept[handle] = (tm_kept_filter){row, subscriptions->rows[row].filters, block, size};
    return true;
}

int tm_subscriptions_add(tm_subscriptions *subscriptions, uint32_t row, const uint8_t *filter, uint32_t size) {
    subscriptions->version++; /* the packed filters may move even if this one is not added */
    uint32_t handle;
    uint64_t used = tm_table_used(subscriptions->table);
    int result = tm_table_add(subscriptions->table, filter, size, subscriptions->rows[row].subscriber, &handle);
    if (result != TM_OK) {
        return result;
    }
    bool is_folded = subscriptions->rows[row].is_folded;
    if (!reserve_stored(subscriptions, handle) ||
        (is_folded && tm_folded_names_add(&subscriptions->folded, filter, size) != TM_OK)) {
        tm_table_remove(subscriptions->table, handle);
        return TM_NO_MEMORY;
    }
    if (!keep(subscriptions, handle, row, filter, size)) {
        if (is_folded) {
            tm_folded_names_remove(&subscriptions->folded, filter, size);
        }
        tm_table_remove(subscriptions->table, handle);
        return TM_NO_MEMORY;
    }
    subscriptions->rows[row].filters = handle;
    uint64_t grown = tm_table_used(subscriptions->table);
    subscriptions->rows[row].table_bytes += grown > used ? (uint32_t)(grown - used) : 0; /* a table may free some */
    subscriptions->filters++;
    return TM_OK;
}

uint32_t tm_subscriptions_end(tm_subscriptions *subscriptions, uint32_t row, uint32_t *list) {
    tm_subscription *at = &subscriptions->rows[row];
    uint32_t count = 0;
    subscriptions->version++;
    for (uint32_t handle = at->filters; handle != SUBSCRIPTION_NONE; count++) {
        tm_kept_filter *kept = &subscriptions->kept[handle];
        uint32_t next = kept->next;
        tm_table_remove(subscriptions->table, handle);
        if (at->is_folded) {
            tm_folded_names_remove(&subscriptions->folded, tm_arena_at(&subscriptions->bytes, kept->block), kept->size);
        }
        if (kept->block != 0) {
            tm_arena_give(&subscriptions->bytes, kept->block, tm_arena_class(units_of(kept->size)));
        }
        *kept = (tm_kept_filter){.subscription = SUBSCRIPTION_NONE};
        handle = next;
    }
    if (at->dialect != 0) {
        tm_arena_give(&subscriptions->bytes, at->dialect, tm_arena_class(units_of(at->dialect_size)));
    }
    if (at->program != PROGRAM_NONE) {
        tm_programs_remove(&subscriptions->programs, at->program);
    }
    if (at->group != WORKER_GROUP_NONE) {
        tm_worker_groups_leave(&subscriptions->groups, at->group);
    }
    tm_idset_remove(&subscriptions->set, hash_of(subscriptions, row + 1), row + 1, hash_of, subscriptions);
    if (at->previous != SUBSCRIPTION_NONE) {
        subscriptions->rows[at->previous].next = at->next;
    } else {
        *list = at->next;
    }
    if (at->next != SUBSCRIPTION_NONE) {
        subscriptions->rows[at->next].previous = at->previous;
    }
    *at = (tm_subscription){.next = subscriptions->free};
    subscriptions->free = row;
    subscriptions->live--;
    subscriptions->filters -= count;
    return count;
}

static bool is_worth_shrinking(const tm_arena *bytes) {
    return bytes->top > SHRUNK_UNITS_MIN && bytes->used < bytes->top / 4 && bytes->used < COPIED_UNITS_MAX;
}

/* Copy a block to an arena that has room for it; returns its place there. 0 is no block. */
static uint32_t moved(const tm_arena *from, uint32_t block, uint32_t size, tm_arena *to) {
    if (block == 0) {
        return 0;
    }
    uint32_t place = tm_arena_take(to, tm_arena_class(units_of(size)));
    memcpy(tm_arena_at(to, place), tm_arena_at(from, block), size);
    return place;
}

void tm_subscriptions_shrink(tm_subscriptions *subscriptions) {
    if (!is_worth_shrinking(&subscriptions->bytes)) {
        return;
    }
    tm_arena fresh;
    tm_arena_init(&fresh, subscriptions->memory, TM_COLD);
    if (!tm_arena_reserve(&fresh, subscriptions->bytes.used)) {
        return;
    }
    for (uint32_t handle = 0; handle < subscriptions->stored_count; handle++) {
        tm_kept_filter *kept = &subscriptions->kept[handle];
        if (kept->subscription != SUBSCRIPTION_NONE) {
            kept->block = moved(&subscriptions->bytes, kept->block, kept->size, &fresh);
        }
    }
    for (uint32_t row = 0; row < subscriptions->row_count; row++) {
        tm_subscription *at = &subscriptions->rows[row];
        at->dialect = moved(&subscriptions->bytes, at->dialect, at->dialect_size, &fresh);
    }
    tm_arena_clear(&subscriptions->bytes);
    subscriptions->bytes = fresh;
    subscriptions->version++; /* the packed filters have moved */
}

bool tm_subscriptions_are_sound(const tm_subscriptions *subscriptions) {
    uint32_t live = 0;
    uint32_t filters = 0;
    for (uint32_t row = 0; row < subscriptions->row_count; row++) {
        const tm_subscription *at = &subscriptions->rows[row];
        if (!at->in_use) {
            continue;
        }
        live++;
        if (tm_subscriptions_find(subscriptions, at->subscriber, at->id) != row) {
            return false;
        }
        for (uint32_t handle = at->filters; handle != SUBSCRIPTION_NONE; handle = subscriptions->kept[handle].next) {
            if (++filters > subscriptions->filters || subscriptions->kept[handle].subscription != row) {
                return false;
            }
        }
    }
    return live == subscriptions->live && filters == subscriptions->filters;
}
