/* cover.c - filters by id; finds those that cover a filter or are covered by it.
 *
 * Law: tm_filter_covers confirms every result; the structures only select the filters to compare, and miss none that it
 * would confirm. A filter that covers another matches its witness, so the filters are in a table, as those of one
 * client, and the witness is matched. A filter that is covered has a witness that satisfies the covering one, so the
 * witnesses are in a sorted list, and of all names that the filter constrains the one with the fewest witnesses in its
 * range is read.
 *
 *     query         x > 3 and y = "a"        table:   filters that match {x: 4, y: "a"}           -> what covers it
 *                                            points:  witnesses with y = "a", or with x above 3   -> what it covers
 */
#include <string.h>

#include "base/arena.h"
#include "base/grow.h"
#include "covering/conjunction.h"
#include "covering/covers.h"
#include "covering/points.h"
#include "covering/witness.h"
#include "model/number.h"

#define FOUND_MAX TM_COVER_LOOKS /* rows of a match */
#define MATCH_STEPS 50000U       /* some 0.5 ms; a query that would take more finds nothing */
#define LISTED_MAX 8U            /* values of a list that are looked up one by one */
#define CLIENT 0U                /* the one interface of the table */
#define SETTLED_PER_REMOVAL 64U

/* The spaces of a name's points, by the kind of their values. */
enum { BOOLEANS, NUMBERS, STRINGS_IN_ORDER, STRINGS_BY_HASH, SPACES };

typedef struct tm_kept {
    uint32_t block; /* in the arena: the filter's wire form; 0: there is no filter of this id */
    uint32_t size;
} tm_kept;

struct tm_cover {
    tm_memory memory;
    tm_table *table; /* owned; counts its own memory */
    tm_arena arena;
    tm_kept *kept; /* owned; by id, which is the table's handle */
    uint32_t capacity;
    uint32_t ids; /* ids are below it */
    uint64_t count;
    tm_points points;
    tm_filter *asked;    /* owned scratch: the filter that is added, removed or queried */
    tm_filter *other;    /* owned scratch: the filter that `asked` is compared with */
    tm_witness *witness; /* owned scratch: of `asked` */
    uint32_t *found;     /* owned scratch: rows of a match, as `handles` */
    uint32_t *handles;
};

/* ---- creation and release ---- */

void tm_cover_free(tm_cover *cover) {
    if (cover == NULL) {
        return;
    }
    tm_table_free(cover->table);
    tm_points_free(&cover->points);
    tm_arena_clear(&cover->arena);
    TM_DELETE(&cover->memory, TM_COLD, cover->kept, tm_kept, cover->capacity);
    TM_DELETE(&cover->memory, TM_COLD, cover->asked, tm_filter, 1);
    TM_DELETE(&cover->memory, TM_COLD, cover->other, tm_filter, 1);
    TM_DELETE(&cover->memory, TM_COLD, cover->witness, tm_witness, 1);
    TM_DELETE(&cover->memory, TM_COLD, cover->found, uint32_t, FOUND_MAX);
    TM_DELETE(&cover->memory, TM_COLD, cover->handles, uint32_t, FOUND_MAX);
    tm_memory memory = cover->memory;
    TM_DELETE(&memory, TM_COLD, cover, tm_cover, 1);
}

static int fill(tm_cover *cover, uint64_t hash_seed) {
    cover->points.memory = &cover->memory;
    tm_arena_init(&cover->arena, &cover->memory, TM_COLD);
    cover->asked = TM_NEW(&cover->memory, TM_COLD, tm_filter, 1);
    cover->other = TM_NEW(&cover->memory, TM_COLD, tm_filter, 1);
    cover->witness = TM_NEW(&cover->memory, TM_COLD, tm_witness, 1);
    cover->found = TM_NEW(&cover->memory, TM_COLD, uint32_t, FOUND_MAX);
    cover->handles = TM_NEW(&cover->memory, TM_COLD, uint32_t, FOUND_MAX);
    if (cover->asked == NULL || cover->other == NULL || cover->witness == NULL || cover->found == NULL ||
        cover->handles == NULL) {
        return TM_NO_MEMORY;
    }
    tm_options options = {
        .memory_bytes_max = cover->memory.bytes_max, .hash_seed = hash_seed, .match_steps = MATCH_STEPS};
    int result = tm_table_new(TM_ENGINE_DEFAULT, &options, &cover->table);
    return result == TM_OK ? tm_table_set_interface(cover->table, CLIENT, TM_INTERFACE_CLIENT) : result;
}

