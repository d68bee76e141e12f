/* bound.c - see bound.h. */
#include "durable/custody/bound.h"

#include "base/grow.h"
#include "base/tested.h"
#include "durable/core/append.h"
#include "durable/core/record.h"
#include "durable/core/table.h"
#include "durable/custody/held.h"
#include "durable/state.h"

#define SUMMARIES 256U      /* that are read at once */
#define RECORD_BYTES 65536U /* at least those of a record that gives up */
#define RANGES_MAX 256U     /* of one record that gives up */
#ifdef TM_TESTED
#define GAPS_MAX 6U /* small, so that a test reaches the bound */
#define DOUBTED 3U
#else
#define GAPS_MAX TM_CUSTODY_GAPS_MAX
#define DOUBTED RANGES_MAX /* records that become one doubt */
#endif
#define AGE_STEPS 64U    /* a message is given up within such a part of the greatest age after that */
#define NUMBER_BYTES 10U /* of the longest number, packed */
#define BITS 7U          /* of a number in one byte; the highest bit says that more follow */

static uint64_t bytes_max_of(const tm_homes *homes) {
    return homes->bytes_max != 0 ? homes->bytes_max : TM_CUSTODY_BYTES;
}

/* ---- counts of bytes ---- */

void durable_count(tm_home_bytes *bytes, uint64_t n, uint64_t size, uint64_t step) {
    bytes->all += size;
    uint64_t marked = bytes->mark_count > 0 ? bytes->marks[bytes->mark_count - 1].bytes : bytes->gone;
    if (bytes->mark_count < HOME_MARKS && bytes->all - marked >= step) {
        bytes->marks[bytes->mark_count++] = (tm_home_mark){n, bytes->all};
    }
}

void durable_uncount(tm_home_bytes *bytes, uint64_t n) {
    uint32_t passed = 0;
    while (passed < bytes->mark_count && bytes->marks[passed].n <= n) {
        uint64_t gone = bytes->marks[passed++].bytes;
        bytes->gone = gone > bytes->gone ? gone : bytes->gone;
    }
    bytes->mark_count -= passed;
    memmove(bytes->marks, bytes->marks + passed, bytes->mark_count * sizeof *bytes->marks);
}

void durable_note_open(const tm_homes *homes, tm_home *home, uint64_t n, uint64_t size, uint64_t at_ms) {
    home->since_ms = home->stored.all == 0 || at_ms < home->since_ms ? at_ms : home->since_ms;
    size = TM_BREAKS(OPEN_IS_NOT_COUNTED) ? 0 : size + DURABLE_ROW_CHARGE;
    durable_count(&home->stored, n, size, bytes_max_of(homes) / HOME_MARKS);
}

/* true if one that came at `at_ms` has waited for longer than it may, and for the part of that after it. */
static bool is_overdue(const tm_homes *homes, uint64_t at_ms, uint64_t now_ms) {
    return homes->age_ms != 0 && !TM_BREAKS(AGE_HAS_NO_BOUND) &&
           at_ms + homes->age_ms + homes->age_ms / AGE_STEPS <= now_ms;
}

static bool is_over(const tm_homes *homes, const tm_home *home) {
    bool refuses = homes->refuses && !TM_BREAKS(FULL_HOME_GIVES_UP);
    return home->stored.all - home->stored.gone > bytes_max_of(homes) && !refuses;
}

bool durable_is_past(const tm_switch *sw, const tm_home *home) {
    const tm_homes *homes = &sw->durables->homes;
    uint64_t bytes = home->stored.all - home->stored.gone;
    return is_over(homes, home) || (bytes > 0 && is_overdue(homes, home->since_ms, durable_wall_ms(sw)));
}

bool durable_is_full(const tm_homes *homes, const tm_home *home, uint64_t size) {
    uint64_t bytes = home->stored.all - home->stored.gone;
    return homes->refuses && !TM_BREAKS(FULL_HOME_TAKES) && bytes > 0 &&
           bytes + size + DURABLE_ROW_CHARGE > bytes_max_of(homes);
}

