/* entry.c - the functions of tm_custody_api.h about an entry.
 *
 * Law: a record is appended first, and what it says is taken after that.
 */
#include "base/grow.h"
#include "base/tested.h"
#include "durable/core/table.h"
#include "durable/custody/bound.h"
#include "durable/custody/chains.h"
#include "durable/custody/held.h"
#include "durable/custody/homes.h"
#include "durable/state.h"
#include "switch/connections/events.h"
#include "switch/subscribers/subscriber.h"

static tm_home *home_of(const tm_switch *sw, uint64_t router) {
    return sw != NULL && sw->durables != NULL && router != 0 ? durable_home(&sw->durables->homes, router) : NULL;
}

/* Return an open home; NULL: there is none. */
static tm_home *open_home_of(const tm_switch *sw, uint64_t router) {
    tm_home *home = home_of(sw, router);
    return home != NULL && home->subscriber != SUBSCRIBER_NONE && !home->is_closing ? home : NULL;
}

int tm_custody_follow(tm_switch *sw, uint32_t before) {
    if (sw == NULL || sw->durables == NULL) {
        return TM_MISUSED;
    }
    sw->durables->homes.before = before;
    return TM_OK;
}

int tm_custody_bound(tm_switch *sw, uint64_t bytes_max, uint64_t age_ms, uint32_t refuses) {
    if (sw == NULL || sw->durables == NULL) {
        return TM_MISUSED;
    }
    sw->durables->homes.bytes_max = bytes_max;
    sw->durables->homes.age_ms = age_ms;
    sw->durables->homes.refuses = refuses != 0;
    return TM_OK;
}

/* ---- homes ---- */

/* Add the row of a home that was never open in this run. */
static int add(tm_switch *sw, uint64_t router, tm_home **made) {
    tm_homes *homes = &sw->durables->homes;
    if (homes->count == TM_CUSTODY_HOMES_MAX) {
        return TM_TOO_MANY;
    }
    if (!tm_grow(homes->memory, TM_COLD, &homes->rows, sizeof *homes->rows, &homes->capacity, homes->count + 1)) {
        return TM_NO_MEMORY;
    }
    tm_home *home = TM_NEW(homes->memory, TM_COLD, tm_home, 1);
    if (home == NULL) {
        return TM_NO_MEMORY;
    }
    home->chain = (tm_custody_home){.router = router, .window = TM_CUSTODY_WINDOW};
    home->subscriber = SUBSCRIBER_NONE;
    tm_log_chain known = {0};
    if (tm_log_chain_of(sw->durables->log, router, 1, &known)) {
        home->chain.log = known.log;
    }
    home->chain.have = home->chain.sent = known.have;
    int result = durable_recall_home(sw, home, known.have);
    if (result != TM_OK) {
        TM_DELETE(homes->memory, TM_COLD, home, tm_home, 1);
        return result;
    }
    homes->rows[homes->count++] = home;
    *made = home;
    return TM_OK;
}

static uint32_t slot_of(const tm_homes *homes, const tm_home *home) {
    uint32_t slot = 0;
    while (homes->rows[slot] != home) {
        slot++;
    }
    return slot;
}

int tm_custody_open_home(tm_switch *sw, uint64_t router) {
    if (sw == NULL || sw->durables == NULL || router == 0 || router == sw->options.number) {
        return TM_MISUSED;
    }
    tm_home *home = home_of(sw, router);
    if (home != NULL && home->subscriber != SUBSCRIBER_NONE) {
        return TM_MISUSED;
    }
    int result = home == NULL ? add(sw, router, &home) : TM_OK;
    uint32_t id;
    tm_admission admission = {.number = router, .filters_max = UINT32_MAX, .table_bytes_max = UINT64_MAX};
    result = result == TM_OK ? switch_new_subscriber(sw, &admission, &id) : result;
    if (result == TM_OK) {
        home->subscriber = id;
        home->is_closing = false;
        switch_subscriber(sw, id)->state = SUBSCRIBER_HOME;
        switch_subscriber(sw, id)->durable = slot_of(&sw->durables->homes, home);
        sw->durables->homes.stats.homes++;
    }
    return result;
}

