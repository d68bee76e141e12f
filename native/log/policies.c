/* policies.c - the policies of the durable subscriptions in a log, and its chains, for a caller that starts with it.
 *
 * Law: the policy committed last is listed for each subscription, once, in order of subscriptions.
 */
#include <stdlib.h>
#include <string.h>

#include "log/log.h"
#include "log/read.h"

static int by_number(const void *one, const void *other) {
    uint32_t first = *(const uint32_t *)one;
    uint32_t second = *(const uint32_t *)other;
    return (first > second) - (first < second);
}

/* Return the numbers past `after` of subscriptions that have a policy, in order, in a block with room for `*room`,
 * which the caller frees; NULL: no memory. */
static uint32_t *list(tm_store *store, uint32_t after, uint32_t *room, uint32_t *count) {
    pthread_mutex_lock(&store->state);
    const tm_log_holders *holders = &store->holders;
    *room = holders->known + 1;
    *count = 0;
    uint32_t *durables = TM_NEW(&store->memory, TM_COLD, uint32_t, *room);
    for (uint32_t i = 0; i < holders->count && durables != NULL; i++) {
        const tm_log_holder *holder = &holders->all[i];
        if (holder->is_known && holder->role == TM_POLICY && holder->id > after) {
            durables[(*count)++] = (uint32_t)holder->id;
        }
    }
    pthread_mutex_unlock(&store->state);
    if (durables != NULL) {
        qsort(durables, *count, sizeof *durables, by_number);
    }
    return durables;
}

/* Keep only the last of some records, and return its size. */
static size_t leave_last(uint8_t *records, size_t size) {
    size_t at = 0;
    for (size_t next = 0; next < size; next += ((const tm_log_record *)(records + next))->size) {
        at = next;
    }
    memmove(records, records + at, size - at);
    return size - at;
}

int tm_log_durables(tm_log *log, uint32_t after, void *out, size_t capacity, size_t *size) {
    tm_store *store = log->store;
    uint32_t room;
    uint32_t count;
    uint32_t *durables = list(store, after, &room, &count);
    int result = durables != NULL ? TM_OK : TM_NO_MEMORY;
    *size = 0;
    for (uint32_t i = 0; i < count && result == TM_OK; i++) {
        size_t bytes;
        uint8_t *at = (uint8_t *)out + *size;
        result = tm_store_read(store, (tm_claim){durables[i], TM_POLICY}, 0, at, capacity - *size, &bytes);
        if (result == TM_TOO_MANY && *size == 0) {
            *size = bytes;
        } else if (result == TM_OK) {
            *size += leave_last(at, bytes);
        }
    }
    pthread_mutex_lock(&store->state);
    TM_DELETE(&store->memory, TM_COLD, durables, uint32_t, room);
    pthread_mutex_unlock(&store->state);
    bool has_some = result == TM_TOO_MANY && count > 0 && *size > 0 && *size <= capacity;
    return has_some ? TM_OK : result;
}

uint32_t tm_log_chain_of(tm_log *log, uint64_t router, uint32_t is_home, tm_log_chain *chain) {
    pthread_mutex_lock(&log->store->state);
    const tm_log_chain *found = tm_chains_find(&log->store->chains, router, is_home);
    bool is_known = found != NULL && found->n > 0;
    if (is_known) {
        *chain = *found;
    }
    pthread_mutex_unlock(&log->store->state);
    return is_known;
}

size_t tm_log_chains(tm_log *log, tm_log_chain *out, size_t capacity) {
    pthread_mutex_lock(&log->store->state);
    size_t count = tm_chains_known(&log->store->chains, out, capacity);
    pthread_mutex_unlock(&log->store->state);
    return count;
}
