/* table.c - the table as Python uses it: bytes in, one engine behind it.
 *
 * Law: a caller's mistake is refused here, with TM_MISUSED or TM_ABSENT, and changes nothing; a filter reaches an
 * engine only after it has been parsed and has a handle; memory is counted in one tm_memory that the table owns and the
 * engine borrows.
 */
#include <string.h>

#include "table/engine.h"

struct tm_table {
    tm_memory memory;
    const tm_engine_class *class;
    tm_engine *engine; /* owned */
    tm_holders holders;
    tm_views views;
    tm_marks marks;        /* for all interfaces, and for the largest group count of a query with a view */
    tm_filter *filter;     /* owned; the filter that is being added */
    tm_attribute *message; /* owned; room for TM_ATTRIBUTES_MAX: the current message of a batch */
    uint64_t match_steps;
    uint64_t steps;         /* of all matches */
    uint64_t bytes_without; /* bytes that it took before it had filters */
};

/* ---- life ---- */

/* The table lives in memory that it counts itself, so the count must outlive it. */
void tm_table_free(tm_table *table) {
    if (table == NULL) {
        return;
    }
    if (table->engine != NULL) {
        table->class->destroy(table->engine);
    }
    tm_views_free(&table->views);
    tm_holders_free(&table->holders);
    tm_marks_free(&table->marks, &table->memory);
    TM_DELETE(&table->memory, TM_COLD, table->filter, tm_filter, 1);
    TM_DELETE(&table->memory, TM_HOT, table->message, tm_attribute, TM_ATTRIBUTES_MAX);
    tm_memory memory = table->memory;
    TM_DELETE(&memory, TM_HOT, table, tm_table, 1);
}

static int fill(tm_table *table, const uint64_t *values) {
    tm_holders_init(&table->holders, &table->memory);
    tm_views_init(&table->views, &table->memory);
    table->filter = TM_NEW(&table->memory, TM_COLD, tm_filter, 1);
    table->message = TM_NEW(&table->memory, TM_HOT, tm_attribute, TM_ATTRIBUTES_MAX);
    if (table->filter == NULL || table->message == NULL) {
        return TM_NO_MEMORY;
    }
    return table->class->create(&table->memory, &table->holders, values, &table->engine);
}

int tm_table_make(const tm_engine_class *class, const tm_options *options, tm_table **out) {
    uint64_t values[TM_ENGINE_OPTIONS_MAX];
    if (options == NULL || out == NULL || class == NULL || (options->named == NULL && options->named_count > 0) ||
        tm_engine_values(class, options->named, options->named_count, values) != TM_OK) {
        return TM_MISUSED;
    }
    tm_memory memory = {.bytes_max = options->memory_bytes_max, .key = tm_hash_key_of(options->hash_seed)};
    tm_table *table = TM_NEW(&memory, TM_HOT, tm_table, 1);
    if (table == NULL) {
        return TM_NO_MEMORY;
    }
    table->memory = memory;
    table->class = class;
    table->match_steps = options->match_steps != 0 ? options->match_steps : TM_MATCH_STEPS;
    int result = fill(table, values);
    if (result != TM_OK) {
        tm_table_free(table);
        return result;
    }
    table->bytes_without = table->memory.bytes;
    *out = table;
    return TM_OK;
}

/* ---- change ---- */

int tm_table_space(tm_table *table, const uint8_t *filter, size_t size) {
    if (table == NULL || filter == NULL || table->holders.live + table->holders.kept > 0) {
        return TM_MISUSED;
    }
    int result = tm_filter_parse(filter, size, table->filter);
    bool heeded = result == TM_OK && table->class->space != NULL;
    return heeded ? table->class->space(table->engine, table->filter) : result;
}

/* Reserve marks first, because a match needs them for every interface. */
static int reserve_marks(tm_table *table, uint32_t interface) {
    return tm_marks_reserve(&table->marks, &table->memory, interface + 1);
}

int tm_table_set_interface(tm_table *table, uint32_t interface, int kind) {
    if (table == NULL || interface >= TM_INTERFACES_MAX) {
        return TM_MISUSED;
    }
    int result = reserve_marks(table, interface);
    return result == TM_OK ? tm_holders_set_interface(&table->holders, interface, kind) : result;
}