int tm_cover_new(uint64_t memory_bytes_max, uint64_t hash_seed, tm_cover **out) {
    if (out == NULL) {
        return TM_MISUSED;
    }
    tm_memory memory = {.bytes_max = memory_bytes_max / 2, .key = tm_hash_key_of(hash_seed)};
    tm_cover *cover = TM_NEW(&memory, TM_COLD, tm_cover, 1);
    if (cover == NULL) {
        return TM_NO_MEMORY;
    }
    cover->memory = memory;
    int result = fill(cover, hash_seed);
    if (result != TM_OK) {
        tm_cover_free(cover);
        return result;
    }
    *out = cover;
    return TM_OK;
}

/* ---- points ---- */

static uint64_t place_of(const tm_cover *cover, const uint8_t *name, uint16_t length, unsigned space) {
    return (tm_hash_text(name, length, &cover->memory.key) & ~(uint64_t)(SPACES - 1)) | space;
}

static void set_number(tm_point *point, const tm_value *value) {
    tm_number_key key = tm_number_key_of(value->integer, value->real, value->kind == TM_KIND_FLOAT);
    point->high = key.high;
    point->low = key.low;
}

/* Set the point of a string by its first 16 bytes, padded with `filler`: order is kept, except for ties. */
static void set_string(tm_point *point, const tm_value *value, uint8_t filler) {
    uint8_t bytes[16];
    memset(bytes, filler, sizeof bytes);
    if (value->length > 0) {
        memcpy(bytes, value->string, value->length < sizeof bytes ? value->length : sizeof bytes);
    }
    point->high = 0;
    point->low = 0;
    for (unsigned i = 0; i < 8; i++) {
        point->high = point->high << 8 | bytes[i];
        point->low = point->low << 8 | bytes[8 + i];
    }
}

/* Return the point of one value for a search of that value alone. */
static tm_point point_of(const tm_cover *cover, const tm_constraint *named, const tm_value *value) {
    tm_domain domain = tm_domain_of(value->kind);
    unsigned space = domain == TM_DOMAIN_STRINGS ? STRINGS_BY_HASH : domain == TM_DOMAIN_NUMBERS ? NUMBERS : BOOLEANS;
    tm_point point = {.place = place_of(cover, named->name, named->name_length, space)};
    if (domain == TM_DOMAIN_NUMBERS) {
        set_number(&point, value);
    } else {
        point.high = domain == TM_DOMAIN_STRINGS ? tm_hash_text(value->string, value->length, &cover->memory.key)
                                                 : (uint64_t)value->integer;
    }
    return point;
}

/* Return the number of points of a filter whose witness was found: two for each string, one for each other value. */
static uint32_t points_of(const tm_cover *cover, uint64_t id, tm_point points[2 * TM_CONSTRAINTS_MAX]) {
    uint32_t count = 0;
    for (size_t i = 0; i < cover->witness->count; i++) {
        const tm_attribute *attribute = &cover->witness->attributes[i];
        tm_constraint named = {.name = attribute->name, .name_length = attribute->name_length};
        tm_value value = {.string = attribute->string,
                          .integer = attribute->integer,
                          .real = attribute->real,
                          .length = attribute->length,
                          .kind = attribute->kind};
        points[count] = point_of(cover, &named, &value);
        points[count++].id = id;
        if (value.kind == TM_KIND_STRING) {
            points[count] =
                (tm_point){.place = place_of(cover, named.name, named.name_length, STRINGS_IN_ORDER), .id = id};
            set_string(&points[count++], &value, 0);
        }
    }
    return count;
}

/* ---- changes ---- */

