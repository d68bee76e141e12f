/* durables_judge.c - see durables_judge.h. */
#include "durables_judge.h"

#include <stdarg.h>
#include <string.h>

#include "durable/core/bodies.h"
#include "durable/core/table.h"
#include "log/log.h"

#define VALUES 3U /* no message has the last one */

/* ---- the history ---- */

void durables_tell(const durables_world *w, const char *format, ...) {
    if (w->history != NULL) {
        va_list values;
        va_start(values, format);
        fprintf(w->history, "%lu ", (unsigned long)(w->sw != NULL ? w->sw->now_ms : 0));
        vfprintf(w->history, format, values);
        fputc('\n', w->history);
        va_end(values);
    }
}

/* ---- requests ---- */

void judge_made(durables_world *w, uint32_t kind, uint32_t number, uint64_t n) {
    if (w->durables[kind].number != number) {
        durables_tell(w, "made %u", kind);
    }
    w->durables[kind].number = number;
    w->durables[kind].n = n;
}

void judge_gone(durables_world *w, uint32_t kind) {
    const seen_durable *durable = &w->durables[kind];
    CHECK(durable->number == 0 || durable->n == 0 || durable->n > tm_log_committed(w->log) || w->sw != NULL,
          "a durable subscription is missing");
    if (durable->number != 0) {
        durables_tell(w, "gone %u", kind);
    }
    for (uint32_t i = 1; i <= w->message_count; i++) {
        w->messages[i].owed[kind] = 0;
    }
    memset(&w->durables[kind], 0, sizeof w->durables[kind]);
}

void judge_took_over(durables_world *w, uint32_t kind, uint32_t of) {
    const seen_durable *from = &w->durables[of];
    durables_tell(w, "began %u", kind);
    bool is_known = from->number != 0 && !w->is_damaged && !durables_by_age(kind);
    for (uint32_t i = from->passed + 1; i <= w->message_count && is_known; i++) {
        seen_message *message = &w->messages[i];
        bool is_there = message->is_confirmed && message->owed[of] == from->number && !from->was_given[i];
        message->owed[kind] =
            is_there && durables_wants(kind, message) ? w->durables[kind].number : message->owed[kind];
    }
}

void judge_recovered(durables_world *w, uint32_t kind, uint32_t number, uint64_t n) {
    CHECK(kind < DURABLES_KINDS && number != 0, "the catalog has an unexpected record");
    bool is_other = w->durables[kind].number != number; /* its end was requested and not confirmed */
    if (is_other) {
        judge_gone(w, kind);
        w->durables[kind].dead = UINT64_MAX; /* its count is unknown */
    }
    judge_made(w, kind, number, n);
    if (is_other) {
        durables_tell(w, "began %u", kind);
    }
}

void judge_published(const durables_world *w, seen_message *message) {
    for (uint32_t kind = 0; kind < DURABLES_KINDS; kind++) {
        const seen_durable *durable = &w->durables[kind];
        bool is_owed = durable->number != 0 && durable->n <= tm_log_committed(w->log) && durables_wants(kind, message);
        message->owed[kind] = is_owed ? durable->number : 0;
    }
}

void judge_acked(durables_world *w, const seen_consumer *consumer, uint64_t first, uint64_t last, uint32_t verdict,
                 uint32_t request) {
    seen_durable *durable = &w->durables[consumer->durable];
    for (uint32_t i = 0; i < durable->count && verdict == 0; i++) {
        given_position *position = &durable->positions[i];
        if (position->holder == consumer->id && position->n >= first && position->n <= last) {
            position->request = request;
        }
    }
}

/* The judge does not know the positions of messages that were never delivered. */
void judge_skipped(durables_world *w, uint32_t kind, uint64_t after) {
    seen_durable *durable = &w->durables[kind];
    durable->passed = after > 0 ? w->message_count : durable->passed;
    durable->missed = durable->missed > after ? durable->missed : 0;
    durable->missed_owed = durable->missed_owed > after ? durable->missed_owed : 0;
}

void judge_left(durables_world *w, const seen_consumer *consumer) {
    seen_durable *durable = &w->durables[consumer->durable];
    for (uint32_t i = 0; i < durable->count; i++) {
        if (durable->positions[i].holder == consumer->id) {
            durable->positions[i].holder = 0;
        }
    }
}

