/* durables_world.c - see durables_world.h. Events; the disk and time are in durables_disk.c, starts and crashes
 * in durables_lives.c, and the checks of the output in durables_judge.c. */
#include "durables_world.h"

#include <string.h>

#include "durable/core/append.h"
#include "durable/core/table.h"
#include "durable/state.h"
#include "durables_disk.h"
#include "durables_judge.h"
#include "durables_lives.h"
#include "log/log.h"
#include "switch/state.h"

#define ENOUGH 100000U
#define TAKES_ALL 2U /* a kind that matches all messages and expires none */

/* ---- choices ---- */

bool durables_goes_on(const durables_world *w) {
    return w->choices == NULL || w->choices < w->choices_end;
}

uint32_t durables_choose(durables_world *w, uint32_t bound) {
    if (w->choices == NULL) {
        return below(&w->dice, bound);
    }
    return w->choices < w->choices_end ? *w->choices++ % bound : 0;
}

/* ---- frames in ---- */

static frame out;

static void feed(durables_world *w, uint32_t connection) {
    const tm_event *events;
    size_t count;
    wire_store32(out.bytes, out.size);
    CHECK(tm_switch_feed(w->sw, connection, out.bytes, out.size, &events, &count) == TM_OK, "feed");
    for (size_t i = 0; i < count; i++) {
        bool is_strange = events[i].type == TM_EVENT_FRAME || events[i].type == TM_EVENT_FAULT;
        CHECK(w->is_hostile || !is_strange, "a valid frame becomes event %u: %s", events[i].type, events[i].text);
    }
}

static void put_number(uint64_t number) {
    put_byte(&out, 0xcf);
    for (int shift = 56; shift >= 0; shift -= 8) {
        put_byte(&out, (unsigned)(number >> shift & 0xff));
    }
}

/* Choose a message that was sent before; in a busy world a recent one, for which a subscription may have had no room.
 */
static uint64_t sent_before(durables_world *w) {
    uint32_t count = w->message_count;
    return w->is_busy ? count - durables_choose(w, count < 8 ? count : 8) : 1 + durables_choose(w, count);
}

static void publish(durables_world *w, bool is_again) {
    static wire attributes;
    if (w->message_count >= DURABLES_MESSAGES - 1) {
        return;
    }
    is_again = is_again && w->message_count > 0;
    uint64_t counter = is_again ? sent_before(w) : ++w->message_count;
    seen_message *message = &w->messages[counter];
    if (!is_again) {
        *message = (seen_message){.is_plain = counter % 7 == 0};
        message->kind = (uint8_t)durables_choose(w, 3);
        message->value = (uint8_t)durables_choose(w, 2);
        judge_published(w, message);
    }
    attributes.size = 0;
    put_map(&attributes, 2);
    put_string(&attributes, "k", 1);
    put_integer(&attributes, message->kind);
    put_string(&attributes, "v", 1);
    put_integer(&attributes, message->value);
    publish_frame(&out, PUBLISHER, counter, true, &attributes, counter % 5 == 0 ? 300 : 20);
    out.bytes[WIRE_FLAGS] |= (message->is_plain ? 0 : WIRE_FLAG_DURABLE) | (is_again ? WIRE_FLAG_RETRY : 0);
    durables_tell(w, "sent %lu %u %u %d", (unsigned long)counter, message->kind, message->value, message->is_plain);
    feed(w, w->publisher);
}

/* Publish a message that is not stored: its confirmation does not wait for the disk. */
static void publish_beside(durables_world *w) {
    static wire attributes;
    attributes.size = 0;
    put_map(&attributes, 1);
    put_string(&attributes, "other", 5);
    put_integer(&attributes, 1);
    publish_frame(&out, BYSTANDER, ++w->bystander_sent, true, &attributes, 20);
    feed(w, w->bystander);
    judge_output(w);
    CHECK(w->is_hostile || w->bystander_confirmed == w->bystander_sent,
          "a publisher without stored messages waits for the disk");
}

static void send_ack(durables_world *w, const seen_consumer *consumer, uint64_t first, uint64_t last, uint32_t verdict,
                     uint32_t request) {
    begin(&out, WIRE_ACK);
    put_byte(&out, 0x98);
    put_byte(&out, WIRE_ACK_OF_DELIVER);
    put_number(request);
    put_byte(&out, 0x91);
    put_byte(&out, 0x92);
    put_number(first);
    put_number(last);
    put_byte(&out, 0x90);
    put_byte(&out, verdict);
    put_number(consumer->id);
    put_number(durables_choose(w, 2) * 2000);
    put_byte(&out, 0xa2);
    put_byte(&out, 'n');
    put_byte(&out, 'o');
    judge_acked(w, consumer, first, last, verdict, request);
    feed(w, consumer->connection);
    durables_tell(w, "acked %u %lu %lu %u %u", consumer->id, (unsigned long)first, (unsigned long)last, verdict,
                  request);
}