/* The handle is taken before the engine is called, so that it counts among those of its interface. */
static int add(tm_table *table, uint32_t interface, uint32_t *handle) {
    uint32_t taken;
    int result = reserve_marks(table, interface);
    if (result == TM_OK) {
        result = tm_holders_take(&table->holders, interface, table->filter->count, &taken);
    }
    if (result != TM_OK) {
        return result;
    }
    result = table->class->add(table->engine, table->filter, interface, taken);
    if (result != TM_OK) {
        tm_holders_take_back(&table->holders, taken);
        return result;
    }
    *handle = taken;
    return TM_OK;
}

int tm_table_add(tm_table *table, const uint8_t *filter, size_t size, uint32_t interface, uint32_t *handle) {
    if (table == NULL || filter == NULL || handle == NULL || interface >= TM_INTERFACES_MAX) {
        return TM_MISUSED;
    }
    tm_holders_ask(&table->holders, interface);
    int result = tm_filter_parse(filter, size, table->filter);
    return result == TM_OK ? add(table, interface, handle) : result;
}

int tm_table_remove(tm_table *table, uint32_t handle) {
    if (table == NULL) {
        return TM_MISUSED;
    }
    if (!tm_holders_is_live(&table->holders, handle)) {
        return TM_ABSENT;
    }
    tm_holders_ask(&table->holders, tm_holders_interface(&table->holders, handle));
    tm_holders_retire(&table->holders, handle);
    table->class->remove(table->engine, handle);
    return TM_OK;
}

int tm_table_settle(tm_table *table, uint64_t steps, uint64_t *left) {
    if (table == NULL || left == NULL) {
        return TM_MISUSED;
    }
    tm_memory_give_back(&table->memory);
    if (table->class->settle != NULL) {
        table->class->settle(table->engine, steps);
    }
    *left = table->holders.kept;
    return TM_OK;
}

/* ---- views ---- */

int tm_table_view(tm_table *table, const uint32_t *groups, uint32_t count, uint32_t *view) {
    if (table == NULL || view == NULL || (groups == NULL && count > 0)) {
        return TM_MISUSED;
    }
    uint32_t made;
    int result = tm_views_add(&table->views, groups, count, &made);
    if (result == TM_OK && table->class->view != NULL) {
        result = table->class->view(table->engine, made, tm_views_at(&table->views, made));
        if (result != TM_OK) {
            tm_views_drop(&table->views, made);
        }
    }
    *view = result == TM_OK ? made : 0;
    return result;
}

int tm_table_drop_view(tm_table *table, uint32_t view) {
    if (table == NULL) {
        return TM_MISUSED;
    }
    if (tm_views_at(&table->views, view) == NULL) {
        return TM_ABSENT;
    }
    if (table->class->drop_view != NULL) {
        table->class->drop_view(table->engine, view);
    }
    tm_views_drop(&table->views, view);
    return TM_OK;
}

const uint32_t *tm_table_view_groups(const tm_table *table, uint32_t view, uint32_t *count) {
    const tm_view *found = table != NULL ? tm_views_at(&table->views, view) : NULL;
    *count = found != NULL ? found->count : 0;
    return found != NULL ? found->groups : NULL;
}

/* ---- match ---- */

/* Find the view of a query, or NULL; false: there is no such view. */
static inline bool find_view(const tm_table *table, const tm_query *query, const tm_view **view) {
    *view = query->view != 0 ? tm_views_at(&table->views, query->view) : NULL;
    return query->view == 0 || *view != NULL;
}

/* Return whether the query is valid for one of the modes up to TM_MATCH_ALL, and set its view or NULL. */
static bool query_is_sound(const tm_table *table, const tm_query *query, const tm_view **view) {
    return query != NULL && query->mode <= TM_MATCH_ALL && find_view(table, query, view);
}

/* true if there is exactly one form of answer, with handles exactly if the mode has them */
static bool hits_are_sound(const tm_query *query, const tm_hits *hits) {
    if (hits == NULL || (hits->handles != NULL) != (query->mode != TM_MATCH_INTERFACES && hits->groups != NULL)) {
        return false;
    }
    return hits->bits != NULL ? hits->groups == NULL && query->mode == TM_MATCH_INTERFACES : hits->groups != NULL;
}

/* Most answers have one word: no call for it. */
static inline void clear_bits(uint64_t *bits, uint32_t words) {
    if (words == 1) {
        *bits = 0;
    } else {
        memset(bits, 0, sizeof *bits * words);
    }
}

/* Only a view with more groups than there are interfaces may need more marks than the table has. */
static inline int prepare(tm_table *table, const tm_query *query, const tm_view *view, const tm_hits *hits) {
    if (hits->bits != NULL) {
        clear_bits(hits->bits, tm_bit_words(query->group_count));
    }
    bool needs_marks = view != NULL && query->mode != TM_MATCH_ALL && query->group_count > table->marks.groups;
    return needs_marks ? tm_marks_reserve(&table->marks, &table->memory, query->group_count) : TM_OK;
}