void judge_missed(durables_world *w, uint32_t kind, uint64_t n, uint64_t messages) {
    w->durables[kind].missed = n;
    w->given_up += messages;
}

void judge_committed(durables_world *w) {
    for (seen_durable *durable = w->durables; durable < w->durables + DURABLES_KINDS; durable++) {
        if (durable->number != 0 && !durable->is_owed && durable->n <= tm_log_committed(w->log)) {
            durable->is_owed = true;
            durables_tell(w, "owed %u", (unsigned)(durable - w->durables));
        }
        durable->missed_owed = durable->missed <= tm_log_committed(w->log) ? durable->missed : durable->missed_owed;
    }
}

void judge_crash(durables_world *w) {
    durables_tell(w, "crashed");
    memset(w->consumers, 0, sizeof w->consumers);
    for (uint32_t kind = 0; kind < DURABLES_KINDS; kind++) {
        seen_durable *durable = &w->durables[kind];
        for (uint32_t i = 0; i < durable->count; i++) {
            durable->positions[i].holder = durable->positions[i].request = 0;
        }
        durable->missed = durable->missed_owed; /* messages that were not on disk are not owed */
    }
}

static uint64_t dead_of(const durables_world *w, uint32_t kind) {
    tm_durable_stats stats = {0};
    CHECK(tm_durable_figures(w->sw, w->durables[kind].number, &stats) == TM_OK, "figures");
    return stats.dead;
}

void judge_dead(durables_world *w) {
    bool is_all = atomic_load(&w->log->appended) == atomic_load(&w->log->committed);
    for (uint32_t kind = 0; kind < DURABLES_KINDS; kind++) {
        seen_durable *durable = &w->durables[kind];
        if (durable->number != 0 && durable->n <= tm_log_committed(w->log)) {
            durable->dead = dead_of(w, kind);
            durable->dead_sure = is_all ? durable->dead : durable->dead_sure;
        }
    }
}

void judge_dead_again(const durables_world *w) {
    for (uint32_t kind = 0; kind < DURABLES_KINDS && !w->is_damaged; kind++) {
        const seen_durable *durable = &w->durables[kind];
        uint64_t dead = durable->number != 0 ? dead_of(w, kind) : 0;
        CHECK(dead >= durable->dead_sure && dead <= durable->dead,
              "kind %u counts %lu dead letters, and had %lu to %lu", kind, (unsigned long)dead,
              (unsigned long)durable->dead_sure, (unsigned long)durable->dead);
    }
}

/* Find, by value, the last message in the log for a subscription. */
static void read_newest(const durables_world *w, uint32_t number, uint64_t *last) {
    static uint8_t records[1 << 16];
    uint64_t after = 0;
    size_t size = 1;
    while (size > 0) { /* piece by piece */
        CHECK(tm_log_read(w->log, number, 0, after, records, sizeof records, &size) == TM_OK, "the log cannot be read");
        for (size_t at = 0; at < size; at += ((const tm_log_record *)(records + at))->size) {
            const tm_log_record *record = (const tm_log_record *)(records + at);
            tm_body body;
            if (durable_frame_of(record, &body)) {
                last[w->messages[tm_load64(body.frame + WIRE_COUNTER)].value] = record->n;
            }
            after = record->n;
        }
    }
}

void judge_newest(const durables_world *w) {
    uint64_t last[VALUES] = {0};
    uint32_t kind = 0;
    while (!durables_lets_go(kind)) {
        kind++;
    }
    const tm_durables *durables = w->sw->durables;
    bool is_all = durables->done_count == 0 && durables->losses == 0 && /* a full log takes what has left later */
                  atomic_load(&w->log->appended) == atomic_load(&w->log->committed);
    if (w->durables[kind].number == 0 || !is_all) {
        return;
    }
    read_newest(w, w->durables[kind].number, last);
    for (uint8_t value = 0; value < VALUES; value++) {
        const uint8_t attributes[] = {0x81, 0xa1, 'v', value};
        uint64_t n = 0;
        int result = tm_durable_newest(w->sw, w->durables[kind].number, attributes, sizeof attributes, &n);
        CHECK(result == (last[value] != 0 ? TM_OK : TM_ABSENT), "newest: %d", result);
        CHECK(n == last[value], "the newest of %u is %lx, and the log has %lx", value, (unsigned long)n,
              (unsigned long)last[value]);
    }
}

