/* hands.c - see hands.h. */
#include "durable/consumers/hands.h"

#include "durable/core/attempts.h"
#include "durable/core/bodies.h"
#include "durable/core/done.h"
#include "durable/core/table.h"
#include "durable/messages/leave.h"
#include "durable/tables/index.h"
#include "switch/access/access.h"

/* true if the guard of a consumer lets a message pass; its client stands for `${name}` */
static bool consumer_may(tm_switch *sw, const tm_consumer *consumer, const tm_attribute *attributes, size_t count) {
    uint32_t subscriber = switch_at(sw, consumer->connection)->subscriber;
    return switch_may_get(sw, subscriber, consumer->hand, attributes, count);
}

static bool owner_may(tm_switch *sw, const tm_durable *durable, const tm_attribute *attributes, size_t count) {
    const tm_guarded *guarded = switch_guarded(sw, durable->subscriber);
    return guarded == NULL || switch_may_get(sw, durable->subscriber, guarded->hand, attributes, count);
}

bool durable_may_get(tm_switch *sw, uint32_t slot, uint32_t consumer, const tm_body *body) {
    tm_attribute attributes[TM_ATTRIBUTES_MAX];
    size_t count = durable_attributes_of(body->frame, attributes);
    return owner_may(sw, durable_at(sw, slot), attributes, count) &&
           consumer_may(sw, durable_consumer(sw, consumer), attributes, count);
}

bool durable_hold_back(tm_switch *sw, uint32_t slot, tm_stored_row *row) {
    tm_durable *durable = durable_at(sw, slot);
    tm_body body;
    if (durable->consumers == CONSUMER_NONE || row->state != ROW_OPEN ||
        durable_body(sw, slot, row, &body) != BODY_FOUND) {
        return false; /* there is nothing to judge now, or to hold back */
    }
    tm_attribute attributes[TM_ATTRIBUTES_MAX];
    size_t count = durable_attributes_of(body.frame, attributes);
    bool may_any = false;
    bool may_owner = owner_may(sw, durable, attributes, count);
    for (uint32_t id = durable->consumers; id != CONSUMER_NONE; id = durable_consumer(sw, id)->next_of_durable) {
        tm_consumer *consumer = durable_consumer(sw, id);
        consumer->may_get = may_owner && consumer_may(sw, consumer, attributes, count);
        may_any |= consumer->may_get;
    }
    if (may_any) {
        return false;
    }
    uint32_t at = (uint32_t)(row - durable->index.rows);
    durable->index.fresh = at >= durable->index.fresh ? at + 1 : durable->index.fresh;
    if (row->attempt != STORED_NO_ATTEMPT) {
        durable_end_attempt(sw, durable, row);
    }
    row->is_held = true;
    durable->account->has_held = true;
    return true;
}

tm_stored_row *durable_again(tm_durable *durable) {
    if (durable->account == NULL || durable->account->again_n == 0) {
        return NULL;
    }
    tm_index *index = &durable->index;
    for (uint32_t at = tm_index_from(index, durable->account->again_n); at < index->fresh; at++) {
        tm_stored_row *row = &index->rows[at];
        durable->account->again_n = row->n;
        if (row->state == ROW_OPEN && row->attempt == STORED_NO_ATTEMPT && !row->is_held) {
            return row;
        }
    }
    durable->account->again_n = 0;
    return NULL;
}

void durable_look_again(tm_switch *sw, uint32_t slot) {
    tm_durable *durable = durable_at(sw, slot);
    if (durable->account == NULL || !durable->account->has_held) {
        return;
    }
    for (uint32_t at = durable->index.first; at < durable->index.end; at++) {
        durable->index.rows[at].is_held = false;
    }
    durable->account->has_held = false;
    durable->account->again_n = 1;
    durable_make_due(sw, slot);
    durable_wake(sw);
}

uint64_t durable_held(const tm_durable *durable) {
    uint64_t held = 0;
    bool has_held = durable->account != NULL && durable->account->has_held;
    for (uint32_t at = durable->index.first; has_held && at < durable->index.end; at++) {
        held += durable->index.rows[at].state == ROW_OPEN && durable->index.rows[at].is_held;
    }
    return held;
}

int tm_durable_purge(tm_switch *sw, uint32_t number, uint64_t n) {
    uint32_t slot = sw != NULL && sw->durables != NULL ? durable_slot(sw, number) : DURABLE_NONE;
    if (slot == DURABLE_NONE || slot == DURABLE_CATALOG || durable_at(sw, slot)->is_closing) {
        return TM_ABSENT;
    }
    tm_index *index = &durable_at(sw, slot)->index;
    uint32_t at = tm_index_from(index, n);
    if (at >= index->end || index->rows[at].n != n || index->rows[at].state != ROW_OPEN ||
        index->rows[at].attempt != STORED_NO_ATTEMPT) {
        return TM_ABSENT;
    }
    uint64_t first;
    durable_take_out(sw, slot, at, LEFT_ACKED, &first);
    durable_note_done(sw, number, first, n);
    durable_make_due(sw, slot);
    durable_wake(sw);
    return TM_OK;
}

int tm_durables_look_again(tm_switch *sw) {
    if (sw == NULL || sw->durables == NULL) {
        return TM_MISUSED;
    }
    for (uint32_t slot = 0; slot < sw->durables->count; slot++) {
        if (slot != DURABLE_CATALOG && durable_at(sw, slot)->is_live) {
            durable_look_again(sw, slot);
        }
    }
    return TM_OK;
}
