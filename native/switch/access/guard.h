/* guard.h - one guard: filters that allow and filters that deny, compiled for the shapes of messages.
 *
 * Law: a message passes if it satisfies one of the allowed filters and none of the denied ones, and the evaluation is
 * within its budget. A guard is asked once for each message, whatever the number of clients that have it, unless a
 * filter of it depends on the name of the client.
 *
 *     filters   3 tests, allows | 1 test, allows | 2 tests, denies
 *     places    attribute of each test in a message of the shape, a row for each form of the switch
 */
#ifndef TM_SWITCH_ACCESS_GUARD_H
#define TM_SWITCH_ACCESS_GUARD_H

#include "switch/access/program.h"
#include "switch/matching/value_test.h"
#include "switch/message.h"
#include "switch/subscribers/guarded.h"

#define GUARD_ABSENT 255U /* in a row of places: the shape has no such attribute */

typedef struct tm_guard_filter {
    void *block; /* owned: its constraints with their operands */
    size_t block_bytes;
    uint32_t count; /* of its tests, which follow those of the filters before it */
    bool denies;
} tm_guard_filter;

typedef struct tm_guard_test {
    tm_value_test test; /* borrows from the block of its filter */
    bool is_of_name;    /* the operand is the name of the client */
} tm_guard_test;

struct tm_guard {
    tm_guard_filter *filters; /* owned; NULL: the row is free, and `users` is the next free one */
    tm_guard_test *tests;     /* owned */
    uint8_t *places;          /* owned: SWITCH_FORMS rows of `test_room` */
    tm_step *steps;           /* owned: SWITCH_FORMS rows of `step_room`; NULL: there are no programs */
    uint8_t *reasons;         /* owned; NULL: none */
    uint64_t *reason_ends;    /* owned */
    uint64_t reason_bytes;
    uint32_t filter_room;
    uint32_t test_room;
    uint32_t step_room;
    uint32_t filter_count; /* the allowed ones are first */
    uint32_t test_count;
    uint32_t reason_count; /* one for each allowed test, one for each denied filter, and one for nothing allowed */
    uint32_t users;
    bool asks_name;
    uint64_t versions[SWITCH_FORMS];       /* of the shape for which a row of places was made; 0: none */
    const tm_step *programs[SWITCH_FORMS]; /* the first step of each */
    uint64_t judged; /* the last message that it was evaluated for, by its number among all received; 0: none */
    bool has_passed; /* the result for that message */
    tm_guard_stats stats;
};

struct tm_guards {
    tm_guarded **guarded; /* owned, with its elements; by subscriber; NULL: it is not guarded */
    uint32_t guarded_room;
    tm_guard *rows; /* owned; guard i is row i - 1 */
    uint32_t capacity;
    uint32_t count; /* rows ever used */
    uint32_t free;  /* first free row + 1; 0: none */
    uint32_t in_use;
    uint8_t *frame; /* owned: the last message that was stamped */
    uint32_t frame_capacity;
};

/* true if the message, which is decoded with all attributes that guards test, passes the guard for this client */
bool guard_judges(tm_switch *sw, tm_guard *guard, const tm_guarded *guarded, const tm_message *message);
/* The same for a guard that may have been asked about the message before. */
bool guard_passes(tm_switch *sw, tm_guard *guard, const tm_guarded *guarded, const tm_message *message);

/* true if a message with these attributes passes the guard for this client; nothing of it is remembered */
bool guard_passes_attributes(const tm_switch *sw, tm_guard *guard, const tm_guarded *guarded,
                             const tm_attribute *attributes, size_t count);

/* Write why a message does not pass: the reason of the constraint that fails in the allowed filter of which the fewest
 * fail, or that of the denied filter that it satisfies. `text` has room for TM_REASON_BYTES_MAX bytes and a zero. */
void guard_say(tm_switch *sw, tm_guard *guard, const tm_guarded *guarded, const tm_message *message, char *text);

/* Make the table of guards, if there is none; false: no memory. */
bool switch_begin_guards(tm_switch *sw);
/* Free all guards; no subscriber has one any more. */
void switch_free_guards(tm_switch *sw);

static inline tm_guard *guard_at(const tm_switch *sw, uint32_t guard) {
    return &sw->guards->rows[guard - 1];
}

#endif