int tm_custody_name(tm_switch *sw, uint64_t router, const char *name, uint32_t size) {
    tm_home *home = home_of(sw, router);
    if (home == NULL || name == NULL || size > TM_CUSTODY_NAME_BYTES) {
        return home == NULL ? TM_ABSENT : TM_MISUSED;
    }
    memcpy(home->name, name, size);
    home->name[size] = 0;
    return TM_OK;
}

int tm_custody_want(tm_switch *sw, uint64_t router, uint32_t number, const uint8_t *filter, uint32_t size) {
    const tm_home *home = open_home_of(sw, router);
    if (home == NULL || filter == NULL) {
        return home == NULL ? TM_ABSENT : TM_MISUSED;
    }
    tm_subscriber *subscriber = switch_subscriber(sw, home->subscriber);
    uint32_t row = tm_subscriptions_find(&sw->subscriptions, home->subscriber, number);
    bool is_new = row == SUBSCRIPTION_NONE;
    int result = is_new ? tm_subscriptions_begin(&sw->subscriptions, home->subscriber, number, true,
                                                 &subscriber->subscriptions, &row)
                        : TM_OK;
    if (result != TM_OK) {
        return result;
    }
    sw->subscriptions.rows[row].is_unlisted = true;
    uint32_t before = is_new ? 0 : sw->subscriptions.rows[row].table_bytes;
    result = tm_subscriptions_add(&sw->subscriptions, row, filter, size);
    if (result != TM_OK && is_new) {
        tm_subscriptions_end(&sw->subscriptions, row, &subscriber->subscriptions);
    }
    if (result == TM_OK) {
        subscriber->filter_count++;
        subscriber->table_bytes += sw->subscriptions.rows[row].table_bytes - before;
        subscriber->subscription_count += is_new;
    }
    return result;
}

int tm_custody_unwant(tm_switch *sw, uint64_t router, uint32_t number) {
    const tm_home *home = open_home_of(sw, router);
    uint32_t row =
        home != NULL ? tm_subscriptions_find(&sw->subscriptions, home->subscriber, number) : SUBSCRIPTION_NONE;
    if (row == SUBSCRIPTION_NONE) {
        return TM_ABSENT;
    }
    switch_drop_subscription(sw, switch_subscriber(sw, home->subscriber), row);
    return TM_OK;
}

/* Messages that wait for a home as for one of several copies wait for the others alone. */
static void lose_copies(tm_switch *sw, tm_home *home) {
    tm_held_loss loss = {.n = UINT64_MAX, .of_places = true};
    durable_refuse_held(sw, &home->held, loss, WIRE_REFUSED_NOT_HELD,
                        "stored, but a home that it needs has lost its copy of a durable subscription");
}

int tm_custody_copy(tm_switch *sw, uint64_t router, uint32_t number, uint64_t copies, uint32_t copies_min) {
    tm_home *home = open_home_of(sw, router);
    if (home == NULL) {
        return TM_ABSENT;
    }
    tm_copies *all = &sw->durables->homes.copies;
    uint32_t slot = slot_of(&sw->durables->homes, home);
    uint32_t before = tm_copies_at(all, slot, number);
    bool is_there = tm_copies_state(all, slot, number, copies_min > 0 ? copies : 0, copies_min);
    if (before != COPY_SET_NONE && tm_copies_at(all, slot, number) != before) {
        lose_copies(sw, home);
        durable_wake(sw);
    }
    return is_there ? TM_OK : TM_NO_MEMORY;
}

