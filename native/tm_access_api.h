/* tm_access_api.h - guards of the switch: which messages may enter from a client, and which it may get.
 *
 * Law: that of tm_api.h. It builds on tm_switch_api.h, and cffi reads it unchanged. A guard lets a message pass that
 * satisfies one of its allowed filters and none of its denied ones. In both, a string operand `${name}` of `=` and `!=`
 * stands for the name of the client for which the guard is asked.
 */

#define TM_GUARDS_MAX 8192       /* of a switch */
#define TM_GUARD_TESTS_MAX 4096  /* constraints and filters of one guard together */
#define TM_GUARD_NONE 0          /* a guard that lets every message pass */
#define TM_STAMP_BYTES_MAX 4096  /* of the stamp of one client */
#define TM_REASON_BYTES_MAX 1024 /* of a reason; the rest is cut off */

/* The filters of a guard, in wire form one behind another: filter i ends at filter_ends[i], the first `allowed` of
 * `filters` are the allowed ones. Reasons are texts for the publisher of a message that does not pass, one for each
 * constraint of each allowed filter, which is not satisfied, then one for each denied filter, and one for a guard that
 * allows nothing: reason i ends at reason_ends[i]. Without reasons (`reasons` NULL) a fixed text is used. */
typedef struct tm_guard_rules {
    const uint8_t *bytes;
    const uint64_t *filter_ends;
    size_t filters;
    size_t allowed;
    const uint8_t *reasons;
    const uint64_t *reason_ends;
    size_t reason_count;
} tm_guard_rules;

/* Make a guard in `*guard` (the rules are copied). TM_MALFORMED: a filter is; TM_TOO_MANY: more tests or guards than
 * the limits; TM_MISUSED: reasons of another number; TM_NO_MEMORY. On any result but TM_OK nothing has changed. */
int tm_switch_guard_new(tm_switch *sw, const tm_guard_rules *rules, uint32_t *guard);
/* Free a guard. TM_ABSENT: there is none; TM_MISUSED: a client has it. */
int tm_switch_guard_free(tm_switch *sw, uint32_t guard);

/* What guards a client. Everything is copied. */
typedef struct tm_guarding {
    uint32_t door;       /* guard of messages that enter from it */
    uint32_t hand;       /* guard of messages that it gets */
    uint32_t answers;    /* in place of `hand`, guard of messages that satisfy the subscription `answers_id` */
    uint32_t answers_id; /* id of its subscription to answers; 0: it has none */
    uint32_t refuse;     /* of a durable subscription: guard of messages that it may turn away when it is full */
    bool observes;       /* messages that a guard does not let pass are counted, and pass */
    const uint8_t *name; /* stands for `${name}`: at most TM_NAME_BYTES_MAX bytes */
    size_t name_size;
    const uint8_t *stamp; /* attributes that its messages get: pairs of msgpack, `stamp_count` of them */
    size_t stamp_size;
    size_t stamp_count;
    const uint8_t *stamp_reason; /* for a message that has one of them already */
    size_t stamp_reason_size;
} tm_guarding;

/* Guard a subscriber from the next message on, in place of what guarded it. NULL: it is not guarded. TM_MISUSED: there
 * is no such subscriber or guard, or a size exceeds its limit; TM_NO_MEMORY. Then nothing has changed. */
int tm_switch_guard(tm_switch *sw, uint32_t subscriber, const tm_guarding *guarding);

/* Guard `count` subscribers likewise, all of them or (on any result but TM_OK) none. */
int tm_switch_guard_all(tm_switch *sw, const uint32_t *subscribers, const tm_guarding *guardings, size_t count);

typedef struct tm_guard_stats {
    uint64_t refused;  /* messages that did not enter */
    uint64_t withheld; /* filters of clients that a message satisfied, and the client did not get it */
    uint64_t judged;   /* times that a guard was evaluated; further clients of the same class need none */
} tm_guard_stats;

/* Return the counters of a guard since it was made. TM_ABSENT: there is none. */
int tm_switch_guard_figures(const tm_switch *sw, uint32_t guard, tm_guard_stats *out);

/* What may cross a link. Guards have no `${name}`; everything is copied. */
typedef struct tm_border_terms {
    uint32_t in;            /* guard of messages that come over it */
    uint32_t out;           /* guard of copies that leave by it */
    const uint64_t *behind; /* ascending numbers of the routers whose messages it may bring; NULL: of all */
    size_t behind_count;
} tm_border_terms;

/* Give a link a border, in place of an earlier one. A route over it must not be set for the messages of a router that
 * is not behind it: the border only says why they are dropped. TM_MISUSED: it is no link, or the terms are wrong;
 * TM_NO_MEMORY. Then nothing has changed. */
int tm_switch_border(tm_switch *sw, uint32_t connection, const tm_border_terms *terms);

typedef struct tm_border_stats {
    uint64_t refused;  /* messages that came over the link and were dropped for its border */
    uint64_t withheld; /* copies that its border did not let leave */
} tm_border_stats;

/* Return what a border has kept back. TM_MISUSED: there is no such connection. */
int tm_switch_border_figures(const tm_switch *sw, uint32_t connection, tm_border_stats *out);
/* ---- rates of publishing ---- */

#define TM_BUCKET_NONE 0
#define TM_BUCKETS_MAX 2097152    /* of a switch */
#define TM_RATE_MAX 4398046511104 /* of each number of a rate */

/* How fast credit is granted. `burst`, `burst_bytes`: what may come at once; credit is granted about ten times a
 * second, so a burst of less than the rate has in that time slows its publisher. */
typedef struct tm_rate {
    uint64_t messages_s;  /* 0: no bound */
    uint64_t burst;       /* in messages */
    uint64_t bytes_s;     /* of whole frames; 0: no bound */
    uint64_t burst_bytes; /* a longer frame cannot be sent at all */
} tm_rate;

/* Make a bucket in `*bucket`, which is full, for admissions. TM_MISUSED: a number is beyond its limit, or a rate has no
 * burst; TM_TOO_MANY; TM_NO_MEMORY. */
int tm_switch_bucket_new(tm_switch *sw, const tm_rate *rate, uint32_t *bucket);
/* Change the rate of a bucket, from now on. */
int tm_switch_bucket_set(tm_switch *sw, uint32_t bucket, const tm_rate *rate);
/* Return in `*is_full` whether no connection draws from a bucket, and a new one would not differ from it. */
int tm_switch_bucket_is_full(tm_switch *sw, uint32_t bucket, bool *is_full);
/* Free a bucket. TM_MISUSED: there is none, or a connection draws from it. */
int tm_switch_bucket_free(tm_switch *sw, uint32_t bucket);
/* Grant the credit of a client from another bucket, or at once (TM_BUCKET_NONE), unless its connection is ending. */
int tm_switch_pace(tm_switch *sw, uint32_t connection, uint32_t bucket);
