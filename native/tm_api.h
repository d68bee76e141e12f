/* tm_api.h - what C and Python share. No #include, no #if, no expressions in #define: cffi reads this text as it is.
 *
 * Law: every function returns a tm_result or cannot fail; every pointer says who owns it; inputs are const and come
 * with a length. Nothing here is global.
 */

/* ---- results: native/__init__.py turns each into an exception ------------------------------------------------ */

#define TM_OK 0
#define TM_MALFORMED 1 /* the peer's bytes break the rules of a message or a filter */
#define TM_NO_MEMORY 2 /* an allocation failed, or the configured memory is used up; nothing has changed */
#define TM_TOO_MANY 3  /* a limit of limits.py was passed */
#define TM_ABSENT 4    /* no such handle */
#define TM_MISUSED 5   /* the caller broke the contract of the call */

/* ---- limits, equal to those of protocol/limits.py (a test compares them) -------------------------------------- */

#define TM_NAME_BYTES_MAX 256
#define TM_STRING_BYTES_MAX 65536
#define TM_ATTRIBUTES_MAX 64
#define TM_OPERAND_BYTES_MAX 1024
#define TM_PATTERN_BYTES_MAX 128
#define TM_IN_VALUES_MAX 256
#define TM_CONSTRAINTS_MAX 16
#define TM_FRAME_BYTES_MAX 1048576

/* ---- values ----------------------------------------------------------------------------------------------------- */

#define TM_KIND_BOOLEAN 0
#define TM_KIND_INTEGER 1
#define TM_KIND_FLOAT 2
#define TM_KIND_STRING 3

/* One attribute of a message. `name` and `string` are borrowed from the bytes it was decoded from. */
typedef struct tm_attribute {
    const uint8_t *name;
    const uint8_t *string; /* TM_KIND_STRING: `length` bytes of UTF-8; otherwise NULL */
    int64_t integer;       /* TM_KIND_INTEGER; 0 or 1 for TM_KIND_BOOLEAN */
    double real;           /* TM_KIND_FLOAT: finite, and no 64-bit integer (1.0 arrives as the integer 1) */
    uint32_t length;
    uint16_t name_length;
    uint8_t kind;
} tm_attribute;

/* Decode the msgpack map of a message's attributes, at most `size` bytes, into `out` (room for TM_ATTRIBUTES_MAX).
 * On TM_OK `*count` attributes were written and `*used` bytes read. TM_MALFORMED: cut short, a name twice or out of
 * bounds, invalid UTF-8, an integer outside 64 bits, NaN or infinity, or another msgpack type. TM_TOO_MANY: more than
 * TM_ATTRIBUTES_MAX. `out` borrows from `bytes`. */
int tm_attributes_decode(const uint8_t *bytes, size_t size, tm_attribute *out, size_t *count, size_t *used);

/* ---- filters ---------------------------------------------------------------------------------------------------- */

/* Operator numbers of the wire; bit 7 of the byte on the wire says "negated". */
#define TM_OP_EXISTS 0
#define TM_OP_EQ 1
#define TM_OP_IN 2
#define TM_OP_BETWEEN 3
#define TM_OP_GT 4
#define TM_OP_GE 5
#define TM_OP_LT 6
#define TM_OP_LE 7
#define TM_OP_NE 8
#define TM_OP_PREFIX 9
#define TM_OP_SUFFIX 10
#define TM_OP_CONTAINS 11
#define TM_OP_NEGATED 128

/* ---- the table: interface -> predicate, evaluated by one engine ------------------------------------------------- */

typedef struct tm_table tm_table;

#define TM_ENGINE_COUNTING 0 /* paper 000: sorted-set indexes, counting, short circuit over interfaces */
#define TM_ENGINE_SFF 1      /* paper 004: extended TST, counting, selectivity table */
#define TM_ENGINE_TAMIS 2    /* the default */

typedef struct tm_options {
    uint64_t memory_bytes_max;   /* 0: no bound. Past it an add answers TM_NO_MEMORY and changes nothing */
    uint32_t selectivity_rounds; /* sff: how far down its selectivity table a match goes first */
    uint32_t hash_seed;          /* tamis: what a stranger must not know, to choose names that collide */
} tm_options;

/* A new table in `*table`, yours to free. `options` is copied. */
int tm_table_new(int engine, const tm_options *options, tm_table **table);
void tm_table_free(tm_table *table); /* NULL is allowed */

/* What an interface stands for. Set it before the interface has filters; a link is the default. */
#define TM_INTERFACE_LINK 0   /* only whether it matched counts: an engine may keep a covered filter aside */
#define TM_INTERFACE_CLIENT 1 /* TM_MATCH_ALL reports every filter of it, so none is ever left out */
int tm_table_set_interface(tm_table *table, uint32_t interface, int kind);

#define TM_INTERFACES_MAX 16777216 /* interface ids are small integers: arrays are indexed by them */

/* Add the filter whose wire form is `size` bytes at `filter` (copied) for `interface`; `*handle` names it until it is
 * removed, then may be given out again. An interface may hold equal filters several times. On any result but TM_OK the
 * table is unchanged. */
int tm_table_add(tm_table *table, const uint8_t *filter, size_t size, uint32_t interface, uint32_t *handle);
int tm_table_remove(tm_table *table, uint32_t handle);

/* Work left over by removals (a filter that covered thousands stays, for links only, until those are back): do at
 * most `steps` of it. `*left` says how many remain; 0 means that the table matches exactly. */
int tm_table_settle(tm_table *table, uint64_t steps, uint64_t *left);