/* ---- reports ---- */

static given_position *position_of(seen_durable *durable, uint64_t n, uint64_t message) {
    for (uint32_t i = durable->count; i > 0; i--) {
        if (durable->positions[i - 1].n == n) {
            return &durable->positions[i - 1];
        }
    }
    CHECK(durable->count < DURABLES_MESSAGES, "more positions than messages");
    uint32_t at = durable->count++;
    for (; at > 0 && durable->positions[at - 1].n > n; at--) {
        durable->positions[at] = durable->positions[at - 1];
    }
    durable->positions[at] = (given_position){.n = n, .message = message};
    return &durable->positions[at];
}

/* A message has one position in a subscription; a second one is a dead letter or marked as a possible duplicate. */
static void check_once(const seen_durable *durable, given_position *position, uint8_t said) {
    position->is_marked = (said & (WIRE_MAYBE_DUPLICATE | WIRE_DEAD_LETTER)) != 0;
    for (uint32_t i = 0; i < durable->count && !position->is_marked; i++) {
        const given_position *other = &durable->positions[i];
        CHECK(other == position || other->message != position->message || other->is_marked,
              "message %lu has two positions and is not marked as redelivered", (unsigned long)position->message);
    }
}

static void read_deliver(durables_world *w, const seen_consumer *consumer, const uint8_t *bytes) {
    const uint8_t *extensions = bytes + WIRE_HEADER_BYTES;
    seen_durable *durable = &w->durables[consumer->durable];
    uint64_t message = tm_load64(bytes + WIRE_COUNTER);
    uint64_t n = tm_load64(extensions + 12);
    uint32_t deliveries = tm_load32(extensions + 24);
    CHECK(tm_load16(extensions) == WIRE_SATISFIED && tm_load32(extensions + 4) == consumer->id,
          "the id of another consumer");
    CHECK(message > 0 && message <= w->message_count, "a message that was never published");
    CHECK(durables_wants(consumer->durable, &w->messages[message]) || durables_takes_dead_letters(consumer->durable),
          "the subscription does not match the message");
    durables_tell(w, "given %u %lu %lu %u %u", consumer->id, (unsigned long)n, (unsigned long)message, deliveries,
                  bytes[WIRE_HEADER_BYTES + 28]);
    given_position *position = position_of(durable, n, message);
    CHECK(position->message == message, "position %lx has two messages", (unsigned long)n);
    if (deliveries == 0) {
        return; /* replayed */
    }
    CHECK(n <= tm_log_committed(w->log), "position %lx is delivered before it is on disk", (unsigned long)n);
    CHECK(!position->is_surely_done || w->may_return,
          "position %lx of kind %u comes after its acknowledgement was confirmed", (unsigned long)n, consumer->durable);
    check_once(durable, position, bytes[WIRE_HEADER_BYTES + 28]);
    position->holder = consumer->id;
    position->request = 0;
    durable->was_given[message] = true;
    w->deliveries++;
}

static void read_answer(durables_world *w, const seen_consumer *consumer, const uint8_t *body) {
    seen_durable *durable = &w->durables[consumer->durable];
    bool is_refused = *body++ != 0x93;
    CHECK(*body++ == WIRE_ACK_OF_DELIVER, "an answer to another kind of frame");
    uint64_t request = read_unsigned(&body);
    durables_tell(w, "answered %lu %d", (unsigned long)request, !is_refused);
    for (uint32_t i = 0; i < durable->count; i++) {
        given_position *position = &durable->positions[i];
        if (position->request == request && request != 0) {
            position->is_surely_done |= !is_refused;
            position->request = 0;
        }
    }
}

/* Check the fields of a LOST for damage behind its reason. */
static void read_unknowns(durables_world *w, seen_durable *durable, const uint8_t *body) {
    CHECK(w->is_damaged, "a loss is reported without damage");
    CHECK(*body++ == 0x91, "not one consumer");
    read_unsigned(&body); /* the consumer, and the time span */
    read_unsigned(&body);
    body += 2; /* whether it goes on; no sources */
    read_unsigned(&body);
    body++; /* behind the hops: in all */
    uint64_t unknowns = read_unsigned(&body);
    uint64_t first = read_unsigned(&body);
    uint64_t last = read_unsigned(&body);
    CHECK(first <= last && (unknowns > 0 || last == 0), "%lu ranges from %lx to %lx", (unsigned long)unknowns,
          (unsigned long)first, (unsigned long)last);
    durable->unknowns = unknowns > durable->unknowns ? unknowns : durable->unknowns;
}

