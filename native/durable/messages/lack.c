/* lack.c - see lack.h.
 *
 * Law: a message that requests storage is refused by the ACK to its publisher and remembered (incomplete.h): a retry
 * goes only to subscriptions that lack it, and is confirmed once none does. A subscription whose owner has no right to
 * turn the message away loses it instead, and does not lack it. Any other message is a loss of the
 * subscription, as its publisher does not retry. A message that cannot be remembered is treated as new when it is
 * published again. The number of losses is written at most once a tick, so that they do not fill a full log; a crash
 * takes back losses that were not written.
 */
#include "durable/messages/lack.h"

#include <stdio.h>

#include "base/tested.h"
#include "durable/messages/losses.h"
#include "durable/tables/incomplete.h"
#include "switch/access/access.h"
#include "switch/connections/connection.h"
#include "switch/connections/control.h"

#define SENTENCE_BYTES 160U

/* ---- messages that a subscription lacks ---- */

static tm_message_name name_of(const uint8_t *frame) {
    return (tm_message_name){tm_load64(frame + WIRE_ORIGIN), tm_load64(frame + WIRE_COUNTER)};
}

bool durable_is_incomplete(const tm_switch *sw, const tm_message *message) {
    return durable_find_incomplete(sw, message) != NULL || TM_BREAKS(RETRY_IS_NEW);
}

const tm_incomplete *durable_find_incomplete(const tm_switch *sw, const tm_message *message) {
    return tm_incompletes_find(&sw->durables->incomplete, name_of(message->frame));
}

void durable_note_incomplete(tm_switch *sw, tm_message_name name, const uint32_t *numbers, uint32_t count) {
    tm_incompletes *all = &sw->durables->incomplete;
    if (!tm_incompletes_note(all, name, numbers, count)) {
        tm_incompletes_forget(all, name);
        tm_publishers_withdraw(&sw->publishers, name.origin, name.counter);
    }
    while (tm_incompletes_dropped(all, &name)) {
        tm_publishers_withdraw(&sw->publishers, name.origin, name.counter);
    }
}

/* Record that the first `stored` and `lost` subscriptions of `wanted_slots`, and homes that have the message, need no
 * retry of it, and others do. */
static void note(tm_switch *sw, const tm_message *message) {
    tm_durables *durables = sw->durables;
    uint32_t count = durables->lack.stored + durables->lack.lost;
    for (uint32_t i = 0; i < count; i++) {
        durables->wanted[i] = durables->rows[durables->wanted_slots[i]]->number;
    }
    if (durables->lack.homes > 0 && !durables->lack.lacks_homes && durables->lack.full == 0) {
        durables->wanted[count++] = DURABLE_HOMES;
    }
    durable_note_incomplete(sw, name_of(message->frame), durables->wanted, TM_BREAKS(FORGET_WHO_HAS) ? 0 : count);
    uint32_t homes[TM_LOG_HOMES_MAX];
    for (uint32_t i = 0; i < durables->homes.wanted_count; i++) {
        homes[i] = DURABLE_UNACKED | durables->homes.wanted[i];
    }
    if (durables->lack.full > 0 && !durables->lack.lacks_homes) {
        durable_note_incomplete(sw, name_of(message->frame), homes, durables->homes.wanted_count);
    }
}

/* ---- the current message ---- */

static bool asks_for_disk(const tm_message *message) {
    return (message->frame[WIRE_FLAGS] & WIRE_STORE_FLAGS) == WIRE_STORE_FLAGS;
}

/* true if a subscription without room may turn the message away: rules of access give its owner that right, or there
 * are none */
static bool may_refuse(tm_switch *sw, const tm_durable *durable, const tm_message *message) {
    const tm_guarded *guarded = switch_guarded(sw, durable->subscriber);
    if (guarded == NULL || guarded->refuse == TM_GUARD_NONE) {
        return true;
    }
    tm_attribute attributes[TM_ATTRIBUTES_MAX];
    size_t count = durable_attributes_of(message->frame, attributes);
    return switch_may_get(sw, durable->subscriber, guarded->refuse, attributes, count);
}

/* Record that subscription `i` of `wanted_slots` loses a message of its publisher, which is not told. */
static void lose_instead(tm_durables *durables, uint32_t i) {
    uint32_t at = durables->lack.stored + durables->lack.lost++;
    uint32_t slot = durables->wanted_slots[i];
    const tm_durable_policy *policy = durables->rows[slot]->policy;
    if (policy->copies_min > 0) {
        tm_copies_lack_here(&durables->homes.copies, policy->copies);
    }
    durables->wanted_slots[i] = durables->wanted_slots[at];
    durables->wanted_slots[at] = slot;
}

