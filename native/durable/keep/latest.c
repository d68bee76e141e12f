/* latest.c - see latest.h. */
#include "durable/keep/latest.h"

#include "durable/tables/index.h"

static uint64_t latest_hash(const void *owner, uint64_t n) {
    const tm_keep *keep = owner;
    const tm_kept *row = tm_index_find(&keep->index, n);
    return row != NULL ? tm_index_keys(&keep->index, row)->latest_key : 0;
}

bool keep_reserve_latest(tm_switch *sw, tm_keep *keep) {
    return tm_idset_reserve(&keep->account->latest, &sw->keeps->memory, TM_COLD, latest_hash, keep) == TM_OK;
}

void keep_forget_latest(tm_keep *keep, const tm_kept *row) {
    uint64_t key = tm_index_keys(&keep->index, row)->latest_key;
    tm_idset_search search = tm_idset_start(&keep->account->latest, key);
    for (uint64_t n = tm_idset_next_word(&search); key != 0 && n != 0; n = tm_idset_next_word(&search)) {
        if (n == row->n) {
            tm_idset_remove(&keep->account->latest, key, n, latest_hash, keep);
            return;
        }
    }
}

uint64_t keep_find_latest(const tm_keep *keep, uint64_t key) {
    tm_idset_search search = tm_idset_start(&keep->account->latest, key);
    for (uint64_t n = tm_idset_next_word(&search); n != 0; n = tm_idset_next_word(&search)) {
        if (latest_hash(keep, n) == key) {
            return n;
        }
    }
    return 0;
}
