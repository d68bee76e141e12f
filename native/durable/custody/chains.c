/* chains.c - see chains.h. */
#include "durable/custody/chains.h"

#include "base/grow.h"
#include "durable/core/append.h"
#include "durable/core/table.h"
#include "durable/state.h"
#include "network/publishers.h"
#include "switch/connections/connection.h"
#include "switch/connections/events.h"

/* ---- by entry ---- */

/* Return where the chain of an entry is, or belongs. */
static uint32_t place_of(const tm_arrivals *arrivals, uint64_t entry) {
    uint32_t low = 0;
    for (uint32_t high = arrivals->count; low < high;) {
        uint32_t middle = low + (high - low) / 2;
        if (arrivals->rows[middle].chain.router < entry) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

tm_arrival *durable_arrival(const tm_arrivals *arrivals, uint64_t entry) {
    uint32_t place = place_of(arrivals, entry);
    bool is_there = place < arrivals->count && arrivals->rows[place].chain.router == entry;
    return is_there ? &arrivals->rows[place] : NULL;
}

bool durable_reserve_arrival(tm_arrivals *arrivals) {
    return tm_grow(arrivals->memory, TM_COLD, &arrivals->rows, sizeof *arrivals->rows, &arrivals->capacity,
                   arrivals->count + 1);
}

tm_arrival *durable_add_arrival(tm_arrivals *arrivals, uint64_t entry) {
    tm_arrival *at = arrivals->rows + place_of(arrivals, entry);
    memmove(at + 1, at, (size_t)(arrivals->rows + arrivals->count - at) * sizeof *at);
    *at = (tm_arrival){.chain.router = entry};
    arrivals->count++;
    return at;
}

void durable_remove_arrival(tm_arrivals *arrivals, tm_arrival *arrival) {
    memmove(arrival, arrival + 1, (size_t)(arrivals->rows + arrivals->count - arrival - 1) * sizeof *arrival);
    arrivals->count--;
}

void durable_free_chains(tm_arrivals *arrivals) {
    TM_DELETE(arrivals->memory, TM_COLD, arrivals->rows, tm_arrival, arrivals->capacity);
    tm_custody_ids_free(&arrivals->ids);
}

/* ---- the log ---- */

int durable_recall_chains(tm_switch *sw) {
    tm_arrivals *arrivals = &sw->durables->arrivals;
    size_t count = tm_log_chains(sw->durables->log, NULL, 0);
    tm_log_chain *chains = TM_NEW(arrivals->memory, TM_COLD, tm_log_chain, count + 1);
    bool has_memory = chains != NULL;
    count = has_memory ? tm_log_chains(sw->durables->log, chains, count) : 0;
    for (size_t i = 0; i < count && has_memory; i++) {
        has_memory = chains[i].is_home || durable_reserve_arrival(arrivals);
        if (has_memory && !chains[i].is_home) {
            tm_arrival *arrival = durable_add_arrival(arrivals, chains[i].router);
            arrival->chain = chains[i];
            arrival->on_disk = chains[i].have;
        }
    }
    TM_DELETE(arrivals->memory, TM_COLD, chains, tm_log_chain, count + 1);
    return has_memory ? TM_OK : TM_NO_MEMORY;
}

int durable_append_chain(tm_switch *sw, const tm_log_chain *chain, uint64_t *n) {
    tm_log_home peer = {chain->router, 0};
    tm_log_entry entry = {.kind = chain->is_home ? TM_LOG_HOME_HAS : TM_LOG_CHAIN,
                          .homes = &peer,
                          .home_count = 1,
                          .body = chain,
                          .body_size = sizeof *chain,
                          .t_us = durable_wall_ms(sw) * 1000};
    return durable_append(sw, &entry, n);
}

void durable_write_chains(tm_switch *sw) {
    tm_arrivals *arrivals = &sw->durables->arrivals;
    for (uint32_t i = 0; i < arrivals->count; i++) {
        tm_arrival *arrival = &arrivals->rows[i];
        if (arrival->is_unwritten) {
            arrival->is_unwritten = durable_append_chain(sw, &arrival->chain, &arrival->chain.n) != TM_OK;
        }
    }
}

void durable_note_chains_on_disk(tm_switch *sw) {
    tm_arrivals *arrivals = &sw->durables->arrivals;
    for (uint32_t i = 0; i < arrivals->count; i++) {
        tm_arrival *arrival = &arrivals->rows[i];
        tm_log_chain written;
        if (arrival->on_disk < arrival->chain.have &&
            tm_log_chain_of(sw->durables->log, arrival->chain.router, 0, &written) &&
            written.log == arrival->chain.log && written.have > arrival->on_disk) {
            arrival->on_disk = written.have;
            durable_note_chain(arrivals, arrival, TM_CHAIN_MOVED);
        }
    }
}

/* ---- reports ---- */

static tm_chain_report report_of(const tm_arrival *arrival) {
    return (tm_chain_report){.entry = arrival->chain.router,
                             .log = arrival->chain.log,
                             .have = arrival->chain.have,
                             .on_disk = arrival->on_disk,
                             .early = arrival->early,
                             .lacking_first = arrival->lacking_first,
                             .lacking_last = arrival->lacking_last,
                             .later_log = arrival->later_log,
                             .later_life = arrival->later_life,
                             .later_before = arrival->later_before,
                             .why = arrival->why};
}

void durable_report_chains(tm_switch *sw) {
    tm_arrivals *arrivals = &sw->durables->arrivals;
    uint32_t count = 0;
    bool is_unwritten = false;
    for (uint32_t i = 0; i < arrivals->count; i++) {
        count += arrivals->rows[i].why != 0;
        is_unwritten |= arrivals->rows[i].is_unwritten;
    }
    tm_event event = {.type = TM_EVENT_CHAINS, .connection = CONNECTION_NONE};
    uint8_t *at = count > 0 ? switch_tell_bytes(sw, event, count * (uint32_t)sizeof(tm_chain_report)) : NULL;
    arrivals->is_due = is_unwritten || (count > 0 && at == NULL);
    for (uint32_t i = 0; i < arrivals->count && at != NULL; i++) {
        tm_arrival *arrival = &arrivals->rows[i];
        if (arrival->why != 0) {
            tm_chain_report report = report_of(arrival);
            memcpy(at, &report, sizeof report);
            at += sizeof report;
            arrival->why = 0;
            arrival->lacking_first = arrival->lacking_last = 0;
        }
    }
}

/* ---- ids ---- */

/* A dry run goes by the trees alone, and shows what the chain would bring. */
bool durable_has_elsewhere(tm_switch *sw, const tm_message *message) {
    tm_arrivals *arrivals = &sw->durables->arrivals;
    bool is_from_link = switch_is_link(switch_at(sw, message->from));
    if (is_from_link && !message->is_dry && arrivals->count > 0 && durable_arrival(arrivals, message->source) != NULL) {
        arrivals->stats.from_trees++;
        return true;
    }
    return tm_custody_ids_has(&arrivals->ids, tm_load64(message->frame + WIRE_ORIGIN),
                              tm_load64(message->frame + WIRE_COUNTER));
}

void durable_note_stored_id(tm_switch *sw, const tm_message *message) {
    tm_custody_ids_note(&sw->durables->arrivals.ids, tm_load64(message->frame + WIRE_ORIGIN),
                        tm_load64(message->frame + WIRE_COUNTER));
}

/* ---- checks ---- */

const char *durable_check_chains(const tm_switch *sw) {
    const tm_arrivals *arrivals = &sw->durables->arrivals;
    if (!tm_custody_ids_are_sound(&arrivals->ids)) {
        return "ids of messages from elsewhere are not found, or more than the limit";
    }
    for (uint32_t i = 0; i < arrivals->count; i++) {
        const tm_arrival *at = &arrivals->rows[i];
        if (i > 0 && at[-1].chain.router >= at->chain.router) {
            return "chains of entries are out of order";
        }
        if (at->on_disk > at->chain.have || (at->early != 0 && at->early <= at->chain.have)) {
            return "a chain is further on disk than it is, or waits for what it has";
        }
        if ((at->why != 0 || at->is_unwritten) && !arrivals->is_due) {
            return "a chain that is due would not be served";
        }
    }
    return NULL;
}