static bool is_elsewhere(uint64_t reason) {
    return reason == WIRE_LOST_ROUTE_CHANGED || reason == WIRE_LOST_CUSTODY_FULL || reason == WIRE_LOST_ENTRY_LOST;
}

/* Check the fields of a LOST for other routers behind its reason: two positions, and a count of what was given up. */
static void read_missed(durables_world *w, seen_durable *durable, const uint8_t *body, uint64_t messages) {
    CHECK(messages <= w->given_up, "%lu were given up, and %lu reported", (unsigned long)w->given_up,
          (unsigned long)messages);
    CHECK(*body++ == 0x91, "not of one consumer");
    read_unsigned(&body);
    read_unsigned(&body);
    body += 4; /* whether it goes on; no sources; no hops; not in all */
    CHECK(read_unsigned(&body) == 1, "not one unknown range");
    uint64_t first = read_unsigned(&body);
    uint64_t last = read_unsigned(&body);
    CHECK(first > 0 && first <= last, "from %lx to %lx", (unsigned long)first, (unsigned long)last);
    durable->missed_told = last > durable->missed_told ? last : durable->missed_told;
    w->missed_told++;
}

static void read_lost(durables_world *w, seen_consumer *consumer, const uint8_t *body) {
    seen_durable *durable = &w->durables[consumer->durable];
    body++;
    uint64_t in_all = read_unsigned(&body);
    read_unsigned(&body);
    uint64_t reason = read_unsigned(&body);
    if (is_elsewhere(reason)) {
        CHECK(in_all == 0 || reason == WIRE_LOST_CUSTODY_FULL, "a count for reason %lu", (unsigned long)reason);
        read_missed(w, durable, body, in_all);
        return;
    }
    unsigned way = reason == WIRE_LOST_EXPIRED         ? 0
                   : reason == WIRE_LOST_LOG_FULL      ? 1
                   : reason == WIRE_LOST_UNDELIVERABLE ? 2
                   : reason == WIRE_LOST_SKIPPED       ? 3
                                                       : 4;
    if (reason == WIRE_LOST_LOG_DAMAGED) {
        read_unknowns(w, durable, body);
    }
    durables_tell(w, "lost %u %u %lu", consumer->id, way, (unsigned long)in_all);
    CHECK(in_all >= consumer->lost[way], "%lu were reported lost before, and now %lu",
          (unsigned long)consumer->lost[way], (unsigned long)in_all);
    uint64_t times = w->is_damaged ? 2 : w->may_return ? w->crashes + 1 : 1; /* recovered messages may be lost again */
    CHECK(in_all <= w->message_count * times, "more messages are lost than were sent");
    consumer->lost[way] = in_all;
    durable->lost[way] = in_all > durable->lost[way] ? in_all : durable->lost[way];
}

static uint32_t read_array(const uint8_t **body) {
    uint32_t count = **body == 0xdc ? (uint32_t)(*body)[1] << 8 | (*body)[2] : **body & 15U;
    *body += **body == 0xdc ? 3 : 1;
    return count;
}

/* A message with storage is refused if the log or a subscription has no room for it; others never, and none because
 * the disk is slow. */
static void read_refusal(const durables_world *w, const uint8_t *body, bool is_bystander) {
    CHECK(*body == 0x91, "not one refusal");
    body += 2;
    uint64_t number = read_unsigned(&body);
    uint64_t code = read_unsigned(&body);
    bool is_plain = !is_bystander && w->messages[number].is_plain;
    CHECK(!is_plain || (code != WIRE_REFUSED_LOG_FULL && code != WIRE_REFUSED_LOG_FAILED),
          "message %lu without storage is refused by a durable subscription", (unsigned long)number);
    CHECK(code != WIRE_REFUSED_OVERLOADED || w->starved != STARVED_NOBODY, "a slow disk causes a refusal");
}

