/* selectivity.c - estimates how likely a message is to reach a place.
 *
 * Law: selectivities are estimates and only their order matters; any choice by them is right, a good one is fast. Three
 * things are weighed: what the kind of test suggests, which share of the filters under a name is under the value
 * (values that many filters require, many messages have), and what sampled messages had (sample.h).
 */
#include "engines/onepath/cost/selectivity.h"

#include "engines/onepath/paths/bucket_keys.h"
#include "engines/onepath/paths/buckets.h"

/* Estimates for an equality before any filter or message is known. */
#define SELECTIVITY_BOOLEAN 0.5
#define SELECTIVITY_NUMBER (1.0 / 64)
#define SELECTIVITY_STRING (1.0 / 512)
#define SELECTIVITY_PATTERN (1.0 / 96)
#define SELECTIVITY_SHORT_PATTERN (1.0 / 8) /* of one or two bytes */

#define MESSAGE_NAMES 8.0      /* assumed names of a message */
#define GUESS_FILTERS 64.0     /* weight of a guess in filters */
#define STEP_BEHIND (1.0 / 64) /* cost of a search behind a bucket, relative to an entry in it */
#define CERTAIN 1.0
#define LIST_LOOKS 4U /* values of a list that are estimated */

double onepath_selectivity_of_name(const tm_engine *engine, uint32_t name, unsigned kind) {
    double share = engine->names.records[name].references / (double)(engine->holders->constraints + 1);
    double guess = share * MESSAGE_NAMES < CERTAIN ? share * MESSAGE_NAMES : CERTAIN;
    return onepath_sample_selectivity(&engine->sample, onepath_bucket_key(ONEPATH_BY_NAME, name, kind),
                                      &engine->buckets.key, guess);
}

static bool complex_has_equality(const tm_constraint *constraint) {
    return constraint->op == TM_OP_EQ || constraint->op == TM_OP_IN;
}

/* Return the estimate for a list, which holds if the message has one of its values. */
static double guess_of_complex(const tm_engine *engine, onepath_test test) {
    const tm_constraint *constraint = &engine->complexes[onepath_test_operand(test)].constraint;
    unsigned kind = onepath_kind_of(engine, test);
    if (!complex_has_equality(constraint) ||
        kind == ONEPATH_ANY) { /* a key counts only the filters in its own buckets */
        return ONEPATH_NEVER;
    }
    double of_value = kind == ONEPATH_STRING   ? SELECTIVITY_STRING
                      : kind == ONEPATH_NUMBER ? SELECTIVITY_NUMBER
                                               : SELECTIVITY_BOOLEAN;
    double guess = constraint->operand_count * of_value;
    return guess < CERTAIN ? guess : CERTAIN;
}

/* Return the probability that an attribute of the name satisfies the test, by the kind of test alone. */
static double guess_of_value(const tm_engine *engine, onepath_test test) {
    if (onepath_test_negated(test)) {
        return ONEPATH_NEVER;
    }
    switch (onepath_test_op(test)) {
    case ONEPATH_BOOLEAN_EQ:
        return SELECTIVITY_BOOLEAN;
    case ONEPATH_NUMBER_EQ:
        return SELECTIVITY_NUMBER;
    case ONEPATH_STRING_EQ:
        return SELECTIVITY_STRING;
    case ONEPATH_PATTERN:
        return onepath_patterns_length(&engine->patterns, onepath_test_operand(test)) > 2 ? SELECTIVITY_PATTERN
                                                                                          : SELECTIVITY_SHORT_PATTERN;
    case ONEPATH_COMPLEX:
        return guess_of_complex(engine, test);
    default:
        return ONEPATH_NEVER;
    }
}

bool onepath_has_bucket(const tm_engine *engine, onepath_test test) {
    return guess_of_value(engine, test) < ONEPATH_NEVER;
}

double onepath_selectivity_by_share(double guess, uint32_t with, uint32_t of) {
    return (guess * GUESS_FILTERS + with) / (GUESS_FILTERS + of);
}

double onepath_selectivity_behind(double selectivity, double other) {
    double behind = other + STEP_BEHIND;
    return selectivity * (behind < CERTAIN ? behind : CERTAIN);
}