static bool keep_points(tm_cover *cover, const tm_point *points, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        if (!tm_points_add(&cover->points, &points[i])) {
            while (i > 0) {
                tm_points_remove(&cover->points, &points[--i]);
            }
            return false;
        }
    }
    return true;
}

static unsigned class_of(size_t size) {
    return tm_arena_class((uint32_t)((size + 7) / 8));
}

static int keep(tm_cover *cover, const uint8_t *filter, size_t size, uint32_t id) {
    tm_point points[2 * TM_CONSTRAINTS_MAX];
    uint32_t count = points_of(cover, id, points);
    if (!tm_grow(&cover->memory, TM_COLD, &cover->kept, sizeof *cover->kept, &cover->capacity, id + 1)) {
        return TM_NO_MEMORY;
    }
    uint32_t block = tm_arena_take(&cover->arena, class_of(size));
    if (block == 0) {
        return TM_NO_MEMORY;
    }
    if (!keep_points(cover, points, count)) {
        tm_arena_give(&cover->arena, block, class_of(size));
        return TM_NO_MEMORY;
    }
    memcpy(tm_arena_at(&cover->arena, block), filter, size);
    cover->kept[id] = (tm_kept){block, (uint32_t)size};
    cover->ids = id + 1 > cover->ids ? id + 1 : cover->ids;
    cover->count++;
    return TM_OK;
}

int tm_cover_add(tm_cover *cover, const uint8_t *filter, size_t size, uint32_t *id) {
    if (cover == NULL || filter == NULL || id == NULL || size > TM_FRAME_BYTES_MAX) {
        return TM_MISUSED;
    }
    uint32_t handle;
    int result = tm_filter_parse(filter, size, cover->asked);
    if (result != TM_OK) {
        return result;
    }
    if (!tm_witness_find(cover->asked, cover->witness)) {
        return TM_ABSENT;
    }
    result = tm_table_add(cover->table, filter, size, CLIENT, &handle);
    if (result != TM_OK) {
        return result;
    }
    result = keep(cover, filter, size, handle);
    if (result != TM_OK) {
        tm_table_remove(cover->table, handle);
        return result;
    }
    *id = handle;
    return TM_OK;
}

static bool is_kept(const tm_cover *cover, uint32_t id) {
    return id < cover->ids && cover->kept[id].block != 0;
}

/* Parse a stored filter, which was valid when it was added. */
static void read_kept(const tm_cover *cover, uint32_t id, tm_filter *out) {
    const tm_kept *kept = &cover->kept[id];
    (void)tm_filter_parse(tm_arena_at(&cover->arena, kept->block), kept->size, out);
}

int tm_cover_remove(tm_cover *cover, uint32_t id) {
    if (cover == NULL) {
        return TM_MISUSED;
    }
    if (!is_kept(cover, id)) {
        return TM_ABSENT;
    }
    tm_point points[2 * TM_CONSTRAINTS_MAX];
    read_kept(cover, id, cover->asked);
    (void)tm_witness_find(cover->asked,
                          cover->witness); /* finds the witness of tm_cover_add, as it depends on the filter alone */
    uint32_t count = points_of(cover, id, points);
    for (uint32_t i = 0; i < count; i++) {
        tm_points_remove(&cover->points, &points[i]);
    }
    tm_arena_give(&cover->arena, cover->kept[id].block, class_of(cover->kept[id].size));
    cover->kept[id] = (tm_kept){0, 0};
    cover->count--;
    uint64_t left;
    tm_table_remove(cover->table, id);
    return tm_table_settle(cover->table, SETTLED_PER_REMOVAL, &left);
}

/* ---- what covers a filter ---- */

/* Parse the filter and find its witness; TM_ABSENT if none was found. */
static int ask(tm_cover *cover, const uint8_t *filter, size_t size) {
    int result = tm_filter_parse(filter, size, cover->asked);
    if (result != TM_OK) {
        return result;
    }
    return tm_witness_find(cover->asked, cover->witness) ? TM_OK : TM_ABSENT;
}