/* A message reported as stored has a matching subscription; one reported as not stored has none that must store it. */
static void check_stored(const durables_world *w, uint64_t message, bool is_stored) {
    bool is_wanted = false;
    bool is_owed = false;
    for (uint32_t kind = 0; kind < DURABLES_KINDS; kind++) {
        is_wanted = is_wanted || durables_wants(kind, &w->messages[message]);
        is_owed = is_owed || w->messages[message].owed[kind] != 0;
    }
    CHECK(is_stored ? is_wanted : !is_owed, "message %lu is reported as %s", (unsigned long)message,
          is_stored ? "stored, but no subscription matches" : "not stored, but a durable subscription matches");
}

static void read_stored(const durables_world *w, const uint8_t *body, bool is_bystander) {
    static const uint8_t unused[] = {0x90, 0, 0, 0, 0xd9, 0};
    CHECK(memcmp(body, unused, sizeof unused) == 0, "fields that a PUBLISH does not use");
    body += sizeof unused;
    for (int is_stored = 0; is_stored < 2; is_stored++) {
        for (uint32_t ranges = read_array(&body); ranges > 0; ranges--) {
            body++;
            uint64_t first = read_unsigned(&body);
            uint64_t last = read_unsigned(&body);
            CHECK(!is_bystander || !is_stored, "a bystander's message is stored");
            for (uint64_t i = first; i <= last && !is_bystander; i++) {
                check_stored(w, i, is_stored);
            }
        }
    }
}

static void read_confirmations(durables_world *w, const uint8_t *body, bool is_bystander) {
    uint32_t fields = *body++ & 15U;
    CHECK(*body++ == WIRE_ACK_OF_PUBLISH, "an answer to another kind of frame");
    read_unsigned(&body);
    for (uint32_t ranges = read_array(&body); ranges > 0; ranges--) {
        body++;
        uint64_t first = read_unsigned(&body);
        uint64_t last = read_unsigned(&body);
        CHECK(first > 0 && first <= last && last <= (is_bystander ? w->bystander_sent : w->message_count),
              "messages that were never published");
        if (!is_bystander) {
            durables_tell(w, "confirmed %lu %lu", (unsigned long)first, (unsigned long)last);
        }
        w->bystander_confirmed += is_bystander ? last - first + 1 : 0;
        for (uint64_t i = first; i <= last && !is_bystander; i++) {
            w->confirmed += !w->messages[i].is_confirmed && !w->messages[i].is_plain;
            w->messages[i].is_confirmed = !w->messages[i].is_plain;
        }
    }
    if (fields > 4) {
        read_stored(w, body, is_bystander);
    } else if (fields > 3) {
        read_refusal(w, body, is_bystander);
    }
}

/* ---- streams ---- */

/* Read the output of a connection; true if there was any. */
static bool read_stream(durables_world *w, uint32_t connection, seen_consumer *consumer) {
    bool is_any = false;
    const uint8_t *bytes;
    size_t size;
    while (tm_switch_output(w->sw, connection, &bytes, &size) == TM_OK && size > 0) {
        size_t at = 0;
        while (at < size) {
            const uint8_t *frame = bytes + at;
            CHECK(size - at >= WIRE_PREFIX_BYTES && tm_load32(frame) <= size - at, "a frame is cut");
            const uint8_t *body = frame + WIRE_PREFIX_BYTES;
            if (w->is_hostile) {
                w->deliveries += frame[WIRE_KIND] == WIRE_DELIVER;
            } else if (consumer == NULL && frame[WIRE_KIND] == WIRE_ACK) {
                read_confirmations(w, body, connection == w->bystander);
            } else if (consumer != NULL && frame[WIRE_KIND] == WIRE_DELIVER) {
                read_deliver(w, consumer, frame);
            } else if (consumer != NULL && frame[WIRE_KIND] == WIRE_ACK) {
                read_answer(w, consumer, body);
            } else if (consumer != NULL && frame[WIRE_KIND] == WIRE_LOST) {
                read_lost(w, consumer, body);
            }
            at += tm_load32(frame);
        }
        CHECK(tm_switch_sent(w->sw, connection, size) == TM_OK, "sent");
        is_any = true;
    }
    return is_any;
}

