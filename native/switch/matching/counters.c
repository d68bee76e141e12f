/* counters.c - see counters.h.
 *
 * Law: a counter is accepted once. A used counter, one older than the remembered window of its publisher and one more
 * than a day ahead are refused with different codes and the newest known counter, so that a publisher never takes a
 * refused message for an accepted one. A refused counter is not recorded, so it cannot suppress later messages.
 */
#include "switch/matching/counters.h"

#include "switch/connections/control.h"
#include "switch/observe/trail.h"

#define DAY_NS (UINT64_C(86400) * 1000000000)
#define NS_PER_MS UINT64_C(1000000)

/* Counters begin at a clock in nanoseconds, or at 1; an epoch is a clock in milliseconds that never goes back. */
uint64_t switch_counter_max(const tm_switch *sw) {
    uint64_t now = tm_clock_unix_ns();
    uint64_t epoch_ns = sw->options.epoch < UINT64_MAX / NS_PER_MS ? sw->options.epoch * NS_PER_MS : UINT64_MAX;
    uint64_t latest = now > epoch_ns ? now : epoch_ns;
    return latest < UINT64_MAX - DAY_NS ? latest + DAY_NS : UINT64_MAX;
}

tm_counter switch_note_counter(tm_switch *sw, tm_connection *publisher, uint64_t counter) {
    if (counter > sw->counter_max) {
        sw->counter_max = switch_counter_max(sw);
        if (counter > sw->counter_max) {
            return COUNTER_TOO_FAR_AHEAD;
        }
    }
    return tm_publishers_enter(&sw->publishers, publisher->admission.number, counter, sw->counter_max,
                               &publisher->publisher_row);
}

static const struct {
    uint8_t reason;
    uint8_t code;
    const char *text;
} refusals[] = {
    [COUNTER_DUPLICATE] = {TM_DROP_DUPLICATE, WIRE_REFUSED_DUPLICATE,
                           "a message with this counter was accepted before"},
    [COUNTER_TOO_OLD] = {TM_DROP_TOO_OLD, WIRE_REFUSED_TOO_OLD,
                         "the counter is 4096 or more below the newest of this publisher"},
    [COUNTER_TOO_FAR_AHEAD] = {TM_DROP_TOO_FAR_AHEAD, WIRE_REFUSED_TOO_FAR_AHEAD,
                               "the counter is more than a day ahead of the router's clock in nanoseconds"},
};

void switch_refuse_counter(tm_switch *sw, const tm_message *message, tm_counter why) {
    const tm_connection *publisher = switch_at(sw, message->from);
    uint64_t counter = tm_load64(message->frame + WIRE_COUNTER);
    uint8_t flags = message->frame[WIRE_FLAGS];
    switch_turn_away(sw, message, refusals[why].reason);
    switch_record_refusal(sw, message, refusals[why].reason);
    if ((flags & WIRE_FLAG_CONFIRM) == 0) {
        return;
    }
    /* Version 1 has no code for a duplicate: its retries are confirmed. */
    if (why == COUNTER_DUPLICATE && (flags & WIRE_FLAG_RETRY) && publisher->admission.version < WIRE_VERSION_NEWEST) {
        switch_confirm(sw, message->from, counter);
        return;
    }
    uint64_t newest = tm_publishers_newest(&sw->publishers, publisher->admission.number, sw->counter_max);
    switch_refuse(sw, message->from, counter, (wire_refusal)refusals[why].code, refusals[why].text, newest);
}

uint64_t tm_switch_newest(const tm_switch *sw, uint64_t publisher) {
    return sw == NULL ? 0 : tm_publishers_newest(&sw->publishers, publisher, switch_counter_max(sw));
}