static inline int match(tm_table *table, const tm_attribute *attributes, size_t count, const tm_query *query,
                        const tm_view *view, tm_hits *hits) {
    if (prepare(table, query, view, hits) != TM_OK) {
        return TM_NO_MEMORY;
    }
    tm_answer answer;
    uint64_t steps_max = query->steps_max != 0 ? query->steps_max : table->match_steps;
    tm_answer_begin(&answer, &table->holders, &table->marks, view, query, hits, (tm_work){count, steps_max});
    table->class->match(table->engine, attributes, count, &answer);
    int result = tm_answer_end(&answer);
    table->steps += answer.work.steps;
    return result;
}

bool tm_table_limits(const tm_table *table) {
    return table != NULL && table->class->limits;
}

/* TM_MATCH_LIMITED, apart from the other modes, which then have no test for it. */
static __attribute__((cold, noinline)) int match_limited(tm_table *table, const tm_attribute *attributes, size_t count,
                                                         const tm_query *query, tm_hits *hits) {
    const tm_view *view;
    bool is_sound = table->class->limits && query->limit - 1 < UINT32_MAX - 1 && hits != NULL && hits->groups != NULL &&
                    hits->handles != NULL && hits->counts != NULL && hits->bits == NULL;
    if (!is_sound || !find_view(table, query, &view)) {
        return TM_MISUSED;
    }
    if (count > TM_ATTRIBUTES_MAX) {
        return TM_TOO_MANY;
    }
    tm_hits no_row = {.groups = hits->groups, .handles = hits->handles};
    if (prepare(table, query, view, &no_row) != TM_OK) {
        return TM_NO_MEMORY;
    }
    memset(hits->counts, 0, sizeof *hits->counts * query->group_count);
    hits->count = 0;
    tm_answer answer;
    uint64_t steps_max = query->steps_max != 0 ? query->steps_max : table->match_steps;
    tm_answer_begin(&answer, &table->holders, &table->marks, view, query, &no_row, (tm_work){count, steps_max});
    answer.limited = hits;
    table->class->match(table->engine, attributes, count, &answer);
    tm_answer_end(&answer);
    table->steps += answer.work.steps;
    hits->steps = answer.work.steps;
    if (tm_work_is_over(&answer.work)) {
        hits->count = 0;
        return TM_TOO_COSTLY;
    }
    return hits->count > hits->capacity ? TM_TOO_MANY : TM_OK;
}

int tm_table_match(tm_table *table, const tm_attribute *attributes, size_t count, const tm_query *query,
                   tm_hits *hits) {
    const tm_view *view;
    if (table == NULL || (attributes == NULL && count > 0) || !query_is_sound(table, query, &view) ||
        !hits_are_sound(query, hits)) {
        bool is_limited = table != NULL && query != NULL && query->mode == TM_MATCH_LIMITED;
        return is_limited && (attributes != NULL || count == 0) ? match_limited(table, attributes, count, query, hits)
                                                                : TM_MISUSED;
    }
    if (count > TM_ATTRIBUTES_MAX) {
        return TM_TOO_MANY;
    }
    return match(table, attributes, count, query, view, hits);
}

uint64_t tm_table_unknown(const tm_table *table) {
    return table == NULL || table->class->unknown == NULL ? 0 : table->class->unknown(table->engine);
}

/* Return the rest of the caller's room after `used` rows. */
static tm_hits rest_of(const tm_hits *hits, size_t used) {
    return (tm_hits){.groups = hits->groups + used,
                     .handles = hits->handles != NULL ? hits->handles + used : NULL,
                     .capacity = hits->capacity - used};
}

static int decode_whole(const uint8_t *bytes, size_t size, tm_attribute *out, size_t *count) {
    size_t used = 0;
    int result = tm_attributes_decode(bytes, size, out, count, &used);
    return result == TM_OK && used != size ? TM_MALFORMED : result;
}

/* Match message `i` and append its rows; true if they fit */
static bool match_one(tm_table *table, const uint8_t *bytes, const uint64_t *offsets, size_t i, const tm_query *query,
                      const tm_view *view, tm_hits *hits, uint8_t *result) {
    size_t count = 0;
    tm_hits rest = rest_of(hits, hits->count);
    int outcome = decode_whole(bytes + offsets[i], offsets[i + 1] - offsets[i], table->message, &count);
    if (outcome == TM_OK) {
        outcome = match(table, table->message, count, query, view, &rest);
        if (outcome == TM_TOO_MANY) {
            return false;
        }
    }
    hits->count += outcome == TM_OK ? rest.count : 0;
    *result = (uint8_t)outcome;
    return true;
}

