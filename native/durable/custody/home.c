/* home.c - the functions of tm_custody_api.h about a home.
 *
 * Law: a record is appended first, and what it says is taken after that.
 */
#include "durable/core/append.h"
#include "durable/core/record.h"
#include "durable/core/table.h"
#include "durable/custody/chains.h"
#include "durable/custody/homes.h"
#include "durable/state.h"

static bool has_durables(const tm_switch *sw) {
    return sw != NULL && sw->durables != NULL;
}

/* true if a chain that is set would go back within one life of one log. */
static bool goes_back(const tm_arrival *arrival, const tm_log_chain *chain) {
    return arrival != NULL && arrival->chain.log == chain->log && arrival->chain.life == chain->life &&
           chain->have < arrival->chain.have;
}

/* Take what a record of Python says. What was noted of an earlier log, or is answered by this, is forgotten. */
static void take(tm_arrivals *arrivals, tm_arrival *arrival, const tm_log_chain *chain) {
    bool is_same_log = arrival->chain.log == chain->log;
    bool is_later = arrival->later_log > chain->log ||
                    (arrival->later_log == chain->log && arrival->later_life > (uint32_t)chain->life);
    arrival->chain = *chain;
    arrival->is_unwritten = false;
    if (!is_same_log || arrival->on_disk > chain->have) {
        arrival->on_disk = is_same_log ? chain->have : 0;
    }
    if (!is_same_log || arrival->early <= chain->have) {
        arrival->early = 0;
        arrival->why &= ~(uint32_t)TM_CHAIN_EARLY;
    }
    if (!is_later) {
        arrival->why &= ~(uint32_t)TM_CHAIN_LATER;
    }
    arrivals->is_due = true;
}

/* Record what is missing behind `before`: Python has told it. Numbers of a log or life that has ended are below all of
 * the next one. */
static void record_missing(tm_switch *sw, const tm_log_chain *before, const tm_log_chain *said) {
    bool is_same_life = before->log == said->log && before->life == said->life;
    if (said->lost > before->lost || said->doubts > before->doubts) {
        uint64_t last = is_same_life ? said->have : (uint64_t)said->life << NUMBER_LIFE_BITS;
        durable_record_missed(sw, said->router, before->have + 1, last, said->lost - before->lost);
    }
}

int tm_custody_set_chain(tm_switch *sw, tm_log_chain *chain) {
    if (!has_durables(sw) || chain == NULL || chain->router == 0) {
        return TM_MISUSED;
    }
    tm_arrivals *arrivals = &sw->durables->arrivals;
    tm_arrival *arrival = durable_arrival(arrivals, chain->router);
    if (goes_back(arrival, chain)) {
        return TM_MISUSED;
    }
    if (arrival == NULL && !durable_reserve_arrival(arrivals)) {
        return TM_NO_MEMORY;
    }
    tm_log_chain said = *chain;
    said.is_home = 0;
    int result = durable_append_chain(sw, &said, &said.n);
    if (result == TM_OK) {
        if (arrival != NULL) {
            record_missing(sw, &arrival->chain, &said);
        }
        arrival = arrival != NULL ? arrival : durable_add_arrival(arrivals, said.router);
        take(arrivals, arrival, &said);
        chain->n = said.n;
        durable_wake(sw);
    }
    return result;
}

int tm_custody_chain_of(const tm_switch *sw, uint64_t entry, tm_log_chain *chain) {
    if (!has_durables(sw) || chain == NULL) {
        return TM_MISUSED;
    }
    const tm_arrival *arrival = durable_arrival(&sw->durables->arrivals, entry);
    if (arrival == NULL) {
        return TM_ABSENT;
    }
    *chain = arrival->chain;
    return TM_OK;
}

int tm_custody_end_chain(tm_switch *sw, uint64_t entry) {
    if (!has_durables(sw)) {
        return TM_MISUSED;
    }
    tm_arrival *arrival = durable_arrival(&sw->durables->arrivals, entry);
    if (arrival == NULL) {
        return TM_ABSENT;
    }
    tm_log_done done = {.holder = entry, .is_home = TM_LOG_ENTRY};
    tm_log_entry record = {
        .kind = TM_LOG_FORGET, .body = &done, .body_size = sizeof done, .t_us = durable_wall_ms(sw) * 1000};
    uint64_t n;
    int result = durable_append(sw, &record, &n);
    if (result == TM_OK) {
        durable_remove_arrival(&sw->durables->arrivals, arrival);
        durable_wake(sw);
    }
    return result;
}

int tm_custody_figures(const tm_switch *sw, tm_custody_stats *out) {
    if (!has_durables(sw) || out == NULL) {
        return TM_MISUSED;
    }
    *out = sw->durables->arrivals.stats;
    out->chains = sw->durables->arrivals.count;
    return TM_OK;
}