static void acknowledge(durables_world *w, const seen_consumer *consumer) {
    const seen_durable *durable = &w->durables[consumer->durable];
    if (durable->count == 0) {
        return;
    }
    uint32_t back = durables_choose(w, durable->count < 8 ? durable->count : 8);
    uint64_t last = durable->positions[durable->count - 1 - back].n;
    uint64_t first = durables_choose(w, 3) == 0 ? 0 : last;
    uint32_t verdict = durables_choose(w, w->is_busy ? 5 : 12);
    uint32_t others = w->is_busy ? 1 : 8;
    send_ack(w, consumer, first, last, verdict > others ? verdict - others : 0,
             w->is_busy || durables_choose(w, 2) ? w->next_request++ : 0);
}

static void raise_credit(durables_world *w, seen_consumer *consumer) {
    consumer->credit += durables_choose(w, 5);
    begin(&out, WIRE_CREDIT);
    put_byte(&out, 0x93);
    put_number(consumer->credit);
    put_byte(&out, 0);
    put_number(consumer->id);
    feed(w, consumer->connection);
}

/* Send a frame of a consumer in which some bytes are arbitrary. */
static void send_strange(durables_world *w, seen_consumer *consumer) {
    static const uint8_t kinds[] = {WIRE_ACK, WIRE_ACK, WIRE_CREDIT, 0x25, 0x26, 0x27, 0x28};
    if (durables_choose(w, 2) == 0) {
        begin(&out, kinds[durables_choose(w, sizeof kinds)]);
        for (uint32_t left = durables_choose(w, 64); left > 0; left--) {
            put_byte(&out, durables_choose(w, 256));
        }
    } else { /* almost an ACK */
        uint32_t at = WIRE_PREFIX_BYTES + durables_choose(w, 40);
        begin(&out, WIRE_ACK);
        static const uint8_t start[] = {0x98, WIRE_ACK_OF_DELIVER,
                                        0x01, 0x92,
                                        0x92, 0x00,
                                        0xcd, 0xff,
                                        0xff, 0x92,
                                        0xcf, 0,
                                        1,    0,
                                        0,    0,
                                        0,    0,
                                        0,    0xcf,
                                        0xff, 0xff,
                                        0xff, 0xff,
                                        0xff, 0xff,
                                        0xff, 0xff,
                                        0x90};
        for (size_t i = 0; i < sizeof start; i++) {
            put_byte(&out, start[i]);
        }
        put_byte(&out, durables_choose(w, 4));
        put_number(consumer->id);
        put_byte(&out, 1);
        put_byte(&out, 0xa0);
        for (uint32_t more = durables_choose(w, 3); more > 0 && at < out.size; more--) {
            out.bytes[at++] = (uint8_t)durables_choose(w, 256);
        }
    }
    feed(w, consumer->connection);
}

/* ---- subscriptions and consumers ---- */

typedef enum { BY_WORD, BY_ROUTER, BY_DEATH } way_to_leave;

static void leave(durables_world *w, seen_consumer *consumer, way_to_leave how) {
    judge_output(w); /* output so far */
    judge_left(w, consumer);
    if (how == BY_WORD) {
        CHECK(tm_durable_cancel(w->sw, consumer->connection, consumer->id) == TM_OK, "detach");
    } else if (how == BY_DEATH) {
        CHECK(tm_switch_lose(w->sw, consumer->connection) == TM_OK, "lose");
    }
    durables_tell(w, "left %u %d", consumer->id, how == BY_DEATH);
    durables_disconnect(w, consumer->connection);
    *consumer = (seen_consumer){0};
}

static void forget(durables_world *w, uint32_t kind) {
    seen_durable *durable = &w->durables[kind];
    for (seen_consumer *m = w->consumers; m < w->consumers + DURABLES_CONSUMERS; m++) {
        if (m->id != 0 && m->durable == kind) {
            leave(w, m, BY_ROUTER);
        }
    }
    uint32_t left = 0;
    do {
        int result = tm_durable_forget(w->sw, durable->number, 1, &left);
        if (result != TM_OK) {
            CHECK(result == TM_LOG_BUSY || result == TM_LOG_FAILED || result == TM_LOG_FULL, "forget: %d", result);
            return;
        }
    } while (left > 0);
    CHECK(tm_durables_retire(w->sw, durable->n) == TM_OK, "retire");
    judge_gone(w, kind);
    durables_point_at_dead_letters(w);
}

