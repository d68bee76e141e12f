/* tm_api.h - the table, as C and Python share it, and its basis: results, limits, values, filters.
 * No #include, no #if, no expressions in #define: cffi reads this text unchanged.
 *
 * Law: every function returns a tm_result or cannot fail; every pointer has a stated owner; inputs are const and come
 * with a length. There are no globals.
 */

/* ---- results: native/__init__.py turns each into an exception ---- */

#define TM_OK 0
#define TM_MALFORMED 1  /* the peer's bytes violate the rules of a message or a filter */
#define TM_NO_MEMORY 2  /* an allocation failed, or the configured memory is used up; nothing has changed */
#define TM_TOO_MANY 3   /* a limit of limits.py was exceeded */
#define TM_ABSENT 4     /* no such handle */
#define TM_MISUSED 5    /* the caller broke the contract of the call */
#define TM_TOO_COSTLY 6 /* a match exceeded its steps; there is no answer */

/* ---- limits, equal to those of protocol/limits.py (a test compares them) ---- */

#define TM_NAME_BYTES_MAX 256
#define TM_STRING_BYTES_MAX 65536
#define TM_ATTRIBUTES_MAX 64
#define TM_OPERAND_BYTES_MAX 1024
#define TM_PATTERN_BYTES_MAX 128
#define TM_IN_VALUES_MAX 256
#define TM_CONSTRAINTS_MAX 16
#define TM_FILTER_BYTES_MAX 65536
#define TM_FRAME_BYTES_MAX 1048576
#define TM_MATCH_STEPS 1000000 /* of one match by default: about 10 ms */

/* ---- values ---- */

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

/* Decode the msgpack map of a message's attributes, at most `size` bytes, into `out` (room for TM_ATTRIBUTES_MAX). On
 * TM_OK `*count` attributes were written and `*used` bytes read. TM_MALFORMED: truncated, a name that is repeated or
 * out of bounds, invalid UTF-8, an integer outside 64 bits, NaN or infinity, or another msgpack type. TM_TOO_MANY: more
 * than TM_ATTRIBUTES_MAX. `out` borrows from `bytes`. */
int tm_attributes_decode(const uint8_t *bytes, size_t size, tm_attribute *out, size_t *count, size_t *used);

/* ---- filters ---- */

/* Operator numbers of the wire; bit 7 of the byte on the wire means "negated". */
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

/* ---- the table: interface -> predicate, evaluated by one engine ---- */

typedef struct tm_table tm_table;

/* The engines are numbered from 0, the default; engines/registry.c is the only list of them. */
#define TM_ENGINE_DEFAULT 0

/* Return the name of an engine, and one sentence about it (static); NULL: there are fewer. */
const char *tm_engine_name(uint32_t engine);
const char *tm_engine_about(uint32_t engine);
/* true if the engine finds which filters cover others (tm_table_covering). */
bool tm_engine_compares(uint32_t engine);

#define TM_ENGINE_OPTIONS_MAX 8 /* of one engine */

/* An option of an engine, with the values that it may have. */
typedef struct tm_option_kind {
    const char *name;
    const char *about;  /* one sentence */
    const char *values; /* their names from `least` on, separated by spaces; NULL: it is a number */
    uint64_t least;
    uint64_t most;
    uint64_t standard; /* its default value */
} tm_option_kind;

/* Return the i-th option of an engine, which is static; NULL: it has fewer, or there is no such engine. */
const tm_option_kind *tm_engine_option(uint32_t engine, uint32_t i);

/* A value for the option of that name. */
typedef struct tm_option {
    const char *name;
    uint64_t value;
} tm_option;

/* Options of every table, whatever its engine. */
typedef struct tm_options {
    uint64_t memory_bytes_max; /* 0: no bound. Beyond it an add returns TM_NO_MEMORY and changes nothing */
    uint64_t hash_seed;        /* secret: with it an attacker finds names and values that collide */
    uint64_t match_steps;      /* of one match (tm_stats); 0: TM_MATCH_STEPS */
    const tm_option *named;    /* for the engine, `named_count` of them; of two with one name the later one counts */
    size_t named_count;
} tm_options;

/* Make a table in `*table`, which the caller frees. `options` is copied. TM_MISUSED: there is no such engine, it has no
 * option of a name, or a value is out of bounds. TM_NO_MEMORY. */
int tm_table_new(uint32_t engine, const tm_options *options, tm_table **table);
void tm_table_free(tm_table *table); /* NULL is allowed */