static void let_go(tm_home *home, uint64_t n) {
    durable_uncount(&home->stored, n);
    if (n >= home->chain.last) {
        home->stored = (tm_home_bytes){0};
    }
}

void durable_note_had(tm_home *home, uint64_t have) {
    uint32_t passed = 0;
    while (passed < home->gap_count && home->gaps[passed].n <= have) { /* the log has let go of these records */
        passed++;
    }
    if (passed > 0) {
        home->gap_count -= passed;
        memmove(home->gaps, home->gaps + passed, home->gap_count * sizeof *home->gaps);
    }
    let_go(home, have);
}

const tm_home_gap *durable_next_gap(const tm_home *home) {
    uint32_t at = 0;
    while (at < home->gap_count && home->gaps[at].last <= home->chain.sent) {
        at++;
    }
    return at < home->gap_count ? &home->gaps[at] : NULL;
}

static bool is_gap(const tm_home *home, uint64_t n) {
    uint32_t at = 0;
    while (at < home->gap_count && home->gaps[at].n != n) {
        at++;
    }
    return at < home->gap_count;
}

/* ---- a start ---- */

/* Return the greatest of the numbers in a record that gives up; a doubt has one, which does not count. */
static uint64_t last_in(const tm_log_record *record) {
    const uint8_t *body = (const uint8_t *)(record + 1) + (size_t)record->homes * sizeof(tm_log_home);
    tm_log_given_up head;
    memcpy(&head, body, sizeof head);
    const uint8_t *at = body + sizeof head + head.ranges * sizeof(tm_log_range);
    uint64_t last = 0;
    uint64_t step = 0;
    uint32_t shift = 0;
    head.numbers += head.numbers == 0;
    for (const uint8_t *end = body + record->body_size; head.numbers > 0 && at < end; at++) {
        step |= (uint64_t)(*at & ((1U << BITS) - 1)) << shift;
        shift += BITS;
        if (*at < 1U << BITS) {
            last += step;
            step = shift = 0;
            head.numbers--;
        }
    }
    return last;
}

static int recall_gap(tm_homes *homes, tm_home *home, const tm_log_record *record) {
    tm_home_gap gap = {record->n, last_in(record)};
    if (TM_BREAKS(GAPS_ARE_FORGOTTEN)) {
        return TM_OK;
    }
    if (!tm_grow(homes->memory, TM_COLD, &home->gaps, sizeof *home->gaps, &home->gap_capacity, home->gap_count + 1)) {
        return TM_NO_MEMORY;
    }
    uint32_t at = home->gap_count++;
    for (; at > 0 && home->gaps[at - 1].last > gap.last; at--) { /* it is a doubt */
        home->gaps[at] = home->gaps[at - 1];
    }
    home->gaps[at] = gap;
    home->chain.last = gap.last > home->chain.last ? gap.last : home->chain.last;
    return TM_OK;
}

static void recall_message(const tm_homes *homes, tm_home *home, uint64_t n, uint64_t size, uint64_t at_ms) {
    home->chain.last = n;
    durable_note_open(homes, home, n, size, TM_BREAKS(AGE_BEGINS_AT_START) ? UINT64_MAX / 2 : at_ms);
}

/* Recall a record of which only the number is known: one that gives up, or a message that lasts long or cannot be
 * read. */
static int recall_unknown(tm_switch *sw, tm_home *home, uint64_t n, uint8_t *bytes) {
    tm_homes *homes = &sw->durables->homes;
    const tm_log_record *record = (const tm_log_record *)(void *)bytes;
    size_t size;
    int result = tm_log_read(sw->durables->log, home->chain.router, 1, n - 1, bytes, RECORD_BYTES, &size);
    if (result == TM_TOO_MANY) {
        recall_message(homes, home, n, size, 0);
        return TM_OK;
    }
    if (result != TM_OK || size == 0 || record->n != n) {
        return result;
    }
    if (record->kind == TM_LOG_GIVEN_UP) {
        return recall_gap(homes, home, record);
    }
    recall_message(homes, home, n, record->body_size, record->t_us / 1000);
    return TM_OK;
}

