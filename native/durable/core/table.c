/* table.c - see table.h. */
#include "durable/core/table.h"

#include <sys/eventfd.h>

#include "base/grow.h"

static uint64_t hash_of(const void *owner, uint64_t id) {
    const tm_durables *durables = owner;
    return tm_hash_u64(durables->rows[id - 1]->number, &durables->memory.key);
}

uint32_t durable_slot(const tm_switch *sw, uint32_t number) {
    const tm_durables *durables = sw->durables;
    tm_idset_search search = tm_idset_start(&durables->numbers, tm_hash_u64(number, &durables->memory.key));
    for (uint32_t id = tm_idset_next(&search); id != 0; id = tm_idset_next(&search)) {
        if (durables->rows[id - 1]->number == number) {
            return id - 1;
        }
    }
    return DURABLE_NONE;
}

static bool reserve_durable(tm_durables *durables) {
    if (tm_idset_reserve(&durables->numbers, &durables->memory, TM_COLD, hash_of, durables) != TM_OK) {
        return false;
    }
    if (durables->free != DURABLE_NONE || durables->count < durables->capacity) {
        return true;
    }
    uint32_t old = durables->capacity;
    uint32_t capacity = tm_next_capacity(old, sizeof *durables->rows);
    uint32_t **lists[4] = {&durables->wanted, &durables->wanted_slots, &durables->due, &durables->unwritten};
    /* a subscription may be two holders, and may become due while it is served */
    static const uint32_t times[4] = {2, 1, 2, 1};
    for (unsigned i = 0; i < 4; i++) { /* a list that grew before a failure is shrunk again */
        uint32_t *grown =
            TM_RESIZE(&durables->memory, TM_COLD, *lists[i], uint32_t, times[i] * old, times[i] * capacity);
        if (grown == NULL) {
            while (i-- > 0) {
                *lists[i] =
                    TM_RESIZE(&durables->memory, TM_COLD, *lists[i], uint32_t, times[i] * capacity, times[i] * old);
            }
            return false;
        }
        *lists[i] = grown;
    }
    tm_durable **rows = TM_RESIZE(&durables->memory, TM_COLD, durables->rows, tm_durable *, old, capacity);
    if (rows == NULL) {
        for (unsigned i = 0; i < 4; i++) {
            *lists[i] = TM_RESIZE(&durables->memory, TM_COLD, *lists[i], uint32_t, times[i] * capacity, times[i] * old);
        }
        return false;
    }
    durables->rows = rows;
    durables->capacity = capacity;
    return true;
}

uint32_t durable_new_slot(tm_switch *sw, uint32_t number) {
    tm_durables *durables = sw->durables;
    if (!reserve_durable(durables)) {
        return DURABLE_NONE;
    }
    uint32_t slot = durables->free;
    bool is_due = false; /* the previous subscription of this slot may still be listed */
    bool is_unwritten = false;
    if (slot != DURABLE_NONE) {
        durables->free = durables->rows[slot]->next_free;
        is_due = durables->rows[slot]->is_due;
        is_unwritten = durables->rows[slot]->is_unwritten;
    } else {
        tm_durable *row = TM_NEW(&durables->memory, TM_COLD, tm_durable, 1);
        if (row == NULL) {
            return DURABLE_NONE;
        }
        slot = durables->count++;
        durables->rows[slot] = row;
    }
    *durables->rows[slot] = (tm_durable){.number = number,
                                         .is_due = is_due,
                                         .is_unwritten = is_unwritten,
                                         .subscriber = SUBSCRIBER_NONE,
                                         .is_live = true,
                                         .consumers = CONSUMER_NONE,
                                         .look_ms = UINT64_MAX};
    tm_idset_insert(&durables->numbers, tm_hash_u64(number, &durables->memory.key), slot + 1);
    return slot;
}

void durable_free_slot(tm_switch *sw, uint32_t slot) {
    tm_durables *durables = sw->durables;
    uint32_t number = durables->rows[slot]->number;
    tm_idset_remove(&durables->numbers, tm_hash_u64(number, &durables->memory.key), slot + 1, hash_of, durables);
    tm_durable *durable = durables->rows[slot];
    *durable = (tm_durable){.subscriber = SUBSCRIBER_NONE,
                            .is_due = durable->is_due,
                            .is_unwritten = durable->is_unwritten,
                            .next_free = durables->free};
    durables->free = slot;
}

const tm_durable_account *durable_account(const tm_durable *durable) {
    static const tm_durable_account nothing;
    return durable->account != NULL ? durable->account : &nothing;
}

bool durable_open_account(tm_switch *sw, tm_durable *durable) {
    if (durable->account == NULL) {
        durable->account = TM_NEW(&sw->durables->memory, TM_COLD, tm_durable_account, 1);
        if (durable->account == NULL) {
            return false;
        }
        durable->account->counts.durable = durable->number;
        durable->account->latest.has_words = true;
    }
    return true;
}

bool durable_numbers_are_sound(const tm_switch *sw) {
    return tm_idset_is_sound(&sw->durables->numbers, hash_of, sw->durables);
}

/* ---- lists of work ---- */

void durable_make_due(tm_switch *sw, uint32_t slot) {
    tm_durable *durable = durable_at(sw, slot);
    if (!durable->is_due) {
        durable->is_due = true;
        sw->durables->due[sw->durables->due_count++] = slot;
    }
}

void durable_make_unwritten(tm_switch *sw, uint32_t slot) {
    tm_durable *durable = durable_at(sw, slot);
    if (!durable->is_unwritten) {
        durable->is_unwritten = true;
        sw->durables->unwritten[sw->durables->unwritten_count++] = slot;
    }
}

void durable_wake(tm_switch *sw) {
    if (!sw->durables->is_woken) {
        sw->durables->is_woken = true;
        eventfd_write(sw->durables->wakes, 1);
    }
}