/* Reading frees room, so that more output may follow. */
void judge_output(durables_world *w) {
    bool is_any = true;
    while (is_any) {
        is_any = read_stream(w, w->publisher, NULL);
        is_any |= w->bystander != UINT32_MAX && read_stream(w, w->bystander, NULL);
        for (seen_consumer *m = w->consumers; m < w->consumers + DURABLES_CONSUMERS; m++) {
            is_any |= m->id != 0 && read_stream(w, m->connection, m);
        }
    }
    durables_tell(w, "read");
}

/* ---- the end ---- */

bool judge_has_consumer(const durables_world *w, uint32_t kind) {
    for (const seen_consumer *m = w->consumers; m < w->consumers + DURABLES_CONSUMERS; m++) {
        if (m->id != 0 && m->durable == kind) {
            return true;
        }
    }
    return false;
}

/* The messages of a subscription have left or are open. */
static uint64_t open_of(const durables_world *w, uint32_t kind) {
    tm_durable_stats stats;
    CHECK(tm_durable_figures(w->sw, w->durables[kind].number, &stats) == TM_OK, "figures");
    CHECK(stats.appended == stats.open + stats.acked + stats.expired + stats.dropped + stats.replaced + stats.dead +
                                stats.undeliverable + stats.damaged + stats.skipped,
          "kind %u: %lu were appended, %lu are open", kind, (unsigned long)stats.appended, (unsigned long)stats.open);
    return stats.open;
}

void judge_figures(const durables_world *w) {
    for (uint32_t kind = 0; kind < DURABLES_KINDS; kind++) {
        if (w->durables[kind].number != 0) {
            open_of(w, kind);
        }
    }
}

bool judge_is_at_rest(durables_world *w, uint32_t kind) {
    uint64_t open = open_of(w, kind);
    const tm_durable *durable = durable_at(w->sw, durable_slot(w->sw, w->durables[kind].number));
    bool was_at_rest = w->durables[kind].was_at_rest;
    bool is_told = durable->loss_count == 0 && durable->unstored == 0 &&
                   durable_account(durable)->counts_n <= w->sw->durables->committed; /* a commit may take a part */
    w->durables[kind].was_at_rest = open == 0 && is_told;
    return was_at_rest && w->durables[kind].was_at_rest;
}

static bool was_replaced(const durables_world *w, uint32_t kind, uint32_t message) {
    for (uint32_t i = 1; i <= w->message_count && durables_lets_go(kind); i++) {
        if (i != message && durables_wants(kind, &w->messages[i]) &&
            w->messages[i].value == w->messages[message].value) {
            return true;
        }
    }
    return false;
}

void judge_end(durables_world *w, uint32_t kind) {
    seen_durable *durable = &w->durables[kind];
    tm_durable_stats stats = {0};
    CHECK(tm_durable_figures(w->sw, durable->number, &stats) == TM_OK, "figures");
    durables_tell(w, "rest %u %lu %lu %lu", kind, (unsigned long)stats.appended, (unsigned long)stats.open,
                  (unsigned long)(stats.expired + stats.dropped + stats.undeliverable + stats.skipped));
    uint64_t missing = 0;
    for (uint32_t i = 1; i <= w->message_count; i++) {
        const seen_message *message = &w->messages[i];
        bool is_owed = message->is_confirmed && message->owed[kind] == durable->number;
        missing += is_owed && !durable->was_given[i] && !was_replaced(w, kind, i);
    }
    uint64_t lost = 0;
    for (unsigned way = 0; way < DURABLES_LOSSES; way++) {
        lost += durable->lost[way];
    }
    w->damaged += durable->lost[DURABLES_LOSSES - 1];
    w->unknowns += durable->unknowns;
    CHECK(missing <= lost || durable->unknowns > 0, "kind %u misses %lu messages, and reported %lu", kind,
          (unsigned long)missing, (unsigned long)lost);
    bool is_told = durable->missed_told >= durable->missed_owed;
    CHECK(is_told || w->is_damaged || durables_by_age(kind), "kind %u received no report of an unknown range at %lx",
          kind, (unsigned long)durable->missed_owed);
    durable->number = 0;
}

bool judge_all_ended(const durables_world *w) {
    for (uint32_t kind = 0; kind < DURABLES_KINDS; kind++) {
        if (w->durables[kind].number != 0) {
            return false;
        }
    }
    return true;
}
