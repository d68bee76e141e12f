/* chains.c - see chains.h. */
#include "log/chains.h"

#include <string.h>

#include "base/grow.h"
#include "base/tested.h"

/* Return where a chain is, or belongs. */
static uint32_t place_of(const tm_chains *chains, uint64_t router, uint32_t is_home) {
    uint32_t low = 0;
    for (uint32_t high = chains->count; low < high;) {
        uint32_t middle = low + (high - low) / 2;
        const tm_log_chain *at = &chains->all[middle];
        if (at->is_home < is_home || (at->is_home == is_home && at->router < router)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

tm_log_chain *tm_chains_find(const tm_chains *chains, uint64_t router, uint32_t is_home) {
    uint32_t place = place_of(chains, router, is_home);
    bool is_there =
        place < chains->count && chains->all[place].router == router && chains->all[place].is_home == is_home;
    return is_there ? &chains->all[place] : NULL;
}

bool tm_chains_reserve(tm_chains *chains, uint64_t router, uint32_t is_home) {
    if (tm_chains_find(chains, router, is_home) != NULL) {
        return true;
    }
    if (!tm_grow(chains->memory, TM_COLD, &chains->all, sizeof *chains->all, &chains->capacity, chains->count + 1)) {
        return false;
    }
    uint32_t place = place_of(chains, router, is_home);
    tm_log_chain *at = chains->all + place;
    memmove(at + 1, at, (chains->count - place) * sizeof *at);
    *at = (tm_log_chain){.router = router, .is_home = is_home};
    chains->count++;
    return true;
}

void tm_chains_set(tm_chains *chains, const tm_log_chain *said, uint64_t n) {
    tm_log_chain *chain = tm_chains_find(chains, said->router, said->is_home);
    if (chain != NULL && n > chain->n) {
        uint64_t have = chain->log == said->log && chain->have > said->have ? chain->have : said->have;
        *chain = *said;
        chain->have = have;
        chain->n = n;
    }
}

void tm_chains_move(tm_chains *chains, uint64_t entry, uint64_t have, uint64_t n) {
    tm_log_chain *chain = tm_chains_find(chains, entry, 0);
    bool is_later = chain != NULL && chain->n > 0 && n > chain->n && have > chain->have;
    if (is_later && !TM_BREAKS(MESSAGES_MOVE_NOTHING)) {
        chain->have = have;
    }
}

void tm_chains_remove(tm_chains *chains, uint64_t router, uint32_t is_home) {
    tm_log_chain *at = tm_chains_find(chains, router, is_home);
    if (at != NULL) {
        memmove(at, at + 1, (size_t)(chains->all + chains->count - at - 1) * sizeof *at);
        chains->count--;
    }
}

size_t tm_chains_known(const tm_chains *chains, tm_log_chain *out, size_t capacity) {
    size_t known = 0;
    for (uint32_t i = 0; i < chains->count; i++) {
        if (chains->all[i].n > 0) {
            if (known < capacity) {
                out[known] = chains->all[i];
            }
            known++;
        }
    }
    return known;
}

void tm_chains_free(tm_chains *chains) {
    TM_DELETE(chains->memory, TM_COLD, chains->all, tm_log_chain, chains->capacity);
    *chains = (tm_chains){.memory = chains->memory};
}