int tm_table_match_batch(tm_table *table, const uint8_t *bytes, const uint64_t *offsets, size_t count,
                         const tm_query *query, tm_hits *hits, uint64_t *row_ends, uint8_t *results, size_t *done) {
    const tm_view *view;
    if (table == NULL || bytes == NULL || offsets == NULL || row_ends == NULL || results == NULL || done == NULL ||
        !query_is_sound(table, query, &view) || !hits_are_sound(query, hits) || hits->groups == NULL) {
        return TM_MISUSED;
    }
    hits->count = 0;
    for (*done = 0; *done < count; ++*done) {
        if (offsets[*done + 1] < offsets[*done]) {
            return TM_MISUSED;
        }
        if (!match_one(table, bytes, offsets, *done, query, view, hits, &results[*done])) {
            break;
        }
        row_ends[*done] = hits->count;
    }
    return TM_OK;
}

/* ---- covering ---- */

bool tm_table_compares(const tm_table *table, uint32_t handle) {
    return table != NULL && table->class->compares != NULL && handle < table->holders.count &&
           tm_holders_is_live(&table->holders, handle) && table->class->compares(table->engine, handle);
}

typedef void question(tm_engine *engine, const tm_filter *filter, tm_handles *found);

static int ask(tm_table *table, question *of_engine, const uint8_t *filter, size_t size, tm_handles *found) {
    if (of_engine == NULL || filter == NULL || found->handles == NULL) {
        return TM_MISUSED;
    }
    int result = tm_filter_parse(filter, size, table->filter);
    if (result == TM_OK) {
        of_engine(table->engine, table->filter, found);
    }
    return result;
}

int tm_table_covering(tm_table *table, const uint8_t *filter, size_t size, uint32_t *handles, size_t capacity,
                      size_t *count) {
    if (table == NULL || count == NULL) {
        return TM_MISUSED;
    }
    tm_handles found = {.handles = handles, .capacity = capacity};
    int result = ask(table, table->class->covering, filter, size, &found);
    *count = found.count;
    return result;
}

int tm_table_covered(tm_table *table, const uint8_t *filter, size_t size, uint32_t *handles, size_t capacity,
                     size_t *count) {
    if (table == NULL || count == NULL) {
        return TM_MISUSED;
    }
    tm_handles found = {.handles = handles, .capacity = capacity};
    int result = ask(table, table->class->covered, filter, size, &found);
    *count = found.count;
    return result;
}

/* ---- inspection ---- */

void tm_table_stats(const tm_table *table, tm_stats *stats) {
    if (table == NULL || stats == NULL) {
        return;
    }
    const tm_holders *holders = &table->holders;
    *stats = (tm_stats){.filters = holders->live,
                        .constraints = holders->constraints,
                        .active = holders->live,
                        .tombstones = holders->kept,
                        .interfaces = holders->in_use};
    if (table->class->stats != NULL) {
        table->class->stats(table->engine, stats);
    }
    stats->steps = table->steps;
    stats->memory_bytes = table->memory.bytes;
    stats->hot_memory_bytes = table->memory.hot_bytes;
}

uint64_t tm_table_used(const tm_table *table) {
    if (table == NULL) {
        return 0;
    }
    return table->class->used != NULL ? table->class->used(table->engine) : table->memory.bytes - table->bytes_without;
}

void tm_table_probes(const tm_table *table, tm_probes *probes) {
    if (table == NULL || probes == NULL) {
        return;
    }
    *probes = (tm_probes){0};
    if (table->class->probes != NULL) {
        table->class->probes(table->engine, probes);
    }
}

int tm_table_validate(const tm_table *table, const char **reason) {
    if (table == NULL || reason == NULL) {
        return TM_MISUSED;
    }
    *reason = "";
    if (!tm_marks_are_clear(&table->marks)) {
        *reason = "a match left its marks behind";
        return TM_MISUSED;
    }
    int result = tm_holders_validate(&table->holders, reason);
    return result == TM_OK ? table->class->validate(table->engine, reason) : result;
}

void tm_table_fail_allocation(tm_table *table, uint64_t n) {
    if (table != NULL) {
        table->memory.fail_in = n;
    }
}
