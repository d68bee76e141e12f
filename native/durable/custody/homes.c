/* homes.c - see homes.h. */
#include "durable/custody/homes.h"

#include "base/tested.h"
#include "durable/core/record.h"
#include "durable/custody/bound.h"
#include "durable/state.h"
#include "switch/forwarding/directed.h"
#include "switch/matching/check.h"
#include "switch/subscribers/subscriber.h"

#define WINDOW_STEP (TM_CUSTODY_WINDOW / HOME_MARKS)

tm_home *durable_home(const tm_homes *homes, uint64_t router) {
    for (uint32_t i = 0; i < homes->count; i++) {
        if (homes->rows[i]->chain.router == router) {
            return homes->rows[i];
        }
    }
    return NULL;
}

void durable_want_home(tm_homes *homes, uint32_t slot, uint32_t set, uint64_t stamp) {
    tm_home *home = homes->rows[slot];
    if (home->stamp != stamp) {
        home->stamp = stamp;
        home->is_sole = false;
        home->place = HELD_NO_PLACE;
        if (homes->wanted_count < TM_LOG_HOMES_MAX) {
            homes->wanted[homes->wanted_count++] = slot;
        } else {
            homes->has_more = true;
        }
    }
    home->is_sole |= set == COPY_SET_NONE || !tm_copies_want(&homes->copies, set, slot, stamp);
}

void durable_claim_homes(tm_homes *homes) {
    for (uint32_t i = 0; i < homes->wanted_count; i++) {
        const tm_custody_home *chain = &homes->rows[homes->wanted[i]]->chain;
        homes->claims[i] = (tm_log_home){chain->router, chain->last};
    }
}

/* ---- the window ---- */

static bool has_window(const tm_home *home, uint32_t size) {
    uint64_t out = home->way.all - home->way.gone;
    return out == 0 ? home->chain.window > 0 : out + size <= home->chain.window;
}

void durable_note_arrived(tm_home *home, uint64_t have) {
    durable_uncount(&home->way, have);
    if (have >= home->chain.sent) {
        durable_go_back(home, have);
    }
}

void durable_go_back(tm_home *home, uint64_t have) {
    home->chain.sent = have;
    home->way = (tm_home_bytes){0};
}

/* ---- sending ---- */

bool durable_send_to(tm_switch *sw, tm_home *home, const uint8_t *frame, uint32_t size, uint64_t n) {
    tm_homes *homes = &sw->durables->homes;
    tm_custody_place place = {.home = home->chain.router,
                              .home_log = home->chain.log,
                              .log = homes->log,
                              .life = (uint32_t)(tm_log_next(sw->durables->log) >> NUMBER_LIFE_BITS),
                              .before = homes->before,
                              .n = n,
                              .previous = home->chain.sent};
    if (!has_window(home, size) || !switch_direct(sw, frame, size, &place)) {
        return false;
    }
    home->chain.sent = n;
    durable_count(&home->way, n, size, WINDOW_STEP);
    return true;
}

void durable_depart(tm_switch *sw, const tm_message *message, const uint8_t *frame, uint32_t size, uint64_t n) {
    tm_homes *homes = &sw->durables->homes;
    for (uint32_t i = 0; i < homes->wanted_count; i++) {
        tm_home *home = homes->rows[homes->wanted[i]];
        bool is_next = home->chain.sent == home->chain.last || TM_BREAKS(DEPART_PAST);
        home->chain.last = n;
        durable_note_open(homes, home, n, size, sw->durables->turn_ms);
        durable_record_entered(sw, home->chain.router, frame, n);
        bool is_sent = is_next && durable_send_to(sw, home, frame, size, n);
        homes->stats.sent += is_sent;
        homes->stats.left += !is_sent;
    }
    homes->stats.entered += homes->wanted_count > 0;
    if (sw->guards != NULL && homes->wanted_count > 0) {
        tm_message again = *message; /* the guard of a link may have decoded the attributes as it needs them */
        switch_decode(sw, &again);
    }
}

/* ---- life ---- */

void durable_free_homes(tm_switch *sw) {
    tm_homes *homes = &sw->durables->homes;
    for (uint32_t i = 0; i < homes->count; i++) {
        durable_free_home(sw, homes->rows[i]);
    }
    tm_copies_free(&homes->copies);
    TM_DELETE(homes->memory, TM_COLD, homes->rows, tm_home *, homes->capacity);
}

const char *durable_check_homes(const tm_switch *sw) {
    const tm_homes *homes = &sw->durables->homes;
    if (!tm_copies_are_sound(&homes->copies)) {
        return "a copy at a home is not found, or in no set";
    }
    for (uint32_t i = 0; i < homes->count; i++) {
        const tm_home *home = homes->rows[i];
        if (home->chain.sent > home->chain.last || home->way.gone > home->way.all ||
            home->way.mark_count > HOME_MARKS) {
            return "more was sent to a home than there is, or acknowledged than was sent";
        }
        if (!tm_held_is_sound(&sw->durables->held, &home->held)) {
            return "messages that wait for a home are out of order, or not found";
        }
        const char *reason = durable_check_bound(home);
        if (reason != NULL) {
            return reason;
        }
        if (home->subscriber != SUBSCRIBER_NONE && !home->is_closing &&
            (sw->subscribers[home->subscriber].state != SUBSCRIBER_HOME ||
             sw->subscribers[home->subscriber].durable != i)) {
            return "a home is not found by its subscriber";
        }
    }
    return NULL;
}