/* Declare a space, as a filter that all its messages satisfy, in the wire form: `=` and `in` state the values that
 * names may have. An engine may arrange its filters by that; answers do not depend on it. TM_MISUSED: there are
 * filters. */
int tm_table_space(tm_table *table, const uint8_t *filter, size_t size);

/* The kind of an interface. Set it before the interface has filters; a link is the default. */
#define TM_INTERFACE_LINK 0   /* it either matches or not: an engine may set covered filters aside */
#define TM_INTERFACE_CLIENT 1 /* TM_MATCH_ALL returns every matching filter of it */
int tm_table_set_interface(tm_table *table, uint32_t interface, int kind);

#define TM_INTERFACES_MAX 16777216 /* interface ids are small integers: arrays are indexed by them */

/* Add the filter whose wire form is `size` bytes at `filter` (copied) for `interface`; `*handle` names it until it is
 * removed, and may then be reused. An interface may hold equal filters several times. On any result but TM_OK the table
 * is unchanged. */
int tm_table_add(tm_table *table, const uint8_t *filter, size_t size, uint32_t interface, uint32_t *handle);
/* Remove a filter. TM_ABSENT: there is no such handle. */
int tm_table_remove(tm_table *table, uint32_t handle);

/* true if the filter of this handle is among those that the two questions below compare: with an engine that compares,
 * those that its own structure has. */
bool tm_table_compares(const tm_table *table, uint32_t handle);
/* Write the handles of filters that cover a filter, which need not be in the table, or that it covers, including those
 * of equal meaning: at most `capacity`, unordered; `*count` is their number. Each answer is right; the work is bounded,
 * and beyond the bound filters are left out. TM_MISUSED: the engine does not compare. */
int tm_table_covering(tm_table *table, const uint8_t *filter, size_t size, uint32_t *handles, size_t capacity,
                      size_t *count);
int tm_table_covered(tm_table *table, const uint8_t *filter, size_t size, uint32_t *handles, size_t capacity,
                     size_t *count);

/* Do at most `steps` of the work that removals left (a filter that covered thousands stays, for links only, until those
 * are active again). `*left` is the rest; 0 means that the table matches exactly. Freed pages are returned to the
 * system. */
int tm_table_settle(tm_table *table, uint64_t steps, uint64_t *left);

/* Views: groupings of interfaces, registered once for any number of matches. */
#define TM_VIEWS_MAX 1048576
#define TM_VIEW_BYTES_MAX 4294967296 /* bytes of all their groups */

/* Register a view in `*view`, in which interface i belongs to groups[i] (copied; a group above those of a query: to
 * none). TM_TOO_MANY above these limits; then, and on TM_NO_MEMORY, nothing has changed. */
int tm_table_view(tm_table *table, const uint32_t *groups, uint32_t count, uint32_t *view);
/* Drop a view that no later match uses; its id may be reused. TM_ABSENT: there is no such view. */
int tm_table_drop_view(tm_table *table, uint32_t view);
/* Return the groups of a view, `*count` of them, valid until it is dropped; NULL: there is no such view. */
const uint32_t *tm_table_view_groups(const tm_table *table, uint32_t view, uint32_t *count);

#define TM_MATCH_INTERFACES 0 /* the matching interfaces */
#define TM_MATCH_WHICH 1      /* with the handle of one matching filter for each */
#define TM_MATCH_ALL 2        /* one row for each matching filter of client interfaces */
#define TM_MATCH_LIMITED 3    /* up to `limit` rows for each group, each with another filter; see `counts` */

/* true if tables of an engine answer TM_MATCH_LIMITED; others return TM_MISUSED, as they set covered filters aside. */
bool tm_engine_limits(uint32_t engine);
bool tm_table_limits(const tm_table *table);

/* The parameters of a match. Everything is borrowed for the call. Bit i of a bitset is bit i % 64 of word i / 64. */
typedef struct tm_query {
    const uint64_t *candidates; /* bitset over groups, `group_count` bits; NULL: all */
    uint32_t view; /* gives the group of each interface; 0: each is its own group. An interface past the end of the
                      view, or with a group past `group_count`, is no candidate */
    uint32_t group_count; /* without a view: interfaces above it are no candidates */
    uint32_t mode;        /* TM_MATCH_* ; TM_MATCH_ALL ignores `view` */
    uint32_t limit;       /* TM_MATCH_LIMITED: rows of a group, from 1 to UINT32_MAX - 1 */
    uint64_t steps_max;   /* of the match; 0: match_steps of the table */
    uint64_t *memo; /* an engine's cache for the name of each attribute, from one match to the next: one entry for each
                       attribute, zeroed by the caller when its name changes; NULL: none */
    const uint64_t *reaches; /* with a view: what each group reaches, as 64 bits. A group that would reach nothing new
                                may be left out of the answer; 0: never. NULL: none is left out */
    uint64_t reached;        /* things reached before the match */
} tm_query;

