/* latest.c - see latest.h. */
#include "durable/core/latest.h"

#include "durable/tables/index.h"

static uint64_t latest_hash(const void *owner, uint64_t n) {
    const tm_durable *durable = owner;
    const tm_stored_row *row = tm_index_find(&durable->index, n);
    return row != NULL ? tm_index_keys(&durable->index, row)->latest_key : 0;
}

bool durable_reserve_latest(tm_switch *sw, tm_durable *durable) {
    return tm_idset_reserve(&durable->account->latest, &sw->durables->memory, TM_COLD, latest_hash, durable) == TM_OK;
}

void durable_forget_latest(tm_durable *durable, const tm_stored_row *row) {
    uint64_t key = tm_index_keys(&durable->index, row)->latest_key;
    tm_idset_search search = tm_idset_start(&durable->account->latest, key);
    for (uint64_t n = tm_idset_next_word(&search); key != 0 && n != 0; n = tm_idset_next_word(&search)) {
        if (n == row->n) {
            tm_idset_remove(&durable->account->latest, key, n, latest_hash, durable);
            return;
        }
    }
}

uint64_t durable_find_latest(const tm_durable *durable, uint64_t key) {
    tm_idset_search search = tm_idset_start(&durable->account->latest, key);
    for (uint64_t n = tm_idset_next_word(&search); n != 0; n = tm_idset_next_word(&search)) {
        if (latest_hash(durable, n) == key) {
            return n;
        }
    }
    return 0;
}