/* Let a subscription without filters copy the messages in the log. */
static int take_over(durables_world *w, uint32_t number, tm_table *wanted) {
    static uint64_t records[2048];
    tm_durable_start start = {0};
    tm_log_place place = {0};
    for (uint32_t round = 0; round < 2000; round++) {
        tm_log_replayed replayed;
        size_t size = 0;
        size_t used = 0;
        tm_durable_mark(w->sw, &start);
        int result = tm_log_replay(w->log, wanted, 0, 1 + durables_choose(w, 9), &place, records, sizeof records, &size,
                                   &replayed);
        for (size_t at = 0; result == TM_OK && at < size; at += used) {
            result = tm_durable_seed(w->sw, number, &start, (const uint8_t *)records + at, size - at, &used);
            bool waits = result == TM_LOG_BUSY && tm_log_commit(w->log) == TM_OK;
            result = waits ? TM_OK : result;
        }
        if (result == TM_OK && durables_choose(w, 2) == 0) {
            publish(w, false);
        }
        result = result == TM_OK && replayed.is_all ? tm_durable_join(w->sw, number, &start, wanted) : result;
        if (replayed.is_all && result == TM_LOG_BUSY && tm_log_commit(w->log) == TM_OK) {
            continue;
        }
        if (result != TM_OK || replayed.is_all) {
            return result;
        }
    }
    return TM_LOG_BUSY;
}

/* Create a subscription that begins with the messages in the log: it is in the catalog once it has copied them. */
static void make_from_log(durables_world *w, uint32_t kind) {
    uint32_t body[2] = {kind, w->next_number++};
    uint32_t subscriber;
    uint64_t n;
    tm_table *wanted = new_table(0);
    uint64_t begun;
    uint32_t handle;
    CHECK(tm_table_add(wanted, DURABLES_OF_KINDS[kind].filter, DURABLES_OF_KINDS[kind].filter_size, 0, &handle) ==
              TM_OK,
          "a filter");
    bool is_begun = tm_durables_append(w->sw, RECORD_OF_BEGUN, (const uint8_t *)body, sizeof body, &begun) == TM_OK;
    if (is_begun && tm_durable_open(w->sw, body[1], &DURABLES_OF_KINDS[kind].policy, &subscriber) == TM_OK) {
        int result = take_over(w, body[1], wanted);
        result = result == TM_OK ? tm_durable_filter(w->sw, body[1], DURABLES_OF_KINDS[kind].filter,
                                                     DURABLES_OF_KINDS[kind].filter_size, NULL, 0)
                                 : result;
        uint8_t booked[BOOKED_BYTES];
        memcpy(booked, body, sizeof body);
        memcpy(booked + sizeof body, &begun, sizeof begun);
        result = result == TM_OK ? tm_durables_append(w->sw, RECORD_OF_DURABLE, booked, sizeof booked, &n) : result;
        if (result == TM_OK) {
            judge_made(w, kind, body[1], n);
            judge_took_over(w, kind, TAKES_ALL);
            CHECK(tm_durables_await(w->sw, n) == TM_OK, "await");
            durables_point_at_dead_letters(w);
            w->taken_over++;
            CHECK(tm_durables_retire(w->sw, begun) == TM_OK, "retire");
        } else {
            uint32_t left = 1; /* if it is not removed, the next start removes it */
            tm_durable_forget(w->sw, body[1], UINT32_MAX, &left);
            CHECK(left > 0 || tm_durables_retire(w->sw, begun) == TM_OK, "retire");
        }
    }
    tm_table_free(wanted);
}

static void make(durables_world *w, uint32_t kind) {
    seen_durable *durable = &w->durables[kind];
    if (durable->number != 0) {
        forget(w, kind);
        return;
    }
    if ((w->kinds >> kind & 1) == 0) {
        return;
    }
    if (durables_choose(w, 3) == 0) {
        make_from_log(w, kind);
        return;
    }
    uint32_t body[2] = {kind, w->next_number++};
    uint64_t n;
    if (tm_durables_append(w->sw, RECORD_OF_DURABLE, (const uint8_t *)body, sizeof body, &n) != TM_OK) {
        return;
    }
    int result = durables_open(w, kind, body[1], 0);
    if (result == TM_OK) {
        judge_made(w, kind, body[1], n);
        CHECK(tm_durables_await(w->sw, n) == TM_OK, "await");
        durables_point_at_dead_letters(w);
        return;
    }
    durables_check_result(w, result, "a durable subscription cannot be opened");
    uint32_t left;
    tm_durable_forget(w->sw, body[1], UINT32_MAX, &left);
    CHECK(tm_durables_retire(w->sw, n) == TM_OK, "retire");
}