/* Return the selectivity of one bucket of a test, whose name a message has with probability `of_name`. */
static double selectivity_of_key(const tm_engine *engine, const onepath_key *key, uint64_t bucket, double guess,
                                 double of_name, bool *opened) {
    *opened = false;
    if (key != NULL) {
        bool is_pattern = onepath_key_tag(bucket) == ONEPATH_BY_PATTERN;
        uint64_t bits = is_pattern ? key->pattern_bits : key->equal_bits;
        bool may_exist = bits & onepath_operand_bit((uint32_t)bucket);
        onepath_full_bucket full_bucket =
            may_exist ? onepath_bucket_is_full(&engine->buckets, bucket) : (onepath_full_bucket){0};
        uint32_t with =
            full_bucket.entries + full_bucket.singles + onepath_filters_behind(&engine->buckets, full_bucket.opened);
        guess = onepath_selectivity_by_share(guess, with, is_pattern ? key->patterns : key->equalities);
        *opened = full_bucket.opened != NULL;
    }
    return onepath_sample_selectivity(&engine->sample, bucket, &engine->buckets.key, guess * of_name);
}

/* Return the selectivity of a list, by some of its values. */
static double selectivity_of_list(const tm_engine *engine, const onepath_key *key, onepath_test test, double guess,
                                  double of_name) {
    uint64_t keys[TM_IN_VALUES_MAX];
    uint32_t count = onepath_keys_by_value(engine, test, keys);
    uint32_t looks = count < LIST_LOOKS ? count : LIST_LOOKS;
    double selectivity = 0;
    bool opened;
    for (uint32_t i = 0; i < looks; i++) {
        selectivity += selectivity_of_key(engine, key, keys[i], guess / count, of_name, &opened);
    }
    selectivity = selectivity * count / looks;
    return selectivity < of_name ? selectivity : of_name;
}

double onepath_selectivity_of_bucket(const tm_engine *engine, onepath_test test, bool *opened) {
    double guess = guess_of_value(engine, test);
    *opened = false;
    if (guess >= ONEPATH_NEVER) {
        return ONEPATH_NEVER;
    }
    uint32_t name = onepath_test_name(test);
    unsigned kind = onepath_kind_of(engine, test);
    double of_name = onepath_selectivity_of_name(engine, name, kind);
    const onepath_key *key = engine->names.records[name].keys[kind];
    if (onepath_test_op(test) == ONEPATH_COMPLEX) {
        return selectivity_of_list(engine, key, test, guess, of_name);
    }
    uint64_t bucket;
    onepath_bucket_keys(engine, ONEPATH_IN_BUCKET, 0, test, &bucket);
    return selectivity_of_key(engine, key, bucket, guess, of_name, opened);
}

uint32_t onepath_users_of(const tm_engine *engine, onepath_test test) {
    uint32_t operand = onepath_test_operand(test);
    uint32_t of_name = engine->names.records[onepath_test_name(test)].references;
    uint32_t users = 0;
    if (onepath_test_op(test) == ONEPATH_PATTERN) {
        users = engine->patterns.uses[operand >> 2].references[operand & 3];
    } else if (onepath_test_op(test) >= ONEPATH_STRING_EQ) {
        users = engine->strings.records[operand].references;
    }
    return users < of_name ? users : of_name;
}

double onepath_selectivity_at_least(const tm_engine *engine, onepath_test test, double selectivity, double share) {
    uint64_t bucket = onepath_test_negated(test) ? 0 : onepath_bucket_of_test(test);
    if (bucket == 0 || share <= selectivity) {
        return selectivity;
    }
    double seen = onepath_sample_selectivity(&engine->sample, bucket, &engine->buckets.key, share);
    return seen > selectivity ? seen : selectivity;
}

double onepath_rows_expected(const tm_engine *engine, onepath_test test) {
    uint32_t name = onepath_test_name(test);
    unsigned kind = onepath_kind_of(engine, test);
    const onepath_key *key = engine->names.records[name].keys[kind];
    if (key == NULL || key->equalities == 0) {
        return 0;
    }
    return onepath_selectivity_of_name(engine, name, kind) * (double)key->rows_squared / key->equalities;
}
