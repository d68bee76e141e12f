/* publish.c - see publish.h.
 *
 * Law: a message that its publisher may not send now, or has sent before, is refused with a reason before any table is
 * matched; both tables are matched before any client gets a copy.
 */
#include "switch/publish.h"

#include "switch/access/access.h"
#include "switch/connections/control.h"
#include "switch/connections/events.h"
#include "switch/connections/step.h"
#include "switch/deliver.h"
#include "switch/durable.h"
#include "switch/forwarding/forward.h"
#include "switch/forwarding/group_choice.h"
#include "switch/matching/check.h"
#include "switch/matching/counters.h"
#include "switch/matching/local.h"
#include "switch/matching/validate.h"
#include "switch/message.h"
#include "switch/observe/trace.h"
#include "switch/observe/trail.h"
#include "switch/observe/unmatched.h"
#include "tm_durables.h"

static __attribute__((cold)) void drop(tm_switch *sw, const tm_message *message, unsigned reason, wire_refusal code,
                                       const char *text) {
    switch_turn_away(sw, message, reason);
    if (message->trail != NULL) {
        switch_trail_end(sw, message, reason);
    } else {
        switch_record_refusal(sw, message, reason);
    }
    if (message->frame[WIRE_FLAGS] & WIRE_FLAG_CONFIRM) {
        switch_refuse(sw, message->from, tm_load64(message->frame + WIRE_COUNTER), code, text, 0);
    } else if (code == WIRE_REFUSED_UNKNOWN_EXTENSION) {
        switch_fault(sw, message->from, WIRE_UNKNOWN_EXTENSION, message->frame, text);
    }
}

/* A function of its own, so that messages pay nothing for it where there are no groups. */
static __attribute__((noinline)) int choose_and_depart(tm_switch *sw, tm_message *message, size_t count,
                                                       uint32_t *behind) {
    tm_message onward;
    int result = switch_choose(sw, message, count, &onward);
    return result == TM_OK ? sw->net->forwarding->targets(sw, &onward, onward.key, NEIGHBOUR_NONE, behind) : result;
}

static bool asks_for_disk(const tm_message *message) {
    return (message->frame[WIRE_FLAGS] & WIRE_STORE_FLAGS) == WIRE_STORE_FLAGS;
}

/* Match both tables before any client gets a copy, so that a message that is too costly reaches no client; queue the
 * copies for links. What passed through here is stored again if its publisher asks for that, as it may have been stored
 * nowhere: homes know it by its id. */
static int match_and_depart(tm_switch *sw, tm_message *message, size_t *count, uint32_t *behind) {
    int result = switch_match(sw, message, count);
    if (sw->durable != NULL && result == TM_OK && *count > 0 &&
        (!message->was_here || asks_for_disk(message) || sw->durable->is_incomplete(sw, message))) {
        message->wanted_by = switch_durable(sw, message, *count);
    }
    if (result == TM_OK && switch_has_groups(sw)) {
        result = choose_and_depart(sw, message, *count, behind);
    } else if (result == TM_OK && sw->net != NULL) {
        result = sw->net->forwarding->targets(sw, message, message->key, NEIGHBOUR_NONE, behind);
    }
    sw->stats.steps += sw->work.steps;
    return result;
}

/* Drop the message, and forget its counter unless a durable subscription matched it, so that the publisher can retry.
 */
static __attribute__((cold)) void give_up(tm_switch *sw, const tm_message *message, int result) {
    if (message->wanted_by == 0 && !message->was_here && !message->is_dry) {
        tm_publishers_withdraw(&sw->publishers, tm_load64(message->frame + WIRE_ORIGIN),
                               tm_load64(message->frame + WIRE_COUNTER));
    }
    if (result == TM_TOO_COSTLY) {
        drop(sw, message, TM_DROP_COSTLY, WIRE_REFUSED_TOO_COSTLY, "matching exceeds the step limit of a message");
    } else {
        drop(sw, message, TM_DROP_MEMORY, WIRE_REFUSED_OUT_OF_MEMORY, "no memory for the list of receivers");
    }
}

/* Confirm at once where there are no durable subscriptions. */
static void confirm_stored(tm_switch *sw, uint32_t id, uint64_t counter, tm_storage stored) {
    if (sw->durable != NULL) {
        sw->durable->confirm(sw, id, counter, stored);
    } else {
        switch_confirm_run(sw, id, counter, counter, stored);
    }
}

/* Confirm whether a message is stored, and remember it for a retry. The state is unknown if an earlier attempt entered
 * at another router. */