/* Choose a position behind a delivered message, or behind all. */
static uint64_t place_to_skip_to(durables_world *w, uint32_t kind) {
    const seen_durable *durable = &w->durables[kind];
    return durable->count > 0 && durables_choose(w, 3) > 0 ? durable->positions[durables_choose(w, durable->count)].n
                                                           : UINT64_MAX;
}

/* Begin a consumer; NULL: no free place, no subscription, or no memory. */
static seen_consumer *consume(durables_world *w, uint32_t kind, uint64_t credit, bool may_skip) {
    seen_consumer *consumer = w->consumers;
    while (consumer < w->consumers + DURABLES_CONSUMERS && consumer->id != 0) {
        consumer++;
    }
    if (w->durables[kind].number == 0 || consumer == w->consumers + DURABLES_CONSUMERS) {
        return NULL;
    }
    uint32_t id = w->next_id++;
    uint32_t connection = durables_connect(w, 1000 + id);
    if (connection == UINT32_MAX) {
        return NULL;
    }
    bool is_latest = durables_choose(w, 3) == 0;
    uint64_t after = may_skip && durables_choose(w, 5) == 0 ? place_to_skip_to(w, kind) : 0;
    int result = durables_is_open(w, connection)
                     ? tm_durable_consume(w->sw, w->durables[kind].number, connection, id, credit, after, is_latest)
                     : TM_NO_MEMORY;
    durables_check_result(w, result, "attach");
    judge_skipped(w, kind, after); /* CONSUME may fail after this for want of memory */
    if (result == TM_OK) {
        durables_tell(w, "consumer %u %u %lu", id, kind, (unsigned long)after);
        *consumer = (seen_consumer){.id = id, .connection = connection, .durable = kind, .credit = credit};
        if (!w->is_damaged) { /* otherwise the count itself may be lost */
            memcpy(consumer->lost, w->durables[kind].lost, sizeof consumer->lost);
        }
    } else {
        durables_disconnect(w, connection);
    }
    return result == TM_OK ? consumer : NULL;
}

/* ---- busy worlds ---- */

static seen_consumer *any_consumer(durables_world *w) {
    return &w->consumers[durables_choose(w, DURABLES_CONSUMERS)];
}

/* Consumers of a subscription that limits attempts disconnect one after the other, with messages in flight. */
static void lose_consumers(durables_world *w) {
    uint32_t kind = durables_choose(w, 2) * 3;
    uint64_t credit = 1 + durables_choose(w, 3);
    for (uint32_t left = 1 + durables_choose(w, 4); left > 0; left--) {
        seen_consumer *consumer = consume(w, kind, credit, false);
        if (consumer != NULL) {
            leave(w, consumer, BY_DEATH);
        }
    }
}

static void stir(durables_world *w) {
    static const uint32_t kinds[] = {0, 1, 2, 2, 2, 3, 4, 5, 6};
    uint32_t kind = kinds[durables_choose(w, sizeof kinds / sizeof *kinds)];
    uint32_t what = durables_choose(w, 8);
    if (w->durables[kind].number == 0) {
        make(w, kind);
    } else if (what == 0) {
        lose_consumers(w);
    } else if (what == 1) {
        consume(w, kind, 1 + durables_choose(w, 9), false);
    } else if (what == 2) {
        publish(w, true);
    } else {
        seen_consumer *consumer = any_consumer(w);
        if (consumer->id != 0) {
            acknowledge(w, consumer);
        }
    }
}

/* ---- a step ---- */

static void act(durables_world *w) {
    uint32_t what = durables_choose(w, 100);
    seen_consumer *consumer = any_consumer(w);
    if (what < 30) {
        publish(w, what < 4);
        for (uint32_t more = w->is_slow ? durables_choose(w, 8) : 0; more > 0; more--) {
            publish(w, false);
        }
        if (w->is_slow) {
            publish_beside(w);
        }
    } else if (what < 48) {
        durables_commit(w);
    } else if (what < 58) {
        durables_let_time_pass(w);
    } else if (what < 66) {
        uint32_t kind = durables_choose(w, DURABLES_KINDS);
        uint32_t credit = durables_choose(w, 9);
        consume(w, kind, credit, true);
    } else if (what < 70) {
        uint32_t kind = durables_choose(w, DURABLES_KINDS);
        if (w->durables[kind].number == 0 || what == 69) {
            make(w, kind);
        }
    } else if (what < 72) {
        durables_crash(w, durables_choose(w, CRASH_KINDS));
    } else if (what < (w->is_slow ? 76 : 73)) {
        if (w->is_damaging && durables_choose(w, 2) == 0) {
            durables_damage(w);
        } else {
            durables_trouble_disk(w);
        }
    } else if (consumer->id != 0) {
        if (what < 90) {
            acknowledge(w, consumer);
        } else if (what < 96) {
            raise_credit(w, consumer);
        } else if (what < 98 || !w->is_hostile) {
            leave(w, consumer, durables_choose(w, 3));
        } else {
            send_strange(w, consumer);
        }
    } else if (what > 96) {
        durables_miss(w);
    }
}

