/* tm_records_api.h - records of messages, as C and Python share them. It stands on tm_switch_api.h, and cffi reads it
 * as it is, too.
 *
 * Law: that of tm_api.h.
 */

/* What happened to a message, noted by the switch in a ring and taken out as lines of JSON by another thread: the kinds
 * `message` and `kept` of protocol/records.py. The switch never waits: what the ring has no room for is counted and
 * lost. */

typedef struct tm_records tm_records;

typedef struct tm_records_options {
    const uint8_t *prefix; /* how each line begins, up to the value of t_us; copied */
    size_t prefix_size;
    const uint8_t *kept_prefix; /* the same, of lines that say what became of a kept message; copied */
    size_t kept_prefix_size;    /* 0: nothing is noted of kept messages */
    tm_table *wanted;    /* messages that match it are noted, of whatever id; borrowed, and the switch's; NULL: by id */
    uint64_t share;      /* without `wanted`: ids whose mix (records.h) is below it; UINT64_MAX: all */
    uint64_t hash_seed;  /* as in tm_options */
    uint32_t ring_bytes; /* a power of two, and room for the longest frame */
} tm_records_options;

/* New records in `*made`, yours to free once neither the switch nor a thread has them. */
int tm_records_new(const tm_records_options *options, tm_records **made);
void tm_records_free(tm_records *records); /* NULL is allowed */

/* The switch notes messages in `records` (borrowed) from now on; NULL: no more. */
int tm_switch_record(tm_switch *sw, tm_records *records);

/* The rest is for the one thread that takes. */

/* Wait until the ring is half full, somebody calls, or it is time. */
void tm_records_wait(tm_records *records, uint32_t timeout_ms);
/* Let a wait end; from any thread. */
void tm_records_call(tm_records *records);
/* The end of what is noted now, for tm_records_take. */
uint64_t tm_records_end(tm_records *records);
/* How the lines call a router: `size` bytes of JSON (copied), and how many links lie between it and here. Until it is
 * named, a router goes by its number in hex. */
int tm_records_name(tm_records *records, uint64_t number, const uint8_t *name, size_t size, uint32_t hops);
/* Lines of what was noted before `end`, oldest first, into `out`: `*size` bytes, `*count` lines, each whole. All of it
 * was taken when `*count` is 0. TM_TOO_MANY: not even one fits, and `*size` says what room would do. */
int tm_records_take(tm_records *records, uint64_t end, uint8_t *out, size_t capacity, size_t *size, uint64_t *count);
/* How many there was no room for, in all; from any thread. */
uint64_t tm_records_lost(const tm_records *records);
/* As tm_table_validate; while nobody notes. */
int tm_records_validate(const tm_records *records, const char **reason);