/* Recall what is on disk. */
static int recall_written(tm_switch *sw, tm_home *home, uint8_t *bytes) {
    tm_log_summary some[SUMMARIES];
    size_t count = SUMMARIES;
    uint64_t after = home->chain.have;
    int result = TM_OK;
    while (result == TM_OK && count == SUMMARIES) {
        result = tm_log_summaries(sw->durables->log, home->chain.router, 1, after, some, SUMMARIES, &count);
        for (size_t i = 0; i < count && result == TM_OK; i++) {
            after = some[i].n;
            if (some[i].is_enough) {
                recall_message(&sw->durables->homes, home, some[i].n, some[i].body_size, some[i].at_ms);
            } else {
                result = recall_unknown(sw, home, some[i].n, bytes);
            }
        }
    }
    return result;
}

/* Recall what is behind a mark in memory, and not on disk as far as that was read. */
static int recall_pending(tm_switch *sw, tm_home *home, uint64_t mark) {
    uint32_t is_behind = 0;
    int result = TM_OK;
    const tm_log_record *record;
    while (result == TM_OK && (record = tm_log_pending(sw->durables->log, &mark, &is_behind)) != NULL) {
        bool is_for_it = durable_claim_of(record, home->chain.router) != NULL && record->n > home->chain.last;
        if (is_for_it && record->kind == TM_LOG_MESSAGE) {
            recall_message(&sw->durables->homes, home, record->n, record->body_size, record->t_us / 1000);
        } else if (is_for_it && record->kind == TM_LOG_GIVEN_UP && !is_gap(home, record->n)) {
            result = recall_gap(&sw->durables->homes, home, record);
        }
    }
    return result;
}

int durable_recall_home(tm_switch *sw, tm_home *home, uint64_t have) {
    tm_homes *homes = &sw->durables->homes;
    tm_home found = {.chain = {.router = home->chain.router, .have = have, .last = have}};
    uint64_t mark = tm_log_written(sw->durables->log);
    uint8_t *bytes = TM_NEW(homes->memory, TM_COLD, uint8_t, RECORD_BYTES);
    int result = bytes == NULL ? TM_NO_MEMORY : recall_written(sw, &found, bytes);
    result = result == TM_OK ? recall_pending(sw, &found, mark) : result;
    TM_DELETE(homes->memory, TM_COLD, bytes, uint8_t, bytes != NULL ? RECORD_BYTES : 0);
    tm_home *left = result == TM_OK ? home : &found;
    TM_DELETE(homes->memory, TM_COLD, left->gaps, tm_home_gap, left->gap_capacity);
    if (result == TM_OK) {
        home->chain.last = TM_BREAKS(RECALL_NOTHING) ? have : found.chain.last;
        home->stored = found.stored;
        home->since_ms = found.since_ms;
        home->gaps = found.gaps;
        home->gap_count = found.gap_count;
        home->gap_capacity = found.gap_capacity;
    }
    return result;
}

/* ---- giving up ---- */

void durable_refuse_given_up(tm_switch *sw, tm_home *home, uint64_t after, uint64_t n) {
    if (!TM_BREAKS(HELD_OVER_GAP)) {
        durable_refuse_held(sw, &home->held, (tm_held_loss){.after = after, .n = n}, WIRE_REFUSED_NOT_HELD,
                            "stored, but given up for a home that is away for too long");
    }
}

/* A record that gives up, as it is composed. */
typedef struct composed {
    tm_log_given_up head;
    uint8_t rest[RANGES_MAX * sizeof(tm_log_range) + TM_LOG_NUMBERS_MAX * NUMBER_BYTES];
    tm_log_range ranges[RANGES_MAX];
    uint64_t last;
    uint64_t bytes;
    uint32_t old; /* messages that have waited for too long */
} composed;

