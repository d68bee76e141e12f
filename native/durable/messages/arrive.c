/* arrive.c - see arrive.h.
 *
 * Law: a chain moves on by one link at a time, which follows what it has (C3); a link is taken whole or not at all.
 * Only a lack of room or of memory stops a chain, as its entry sends the link again; all else is passed over (C5), so
 * that no message holds up those behind it. A subscription that lacks a message gets it if it comes again.
 */
#include "durable/messages/arrive.h"

#include "base/tested.h"
#include "durable/core/record.h"
#include "durable/custody/chains.h"
#include "durable/messages/lack.h"
#include "durable/messages/store.h"
#include "network/publishers.h"
#include "switch/forwarding/directed.h"
#include "switch/matching/check.h"
#include "switch/matching/local.h"

/* ---- what does not follow ---- */

/* Note the newest life of an entry that is later than the one that its chain is of. */
static void note_later(tm_arrival *arrival, const tm_custody_place *place) {
    bool is_newer =
        place->log > arrival->later_log || (place->log == arrival->later_log && place->life > arrival->later_life);
    if (is_newer || (arrival->why & TM_CHAIN_LATER) == 0) {
        arrival->later_log = place->log;
        arrival->later_life = place->life;
        arrival->later_before = place->before;
    }
}

/* true if the message is of this log and life of its entry, and for this log. */
static bool is_of_chain(tm_arrivals *arrivals, tm_arrival *arrival, const tm_custody_place *place) {
    const tm_log_chain *chain = &arrival->chain;
    if (place->log > chain->log || (place->log == chain->log && place->life > chain->life)) {
        note_later(arrival, place);
        durable_note_chain(arrivals, arrival, TM_CHAIN_LATER);
    } else if (place->log == chain->log && place->home_log != arrivals->log) {
        durable_note_chain(arrivals, arrival, TM_CHAIN_REPEATED);
    } else if (place->log == chain->log) {
        return true;
    }
    arrivals->stats.strange++;
    return false;
}

/* true if the message is what follows in its chain. */
static bool follows(tm_arrivals *arrivals, tm_arrival *arrival, const tm_custody_place *place) {
    if (!is_of_chain(arrivals, arrival, place)) {
        return false;
    }
    if (place->n <= arrival->chain.have) {
        arrivals->stats.repeated++;
        durable_note_chain(arrivals, arrival, TM_CHAIN_REPEATED);
        return false;
    }
    if (place->previous > arrival->chain.have && !TM_BREAKS(TAKE_EARLY)) {
        arrivals->stats.early++;
        bool is_first = arrival->early == 0 || place->previous < arrival->early;
        arrival->early = is_first ? place->previous : arrival->early;
        durable_note_chain(arrivals, arrival, TM_CHAIN_EARLY);
        return false;
    }
    return true;
}

/* ---- what follows ---- */

static void move(tm_arrivals *arrivals, tm_arrival *arrival, uint64_t n) {
    arrival->chain.have = n;
    if (TM_BREAKS(ACK_TAKEN)) {
        arrival->on_disk = n;
        durable_note_chain(arrivals, arrival, TM_CHAIN_MOVED);
    }
    if (arrival->early <= n) {
        arrival->early = 0;
        arrival->why &= ~(uint32_t)TM_CHAIN_EARLY;
    }
    arrivals->is_due = true;
}

/* true if the message is stored already: it came from elsewhere, or it entered here and is confirmed as stored. */
static bool is_known(const tm_switch *sw, const tm_message *message) {
    uint64_t origin = tm_load64(message->frame + WIRE_ORIGIN);
    uint64_t counter = tm_load64(message->frame + WIRE_COUNTER);
    return (tm_custody_ids_has(&sw->durables->arrivals.ids, origin, counter) ||
            tm_publishers_stored(&sw->publishers, origin, counter) == STORED) &&
           !TM_BREAKS(KNOW_NO_ID);
}

/* Store the message for those who want it now; `*lacks`: one of them may lack it. */
static tm_arriving store(tm_switch *sw, tm_message *message, uint64_t n, bool *lacks) {
    size_t count;
    int result = switch_match(sw, message, &count);
    sw->stats.steps += sw->work.steps;
    switch_trim_shape(sw, message);
    if (result == TM_TOO_COSTLY) {
        switch_turn_away(sw, message, TM_DROP_COSTLY);
        *lacks = true;
        return ARRIVING_PASSES;
    }
    tm_arriving arriving = result == TM_OK ? durable_store_arriving(sw, message, count, n) : ARRIVING_FAILS;
    *lacks = sw->durables->lack.stored < sw->durables->wanted_count;
    return arriving;
}

static void note_lacking(tm_arrival *arrival, uint64_t n) {
    arrival->lacking_first = arrival->lacking_first == 0 ? n : arrival->lacking_first;
    arrival->lacking_last = n;
}

/* Take the message that follows in its chain. */
static void take(tm_switch *sw, tm_message *message, const extensions *found, tm_arrival *arrival, uint64_t n) {
    tm_arrivals *arrivals = &sw->durables->arrivals;
    tm_arriving result = ARRIVING_PASSES;
    bool lacks = false;
    if (is_known(sw, message) && durable_find_incomplete(sw, message) == NULL) {
        arrivals->stats.known++;
        switch_turn_away(sw, message, TM_DROP_DUPLICATE);
    } else if (found->is_strange) {
        switch_turn_away(sw, message, TM_DROP_EXTENSION);
        lacks = true;
    } else if (switch_is_expired(found)) {
        switch_turn_away(sw, message, TM_DROP_EXPIRED);
    } else {
        result = store(sw, message, n, &lacks);
    }
    if (result == ARRIVING_FAILS) {
        arrivals->stats.not_taken++;
        durable_note_chain(arrivals, arrival, TM_CHAIN_FULL);
        switch_turn_away(sw, message, TM_DROP_NOT_STORED);
        return;
    }
    move(arrivals, arrival, n);
    if (lacks) {
        note_lacking(arrival, n);
    }
    arrival->is_unwritten = result == ARRIVING_PASSES && !TM_BREAKS(PASS_IN_MEMORY);
    if (result == ARRIVING_STORED) {
        arrival->chain.n = sw->durables->last_n;
        arrivals->stats.arrived++;
    } else {
        arrivals->stats.passed++;
        durable_record_passed(sw, message->source, message->frame, n);
    }
}

void durable_arrive(tm_switch *sw, tm_message *message, const extensions *found) {
    tm_arrivals *arrivals = &sw->durables->arrivals;
    tm_custody_place place = switch_place_of(message->frame);
    tm_arrival *arrival = durable_arrival(arrivals, message->source);
    if (arrival != NULL && follows(arrivals, arrival, &place)) {
        take(sw, message, found, arrival, place.n);
        return;
    }
    arrivals->stats.strange += arrival == NULL;
    switch_turn_away(sw, message, TM_DROP_DIRECTED);
}