#define TM_MATCH_INTERFACES 0 /* which interfaces */
#define TM_MATCH_WHICH 1      /* and for each the handle of one filter that matched */
#define TM_MATCH_ALL 2        /* interfaces that are clients: one row for each filter that matched */

/* What to ask of a match. Everything is borrowed for the call. Bit i of a bitset is bit i % 64 of word i / 64. */
typedef struct tm_query {
    const uint64_t *candidates; /* B: bitset over links, `link_count` bits; NULL: all */
    const uint32_t *grouping;   /* interface -> link, `grouping_count` of them; NULL: each interface is its own link.
                                   An interface past the end, or with a link past `link_count`, is no candidate */
    uint32_t grouping_count;
    uint32_t link_count; /* without grouping: interfaces past it are no candidates */
    uint32_t mode;       /* TM_MATCH_* ; TM_MATCH_ALL ignores `grouping` */
    uint32_t reserved;
} tm_query;

/* Where the answer goes; all memory is the caller's. Exactly one of the two forms: a list (`links`, room for
 * `capacity`, unordered, each link once unless TM_MATCH_ALL) or, for TM_MATCH_INTERFACES alone, a bitset (`bits`, room
 * for `link_count` bits, zeroed by the match; `links` NULL). */
typedef struct tm_hits {
    uint32_t *links;
    uint32_t *handles; /* TM_MATCH_WHICH and TM_MATCH_ALL: same length as `links`; otherwise NULL */
    uint64_t *bits;
    size_t capacity;
    size_t count; /* out: rows written; with TM_TOO_MANY the rows it would take; not set for `bits` */
} tm_hits;

/* Match a decoded message. Allocates nothing the caller can see; TM_TOO_MANY when `capacity` is too small (link_count
 * rows always suffice unless TM_MATCH_ALL). Not safe to call twice at once on one table: it has scratch memory. */
int tm_table_match(tm_table *table, const tm_attribute *attributes, size_t count, const tm_query *query, tm_hits *hits);

typedef struct tm_stats {
    uint64_t filters;          /* handles in use */
    uint64_t constraints;      /* in all of them */
    uint64_t active;           /* filters that a match can reach; the others are covered by one of the same interface */
    uint64_t ghosts;           /* removed filters that still match until tm_table_settle is through */
    uint64_t memory_bytes;     /* everything the table keeps, the allocator's own share included */
    uint64_t hot_memory_bytes; /* of that, every structure that a match may read */
    uint64_t names;
    uint64_t interfaces; /* with at least one filter */
} tm_stats;

void tm_table_stats(const tm_table *table, tm_stats *stats);

/* TM_OK if every invariant of the table holds; otherwise TM_MISUSED and `*reason` (static text) says which does not. */
int tm_table_validate(const tm_table *table, const char **reason);

/* Let the n-th allocation from now on fail (1 is the next; 0 turns it off): for tests of exactly that. */
void tm_table_fail_allocation(tm_table *table, uint64_t n);

/* Match `count` messages, one after the other: message i is the msgpack attribute map at
 * bytes[offsets[i] .. offsets[i+1]). Rows of all messages are concatenated in `hits`; row_ends[i] is the end of those
 * of message i, or of the previous one where results[i] is not TM_OK. Stops before the first message whose rows do not
 * fit: `*done` says how many were matched. */
int tm_table_match_batch(tm_table *table, const uint8_t *bytes, const uint64_t *offsets, size_t count,
                         const tm_query *query, tm_hits *hits, uint64_t *row_ends, uint8_t *results, size_t *done);

/* Match each message once and write its nanoseconds (decoding excluded) to nanoseconds[i]; `*total_ns` is one more
 * pass over all of them without a clock between. `*matched` sums the links, `*checksum` mixes (message, link) pairs,
 * whatever their order. The answers that are timed are bitsets for at most 512 links, as a router would ask for them,
 * and lists beyond. TM_MALFORMED if a message is. For benchmarks. */
int tm_table_measure(tm_table *table, const uint8_t *bytes, const uint64_t *offsets, size_t count,
                     const tm_query *query, uint32_t *nanoseconds, uint64_t *total_ns, uint64_t *matched,
                     uint64_t *checksum);

/* Add `count` filters, filter i being bytes[offsets[i] .. offsets[i+1]) for interfaces[i], and write the handle of each
 * and, unless `nanoseconds` is NULL, what it took (time taken by other processes left out). Stops at the first that is
 * not added and answers why; `*done` says how many were. */
int tm_table_add_many(tm_table *table, const uint8_t *bytes, const uint64_t *offsets, const uint32_t *interfaces,
                      size_t count, uint32_t *handles, uint32_t *nanoseconds, size_t *done);

/* Remove `count` handles, timed as above. Stops at the first that is not removed; `*done` says how many were. */
int tm_table_remove_many(tm_table *table, const uint32_t *handles, size_t count, uint32_t *nanoseconds, size_t *done);

/* ---- the client's side: DELIVER frames -------------------------------------------------------------------------- */

/* Walk the frames at the beginning of `bytes` as long as each is a whole, sound DELIVER frame that satisfies one
 * subscription and says nothing else of itself (SATISFIED with one id is its only extension): nearly all are. ends[i]
 * is where frame i ends, ids[i] the subscription. Stops before the first other frame, after `capacity` (the room of
 * both), or past `size`, which is at most UINT32_MAX. Returns how many; never fails. Attributes are not looked into. */
size_t tm_deliveries_walk(const uint8_t *bytes, size_t size, uint32_t *ends, uint32_t *ids, size_t capacity);
