/* members.c - see members.h.
 *
 * Law: an attachment ends with its connection at the latest. Its messages are then ready for other consumers, and their
 * attempts do not count as failed. Only if the peer goes away or is silent has the attempt that the attachment has had
 * longest failed, as that message may be what ended the consumer.
 */
#include "durable/members/members.h"

#include "base/grow.h"
#include "base/tested.h"
#include "durable/keep/attempts.h"
#include "durable/keep/elsewhere.h"
#include "durable/keep/record.h"
#include "durable/keep/table.h"
#include "durable/members/give.h"
#include "durable/messages/losses.h"
#include "durable/tables/index.h"
#include "switch/connections/connection.h"
#include "switch/connections/control.h"
#include "switch/connections/events.h"
#include "switch/lifecycle.h"

uint32_t keep_member_of(const tm_switch *sw, uint32_t connection, uint32_t id) {
    uint32_t member = sw->connections[connection].attachments;
    while (member != 0 && keep_member(sw, member - 1)->id != id) {
        member = keep_member(sw, member - 1)->next_of_connection;
    }
    return member == 0 ? MEMBER_NONE : member - 1;
}

static uint32_t attachments_of(const tm_switch *sw, uint32_t connection) {
    uint32_t count = 0;
    for (uint32_t at = sw->connections[connection].attachments; at != 0;
         at = keep_member(sw, at - 1)->next_of_connection) {
        count++;
    }
    return count;
}

/* ---- losses ---- */

static wire_loss reason_of(tm_leaving how) {
    return how == LEFT_EXPIRED   ? WIRE_LOST_EXPIRED
           : how == LEFT_DROPPED ? WIRE_LOST_LOG_FULL
           : how == LEFT_DAMAGED ? WIRE_LOST_LOG_DAMAGED
           : how == LEFT_SKIPPED ? WIRE_LOST_SKIPPED
                                 : WIRE_LOST_UNDELIVERABLE;
}

void keep_tell_lost(tm_switch *sw, uint32_t id, tm_leaving how) {
    const tm_member *member = keep_member(sw, id);
    const tm_keep *keep = keep_at(sw, member->keep);
    const tm_keep_account *account = keep_account(keep);
    wire_begin(&sw->writer, WIRE_LOST);
    bool is_damage = how == LEFT_DAMAGED;
    wire_array(&sw->writer, is_damage ? 12 : 9);
    wire_unsigned(&sw->writer, account->told[how]);
    wire_unsigned(&sw->writer, account->tally.bytes[how]);
    wire_unsigned(&sw->writer, reason_of(how));
    wire_array(&sw->writer, 1);
    wire_unsigned(&sw->writer, member->id);
    wire_unsigned(&sw->writer, 0);
    wire_boolean(&sw->writer, false);
    wire_array(&sw->writer, 0);
    wire_unsigned(&sw->writer, 0);
    wire_boolean(&sw->writer, true);
    if (is_damage) {
        bool is_doubtful = account->told_doubts > 0;
        wire_unsigned(&sw->writer, account->told_doubts);
        wire_unsigned(&sw->writer, is_doubtful ? account->tally.doubt_first : 0);
        wire_unsigned(&sw->writer, is_doubtful ? account->tally.doubt_last : 0);
    }
    wire_end(&sw->writer);
    keep_record_told(sw, keep, how, member->connection);
    switch_queue_control(sw, member->connection,
                         TM_LANE_ORDERED); /* without memory, the next total covers this loss as well */
}

/* ---- attaching ---- */

static uint32_t new_member(tm_keeps *keeps) {
    uint32_t id = keeps->member_free;
    if (id != MEMBER_NONE) {
        keeps->member_free = keeps->members[id].next_free;
        return id;
    }
    if (keeps->member_count == keeps->member_capacity &&
        !tm_grow(&keeps->memory, TM_COLD, &keeps->members, sizeof *keeps->members, &keeps->member_capacity,
                 keeps->member_count + 1)) {
        return MEMBER_NONE;
    }
    return keeps->member_count++;
}