/* The answer of a match; all memory is the caller's. Exactly one of two forms: a list (`groups`, room for `capacity`,
 * unordered, each group once up to TM_MATCH_WHICH) or, for TM_MATCH_INTERFACES alone, a bitset (`bits`, room for
 * `group_count` bits, zeroed by the match; `groups` NULL). */
typedef struct tm_hits {
    uint32_t *groups;
    uint32_t *handles; /* from TM_MATCH_WHICH on: an array like `groups`; otherwise NULL */
    uint32_t *counts;  /* TM_MATCH_LIMITED: room for `group_count`, zeroed by the match: the rows of each group, or
                          limit + 1 if more filters match; otherwise NULL */
    uint64_t *bits;
    size_t capacity;
    size_t count;   /* out: rows written; with TM_TOO_MANY the rows needed; not set for `bits` */
    uint64_t steps; /* out: steps taken */
} tm_hits;

/* Match a decoded message. TM_MISUSED: there is no such view. TM_TOO_MANY: `capacity` is too small (group_count rows
 * always suffice up to TM_MATCH_WHICH, and `limit` times as many for TM_MATCH_LIMITED). TM_TOO_COSTLY: it exceeded its
 * steps. Allocates nothing visible to the caller. Not reentrant for one table, which has scratch memory. */
int tm_table_match(tm_table *table, const tm_attribute *attributes, size_t count, const tm_query *query, tm_hits *hits);

/* Return the memo that a match leaves for a name that occurs in no filter: such attributes may be left out of a message
 * as long as this value does not change. 0: memos are not used. */
uint64_t tm_table_unknown(const tm_table *table);

typedef struct tm_stats {
    uint64_t filters;          /* handles in use */
    uint64_t constraints;      /* of all filters */
    uint64_t active;           /* filters that a match can reach; others are covered by one of their interface */
    uint64_t tombstones;       /* removed filters that still match until tm_table_settle is done */
    uint64_t memory_bytes;     /* all memory of the table, with the allocator's overhead */
    uint64_t hot_memory_bytes; /* the part that a match may read */
    uint64_t names;
    uint64_t interfaces; /* with at least one filter */
    uint64_t steps;      /* of all matches: rows and tests, and the reading of long texts (work.h) */
    uint64_t updates;    /* of counters, in all matches; 0 in engines that do not count, like the next two */
    uint64_t skipped;    /* updates saved because the interface had matched or was excluded */
    uint64_t excluded;   /* interfaces excluded by the rounds of the last match */
} tm_stats;

/* Return the counters of a table. */
void tm_table_stats(const tm_table *table, tm_stats *stats);

/* Return the bytes that the table's filters take, as charged to the client that adds them: within a factor of two of
 * their memory. The difference before and after an add is the charge of that filter. Cheap. */
uint64_t tm_table_used(const tm_table *table);

/* The lengths of one search for each key of the table's hashes. */
typedef struct tm_probes {
    uint64_t searches;
    uint64_t slots;   /* slots read by all of them */
    uint64_t longest; /* slots read by the longest */
} tm_probes;

/* Measure the searches; walks all of the table, for tests of the hashes. */
void tm_table_probes(const tm_table *table, tm_probes *probes);

/* Check every invariant of the table: TM_OK, or TM_MISUSED and `*reason` (static text). */
int tm_table_validate(const tm_table *table, const char **reason);

/* Make the n-th allocation from now fail (1 is the next; 0 turns it off), for tests. */
void tm_table_fail_allocation(tm_table *table, uint64_t n);

/* Match `count` messages one after the other: message i is the msgpack attribute map at bytes[offsets[i] ..
 * offsets[i+1]). Rows of all messages are concatenated in `hits`; row_ends[i] is the end of those of message i, or of
 * the previous one if results[i] is not TM_OK. Stops before the first message whose rows do not fit: `*done` is the
 * number of messages matched. */
int tm_table_match_batch(tm_table *table, const uint8_t *bytes, const uint64_t *offsets, size_t count,
                         const tm_query *query, tm_hits *hits, uint64_t *row_ends, uint8_t *results, size_t *done);

