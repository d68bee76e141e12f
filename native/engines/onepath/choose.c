/* choose.c - which path to a filter a message is least likely to take.
 *
 * Law: the choice depends on the tests, on how often names are used and on how full a key's cells are; any choice is
 * right, a good one is fast. Odds are guesses: only their order matters.
 */
#include "engines/onepath/boxes.h"

/* With more points than this on one key, equalities go to buckets and intervals to those of their width: an insertion
 * moves all cells, and a removal sets all those of its interface again. */
#define CELL_POINTS_MAX 512U
#define CELL_INTERVAL_POINTS_MAX 2048U

/* ---- the cost of an access path ---- */

/* How selective an equality is guessed to be; only the order matters much. */
#define ODDS_BOOLEAN 0.5
#define ODDS_NUMBER (1.0 / 64)
#define ODDS_STRING (1.0 / 512)
#define ODDS_WIDE (1.0 / 256)
#define ODDS_PATTERN (1.0 / 96)
#define ODDS_SHORT_PATTERN (1.0 / 8) /* of one or two bytes */
#define ODDS_RANGE 0.5
#define MESSAGE_NAMES 8.0 /* names a message is assumed to have */
#define NEVER 1e30

/* The chance that a message has the name, by its share of all constraints. */
static double odds_of_name(const tm_engine *engine, uint32_t name) {
    double share = engine->names.records[name].references / (double)(engine->holders->constraints + 1);
    return share * MESSAGE_NAMES < 1.0 ? share * MESSAGE_NAMES : 1.0;
}

static bool complex_has_equality(const tm_constraint *constraint) {
    return constraint->op == TM_OP_EQ || constraint->op == TM_OP_IN;
}

static double odds_of_complex(const tm_engine *engine, tamis_test test) {
    const tm_constraint *constraint = &engine->complexes[tamis_test_operand(test)].constraint;
    bool one_kind = tamis_kind_of(engine, test) != TAMIS_ANY; /* a key counts what is in its buckets */
    return complex_has_equality(constraint) && one_kind ? constraint->operand_count * ODDS_NUMBER : NEVER;
}

/* The chance that a message reaches a filter put under this test; NEVER where there is no bucket for it. */
static double odds_of_bucket(const tm_engine *engine, tamis_test test) {
    double odds = NEVER;
    switch (tamis_test_op(test)) {
    case TAMIS_BOOLEAN_EQ:
        odds = ODDS_BOOLEAN;
        break;
    case TAMIS_NUMBER_EQ:
        odds = ODDS_NUMBER;
        break;
    case TAMIS_STRING_EQ:
        odds = ODDS_STRING;
        break;
    case TAMIS_PATTERN:
        odds =
            tamis_patterns_length(&engine->patterns, tamis_test_operand(test)) > 2 ? ODDS_PATTERN : ODDS_SHORT_PATTERN;
        break;
    case TAMIS_COMPLEX:
        odds = odds_of_complex(engine, test);
        break;
    default:
        break;
    }
    bool usable = odds < NEVER && !tamis_test_negated(test);
    return usable ? odds * odds_of_name(engine, tamis_test_name(test)) : NEVER;
}

static void swap(tamis_tests *tests, uint32_t a, uint32_t b) {
    tamis_test kept = tests->tests[a];
    tests->tests[a] = tests->tests[b];
    tests->tests[b] = kept;
}

/* ---- the choice ---- */

bool tamis_only_span(const tm_engine *engine, const tamis_tests *tests, tamis_span *span) {
    unsigned kind = tamis_kind_of(engine, tests->tests[0]);
    uint32_t name = tamis_test_name(tests->tests[0]);
    const tamis_strings *order = tamis_order_of(engine, tests->tests[0]);
    for (uint32_t i = 0; i < tests->count; i++) {
        tamis_test test = tests->tests[i];
        tamis_span part;
        if (tamis_test_negated(test) || tamis_test_name(test) != name || !tamis_span_of(test, &part) ||
            tamis_kind_of(engine, test) != kind || tamis_order_of(engine, test) != order) {
            return false;
        }
        if (i == 0) {
            *span = part;
        } else if (!tamis_span_intersect(span, part, order)) {
            return false;
        }
    }
    return true;
}

static bool fits_cells(const tm_engine *engine, uint32_t interface, const tamis_tests *tests) {
    tamis_span span;
    if (!tamis_uses_cells(engine, interface) || !tamis_only_span(engine, tests, &span)) {
        return false;
    }
    unsigned kind = tamis_kind_of(engine, tests->tests[0]);
    tamis_key *key = engine->names.records[tamis_test_name(tests->tests[0])].keys[kind];
    const tamis_key *part = key == NULL ? NULL : tamis_range_key(key, tests->tests[0]);
    uint32_t points = part == NULL ? 0 : part->cells.count;
    if (tests->count > 1) {
        return points < CELL_INTERVAL_POINTS_MAX;
    }
    return points < CELL_POINTS_MAX || tamis_test_op(tests->tests[0]) != TAMIS_NUMBER_EQ;
}