int tm_cover_covering(tm_cover *cover, const uint8_t *filter, size_t size, uint32_t *ids, size_t capacity,
                      size_t *count) {
    if (cover == NULL || filter == NULL || ids == NULL || count == NULL) {
        return TM_MISUSED;
    }
    *count = 0;
    int result = ask(cover, filter, size);
    if (result != TM_OK) {
        return result == TM_ABSENT ? TM_OK : result;
    }
    tm_query query = {.group_count = 1, .mode = TM_MATCH_ALL};
    tm_hits hits = {.groups = cover->found, .handles = cover->handles, .capacity = FOUND_MAX};
    result = tm_table_match(cover->table, cover->witness->attributes, cover->witness->count, &query, &hits);
    size_t rows = hits.count < FOUND_MAX ? hits.count : FOUND_MAX;
    if (result != TM_OK && result != TM_TOO_MANY) {
        return result == TM_TOO_COSTLY ? TM_OK : result;
    }
    for (size_t i = 0; i < rows && *count < capacity; i++) {
        read_kept(cover, cover->handles[i], cover->other);
        if (tm_filter_covers(cover->other, cover->asked)) {
            ids[(*count)++] = cover->handles[i];
        }
    }
    return TM_OK;
}

/* ---- what a filter covers ---- */

/* The stretches of the list that have the witnesses of all filters that a filter may cover, by one of its names. */
typedef struct tm_stretches {
    uint32_t count;
    tm_spot from[LISTED_MAX];
    tm_spot to[LISTED_MAX];
    uint64_t points; /* in them, approximately */
} tm_stretches;

static void add_stretch(const tm_cover *cover, tm_point from, tm_point to, tm_stretches *out) {
    from.id = 0;
    to.id = UINT64_MAX;
    out->from[out->count] = tm_points_seek(&cover->points, &from);
    out->to[out->count] = tm_points_seek(&cover->points, &to);
    out->points += tm_points_between(&cover->points, out->from[out->count], out->to[out->count]);
    out->count++;
}

static void add_all_of(const tm_cover *cover, const tm_constraint *named, unsigned space, tm_stretches *out) {
    tm_point from = {.place = place_of(cover, named->name, named->name_length, space)};
    tm_point to = {.place = from.place, .high = UINT64_MAX, .low = UINT64_MAX};
    add_stretch(cover, from, to, out);
}

/* Narrow the stretch between two points to the values that one constraint admits. */
static void narrow(const tm_constraint *constraint, tm_point *from, tm_point *to) {
    const tm_value *value = constraint->operands;
    const tm_value *last = value + (constraint->operand_count - 1);
    bool is_string = value->kind == TM_KIND_STRING;
    bool has_low = constraint->op == TM_OP_GT || constraint->op == TM_OP_GE || constraint->op == TM_OP_BETWEEN ||
                   constraint->op == TM_OP_PREFIX || tm_lists_values(constraint);
    bool has_high = constraint->op == TM_OP_LT || constraint->op == TM_OP_LE || constraint->op == TM_OP_BETWEEN ||
                    constraint->op == TM_OP_PREFIX || tm_lists_values(constraint);
    tm_point low = *from;
    tm_point high = *to;
    if (has_low) {
        is_string ? set_string(&low, value, 0) : set_number(&low, value);
        bool is_above = low.high != from->high ? low.high > from->high : low.low > from->low;
        *from = is_above ? low : *from;
    }
    if (has_high) {
        uint8_t filler = constraint->op == TM_OP_PREFIX ? UINT8_MAX : 0;
        is_string ? set_string(&high, last, filler) : set_number(&high, last);
        bool is_below = high.high != to->high ? high.high < to->high : high.low < to->low;
        *to = is_below ? high : *to;
    }
}