static void confirm_durable(tm_switch *sw, const tm_message *message, uint64_t counter) {
    uint64_t origin = tm_load64(message->frame + WIRE_ORIGIN);
    if (message->wanted_by > 0 && sw->durable->has_stored(sw)) {
        tm_publishers_note_stored(&sw->publishers, origin, counter);
        if (message->for_every_home) {
            sw->durable->confirm_held(sw, message);
        } else {
            confirm_stored(sw, message->from, counter, STORED);
        }
    } else if (message->was_here) {
        tm_publishers_note_moved(&sw->publishers, origin, counter);
        confirm_stored(sw, message->from, counter, STORED_UNKNOWN);
    } else {
        confirm_stored(sw, message->from, counter, STORED_NOT);
    }
}

static void confirm(tm_switch *sw, const tm_message *message) {
    uint64_t counter = tm_load64(message->frame + WIRE_COUNTER);
    if ((message->frame[WIRE_FLAGS] & WIRE_FLAG_DURABLE) == 0) {
        switch_confirm(sw, message->from, counter);
    } else if (message->wanted_by == 0 || !sw->durable->refuse_lacking(sw, message)) {
        confirm_durable(sw, message, counter);
    }
}

/* Report to the publisher that no subscription matches, if it requested that; false: it did not, or routers are not in
 * step, so that remote subscriptions may still be unknown here. */
static bool refuse_unwanted(tm_switch *sw, const tm_message *message, const extensions *found) {
    if (!found->tells_unwanted || sw->step != TM_STEP_IN || message->was_here || message->is_dry) {
        return false;
    }
    switch_refuse(sw, message->from, tm_load64(message->frame + WIRE_COUNTER), WIRE_REFUSED_UNWANTED,
                  "no subscription matches the message", 0);
    return true;
}

/* Match, deliver, forward and confirm a message that is well-formed and new. */
static void forward(tm_switch *sw, tm_message *message, const extensions *found) {
    size_t count;
    uint32_t behind = 0;
    bool is_refused = false;
    switch_stamp_entry(sw, message);
    message->trail = switch_trail_begin(sw, message, found);
    int result = match_and_depart(sw, message, &count, &behind);
    if (result != TM_OK) {
        give_up(sw, message, result);
        return;
    }
    if (message->wanted_by + behind + (message->was_here ? 0 : switch_deliver(sw, message, count)) == 0) {
        switch_turn_away(sw, message, TM_DROP_UNMATCHED);
        if (sw->unmatched.bytes != NULL && !message->was_here && !message->is_dry) {
            switch_note_unmatched(sw, message);
        }
        is_refused = refuse_unwanted(sw, message, found);
    }
    switch_trim_shape(sw, message);
    if (message->trail != NULL) {
        switch_trail_end(sw, message, TM_TRACE_NOT_DROPPED);
    }
    if ((message->frame[WIRE_FLAGS] & WIRE_FLAG_CONFIRM) && !message->is_dry && !is_refused) {
        confirm(sw, message);
    }
}

/* Store a repeated message for the durable subscriptions, and the homes, that may lack it; clients and links get no
 * copy. */
static __attribute__((cold)) void offer_again(tm_switch *sw, tm_message *message) {
    size_t count;
    switch_stamp_entry(sw, message);
    message->was_here = true;
    int result = switch_match(sw, message, &count);
    sw->stats.steps += sw->work.steps;
    if (result != TM_OK) {
        give_up(sw, message, result);
        return;
    }
    message->wanted_by = sw->durable->durable(sw, message, count);
    switch_trim_shape(sw, message);
    switch_turn_away(sw, message, TM_DROP_DUPLICATE);
    confirm(sw, message);
}