/* Several bounds of one key? */
static bool is_interval(const tm_engine *engine, const tamis_tests *tests) {
    for (uint32_t i = 0; i < tests->count; i++) {
        tamis_test test = tests->tests[i];
        if (!tamis_is_bound(test) || tamis_test_name(test) != tamis_test_name(tests->tests[0]) ||
            tamis_kind_of(engine, test) != tamis_kind_of(engine, tests->tests[0])) {
            return false;
        }
    }
    return tests->count > 1;
}

static tamis_place choose_single(tamis_test test) {
    switch (tamis_test_op(test)) {
    case TAMIS_BOOLEAN_EQ:
    case TAMIS_NUMBER_EQ:
    case TAMIS_STRING_EQ:
    case TAMIS_PATTERN:
        return TAMIS_IN_BUCKET_SINGLE;
    default:
        return tamis_is_bound(test) ? TAMIS_IN_RUN : TAMIS_NONE_PLACE;
    }
}

/* Bring the two tests with the rarest distinct names of known kind to the front; their odds, or NEVER. */
static double front_pair(const tm_engine *engine, tamis_tests *tests) {
    double odds[2] = {NEVER, NEVER};
    for (uint32_t rank = 0; rank < 2; rank++) {
        uint32_t best = TAMIS_NONE;
        for (uint32_t i = rank; i < tests->count; i++) {
            tamis_test test = tests->tests[i];
            double chance = odds_of_name(engine, tamis_test_name(test));
            bool usable = !tamis_test_negated(test) && tamis_kind_of(engine, test) != TAMIS_ANY &&
                          (rank == 0 || tamis_test_name(test) != tamis_test_name(tests->tests[0]));
            if (usable && chance < odds[rank]) {
                odds[rank] = chance;
                best = i;
            }
        }
        if (best == TAMIS_NONE) {
            return NEVER;
        }
        swap(tests, rank, best);
    }
    return odds[0] * odds[1];
}

static void front_positive(const tm_engine *engine, tamis_tests *tests) {
    double rarest = NEVER;
    for (uint32_t i = 0; i < tests->count; i++) {
        double odds = odds_of_name(engine, tamis_test_name(tests->tests[i]));
        if (!tamis_test_negated(tests->tests[i]) && odds < rarest) {
            rarest = odds;
            swap(tests, 0, i);
        }
    }
}

/* Behind the access test, the rest by how likely they fail: a name that is rare comes first. */
static void order_rest(const tm_engine *engine, tamis_tests *tests, uint32_t from) {
    for (uint32_t i = from + 1; i < tests->count; i++) {
        for (uint32_t j = i; j > from; j--) {
            uint32_t here = tamis_test_name(tests->tests[j]);
            uint32_t before = tamis_test_name(tests->tests[j - 1]);
            if (engine->names.records[here].references >= engine->names.records[before].references) {
                break;
            }
            swap(tests, j, j - 1);
        }
    }
}

tamis_place tamis_choose(const tm_engine *engine, uint32_t interface, tamis_tests *tests) {
    if (tests->count == 0) {
        return TAMIS_IN_ALWAYS;
    }
    if (fits_cells(engine, interface, tests)) {
        return TAMIS_IN_CELLS;
    }
    if (tests->count == 1 && !tamis_test_negated(tests->tests[0]) &&
        choose_single(tests->tests[0]) != TAMIS_NONE_PLACE) {
        return choose_single(tests->tests[0]);
    }
    if (is_interval(engine, tests)) {
        return TAMIS_IN_INTERVALS;
    }
    double pair = front_pair(engine, tests);
    uint32_t best = TAMIS_NONE;
    double lowest = pair * ODDS_RANGE;
    for (uint32_t i = 0; i < tests->count; i++) {
        double odds = odds_of_bucket(engine, tests->tests[i]);
        if (odds < lowest) {
            lowest = odds;
            best = i;
        }
    }
    if (best == TAMIS_NONE && pair < NEVER && tamis_boxes_take(engine, tests)) {
        return TAMIS_IN_BOXES;
    }
    if (best != TAMIS_NONE && tamis_boxes_relieve(engine, tests, tests->tests[best])) {
        swap(tests, 0, best);
        return TAMIS_IN_BOXES;
    }
    if (best == TAMIS_NONE && pair < NEVER) {
        order_rest(engine, tests, 2);
        return TAMIS_IN_PAIR;
    }
    if (best == TAMIS_NONE) {
        front_positive(engine, tests);
        order_rest(engine, tests, 1);
        return tamis_test_negated(tests->tests[0]) ? TAMIS_IN_ALWAYS : TAMIS_IN_SCAN;
    }
    swap(tests, 0, best);
    order_rest(engine, tests, 1);
    return TAMIS_IN_BUCKET;
}
