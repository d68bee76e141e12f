/* durables_world.h - keeps of a switch over a faulty disk, with a publisher and members, and a judge of what they are
 * told.
 *
 * Law: what happens is chosen by dice, or by bytes where there are some. The judge shares no code with keeps: it knows
 * what was published, confirmed, given and acknowledged. After each step everything validates, and what the switch
 * sends is whole frames.
 */
#ifndef TM_DURABLES_WORLD_H
#define TM_DURABLES_WORLD_H

#include "durable/state.h"
#include "faulty_disk.h"
#include "frames.h"

#define DURABLES_KINDS 7U /* of terms; there is at most one keep of each */
#define DURABLES_CONSUMERS 6U
#define DURABLES_MESSAGES 1200U
#define DURABLES_LOSSES 5U /* reasons */

/* A position of a keep that was given to somebody. */
typedef struct given_position {
    uint64_t n;
    uint64_t message;
    uint32_t holder;  /* attachment that has it or had it last; 0: it has left */
    uint32_t request; /* by which it was acknowledged; 0: it was not, or without asking */
    bool is_surely_done;
    bool is_marked; /* as a dead letter, or as what may be a duplicate */
} given_position;

typedef struct seen_durable {
    uint32_t number;    /* 0: there is none */
    uint64_t n;         /* of its record */
    uint64_t dead;      /* dead letters that it counts */
    uint64_t dead_sure; /* ... when all was on disk */
    uint64_t lost[DURABLES_LOSSES];
    uint64_t unknowns;
    uint64_t missed;      /* position of the newest doubt about other routers */
    uint64_t missed_owed; /* of the newest that is on disk */
    uint64_t missed_told; /* and that was told */
    bool is_owed;         /* its record is on disk */
    bool was_at_rest;     /* when it was looked at before: what it has lost is told once that is on disk */
    uint32_t passed;      /* messages up to this one may have been passed over by the owner */
    uint32_t count;
    given_position positions[DURABLES_MESSAGES];
    bool was_given[DURABLES_MESSAGES];
} seen_durable;

typedef struct seen_consumer {
    uint32_t id; /* 0: the place is free */
    uint32_t connection;
    uint32_t durable;
    uint64_t credit;
    uint64_t lost[DURABLES_LOSSES]; /* that it was told of, or was told to others before it came */
} seen_consumer;

typedef struct seen_message {
    uint8_t kind;
    uint8_t value;
    bool is_plain; /* it asks for no disk: a keep without room loses it, and nobody is refused */
    bool is_confirmed;
    uint32_t owed[DURABLES_KINDS]; /* number of the keep of each kind that was on disk when it was first sent */
} seen_message;

/* Whose n-th allocation fails. */
typedef enum { STARVED_NOBODY, STARVED_DURABLES, STARVED_SWITCH, STARVED_LOG, STARVED_TABLE } starved;

typedef struct durables_world {
    dice dice;
    const uint8_t *choices; /* borrowed; NULL: dice */
    const uint8_t *choices_end;
    bool may_return;  /* what was acknowledged: a log without memory, or one that is damaged, may leave it open */
    bool is_damaging; /* segments lose bits that were committed */
    bool is_damaged;
    bool is_slow;    /* the disk is behind for a while, again and again; there is a bystander */
    bool is_busy;    /* all keeps are there, and more members come, say anything that is sound, and die */
    bool is_hostile; /* members send any bytes as well, and nothing but soundness is judged */
    starved starved;
    uint64_t failing;  /* the allocation that fails, counted from the beginning; 0: now and then one of a step */
    uint32_t kinds;    /* that may be made, by bits */
    FILE *history;     /* borrowed: where what happens is told, a line each (durables_tell); NULL: nowhere */
    faulty_disk *disk; /* the log's */
    tm_log *log;       /* owned, as what follows */
    tm_table *table;
    tm_switch *sw;
    tm_records *records; /* of this life */
    uint64_t recorded;   /* deliveries that it has in its records */
    uint32_t publisher;
    uint32_t bystander; /* connection that publishes what nobody keeps; UINT32_MAX: there is none */
    uint64_t bystander_sent;
    uint64_t bystander_confirmed;
    uint32_t slow_turns; /* for so many commits more the disk does nothing */
    uint64_t holds;      /* times that publishers had to wait for the disk */
    uint32_t next_number;
    uint32_t next_id;
    uint32_t next_request;
    uint32_t message_count;
    uint32_t crashes;
    uint64_t deliveries;
    uint64_t confirmed;
    uint64_t taken_over; /* keeps that began with what was in the log */
    uint64_t damages;
    uint64_t damaged; /* told as lost with the log, by the end */
    uint64_t unknowns;
    uint64_t missed_told; /* doubts about other routers that members were told */
    seen_durable durables[DURABLES_KINDS];
    seen_consumer consumers[DURABLES_CONSUMERS];
    seen_message messages[DURABLES_MESSAGES];
} durables_world;

#define DURABLES_ALL_KINDS ((1U << DURABLES_KINDS) - 1)

/* A world with a new disk; `w` is zeroed but for who chooses, what is starved, `is_hostile`, `is_damaging`,
 * `is_slow`, `is_busy`, `history` and `kinds`. */
void durables_begin(durables_world *w, uint64_t seed);
/* Let one thing happen, and check. */
void durables_step(durables_world *w);
/* Everybody leaves, faults end, one member of each keep acknowledges all; then nothing that was confirmed is missing.
 */
void durables_settle(durables_world *w);
void durables_end(durables_world *w);
/* Tell the history what happens now, by the clock of the switch; tests/native/durables_history.py reads it. */
__attribute__((format(printf, 2, 3))) void durables_tell(const durables_world *w, const char *format, ...);
/* A number below `bound`. */
uint32_t durables_choose(durables_world *w, uint32_t bound);
/* Is something left to choose by? */
bool durables_goes_on(const durables_world *w);

#endif