/* Record the counter of a message; false: the message is refused because its counter is out of range or was used. */
static bool take_counter(tm_switch *sw, tm_message *message) {
    tm_connection *publisher = switch_at(sw, message->from);
    uint64_t counter = tm_load64(message->frame + WIRE_COUNTER);
    tm_counter found = switch_note_counter(sw, publisher, counter);
    message->was_here = found == COUNTER_NEW_BUT_DELIVERED;
    if (found == COUNTER_NEW || message->was_here) {
        return true;
    }
    bool waits_for_disk = asks_for_disk(message);
    if (found == COUNTER_NO_MEMORY) {
        drop(sw, message, TM_DROP_MEMORY, WIRE_REFUSED_OUT_OF_MEMORY, "no memory to remember the publisher");
    } else if (waits_for_disk && sw->durable != NULL && sw->durable->is_incomplete(sw, message)) {
        offer_again(sw, message);
    } else if (message->for_every_home && found == COUNTER_DUPLICATE && sw->durable != NULL) {
        message->was_stored = true;
        if (sw->durable->is_awaited(sw, message)) {
            switch_turn_away(sw, message, TM_DROP_DUPLICATE);
        } else {
            offer_again(sw, message);
        }
    } else if (waits_for_disk && found == COUNTER_DUPLICATE) {
        switch_turn_away(sw, message, TM_DROP_DUPLICATE);
        tm_storage stored = tm_publishers_stored(&sw->publishers, publisher->admission.number, counter);
        confirm_stored(sw, message->from, counter,
                       stored); /* the first attempt was appended before, so the confirmation waits for it */
    } else {
        switch_refuse_counter(sw, message, found);
    }
    return false;
}

static __attribute__((cold)) bool may_enter(tm_switch *sw, tm_message *message) {
    char text[TM_REASON_BYTES_MAX + 1];
    bool may = switch_may_enter(sw, message, text);
    if (!may) {
        drop(sw, message, TM_DROP_NOT_ALLOWED, WIRE_REFUSED_NOT_ALLOWED, text);
    }
    return may;
}

/* true if the rules of access let the message enter from its client; otherwise it is refused */
static inline bool is_allowed(tm_switch *sw, tm_message *message) {
    return sw->guards == NULL || switch_enters_at_once(sw, message) || may_enter(sw, message);
}

/* true if the message satisfies its space; otherwise it is refused */
static __attribute__((cold)) bool fits(tm_switch *sw, tm_message *message) {
    tm_violation violation;
    if (sw->spaces == NULL || switch_fits(sw, message, &violation)) {
        return true;
    }
    char text[SPACE_SENTENCE_BYTES + 1];
    tm_violation_say(&violation, sw->spaces, text);
    drop(sw, message, TM_DROP_SPACE, WIRE_REFUSED_NOT_IN_SPACE, text);
    return false;
}

static const char *why_not_storing(const tm_switch *sw) {
    return sw->not_storing == TM_DURABLES_OFF
               ? "this router stores no messages: its topology file has `durable: false`"
               : "this router stores no messages: its topology file has no `data` folder";
}

static void admit(tm_switch *sw, tm_message *message, const extensions *found) {
    if (message->size > DELIVERABLE_BYTES_MAX) {
        drop(sw, message, TM_DROP_TOO_LARGE, WIRE_REFUSED_TOO_LARGE, TOO_LARGE_TEXT);
    } else if (found->is_strange) {
        drop(sw, message, TM_DROP_EXTENSION, WIRE_REFUSED_UNKNOWN_EXTENSION,
             "unknown extension that must be understood");
    } else if (sw->is_draining) {
        drop(sw, message, TM_DROP_DRAINING, WIRE_REFUSED_DRAINING, "the router is draining");
    } else if (switch_is_expired(found)) {
        drop(sw, message, TM_DROP_EXPIRED, WIRE_REFUSED_EXPIRED, "the message's expiry has passed");
    } else if (asks_for_disk(message) && sw->durable == NULL && sw->not_storing != TM_DURABLES_NONE_YET &&
               !message->is_dry) {
        drop(sw, message, TM_DROP_NOT_STORED, WIRE_REFUSED_NO_LOG, why_not_storing(sw));
    } else if (switch_step_of(sw, message->frame) == TM_STEP_REFUSE && !message->is_dry) {
        drop(sw, message, TM_DROP_NOT_IN_STEP, WIRE_REFUSED_NOT_IN_STEP,
             sw->step == TM_STEP_REFUSE ? "this router and a linked neighbour are not synchronised yet"
                                        : "this router does not know yet what durable subscriptions elsewhere want");
    } else if ((!sw->has_door || (is_allowed(sw, message) && fits(sw, message))) &&
               (message->is_dry || take_counter(sw, message))) {
        forward(sw, message, found);
    }
}

void switch_publish(tm_switch *sw, uint32_t id, const uint8_t *frame, uint32_t size) {
    tm_message message = switch_message(frame, size, id);
    extensions found = {0};
    if (!switch_check_header(sw, &message) || !switch_check_body(sw, &message, &found)) {
        return;
    }
    switch_at(sw, id)->traffic.messages_in++;
    sw->stats.messages_in++;
    if (found.trace == 0 || switch_afford_trace(sw, &message, &found)) {
        admit(sw, &message, &found);
    }
}