_Static_assert(sizeof(tm_log_given_up) + sizeof((composed *)0)->rest + 4096 <= RECORD_BYTES, "a start reads it");

static uint64_t first_to_give_up(const tm_home *home) {
    return durable_given_up(home) != 0 ? durable_given_up(home) : home->chain.have;
}

/* Note since when the messages in `open` wait, and return how many of these have done so for too long: all before the
 * last one that has, as they came before it. */
static size_t find_old(const tm_homes *homes, tm_home *home, const tm_log_summary *open, size_t count,
                       uint64_t now_ms) {
    uint64_t from = first_to_give_up(home);
    size_t old = 0;
    home->since_ms = now_ms;
    for (size_t i = 0; i < count; i++) {
        if (open[i].n > from && open[i].is_enough) {
            home->since_ms = open[i].at_ms < home->since_ms ? open[i].at_ms : home->since_ms;
            old = open[i].at_ms + homes->age_ms <= now_ms ? i + 1 : old;
        }
    }
    return !is_overdue(homes, home->since_ms, now_ms) ? 0 : TM_BREAKS(AGE_GIVES_UP_ALL) ? count : old;
}

/* Choose the oldest of the messages in `open`, the first `old` and up to `bytes_max` bytes, as ranges between the
 * records that give up. */
static void choose(const tm_home *home, const tm_log_summary *open, size_t count, size_t old, uint64_t bytes_max,
                   composed *record) {
    uint64_t from = first_to_give_up(home);
    bool is_within = false;
    for (size_t i = 0; i < count; i++) {
        if (open[i].n <= from || (!open[i].is_enough && is_gap(home, open[i].n))) {
            is_within = false;
            continue;
        }
        uint32_t numbers = record->head.numbers;
        bool is_all = (i >= old && record->bytes >= bytes_max) || numbers == TM_LOG_NUMBERS_MAX;
        if (is_all || (!is_within && record->head.ranges == RANGES_MAX)) {
            return;
        }
        if (!is_within) {
            record->ranges[record->head.ranges++].first = open[i].n;
        }
        is_within = true;
        record->last = record->ranges[record->head.ranges - 1].last = open[i].n;
        record->bytes += open[i].body_size + DURABLE_ROW_CHARGE;
        record->head.numbers++;
        record->old += i < old;
    }
}

static uint8_t *pack(uint8_t *at, uint64_t step) {
    for (; step >= 1U << BITS; step >>= BITS) {
        *at++ = (uint8_t)(step | 1U << BITS);
    }
    *at++ = (uint8_t)step;
    return at;
}

/* Write the ranges, and the numbers in them, behind the head; return the bytes of the body. */
static uint32_t compose(const tm_log_summary *open, composed *record) {
    size_t bytes = record->head.ranges * sizeof *record->ranges;
    memcpy(record->rest, record->ranges, bytes);
    uint8_t *at = record->rest + bytes;
    uint64_t before = 0;
    for (uint32_t range = 0; range < record->head.ranges; open++) {
        if (open->n < record->ranges[range].first) {
            continue;
        }
        at = pack(at, open->n - before);
        before = open->n;
        range += open->n == record->ranges[range].last;
    }
    return (uint32_t)(sizeof record->head + (size_t)(at - record->rest));
}

static int append(tm_switch *sw, const tm_home *home, const composed *record, uint32_t size, uint64_t *n) {
    tm_log_home peer = {home->chain.router, 0};
    tm_log_entry entry = {.kind = TM_LOG_GIVEN_UP,
                          .homes = &peer,
                          .home_count = 1,
                          .body = record,
                          .body_size = size,
                          .t_us = durable_wall_ms(sw) * 1000};
    int result = durable_append(sw, &entry, n);
    if (result == TM_OK) {
        durable_wake(sw);
    }
    return result;
}

