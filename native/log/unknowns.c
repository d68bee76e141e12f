/* unknowns.c - unknown ranges: what damage may have taken from one holder.
 *
 * Law: the holders of missing records are unknown, so a stretch of missing numbers is an unknown range for each holder
 * that is not done with it. Once a holder is done with a stretch, it is never reported to that holder again, in this
 * run or a later one.
 */
#include "log/log.h"

typedef struct unknowns {
    tm_log_range *out; /* borrowed */
    size_t capacity;
    size_t count;
} unknowns;

static void tell(unknowns *d, uint64_t first, uint64_t last) {
    if (d->count < d->capacity) {
        d->out[d->count++] = (tm_log_range){first, last};
    } else {
        d->out[d->count - 1].last = last;
    }
}

/* Report the parts of a stretch that are in no done range; `*at` is the first range that may reach into it. */
static void tell_open(unknowns *d, const tm_ranges *done, uint32_t *at, uint64_t first, uint64_t last) {
    while (*at < done->count && done->spans[*at].last < first) {
        ++*at;
    }
    for (uint32_t i = *at; first <= last; i++) {
        bool reaches_in = i < done->count && done->spans[i].first <= last;
        uint64_t end = reaches_in ? done->spans[i].first : last + 1;
        if (first < end) {
            tell(d, first, end - 1);
        }
        first = reaches_in ? done->spans[i].last + 1 : last + 1;
    }
}

size_t tm_log_unknowns(tm_log *log, uint64_t holder, uint32_t is_home, uint64_t since, tm_log_range *out,
                       size_t capacity) {
    tm_store *store = log->store;
    tm_claim of = tm_claim_of(holder, is_home);
    unknowns d = {.out = out, .capacity = capacity};
    pthread_mutex_lock(&store->state);
    const tm_log_holder *known = tm_log_holders_find(&store->holders, of.holder, of.role);
    const tm_ranges none = {0};
    uint64_t done = known != NULL && known->done > since ? known->done : since;
    uint32_t at = 0;
    for (uint32_t i = 0; i < store->doubtful.count; i++) {
        tm_span span = store->doubtful.spans[i];
        if (span.last > done) {
            tell_open(&d, known != NULL ? &known->above : &none, &at, span.first > done ? span.first : done + 1,
                      span.last);
        }
    }
    pthread_mutex_unlock(&store->state);
    return d.count;
}

bool tm_log_unknown(tm_log *log, uint64_t n) {
    tm_store *store = log->store;
    pthread_mutex_lock(&store->state);
    bool is_noted = tm_ranges_add(&store->doubtful, &store->memory, n, n);
    pthread_mutex_unlock(&store->state);
    return is_noted;
}
