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

/* Lines of records as columns, in buffers that are laid out as Arrow does. */

#define TM_FIELDS_MAX 64

typedef enum tm_field_type { TM_FIELD_INTEGER, TM_FIELD_TEXT, TM_FIELD_INTEGERS, TM_FIELD_TEXTS } tm_field_type;

typedef struct tm_field {
    const uint8_t *name; /* borrowed during the call */
    uint32_t size;
    uint32_t type; /* tm_field_type */
} tm_field;

/* A field of all lines. What its type does not need is NULL. */
typedef struct tm_column {
    uint8_t *valid;       /* a bit for each line: whether it has the field and it is not null */
    uint64_t present;     /* number of these bits that are set */
    int32_t *starts;      /* TEXT: start of each line's bytes; lists: of its items; one more than lines */
    int64_t *integers;    /* INTEGER: of each line, 0 without one; INTEGERS: the items */
    int32_t *item_starts; /* TEXTS: start of each item's bytes; one more than items */
    uint8_t *bytes;       /* TEXT, TEXTS */
    uint32_t items;
    uint32_t bytes_size;
} tm_column;

typedef struct tm_lines tm_lines;

/* Parse `lines`, of which each ends with a newline, into `*made`, which the caller frees; of other fields nothing is
 * stored. TM_MALFORMED: a line is not an object as routers write it, with a value of its type in each of `fields`; it
 * may still be valid JSON. TM_MISUSED: more than TM_FIELDS_MAX fields, an unknown type, or more than INT32_MAX
 * bytes. */
int tm_lines_parse(const uint8_t *lines, size_t size, const tm_field *fields, uint32_t count, tm_lines **made);
void tm_lines_free(tm_lines *lines); /* NULL is allowed */
uint64_t tm_lines_count(const tm_lines *lines);
/* Return the columns in the order of the fields; they belong to `lines`. */
const tm_column *tm_lines_columns(const tm_lines *lines);
