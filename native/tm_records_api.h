/* tm_records_api.h - records of messages, as C and Python share them. It builds on tm_switch_api.h, and cffi reads it
 * unchanged.
 *
 * Law: that of tm_api.h.
 */

/* Records of messages, written by the switch into a ring and taken out as lines of JSON by another thread: the kinds
 * `message` and `kept` of protocol/records.py. The switch never waits: records without room are counted and lost. */

typedef struct tm_records tm_records;

typedef struct tm_records_options {
    const uint8_t *prefix; /* beginning of each line, up to the value of t_us; copied */
    size_t prefix_size;
    const uint8_t *stored_prefix; /* beginning of lines about stored messages; copied */
    size_t stored_prefix_size;    /* 0: stored messages are not recorded */
    tm_table *wanted;    /* messages that match are recorded, with any id; borrowed, used by the switch; NULL: by id */
    uint64_t share;      /* without `wanted`: ids whose mix (records.h) is below it; UINT64_MAX: all */
    uint64_t hash_seed;  /* like that of tm_options */
    uint32_t ring_bytes; /* a power of two, with room for the longest frame */
} tm_records_options;

/* Make records in `*made`, which the caller frees once neither the switch nor a thread uses them. */
int tm_records_new(const tm_records_options *options, tm_records **made);
void tm_records_free(tm_records *records); /* NULL is allowed */

/* Start recording messages in `records` (borrowed); NULL: stop. */
int tm_switch_record(tm_switch *sw, tm_records *records);

/* The other functions are for the one taking thread. */

/* Wait until the ring is half full, tm_records_call is called, or the time is over. */
void tm_records_wait(tm_records *records, uint32_t timeout_ms);
/* End a wait, from any thread. */
void tm_records_call(tm_records *records);
/* Return the end of the current records, for tm_records_take. */
uint64_t tm_records_end(tm_records *records);
/* Set the name of a router in lines: `size` bytes of JSON (copied), and its distance in links. Without a name it
 * appears by its number in hex. */
int tm_records_name(tm_records *records, uint64_t number, const uint8_t *name, size_t size, uint32_t hops);
/* Write the records before `end` as lines, oldest first, into `out`: `*size` bytes, `*count` whole lines. All were
 * taken when `*count` is 0. TM_TOO_MANY: not even one fits, and `*size` is the room needed. */
int tm_records_take(tm_records *records, uint64_t end, uint8_t *out, size_t capacity, size_t *size, uint64_t *count);
/* Return how many records were lost for want of room; from any thread. */
uint64_t tm_records_lost(const tm_records *records);
/* Check every invariant, like tm_table_validate, while the switch does not record. */
int tm_records_validate(const tm_records *records, const char **reason);