int tm_custody_close_home(tm_switch *sw, uint64_t router, uint32_t steps, uint32_t *left) {
    tm_home *home = home_of(sw, router);
    if (home == NULL || home->subscriber == SUBSCRIBER_NONE || left == NULL) {
        return TM_ABSENT;
    }
    if (!home->is_closing) {
        sw->durables->homes.stats.homes--;
        tm_copies_close(&sw->durables->homes.copies, slot_of(&sw->durables->homes, home));
    }
    home->is_closing = true;
    switch_subscriber(sw, home->subscriber)->state = SUBSCRIBER_ENDED;
    *left = switch_forget_subscriber(sw, home->subscriber, steps);
    home->subscriber = *left > 0 ? home->subscriber : SUBSCRIBER_NONE;
    durable_refuse_held(sw, &home->held, (tm_held_loss){.n = UINT64_MAX}, WIRE_REFUSED_NOT_HELD,
                        "a home of the message has left the network");
    return TM_OK;
}

int tm_custody_home_of(const tm_switch *sw, uint64_t router, tm_custody_home *out) {
    const tm_home *home = home_of(sw, router);
    if (home == NULL || out == NULL) {
        return TM_ABSENT;
    }
    *out = home->chain;
    out->bytes = home->stored.all - home->stored.gone;
    out->given_up = durable_given_up(home);
    const tm_home_gap *gap = durable_next_gap(home);
    out->gap = gap != NULL ? gap->n : 0;
    out->gap_last = gap != NULL ? gap->last : 0;
    out->doubt = home->doubt;
    out->gone = home->gone;
    out->gone_old = home->gone_old;
    out->refused = home->refused;
    out->is_past = durable_is_past(sw, home);
    return TM_OK;
}

/* ---- acknowledgements ---- */

/* true if a number was never given. One of an earlier life may have been given by a message that was sent, and was not
 * on disk here when that life ended: the home has it, and this router no longer knows of it. */
static bool is_never_given(const tm_switch *sw, uint64_t n) {
    return n >= tm_log_next(sw->durables->log);
}

int tm_custody_acknowledged(tm_switch *sw, uint64_t router, uint64_t log, uint64_t have, uint64_t window) {
    tm_home *home = home_of(sw, router);
    if (home == NULL) {
        return TM_ABSENT;
    }
    bool is_other_log = log != home->chain.log;
    int result = TM_OK;
    if (log < home->chain.log || is_never_given(sw, have) || (!is_other_log && have < home->chain.have)) {
        return TM_MISUSED;
    }
    if (is_other_log || have > home->chain.have) {
        tm_log_chain chain = {.router = router, .log = log, .have = have, .is_home = 1};
        uint64_t n;
        result = durable_append_chain(sw, &chain, &n);
        durable_wake(sw);
    }
    if (result == TM_OK && is_other_log) {
        result = durable_recall_home(sw, home, have);
    }
    if (result != TM_OK) {
        return result;
    }
    if (is_other_log) {
        lose_copies(sw, home); /* what the new log gets may have no copy to go to yet */
    }
    home->chain.last = have > home->chain.last ? have : home->chain.last;
    home->chain.log = log;
    home->chain.have = have;
    home->chain.window = window < TM_CUSTODY_WINDOW ? window : TM_CUSTODY_WINDOW;
    durable_note_had(home, have);
    durable_release_held(sw, &home->held, have);
    if (is_other_log) {
        durable_go_back(home, have);
    } else {
        durable_note_arrived(home, have);
    }
    return TM_OK;
}

int tm_custody_lacks(tm_switch *sw, uint64_t router, uint64_t first, uint64_t last) {
    tm_home *home = home_of(sw, router);
    if (home == NULL) {
        return TM_ABSENT;
    }
    tm_held_loss loss = {.after = first - (first > 0), .n = last};
    durable_refuse_held(sw, &home->held, loss, WIRE_REFUSED_NOT_HELD,
                        "stored, but a durable subscription at a home of the message has no room, or has lost it");
    durable_wake(sw);
    return TM_OK;
}

int tm_custody_go_back(tm_switch *sw, uint64_t router, uint64_t have) {
    tm_home *home = home_of(sw, router);
    if (home == NULL) {
        return TM_ABSENT;
    }
    if (is_never_given(sw, have)) {
        return TM_MISUSED;
    }
    home->chain.last = have > home->chain.last ? have : home->chain.last;
    durable_go_back(home, have);
    return TM_OK;
}