/* Add the range that all constraints on a name admit, in the domain of `typical`. */
static void add_range(const tm_cover *cover, const tm_constraint *typical, tm_stretches *out) {
    tm_domain domain = tm_domain_of(typical->operands->kind);
    unsigned space = domain == TM_DOMAIN_STRINGS ? STRINGS_IN_ORDER : NUMBERS;
    tm_point from = {.place = place_of(cover, typical->name, typical->name_length, space)};
    tm_point to = {.place = from.place, .high = UINT64_MAX, .low = UINT64_MAX};
    for (size_t i = 0; i < cover->asked->count; i++) {
        const tm_constraint *constraint = &cover->asked->constraints[i];
        if (!constraint->negated && constraint->operand_count > 0 && tm_same_name(constraint, typical) &&
            tm_domain_of(constraint->operands->kind) == domain &&
            tm_domain_of(constraint->operands[constraint->operand_count - 1].kind) == domain) {
            narrow(constraint, &from, &to);
        }
    }
    add_stretch(cover, from, to, out);
}

/* Return the constraint by which a name is looked up: a short list of values before all others; NULL if all are
 * negated. */
static const tm_constraint *typical_of(const tm_filter *asked, const tm_constraint *named) {
    const tm_constraint *found = NULL;
    for (size_t i = 0; i < asked->count; i++) {
        const tm_constraint *constraint = &asked->constraints[i];
        if (constraint->negated || !tm_same_name(constraint, named)) {
            continue;
        }
        if (tm_lists_values(constraint) && constraint->operand_count <= LISTED_MAX) {
            return constraint;
        }
        found = found == NULL || found->operand_count == 0 ? constraint : found;
    }
    return found;
}

/* true if all operands are in one domain, which is ordered here. */
static bool is_of_one_domain(const tm_constraint *constraint) {
    tm_domain domain = tm_domain_of(constraint->operands->kind);
    return domain != TM_DOMAIN_BOOLEANS &&
           tm_domain_of(constraint->operands[constraint->operand_count - 1].kind) == domain;
}

static void find_stretches(const tm_cover *cover, const tm_constraint *typical, tm_stretches *out) {
    *out = (tm_stretches){.count = 0};
    if (tm_lists_values(typical) && typical->operand_count <= LISTED_MAX) {
        for (uint32_t i = 0; i < typical->operand_count; i++) {
            tm_point point = point_of(cover, typical, &typical->operands[i]);
            add_stretch(cover, point, point, out);
        }
    } else if (typical->operand_count > 0 && is_of_one_domain(typical)) {
        add_range(cover, typical, out);
    } else {
        add_all_of(cover, typical, BOOLEANS, out);
        add_all_of(cover, typical, NUMBERS, out);
        add_all_of(cover, typical, STRINGS_IN_ORDER, out);
    }
}

/* Find the stretches of the name that has the fewest points in them; false if every name may be absent. */
static bool fewest_stretches(const tm_cover *cover, tm_stretches *out) {
    bool is_found = false;
    for (size_t i = 0; i < cover->asked->count; i++) {
        const tm_constraint *typical = typical_of(cover->asked, &cover->asked->constraints[i]);
        tm_stretches other;
        if (typical == NULL) {
            continue;
        }
        find_stretches(cover, typical, &other);
        if (!is_found || other.points < out->points) {
            *out = other;
        }
        is_found = true;
    }
    return is_found;
}

/* The results, and how many filters may still be compared. */
typedef struct tm_answers {
    uint32_t *ids;
    size_t capacity;
    size_t count;
    uint32_t looks;
} tm_answers;

/* Compare one filter; false if the room or the limit of comparisons is used up. */
static bool look(const tm_cover *cover, uint32_t id, tm_answers *answers) {
    if (answers->looks == 0 || answers->count == answers->capacity) {
        return false;
    }
    answers->looks--;
    read_kept(cover, id, cover->other);
    if (tm_filter_covers(cover->asked, cover->other)) {
        answers->ids[answers->count++] = id;
    }
    return true;
}

static void look_in_stretch(const tm_cover *cover, tm_spot from, tm_spot to, tm_answers *answers) {
    for (tm_spot spot = from; spot.chunk < to.chunk || (spot.chunk == to.chunk && spot.at < to.at);
         spot = tm_points_next(&cover->points, spot)) {
        if (!look(cover, (uint32_t)tm_points_at(&cover->points, spot)->id, answers)) {
            return;
        }
    }
}