/* Match each message once and write its nanoseconds (without decoding) to nanoseconds[i]; `*total_ns` is one more pass
 * over all of them without a clock between. `*matched` sums the groups, `*checksum` mixes (message, group) pairs in any
 * order. The timed answers are bitsets for at most 512 groups, like a router's, and lists beyond. TM_MALFORMED if a
 * message is. For benchmarks. */
int tm_table_measure(tm_table *table, const uint8_t *bytes, const uint64_t *offsets, size_t count,
                     const tm_query *query, uint32_t *nanoseconds, uint64_t *total_ns, uint64_t *matched,
                     uint64_t *checksum);

/* Add `count` filters, filter i being bytes[offsets[i] .. offsets[i+1]) for interfaces[i], and write the handle of each
 * and, unless `nanoseconds` is NULL, its time (without that of other processes). Stops at the first that fails and
 * returns its result; `*done` is the number added. */
int tm_table_add_many(tm_table *table, const uint8_t *bytes, const uint64_t *offsets, const uint32_t *interfaces,
                      size_t count, uint32_t *handles, uint32_t *nanoseconds, size_t *done);

/* Remove `count` handles, timed like tm_table_add_many. Stops at the first that fails; `*done` is the number removed.
 */
int tm_table_remove_many(tm_table *table, const uint32_t *handles, size_t count, uint32_t *nanoseconds, size_t *done);

/* ---- covering: which filters imply others ---- */

/* Filters by id, with the relation of covering: a covers b if every message that satisfies b satisfies a. A positive
 * answer is always right; what follows only from several constraints of one name may be missed. Filters for which no
 * message is found (`suffix "b"` beside `not contains "b"`) are not kept, as they may never match. */
typedef struct tm_cover tm_cover;

#define TM_COVER_LOOKS 1024 /* filters that one query tests; beyond them it finds no more */

/* Make a tm_cover, which the caller frees; `memory_bytes_max` bounds its memory; 0: no bound. */
int tm_cover_new(uint64_t memory_bytes_max, uint64_t hash_seed, tm_cover **out);
void tm_cover_free(tm_cover *cover); /* NULL is allowed */

/* Add the filter whose wire form is `size` bytes at `filter` (copied); `*id` names it until it is removed, and may then
 * be reused. TM_ABSENT: no message was found for it. On any result but TM_OK nothing has changed. */
int tm_cover_add(tm_cover *cover, const uint8_t *filter, size_t size, uint32_t *id);
/* Remove a filter. TM_ABSENT: there is no such id. */
int tm_cover_remove(tm_cover *cover, uint32_t id);

/* Write the ids of filters that cover this one, or that it covers, including those of equal meaning: at most
 * `capacity`, unordered; `*count` is their full number. */
int tm_cover_covering(tm_cover *cover, const uint8_t *filter, size_t size, uint32_t *ids, size_t capacity,
                      size_t *count);
int tm_cover_covered(tm_cover *cover, const uint8_t *filter, size_t size, uint32_t *ids, size_t capacity,
                     size_t *count);

/* Set `*covers` to whether one filter covers another; neither need be kept. */
int tm_cover_judge(tm_cover *cover, const uint8_t *wide, size_t wide_size, const uint8_t *narrow, size_t narrow_size,
                   bool *covers);

/* What a rule leaves of a filter. */
#define TM_LEFT_UNKNOWN 0 /* it is not found name by name, or no message is known that satisfies the filter */
#define TM_LEFT_NONE 1    /* nothing */
#define TM_LEFT_WHOLE 2   /* all messages: the rule covers the filter */
#define TM_LEFT_PART 3    /* those that satisfy the filter at `out`, which is in normal form if both are */

/* Return what `rule` leaves of `filter`; a malformed one is TM_LEFT_UNKNOWN. `out` has room for TM_FILTER_BYTES_MAX
 * bytes; `*out_size` is how many are written. */
uint8_t tm_cover_left(tm_cover *cover, const uint8_t *filter, size_t size, const uint8_t *rule, size_t rule_size,
                      uint8_t *out, size_t *out_size);

void tm_cover_stats(const tm_cover *cover, uint64_t *filters, uint64_t *memory_bytes);
/* For tests: check every invariant, and make the n-th allocation fail, like those of a table. */
int tm_cover_validate(tm_cover *cover, const char **reason);
void tm_cover_fail_allocation(tm_cover *cover, uint64_t n);
