/* table.c - see table.h. */
#include "durable/keep/table.h"

#include <sys/eventfd.h>

#include "base/grow.h"

static uint64_t hash_of(const void *owner, uint64_t id) {
    const tm_keeps *keeps = owner;
    return tm_hash_u64(keeps->rows[id - 1]->number, &keeps->memory.key);
}

uint32_t keep_slot(const tm_switch *sw, uint32_t number) {
    const tm_keeps *keeps = sw->keeps;
    tm_idset_search search = tm_idset_start(&keeps->numbers, tm_hash_u64(number, &keeps->memory.key));
    for (uint32_t id = tm_idset_next(&search); id != 0; id = tm_idset_next(&search)) {
        if (keeps->rows[id - 1]->number == number) {
            return id - 1;
        }
    }
    return KEEP_NONE;
}

static bool reserve_keep(tm_keeps *keeps) {
    if (tm_idset_reserve(&keeps->numbers, &keeps->memory, TM_COLD, hash_of, keeps) != TM_OK) {
        return false;
    }
    if (keeps->free != KEEP_NONE || keeps->count < keeps->capacity) {
        return true;
    }
    uint32_t old = keeps->capacity;
    uint32_t capacity = tm_next_capacity(old, sizeof *keeps->rows);
    uint32_t **lists[4] = {&keeps->wanted, &keeps->wanted_slots, &keeps->due, &keeps->unwritten};
    /* a subscription may be two holders, and may become due while it is served */
    static const uint32_t times[4] = {2, 1, 2, 1};
    for (unsigned i = 0; i < 4; i++) { /* a list that grew before a failure is shrunk again */
        uint32_t *grown = TM_RESIZE(&keeps->memory, TM_COLD, *lists[i], uint32_t, times[i] * old, times[i] * capacity);
        if (grown == NULL) {
            while (i-- > 0) {
                *lists[i] =
                    TM_RESIZE(&keeps->memory, TM_COLD, *lists[i], uint32_t, times[i] * capacity, times[i] * old);
            }
            return false;
        }
        *lists[i] = grown;
    }
    tm_keep **rows = TM_RESIZE(&keeps->memory, TM_COLD, keeps->rows, tm_keep *, old, capacity);
    if (rows == NULL) {
        for (unsigned i = 0; i < 4; i++) {
            *lists[i] = TM_RESIZE(&keeps->memory, TM_COLD, *lists[i], uint32_t, times[i] * capacity, times[i] * old);
        }
        return false;
    }
    keeps->rows = rows;
    keeps->capacity = capacity;
    return true;
}

uint32_t keep_new_slot(tm_switch *sw, uint32_t number) {
    tm_keeps *keeps = sw->keeps;
    if (!reserve_keep(keeps)) {
        return KEEP_NONE;
    }
    uint32_t slot = keeps->free;
    bool is_due = false; /* the previous subscription of this slot may still be listed */
    bool is_unwritten = false;
    if (slot != KEEP_NONE) {
        keeps->free = keeps->rows[slot]->next_free;
        is_due = keeps->rows[slot]->is_due;
        is_unwritten = keeps->rows[slot]->is_unwritten;
    } else {
        tm_keep *row = TM_NEW(&keeps->memory, TM_COLD, tm_keep, 1);
        if (row == NULL) {
            return KEEP_NONE;
        }
        slot = keeps->count++;
        keeps->rows[slot] = row;
    }
    *keeps->rows[slot] = (tm_keep){.number = number,
                                   .is_due = is_due,
                                   .is_unwritten = is_unwritten,
                                   .subscriber = SUBSCRIBER_NONE,
                                   .is_live = true,
                                   .members = MEMBER_NONE,
                                   .look_ms = UINT64_MAX};
    tm_idset_insert(&keeps->numbers, tm_hash_u64(number, &keeps->memory.key), slot + 1);
    return slot;
}

void keep_free_slot(tm_switch *sw, uint32_t slot) {
    tm_keeps *keeps = sw->keeps;
    uint32_t number = keeps->rows[slot]->number;
    tm_idset_remove(&keeps->numbers, tm_hash_u64(number, &keeps->memory.key), slot + 1, hash_of, keeps);
    tm_keep *keep = keeps->rows[slot];
    *keep = (tm_keep){.subscriber = SUBSCRIBER_NONE,
                      .is_due = keep->is_due,
                      .is_unwritten = keep->is_unwritten,
                      .next_free = keeps->free};
    keeps->free = slot;
}

const tm_keep_account *keep_account(const tm_keep *keep) {
    static const tm_keep_account nothing;
    return keep->account != NULL ? keep->account : &nothing;
}

bool keep_open_account(tm_switch *sw, tm_keep *keep) {
    if (keep->account == NULL) {
        keep->account = TM_NEW(&sw->keeps->memory, TM_COLD, tm_keep_account, 1);
        if (keep->account == NULL) {
            return false;
        }
        keep->account->tally.keep = keep->number;
        keep->account->latest.has_words = true;
    }
    return true;
}

bool keep_numbers_are_sound(const tm_switch *sw) {
    return tm_idset_is_sound(&sw->keeps->numbers, hash_of, sw->keeps);
}

/* ---- lists of work ---- */

void keep_make_due(tm_switch *sw, uint32_t slot) {
    tm_keep *keep = keep_at(sw, slot);
    if (!keep->is_due) {
        keep->is_due = true;
        sw->keeps->due[sw->keeps->due_count++] = slot;
    }
}

void keep_make_unwritten(tm_switch *sw, uint32_t slot) {
    tm_keep *keep = keep_at(sw, slot);
    if (!keep->is_unwritten) {
        keep->is_unwritten = true;
        sw->keeps->unwritten[sw->keeps->unwritten_count++] = slot;
    }
}

void keep_wake(tm_switch *sw) {
    if (!sw->keeps->is_woken) {
        sw->keeps->is_woken = true;
        eventfd_write(sw->keeps->wakes, 1);
    }
}