int tm_cover_covered(tm_cover *cover, const uint8_t *filter, size_t size, uint32_t *ids, size_t capacity,
                     size_t *count) {
    if (cover == NULL || filter == NULL || ids == NULL || count == NULL) {
        return TM_MISUSED;
    }
    *count = 0;
    int result = tm_filter_parse(filter, size, cover->asked);
    if (result != TM_OK) {
        return result;
    }
    tm_answers answers = {ids, capacity, 0, TM_COVER_LOOKS};
    tm_stretches stretches;
    if (fewest_stretches(cover, &stretches)) {
        for (uint32_t i = 0; i < stretches.count; i++) {
            look_in_stretch(cover, stretches.from[i], stretches.to[i], &answers);
        }
    } else {
        for (uint32_t id = 0; id < cover->ids && (!is_kept(cover, id) || look(cover, id, &answers)); id++) {
        }
    }
    *count = answers.count;
    return TM_OK;
}

/* ---- two filters ---- */

int tm_cover_judge(tm_cover *cover, const uint8_t *wide, size_t wide_size, const uint8_t *narrow, size_t narrow_size,
                   bool *covers) {
    if (cover == NULL || wide == NULL || narrow == NULL || covers == NULL) {
        return TM_MISUSED;
    }
    int result = tm_filter_parse(wide, wide_size, cover->asked);
    result = result == TM_OK ? tm_filter_parse(narrow, narrow_size, cover->other) : result;
    *covers = result == TM_OK && tm_filter_covers(cover->asked, cover->other);
    return result;
}

uint8_t tm_cover_left(tm_cover *cover, const uint8_t *filter, size_t size, const uint8_t *rule, size_t rule_size,
                      uint8_t *out, size_t *out_size) {
    *out_size = 0;
    if (tm_filter_parse(filter, size, cover->asked) != TM_OK ||
        tm_filter_parse(rule, rule_size, cover->other) != TM_OK || !tm_witness_exists(cover->asked, cover->witness)) {
        return TM_LEFT_UNKNOWN;
    }
    tm_packed it = {cover->asked, filter, size};
    tm_packed by = {cover->other, rule, rule_size};
    return tm_conjunction(&it, &by, out, out_size);
}

/* ---- inspection ---- */

void tm_cover_stats(const tm_cover *cover, uint64_t *filters, uint64_t *memory_bytes) {
    tm_stats stats;
    tm_table_stats(cover->table, &stats);
    *filters = cover->count;
    *memory_bytes = cover->memory.bytes + stats.memory_bytes;
}

void tm_cover_fail_allocation(tm_cover *cover, uint64_t n) {
    cover->memory.fail_in = n;
    tm_table_fail_allocation(cover->table, n);
}

static bool has_points(tm_cover *cover, uint32_t id) {
    tm_point points[2 * TM_CONSTRAINTS_MAX];
    read_kept(cover, id, cover->asked);
    if (!tm_witness_find(cover->asked, cover->witness)) {
        return false;
    }
    uint32_t count = points_of(cover, id, points);
    for (uint32_t i = 0; i < count; i++) {
        const tm_point *found = tm_points_at(&cover->points, tm_points_seek(&cover->points, &points[i]));
        if (found == NULL || memcmp(found, &points[i], sizeof *found) != 0) {
            return false;
        }
    }
    return true;
}

int tm_cover_validate(tm_cover *cover, const char **reason) {
    uint64_t count = 0;
    if (!tm_points_are_sound(&cover->points)) {
        *reason = "points are out of order, or chunks too empty";
        return TM_MISUSED;
    }
    for (uint32_t id = 0; id < cover->ids; id++) {
        count += is_kept(cover, id);
        if (is_kept(cover, id) && !has_points(cover, id)) {
            *reason = "a filter has not all of its points";
            return TM_MISUSED;
        }
    }
    if (count != cover->count) {
        *reason = "filters are counted wrong";
        return TM_MISUSED;
    }
    return tm_table_validate(cover->table, reason);
}