/* Reconnect clients that were disconnected for want of memory. */
static void mend_connections(durables_world *w) {
    for (seen_consumer *m = w->consumers; m < w->consumers + DURABLES_CONSUMERS; m++) {
        if (m->id != 0 && !durables_is_open(w, m->connection)) {
            leave(w, m, BY_ROUTER);
        }
    }
    if (!durables_is_open(w, w->publisher)) {
        durables_disconnect(w, w->publisher);
        w->publisher = durables_connect(w, PUBLISHER);
    }
}

static void check(durables_world *w) {
    const char *reason = "";
    CHECK(tm_durables_validate(w->sw, &reason) == TM_OK, "%s", reason);
    durables_check_records(w);
    CHECK(tm_switch_validate(w->sw, &reason) == TM_OK, "%s", reason);
    CHECK(tm_table_validate(w->table, &reason) == TM_OK, "%s", reason);
    judge_committed(w);
    judge_output(w);
    judge_dead(w);
    judge_figures(w);
    if (w->is_busy) {
        judge_newest(w);
    }
}

void durables_step(durables_world *w) {
    bool is_starved = w->starved != STARVED_NOBODY && w->failing == 0 && durables_choose(w, 3) == 0;
    if (is_starved) {
        durables_starve(w, 1 + durables_choose(w, 5));
    }
    if (w->is_busy && durables_choose(w, 2) == 0) {
        stir(w);
    } else {
        act(w);
    }
    if (is_starved) {
        durables_starve(w, 0);
    }
    if (w->starved != STARVED_NOBODY) {
        judge_output(w);
        mend_connections(w);
    }
    check(w);
}

/* ---- the end ---- */

void durables_settle(durables_world *w) {
    w->starved = STARVED_NOBODY;
    w->is_hostile = w->is_slow = false;
    w->slow_turns = 0;
    w->choices = NULL;
    tm_durables_fail_allocation(w->sw, 0);
    tm_switch_fail_allocation(w->sw, 0);
    tm_table_fail_allocation(w->table, 0);
    w->log->store->memory.fail_in = 0;
    w->disk->is_full = false;
    w->disk->fails_in = w->disk->short_in = 0;
    for (seen_consumer *m = w->consumers; m < w->consumers + DURABLES_CONSUMERS && w->is_busy; m++) {
        if (m->id != 0) {
            leave(w, m, BY_WORD);
        }
    }
    if (!w->is_busy) { /* otherwise the state of this life alone is checked, too */
        durables_crash(w, CRASH_ALL_LOST);
    }
    for (uint32_t kind = 0; kind < DURABLES_KINDS; kind++) {
        consume(w, kind, ENOUGH, false);
    }
    judge_output(w);
    for (uint32_t round = 0; round < 400; round++) {
        for (seen_consumer *m = w->consumers; m < w->consumers + DURABLES_CONSUMERS; m++) {
            if (m->id != 0) {
                judge_output(w); /* a consumer reads before it acknowledges all that it was given */
                send_ack(w, m, 0, UINT64_MAX, 0, 0);
            } else if (w->durables[round % DURABLES_KINDS].number != 0 &&
                       !judge_has_consumer(w, round % DURABLES_KINDS)) {
                consume(w, round % DURABLES_KINDS, ENOUGH, false);
            }
        }
        durables_commit(w);
        check(w);
        durables_pass_time(w, 31000, 1);
        check(w);
        seen_consumer *oldest = &w->consumers[round % DURABLES_CONSUMERS];
        if (oldest->id != 0 && judge_is_at_rest(w, oldest->durable)) {
            judge_end(w, oldest->durable);
            leave(w, oldest, BY_WORD);
            if (judge_all_ended(w)) {
                return;
            }
        }
    }
    CHECK(judge_all_ended(w), "messages are stuck, or the full log refuses records that it must accept");
}