void durable_take_lack(tm_switch *sw, const tm_message *message) {
    tm_durables *durables = sw->durables;
    durables->lack.lost = 0;
    if (durables->lack.stored == durables->wanted_count && !durables->lack.lacks_homes && durables->lack.full == 0) {
        tm_incompletes_forget(&durables->incomplete, name_of(message->frame));
        return;
    }
    bool is_told = asks_for_disk(message) && !switch_is_link(switch_at(sw, message->from));
    tm_leaving how = durables->lack.why == TM_TOO_MANY ? LEFT_UNDELIVERABLE : LEFT_DROPPED;
    for (uint32_t i = durables->lack.stored; i < durables->wanted_count; i++) {
        uint32_t slot = durables->wanted_slots[i];
        if (is_told && (durables->lack.why != TM_OK || may_refuse(sw, durable_at(sw, slot), message))) {
            durable_at(sw, slot)->refused++;
            continue;
        }
        durable_lose_unstored(sw, slot, message->size - message->route_bytes, how);
        if (is_told) {
            lose_instead(durables, i);
        }
    }
    if ((durables->lack.lacks_homes || durables->lack.full > 0) && !is_told) {
        durables->lack.lacks_homes = false;
        durables->lack.full = 0;
        durables->homes.stats.lost++;
    }
    bool has_all = !durables->lack.lacks_homes && durables->lack.full == 0;
    if (durables->lack.stored + durables->lack.lost == durables->wanted_count && has_all) {
        tm_incompletes_forget(&durables->incomplete, name_of(message->frame));
    } else if (asks_for_disk(message)) {
        note(sw, message);
    }
}

typedef struct refusal {
    wire_refusal code;
    const char *text;
} refusal;

bool durable_has_stored(const tm_switch *sw) {
    const tm_durable_lack *lack = &sw->durables->lack;
    return lack->had + lack->stored > 0 || (lack->homes > 0 && !lack->lacks_homes);
}

/* Return the refusal for a result of the log; TM_OK: a subscription has no room. */
static refusal refusal_of(int result) {
    switch (result) {
    case TM_LOG_BUSY:
        return (refusal){WIRE_REFUSED_OVERLOADED, "too many messages wait for the disk: try again later"};
    case TM_TOO_MANY:
        return (refusal){WIRE_REFUSED_TOO_LARGE,
                         "the message or its extensions are too large to be stored, or too many routers want it"};
    case TM_LOG_FAILED:
        return (refusal){WIRE_REFUSED_LOG_FAILED, "the log of this router cannot be written"};
    case TM_LOG_FULL:
        return (refusal){WIRE_REFUSED_LOG_FULL, "the log has no room"};
    default:
        return (refusal){WIRE_REFUSED_LOG_FULL, "a matching durable subscription has no room"};
    }
}

bool durable_refuse_lacking(tm_switch *sw, const tm_message *message) {
    const tm_durables *durables = sw->durables;
    const tm_durable_lack *lack = &durables->lack;
    bool is_whole = lack->stored + lack->lost == durables->wanted_count && !lack->lacks_homes && lack->full == 0;
    bool is_confirmed = TM_BREAKS(CONFIRM_LACKING) || (lack->full > 0 && TM_BREAKS(FULL_HOME_CONFIRMS));
    if (is_whole || is_confirmed) {
        return false;
    }
    refusal why = refusal_of(lack->why);
    char text[SENTENCE_BYTES];
    const char *full = lack->why == TM_OK && lack->full > 0 ? durables->homes.rows[lack->full_home]->name : NULL;
    snprintf(text, sizeof text, "stored in %u of %u: %s%s%s",
             lack->had + lack->stored + (lack->lacks_homes ? 0 : lack->homes),
             lack->had + durables->wanted_count + lack->homes + lack->full,
             full != NULL ? "custody.bytes has no room for router " : "", full != NULL ? full : why.text,
             full != NULL ? ", which is behind" : "");
    sw->durables->stats.refused++;
    switch_turn_away(sw, message, TM_DROP_NOT_STORED);
    switch_refuse(sw, message->from, tm_load64(message->frame + WIRE_COUNTER), why.code, text, 0);
    return true;
}
