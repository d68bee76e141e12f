/* durables_world.h - durable subscriptions of a switch over a faulty disk, with a publisher and consumers, and a judge
 * of what they receive.
 *
 * Law: events are chosen by dice, or by bytes if there are any. The judge shares no code with native/durable: it knows
 * what was published, confirmed, delivered and acknowledged. After each step everything validates, and the output of
 * the switch is whole frames.
 */
#ifndef TM_DURABLES_WORLD_H
#define TM_DURABLES_WORLD_H

#include "durable/state.h"
#include "faulty_disk.h"
#include "frames.h"

#define DURABLES_KINDS 7U /* of policies; at most one subscription each */
#define DURABLES_CONSUMERS 6U
#define DURABLES_MESSAGES 1200U
#define DURABLES_LOSSES 5U /* reasons */

/* A position of a subscription that was delivered. */
typedef struct given_position {
    uint64_t n;
    uint64_t message;
    uint32_t holder;  /* consumer that has it or had it last; 0: it has left */
    uint32_t request; /* that acknowledged it; 0: none, or without a confirmation */
    bool is_surely_done;
    bool is_marked; /* as a dead letter or a possible duplicate */
} given_position;

typedef struct seen_durable {
    uint32_t number;    /* 0: there is none */
    uint64_t n;         /* of its record */
    uint64_t dead;      /* dead letters that it counts */
    uint64_t dead_sure; /* dead letters that it counted when everything was on disk */
    uint64_t lost[DURABLES_LOSSES];
    uint64_t unknowns;
    uint64_t missed;      /* position of the newest unknown range of other routers */
    uint64_t missed_owed; /* of the newest that is on disk */
    uint64_t missed_told; /* of the newest that was reported */
    bool is_owed;         /* its record is on disk */
    bool was_at_rest;     /* at the last check: losses are reported once they are on disk */
    uint32_t passed;      /* the owner may have skipped messages up to this one */
    uint32_t count;
    given_position positions[DURABLES_MESSAGES];
    bool was_given[DURABLES_MESSAGES];
} seen_durable;

typedef struct seen_consumer {
    uint32_t id; /* 0: the place is free */
    uint32_t connection;
    uint32_t durable;
    uint64_t credit;
    uint64_t lost[DURABLES_LOSSES]; /* reported to it, or to others before it began */
} seen_consumer;

typedef struct seen_message {
    uint8_t kind;
    uint8_t value;
    bool is_plain; /* without storage: a subscription without room loses it, and the publisher is not refused */
    bool is_confirmed;
    uint32_t owed[DURABLES_KINDS]; /* number of the subscription of each kind that was on disk when it was first sent */
} seen_message;

/* The component whose n-th allocation fails. */
typedef enum { STARVED_NOBODY, STARVED_DURABLES, STARVED_SWITCH, STARVED_LOG, STARVED_TABLE } starved;

typedef struct durables_world {
    dice dice;
    const uint8_t *choices; /* borrowed; NULL: dice */
    const uint8_t *choices_end;
    bool may_return;  /* acknowledged messages: a damaged log, or one without memory, may leave them open */
    bool is_damaging; /* segments lose bits that were committed */
    bool is_damaged;
    bool is_slow;    /* the disk is often behind for a while; there is a bystander */
    bool is_busy;    /* all subscriptions exist; more consumers begin, send any valid frame, and end */
    bool is_hostile; /* consumers also send arbitrary bytes, and only validity is judged */
    starved starved;
    uint64_t failing;  /* number of the allocation that fails, from the beginning; 0: one of a step at random */
    uint32_t kinds;    /* that may be made, by bits */
    FILE *history;     /* borrowed: gets one line per event (durables_tell); NULL: no history */
    faulty_disk *disk; /* the log's */
    tm_log *log;       /* owned, as what follows */
    tm_table *table;
    tm_switch *sw;
    tm_records *records; /* of this life */
    uint64_t recorded;   /* deliveries that it has in its records */
    uint32_t publisher;
    uint32_t bystander; /* connection that publishes messages that are not stored; UINT32_MAX: none */
    uint64_t bystander_sent;
    uint64_t bystander_confirmed;
    uint32_t slow_turns; /* number of further commits for which the disk does nothing */
    uint64_t holds;      /* times that publishers had to wait for the disk */
    uint32_t next_number;
    uint32_t next_id;
    uint32_t next_request;
    uint32_t message_count;
    uint32_t crashes;
    uint64_t deliveries;
    uint64_t confirmed;
    uint64_t taken_over; /* subscriptions that began with the messages in the log */
    uint64_t damages;
    uint64_t damaged; /* reported as lost with the log, by the end */
    uint64_t unknowns;
    uint64_t missed_told; /* unknown ranges of other routers that consumers received */
    uint64_t given_up;    /* messages that these ranges counted, for all subscriptions together */
    seen_durable durables[DURABLES_KINDS];
    seen_consumer consumers[DURABLES_CONSUMERS];
    seen_message messages[DURABLES_MESSAGES];
} durables_world;

#define DURABLES_ALL_KINDS ((1U << DURABLES_KINDS) - 1)

/* Begin a world with a new disk; `w` is zeroed except for the choices, `starved`, `is_hostile`, `is_damaging`,
 * `is_slow`, `is_busy`, `history` and `kinds`. */
void durables_begin(durables_world *w, uint64_t seed);
/* Perform one event, and check. */
void durables_step(durables_world *w);
/* End all consumers and faults; one consumer of each subscription acknowledges all. Then no confirmed message is
 * missing.
 */
void durables_settle(durables_world *w);
void durables_end(durables_world *w);
/* Write an event to the history, by the clock of the switch; tests/native/durables_history.py reads it. */
__attribute__((format(printf, 2, 3))) void durables_tell(const durables_world *w, const char *format, ...);
/* Choose a number below `bound`. */
uint32_t durables_choose(durables_world *w, uint32_t bound);
/* true if choices are left */
bool durables_goes_on(const durables_world *w);

#endif
