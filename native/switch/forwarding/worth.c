/* worth.c - see worth.h. */
#include "switch/forwarding/worth.h"

#include <string.h>

#include "base/bits.h"
#include "base/grow.h"

#define WORTH_HERE UINT32_MAX
#define OUTLIER 8U

void tm_worth_init(tm_worth *worth, tm_memory *memory) {
    *worth = (tm_worth){.memory = memory};
}

void tm_worth_clear(tm_worth *worth) {
    TM_DELETE(worth->memory, TM_COLD, worth->numbers, uint64_t, worth->numbers_capacity);
    TM_DELETE(worth->memory, TM_COLD, worth->before, uint32_t, worth->before_capacity);
    tm_worth_init(worth, worth->memory);
}

/* Return the place of a router in the tree, or WORTH_HERE. */
static uint32_t find(const tm_worth *worth, uint64_t number) {
    uint32_t low = 0;
    for (uint32_t high = worth->count; low < high;) {
        uint32_t middle = low + (high - low) / 2;
        if (worth->numbers[middle] < number) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < worth->count && worth->numbers[low] == number ? low : WORTH_HERE;
}

static void measure_anew(tm_worth *worth) {
    worth->turn = worth->tried = 0;
    worth->every = WORTH_EVERY;
    worth->is_worth = false;
    worth->visits = worth->links_ns = worth->set_ns = worth->onward_ns = (tm_average){0};
}

static void forget(tm_worth *worth) {
    measure_anew(worth);
    worth->count = 0;
    worth->is_inner_any = false;
    memset(worth->inner, 0, sizeof worth->inner);
}

int tm_worth_set(tm_worth *worth, const uint64_t *routers, const uint64_t *before, size_t count) {
    forget(worth);
    if (count > TM_ROUTE_SET_ROUTERS_MAX) {
        return TM_MISUSED;
    }
    for (size_t i = 1; i < count; i++) {
        if (routers[i] <= routers[i - 1]) {
            return TM_MISUSED;
        }
    }
    uint32_t wanted = (uint32_t)count;
    if (!tm_grow(worth->memory, TM_COLD, &worth->numbers, sizeof *worth->numbers, &worth->numbers_capacity, wanted) ||
        !tm_grow(worth->memory, TM_COLD, &worth->before, sizeof *worth->before, &worth->before_capacity, wanted)) {
        return TM_NO_MEMORY;
    }
    worth->count = wanted;
    for (uint32_t place = 0; place < wanted; place++) {
        worth->numbers[place] = routers[place];
    }
    for (uint32_t place = 0; place < wanted; place++) {
        worth->before[place] = find(worth, before[place]);
        if (worth->before[place] != WORTH_HERE) {
            tm_bit_set(worth->inner, worth->before[place]);
            worth->is_inner_any = true;
        }
    }
    return TM_OK;
}

tm_trial tm_worth_next(tm_worth *worth) {
    if (worth->count == 0 || !worth->is_inner_any) {
        return (tm_trial){.is_by_set = worth->count == 0};
    }
    uint32_t turn = worth->turn++;
    if (turn < WORTH_FIRST) {
        return (tm_trial){.is_by_set = turn % 2 != 0, .is_timed = true};
    }
    bool is_other = turn - worth->tried >= worth->every;
    worth->tried = is_other ? turn : worth->tried;
    return (tm_trial){.is_by_set = worth->is_worth != is_other,
                      .is_timed = is_other || turn - worth->tried == WORTH_EVERY / 2};
}

/* ---- what was measured ---- */

static void add(tm_average *average, uint64_t measured) {
    average->count += average->count < WORTH_SPAN;
    average->value = (average->value * (average->count - 1) + measured) / average->count;
}

static void add_time(tm_average *average, uint64_t measured) {
    uint64_t most = average->count > 0 ? average->value * OUTLIER : UINT64_MAX;
    add(average, measured < most ? measured : most);
}

/* Sets begin only after consecutive measurements: sparse ones may stem from other filters. */
static void judge(tm_worth *worth) {
    uint64_t links_ns = worth->links_ns.value;
    uint64_t set_ns = worth->set_ns.value;
    uint64_t onward_ns = worth->onward_ns.value;
    uint64_t visits = worth->visits.value;
    uint64_t more_ns = set_ns > links_ns ? set_ns - links_ns : 0;
    uint64_t spared_ns = links_ns > onward_ns ? links_ns - onward_ns : 0;
    bool was_worth = worth->is_worth;
    worth->is_worth = worth->turn >= WORTH_FIRST &&
                      visits * spared_ns > more_ns * WORTH_SHARE + links_ns * (WORTH_SHARE + visits) / WORTH_GAIN;
    uint64_t every = worth->is_worth || links_ns == 0 ? 0 : 100 * more_ns / links_ns;
    worth->every = every < WORTH_EVERY ? WORTH_EVERY : (every < WORTH_RARELY ? (uint32_t)every : WORTH_RARELY);
    if (worth->is_worth && !was_worth && worth->turn > WORTH_FIRST) {
        measure_anew(worth);
    }
}

void tm_worth_note_links(tm_worth *worth, uint64_t ns) {
    add_time(&worth->links_ns, ns);
    judge(worth);
}

/* Return how many inner routers a message with this set passes. */
static uint32_t count_visits(tm_worth *worth, const tm_places *places, const uint64_t *members) {
    uint32_t visits = 0;
    memset(worth->seen, 0, sizeof worth->seen);
    for (uint32_t member = 0; member < places->count; member++) {
        uint32_t at = tm_bit_at(members, member) ? find(worth, places->numbers[member]) : WORTH_HERE;
        for (; at != WORTH_HERE && !tm_bit_at(worth->seen, at); at = worth->before[at]) {
            tm_bit_set(worth->seen, at);
            visits += tm_bit_at(worth->inner, at);
        }
    }
    return visits;
}

void tm_worth_note_set(tm_worth *worth, uint64_t ns, uint64_t onward_ns, const tm_places *places,
                       const uint64_t *members) {
    add(&worth->visits, (uint64_t)count_visits(worth, places, members) * WORTH_SHARE);
    add_time(&worth->set_ns, ns);
    add_time(&worth->onward_ns, onward_ns);
    judge(worth);
}