int tm_custody_sent_gap(tm_switch *sw, uint64_t router, uint64_t n) {
    tm_home *home = home_of(sw, router);
    if (home == NULL) {
        return TM_ABSENT;
    }
    if (n < home->chain.sent || n > home->chain.last) {
        return TM_MISUSED;
    }
    durable_refuse_given_up(sw, home, home->chain.sent, n);
    home->chain.sent = n;
    return TM_OK;
}

/* ---- sending from the log ---- */

typedef enum { SENT, NEED_NOT, STOPS } sending;

/* Send what a record has for a home, unless it was sent. What is given up is told before that. */
static sending send_record(tm_switch *sw, tm_home *home, const tm_log_record *record) {
    bool is_message = record->kind == TM_LOG_MESSAGE && durable_claim_of(record, home->chain.router) != NULL;
    bool is_lost = record->kind == TM_LOG_LOST && record->n <= home->chain.last;
    if (record->n <= home->chain.sent || (!is_message && !is_lost)) {
        return NEED_NOT;
    }
    const uint8_t *frame = (const uint8_t *)(durable_homes_in(record) + record->homes);
    bool is_next = durable_given_up(home) <= home->chain.sent || TM_BREAKS(SEND_PAST_GAP);
    if (is_lost || !is_next || record->body_size < WIRE_HEADER_BYTES ||
        !durable_send_to(sw, home, frame, record->body_size, record->n)) {
        return STOPS;
    }
    sw->durables->homes.stats.resent++;
    return SENT;
}

int tm_custody_send(tm_switch *sw, uint64_t router, uint64_t after, const uint8_t *records, size_t size, size_t *used) {
    tm_home *home = home_of(sw, router);
    if (home == NULL || records == NULL || used == NULL) {
        return home == NULL ? TM_ABSENT : TM_MISUSED;
    }
    *used = 0;
    while (*used < size && home->chain.sent >= after) {
        const tm_log_record *record = (const tm_log_record *)(const void *)(records + *used);
        if (send_record(sw, home, record) == STOPS) {
            break;
        }
        *used += record->size;
    }
    durable_wake(sw);
    return TM_OK;
}

uint64_t tm_custody_mark(const tm_switch *sw) {
    return sw != NULL && sw->durables != NULL ? tm_log_written(sw->durables->log) : 0;
}

/* true if a record is the next one of its chain behind what was sent, or is of none. */
static bool is_next(const tm_home *home, const tm_log_record *record) {
    const tm_log_home *claim = durable_claim_of(record, home->chain.router);
    return claim == NULL || claim->previous <= home->chain.sent || TM_BREAKS(TAIL_IS_ALL);
}

int tm_custody_send_tail(tm_switch *sw, uint64_t router, uint64_t mark) {
    tm_home *home = home_of(sw, router);
    if (home == NULL) {
        return TM_ABSENT;
    }
    uint32_t is_behind = 0;
    const tm_log_record *record = tm_log_pending(sw->durables->log, &mark, &is_behind);
    while (record != NULL && is_next(home, record) && send_record(sw, home, record) != STOPS) {
        record = tm_log_pending(sw->durables->log, &mark, &is_behind);
    }
    durable_wake(sw);
    return home->chain.sent == home->chain.last ? TM_OK : TM_LOG_BUSY;
}

int tm_custody_give_up(tm_switch *sw, uint64_t router, const tm_log_summary *open, size_t count) {
    tm_home *home = home_of(sw, router);
    if (home == NULL || (open == NULL && count > 0)) {
        return home == NULL ? TM_ABSENT : TM_MISUSED;
    }
    return durable_give_up(sw, home, open, count);
}

int tm_custody_sent_figures(const tm_switch *sw, tm_custody_sent *out) {
    if (sw == NULL || sw->durables == NULL || out == NULL) {
        return TM_MISUSED;
    }
    *out = sw->durables->homes.stats;
    out->waiting = sw->durables->held.set.count;
    return TM_OK;
}