/* Put one doubt in place of the oldest records that give up (C10). */
static int doubt(tm_switch *sw, tm_home *home, composed *record) {
    for (uint32_t i = 0; i < DOUBTED; i++) {
        record->ranges[i] = (tm_log_range){home->gaps[i].n, home->gaps[i].n};
    }
    record->head.ranges = DOUBTED;
    memcpy(record->rest, record->ranges, DOUBTED * sizeof *record->ranges);
    uint8_t *at = record->rest + DOUBTED * sizeof *record->ranges;
    tm_home_gap made = {.last = home->gaps[DOUBTED - 1].last};
    uint32_t size = (uint32_t)(sizeof record->head + (size_t)(pack(at, made.last) - record->rest));
    int result = append(sw, home, record, size, &made.n);
    if (result == TM_OK) {
        home->gap_count -= DOUBTED - 1;
        memmove(home->gaps + 1, home->gaps + DOUBTED, (home->gap_count - 1) * sizeof *home->gaps);
        home->gaps[0] = made;
        home->doubt = made.n;
    }
    return result;
}

/* Give up what is chosen. */
static int give_up(tm_switch *sw, tm_home *home, const tm_log_summary *open, composed *record) {
    uint64_t n;
    int result = append(sw, home, record, compose(open, record), &n);
    if (result == TM_OK) {
        home->gaps[home->gap_count++] = (tm_home_gap){n, record->last};
        durable_record_given_up(sw, home->chain.router, record->ranges[0].first, record->last, record->head.numbers);
        home->stored.gone += record->bytes;
        home->stored.gone = home->stored.gone < home->stored.all ? home->stored.gone : home->stored.all;
        let_go(home, record->last);
        durable_refuse_given_up(sw, home, home->chain.have, record->last);
        home->gone += record->head.numbers;
        home->gone_old += record->old;
        sw->durables->homes.stats.given_up += record->head.numbers;
        sw->durables->homes.stats.given_up_old += record->old;
    }
    return result;
}

int durable_give_up(tm_switch *sw, tm_home *home, const tm_log_summary *open, size_t count) {
    tm_homes *homes = &sw->durables->homes;
    bool has_too_much = is_over(homes, home);
    size_t old = find_old(homes, home, open, count, durable_wall_ms(sw));
    if (!has_too_much && old == 0) {
        return TM_ABSENT;
    }
    composed *record = TM_NEW(homes->memory, TM_COLD, composed, 1);
    if (record == NULL ||
        !tm_grow(homes->memory, TM_COLD, &home->gaps, sizeof *home->gaps, &home->gap_capacity, home->gap_count + 1)) {
        TM_DELETE(homes->memory, TM_COLD, record, composed, record != NULL);
        return TM_NO_MEMORY;
    }
    *record = (composed){0};
    int result;
    if (home->gap_count == GAPS_MAX) {
        result = doubt(sw, home, record);
    } else {
        choose(home, open, count, old, has_too_much ? bytes_max_of(homes) / 2 + 1 : 0, record);
        result = record->head.numbers > 0 ? give_up(sw, home, open, record) : TM_ABSENT;
    }
    TM_DELETE(homes->memory, TM_COLD, record, composed, 1);
    return result;
}

/* ---- life ---- */

void durable_free_home(tm_switch *sw, tm_home *home) {
    tm_homes *homes = &sw->durables->homes;
    tm_held_free_queue(&sw->durables->held, &home->held);
    TM_DELETE(homes->memory, TM_COLD, home->gaps, tm_home_gap, home->gap_capacity);
    TM_DELETE(homes->memory, TM_COLD, home, tm_home, 1);
}

const char *durable_check_bound(const tm_home *home) {
    if (home->stored.gone > home->stored.all || home->stored.mark_count > HOME_MARKS) {
        return "more has left the chain of a home than was stored";
    }
    for (uint32_t i = 0; i < home->gap_count; i++) {
        const tm_home_gap *gap = &home->gaps[i];
        if (gap->last > home->chain.last || (i > 0 && gap[-1].last >= gap->last)) {
            return "numbers that are given up are out of order, or not in the chain";
        }
    }
    return NULL;
}
