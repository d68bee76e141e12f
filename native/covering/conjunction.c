/* conjunction.c - see conjunction.h. */
#include "covering/conjunction.h"

#include <string.h>

#include "covering/covers.h"
#include "model/msgpack.h"

#define ARRAY_FEW 0x90U  /* msgpack: an array of at most 15 elements, with their number in the byte */
#define ARRAY_MANY 0xdcU /* an array, with the number of elements in the two bytes that follow */
#define ARRAY_FEW_MAX 15U
#define NESTED 2U /* a constraint is an array of scalars */

/* ---- the constraints of one name ---- */

typedef struct run {
    const tm_filter *filter;
    uint32_t begin;
    uint32_t end;
} run;

static int compare_names(const tm_constraint *a, const tm_constraint *b) {
    uint16_t shared = a->name_length < b->name_length ? a->name_length : b->name_length;
    int order = memcmp(a->name, b->name, shared);
    return order != 0 ? order : (int)a->name_length - (int)b->name_length;
}

static run run_from(const tm_filter *filter, uint32_t begin) {
    run found = {filter, begin, begin};
    while (found.end < filter->count && tm_same_name(&filter->constraints[begin], &filter->constraints[found.end])) {
        found.end++;
    }
    return found;
}

static bool all_follow(run of, run from) {
    for (uint32_t i = of.begin; i < of.end; i++) {
        if (!tm_constraint_follows(&of.filter->constraints[i], from.filter)) {
            return false;
        }
    }
    return true;
}

/* true if a constraint of one run contradicts one of the other */
static bool contradict(run a, run b) {
    for (uint32_t i = a.begin; i < a.end; i++) {
        tm_constraint opposite = a.filter->constraints[i];
        opposite.negated = !opposite.negated;
        if (tm_constraint_follows(&opposite, b.filter)) {
            return true;
        }
    }
    return false;
}

/* ---- both filters ---- */

typedef struct merging {
    run taken[2 * TM_CONSTRAINTS_MAX]; /* the runs of the result, in order */
    uint32_t runs;
    uint32_t count; /* of constraints */
    uint8_t left;
} merging;

static void take(merging *to, run of) {
    to->taken[to->runs++] = of;
    to->count += of.end - of.begin;
}

static void take_shared(merging *to, run own, run of_rule) {
    if (all_follow(of_rule, own)) {
        take(to, own);
    } else if (all_follow(own, of_rule)) {
        take(to, of_rule);
        to->left = to->left == TM_LEFT_WHOLE ? TM_LEFT_PART : to->left;
    } else {
        to->left = contradict(own, of_rule) || contradict(of_rule, own) ? TM_LEFT_NONE : TM_LEFT_UNKNOWN;
    }
}

/* Take the runs of both filters in the order of their names, until it is clear that there is no result. */
static void merge(merging *to, const tm_filter *own, const tm_filter *rule) {
    uint32_t at = 0;
    uint32_t at_rule = 0;
    while ((at < own->count || at_rule < rule->count) && to->left >= TM_LEFT_WHOLE) {
        int order = at == own->count         ? 1
                    : at_rule == rule->count ? -1
                                             : compare_names(&own->constraints[at], &rule->constraints[at_rule]);
        run mine = order <= 0 ? run_from(own, at) : (run){own, at, at};
        run theirs = order >= 0 ? run_from(rule, at_rule) : (run){rule, at_rule, at_rule};
        if (order < 0) {
            take(to, mine);
        } else if (order > 0) {
            take(to, theirs);
            to->left = TM_LEFT_PART;
        } else {
            take_shared(to, mine, theirs);
        }
        at = mine.end;
        at_rule = theirs.end;
    }
}

static bool has_names_in_order(const tm_filter *filter) {
    for (uint32_t i = 1; i < filter->count; i++) {
        if (compare_names(&filter->constraints[i - 1], &filter->constraints[i]) > 0) {
            return false;
        }
    }
    return true;
}

/* Set `ends` to where the head of a filter and each of its constraints end. */
static void find_ends(const tm_packed *of, const uint8_t **ends) {
    tm_cursor cursor = {of->bytes, of->bytes + of->size};
    uint32_t count = 0;
    (void)tm_read_array(&cursor, &count); /* it was parsed before */
    ends[0] = cursor.at;
    for (uint32_t i = 1; i <= count; i++) {
        (void)tm_skip(&cursor, NESTED);
        ends[i] = cursor.at;
    }
}

/* Write the wire form of the result; false: it is too long. */
static bool write(const merging *of, const tm_packed *it, const tm_packed *rule, uint8_t *out, size_t *size) {
    const uint8_t *ends[TM_CONSTRAINTS_MAX + 1];
    const uint8_t *ends_of_rule[TM_CONSTRAINTS_MAX + 1];
    find_ends(it, ends);
    find_ends(rule, ends_of_rule);
    size_t at = 0;
    if (of->count > ARRAY_FEW_MAX) {
        out[at++] = ARRAY_MANY;
        out[at++] = (uint8_t)(of->count >> 8);
        out[at++] = (uint8_t)of->count;
    } else {
        out[at++] = (uint8_t)(ARRAY_FEW + of->count);
    }
    for (uint32_t i = 0; i < of->runs; i++) {
        const run *taken = &of->taken[i];
        const uint8_t **from = taken->filter == rule->filter ? ends_of_rule : ends;
        size_t bytes = (size_t)(from[taken->end] - from[taken->begin]);
        if (bytes > TM_FILTER_BYTES_MAX - at) {
            return false;
        }
        memcpy(out + at, from[taken->begin], bytes);
        at += bytes;
    }
    *size = at;
    return true;
}

uint8_t tm_conjunction(const tm_packed *it, const tm_packed *rule, uint8_t *out, size_t *size) {
    if (!has_names_in_order(it->filter) || !has_names_in_order(rule->filter)) {
        return TM_LEFT_UNKNOWN;
    }
    merging merged = {.left = TM_LEFT_WHOLE};
    merge(&merged, it->filter, rule->filter);
    bool is_written =
        merged.left != TM_LEFT_PART || (merged.count <= TM_CONSTRAINTS_MAX && write(&merged, it, rule, out, size));
    return is_written ? merged.left : TM_LEFT_UNKNOWN;
}
