/* local.c - see local.h. */
#include "switch/matching/local.h"

#include "base/grow.h"
#include "switch/matching/decide.h"
#include "switch/matching/fold.h"
#include "switch/matching/small_plan.h"
#include "switch/observe/trail.h"

static bool reserve_rows(tm_switch *sw, size_t count) {
    if (count <= sw->rows.capacity) {
        return true;
    }
    uint32_t old = sw->rows.capacity;
    uint32_t capacity = tm_next_capacity(old, sizeof *sw->rows.groups);
    capacity = capacity < count ? (uint32_t)count : capacity;
    uint32_t **lists[3] = {&sw->rows.groups, &sw->rows.handles, &sw->rows.next};
    for (unsigned i = 0; i < 3; i++) {
        uint32_t *grown = TM_RESIZE(&sw->memory, TM_COLD, *lists[i], uint32_t, old, capacity);
        if (grown == NULL) {
            while (i-- > 0) {
                *lists[i] = TM_RESIZE(&sw->memory, TM_COLD, *lists[i], uint32_t, capacity, old);
            }
            return false;
        }
        *lists[i] = grown;
    }
    sw->rows.capacity = capacity;
    return true;
}

/* Ask the table about the first `attributes` of `sw->attributes`. */
static int ask_index(tm_switch *sw, size_t attributes, tm_form *form, size_t *count) {
    tm_query query = {.group_count = sw->subscriber_count, .mode = TM_MATCH_ALL, .memo = form->shape.memo[SHAPE_LOCAL]};
    tm_hits hits = {.groups = sw->rows.groups, .handles = sw->rows.handles, .capacity = sw->rows.capacity};
    int result = switch_ask(sw, sw->table, attributes, &query, &hits);
    *count = hits.count;
    if (result == TM_OK) {
        tm_shape_note_asked(&form->shape, SHAPE_LOCAL);
    }
    return result;
}

/* Ask the table where some filters have conditions on folded texts. */
static __attribute__((noinline)) int ask_with_folded(tm_switch *sw, const tm_message *message, size_t *count) {
    size_t attributes;
    bool is_folded = switch_fold(sw, message, &attributes);
    int result = ask_index(sw, attributes, message->form, count);
    if (is_folded || (result != TM_OK && result != TM_TOO_MANY)) {
        return result;
    }
    return switch_add_folded(sw, count) ? result : TM_TOO_MANY;
}

static int ask_table(tm_switch *sw, const tm_message *message, size_t *count) {
    tm_form *form = message->form;
    if (sw->subscriptions.folded.live > 0) {
        return ask_with_folded(sw, message, count);
    }
    if (tm_small_plan_is_ready(&form->plan, &sw->subscriptions, &form->shape)) {
        *count = tm_small_plan_match(&form->plan, sw->attributes, sw->rows.groups, sw->rows.handles, &sw->work);
        return tm_work_is_over(&sw->work) ? TM_TOO_COSTLY : TM_OK;
    }
    return ask_index(sw, message->attribute_count, form, count);
}

static void note_match_time(tm_switch *sw, uint64_t ns) {
    unsigned bucket = 0;
    while (bucket + 1 < TM_MATCH_BUCKETS && ns >= UINT64_C(1) << (bucket + 6)) {
        bucket++;
    }
    sw->stats.match_ns[bucket]++;
    sw->stats.match_ns_sum += ns;
    sw->stats.matches_timed++;
}

int switch_match_some(tm_switch *sw, const tm_message *message, size_t *count) {
    bool is_timed = sw->stats.messages_in % SWITCH_TIMED_EVERY == 0;
    uint64_t start = is_timed || message->trail != NULL ? tm_clock_ns() : 0;
    if (!reserve_rows(sw, SMALL_PLAN_FILTERS_MAX)) {
        return TM_NO_MEMORY;
    }
    int result = ask_table(sw, message, count);
    if (result == TM_TOO_MANY) {
        result = reserve_rows(sw, *count) ? ask_table(sw, message, count) : TM_NO_MEMORY;
    }
    if (sw->subscriptions.programs.live > 0 && result == TM_OK) {
        switch_decide(sw, message, count);
    }
    if (is_timed) {
        note_match_time(sw, tm_clock_ns() - start);
    }
    if (message->trail != NULL) {
        switch_trail_matched(message, start);
        message->trail->matched = (uint32_t)*count;
    }
    return result;
}