static void free_member(tm_keeps *keeps, uint32_t id) {
    keeps->members[id] = (tm_member){.keep = KEEP_NONE, .next_free = keeps->member_free};
    keeps->member_free = id;
}

/* Skip, count and report the messages up to a position that are not out at a consumer. false: no memory to record it;
 * the remaining ones stay. */
static bool skip_to(tm_switch *sw, uint32_t slot, uint64_t after) {
    const tm_index *index = &keep_at(sw, slot)->index;
    uint32_t end = after < UINT64_MAX ? tm_index_from(index, after + 1) : index->end;
    for (uint32_t at = index->first; at < end && at < index->end; at++) {
        const tm_kept *row = &index->rows[at];
        if (row->state == KEPT_DOUBT || row->state == KEPT_DOUBT_TOLD) {
            keep_drop_doubt(sw, slot, at);
            continue;
        }
        bool is_out = row->attempt != KEPT_NO_ATTEMPT && sw->keeps->attempts.rows[row->attempt].state == ATTEMPT_OUT;
        if (row->state == KEPT_OPEN && !is_out && !keep_skip(sw, slot, at)) {
            return false;
        }
    }
    return true;
}

static void begin_member(tm_switch *sw, uint32_t slot, uint32_t id, uint32_t connection, uint32_t name) {
    tm_keep *keep = keep_at(sw, slot);
    *keep_member(sw, id) = (tm_member){.keep = slot,
                                       .connection = connection,
                                       .id = name,
                                       .attempts = ATTEMPT_NONE,
                                       .replayed_to = UINT64_MAX,
                                       .next_of_keep = keep->members,
                                       .next_of_connection = switch_at(sw, connection)->attachments};
    keep->members = id;
    keep->member_count++;
    switch_at(sw, connection)->attachments = id + 1;
    sw->keeps->member_live++;
}

int tm_keep_attach(tm_switch *sw, uint32_t number, uint32_t connection, uint32_t name, uint64_t credit, uint64_t after,
                   uint32_t latest) {
    if (!switch_knows(sw, connection) || sw->keeps == NULL || switch_at(sw, connection)->state != CONNECTION_OPEN ||
        switch_is_link(switch_at(sw, connection)) || keep_member_of(sw, connection, name) != MEMBER_NONE) {
        return TM_MISUSED;
    }
    uint32_t slot = keep_slot(sw, number);
    if (slot == KEEP_NONE || slot == KEEP_BOOK || keep_at(sw, slot)->is_closing) {
        return TM_ABSENT;
    }
    if (keep_at(sw, slot)->member_count >= TM_KEEP_MEMBERS_MAX ||
        attachments_of(sw, connection) >= TM_KEEP_ATTACHMENTS_MAX) {
        return TM_TOO_MANY;
    }
    uint32_t id = new_member(sw->keeps);
    if (id == MEMBER_NONE) {
        return TM_NO_MEMORY;
    }
    switch_begin(sw);
    if (!skip_to(sw, slot, after)) {
        free_member(sw->keeps, id);
        return TM_NO_MEMORY;
    }
    begin_member(sw, slot, id, connection, name);
    keep_member(sw, id)->credit = credit;
    keep_member(sw, id)->replayed_to = latest ? 0 : UINT64_MAX;
    for (unsigned how = 0; how < LEFT_WAYS; how++) {
        const tm_keep_account *account = keep_account(keep_at(sw, slot));
        bool is_doubtful = how == LEFT_DAMAGED && account->told_doubts > 0;
        if (keep_is_loss((tm_leaving)how) && (account->told[how] > 0 || is_doubtful)) {
            keep_tell_lost(sw, id, (tm_leaving)how);
        }
    }
    bool is_told = keep_tell_doubts(sw, id);
    if (!is_told) {
        keep_detach(sw, id);
    }
    keep_make_due(sw, slot);
    keep_wake(sw);
    switch_finish(sw);
    return is_told ? TM_OK : TM_NO_MEMORY;
}

/* ---- detaching ---- */

static void unlink_member(tm_switch *sw, uint32_t id) {
    tm_member *member = keep_member(sw, id);
    uint32_t *of_keep = &keep_at(sw, member->keep)->members;
    while (*of_keep != id) {
        of_keep = &keep_member(sw, *of_keep)->next_of_keep;
    }
    *of_keep = member->next_of_keep;
    uint32_t *of_connection = &switch_at(sw, member->connection)->attachments;
    while (*of_connection != id + 1) {
        of_connection = &keep_member(sw, *of_connection - 1)->next_of_connection;
    }
    *of_connection = member->next_of_connection;
}

void keep_detach(tm_switch *sw, uint32_t id) {
    tm_member *member = keep_member(sw, id);
    uint32_t slot = member->keep;
    while (member->attempts != ATTEMPT_NONE) {
        uint32_t attempt = member->attempts;
        if (sw->keeps->attempts.rows[attempt].state == ATTEMPT_OUT) {
            keep_make_ready(sw, slot, attempt);
        }
        keep_unhold(sw, attempt);
    }
    unlink_member(sw, id);
    free_member(sw->keeps, id);
    sw->keeps->member_live--;
    keep_at(sw, slot)->member_count--;
    keep_make_due(sw, slot);
    keep_wake(sw);
}

/* Return the attempt that a consumer has had longest; the list begins with the newest. */
static uint32_t oldest_of(const tm_switch *sw, const tm_member *member) {
    uint32_t oldest = ATTEMPT_NONE;
    for (uint32_t id = member->attempts; id != ATTEMPT_NONE; id = sw->keeps->attempts.rows[id].next) {
        bool is_older = oldest == ATTEMPT_NONE || !TM_BREAKS(BLAME_NEWEST);
        oldest = sw->keeps->attempts.rows[id].state == ATTEMPT_OUT && is_older ? id : oldest;
    }
    return oldest;
}

void keep_blame(tm_switch *sw, uint32_t connection) {
    static const uint8_t text[] = "its consumers went away while they had it";
    for (uint32_t at = switch_at(sw, connection)->attachments; at != 0;
         at = keep_member(sw, at - 1)->next_of_connection) {
        uint32_t slot = keep_member(sw, at - 1)->keep;
        uint32_t oldest = oldest_of(sw, keep_member(sw, at - 1));
        if (oldest != ATTEMPT_NONE && !TM_BREAKS(BLAME_NOBODY)) {
            tm_kept *row = tm_index_find(&keep_at(sw, slot)->index, sw->keeps->attempts.rows[oldest].n);
            keep_fail(sw, slot, row, text, sizeof text - 1);
        }
    }
}

void keep_leave_all(tm_switch *sw, uint32_t connection) {
    while (switch_at(sw, connection)->attachments != 0) {
        keep_detach(sw, switch_at(sw, connection)->attachments - 1);
    }
}

void keep_go_on(tm_switch *sw, uint32_t connection) {
    for (uint32_t at = switch_at(sw, connection)->attachments; at != 0;
         at = keep_member(sw, at - 1)->next_of_connection) {
        uint32_t slot = keep_member(sw, at - 1)->keep;
        if (keep_at(sw, slot)->is_blocked) {
            keep_make_due(sw, slot);
            keep_wake(sw);
        }
    }
}

int tm_keep_detach(tm_switch *sw, uint32_t connection, uint32_t name) {
    if (!switch_knows(sw, connection) || sw->keeps == NULL) {
        return TM_MISUSED;
    }
    uint32_t member = keep_member_of(sw, connection, name);
    if (member == MEMBER_NONE) {
        return TM_ABSENT;
    }
    keep_detach(sw, member);
    return TM_OK;
}
