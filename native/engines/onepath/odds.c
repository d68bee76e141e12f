/* odds.c - how likely a message is to come by a place, as far as that can be known.
 *
 * Law: odds are guesses and only their order matters; any choice by them is right, a good one is fast. Three things are
 * weighed: what the kind of test suggests, which share of the filters that stand under a name stands under the value
 * (what many filters ask for, many messages bring), and what messages were seen to bring (sample.h).
 */
#include "engines/onepath/buckets.h"

/* How selective an equality is guessed to be before any filter or message is known. */
#define ODDS_BOOLEAN 0.5
#define ODDS_NUMBER (1.0 / 64)
#define ODDS_STRING (1.0 / 512)
#define ODDS_PATTERN (1.0 / 96)
#define ODDS_SHORT_PATTERN (1.0 / 8) /* of one or two bytes */

#define MESSAGE_NAMES 8.0      /* names a message is assumed to have */
#define GUESS_FILTERS 64.0     /* a guess counts as so many filters */
#define STEP_BEHIND (1.0 / 64) /* of a bucket: what it costs to look behind it, against an entry in it */
#define CERTAIN 1.0

double tamis_odds_of_name(const tm_engine *engine, uint32_t name, unsigned kind) {
    double share = engine->names.records[name].references / (double)(engine->holders->constraints + 1);
    double guess = share * MESSAGE_NAMES < CERTAIN ? share * MESSAGE_NAMES : CERTAIN;
    return tamis_sample_odds(&engine->sample, tamis_bucket_key(TAMIS_BY_NAME, name, kind), &engine->buckets.key, guess);
}

static bool complex_has_equality(const tm_constraint *constraint) {
    return constraint->op == TM_OP_EQ || constraint->op == TM_OP_IN;
}

static double guess_of_complex(const tm_engine *engine, tamis_test test) {
    const tm_constraint *constraint = &engine->complexes[tamis_test_operand(test)].constraint;
    bool one_kind = tamis_kind_of(engine, test) != TAMIS_ANY; /* a key counts what is in its buckets */
    return complex_has_equality(constraint) && one_kind ? constraint->operand_count * ODDS_NUMBER : TAMIS_NEVER;
}

/* The chance that an attribute of the name satisfies the test, by what kind of test it is. */
static double guess_of_value(const tm_engine *engine, tamis_test test) {
    if (tamis_test_negated(test)) {
        return TAMIS_NEVER;
    }
    switch (tamis_test_op(test)) {
    case TAMIS_BOOLEAN_EQ:
        return ODDS_BOOLEAN;
    case TAMIS_NUMBER_EQ:
        return ODDS_NUMBER;
    case TAMIS_STRING_EQ:
        return ODDS_STRING;
    case TAMIS_PATTERN:
        return tamis_patterns_length(&engine->patterns, tamis_test_operand(test)) > 2 ? ODDS_PATTERN
                                                                                      : ODDS_SHORT_PATTERN;
    case TAMIS_COMPLEX:
        return guess_of_complex(engine, test);
    default:
        return TAMIS_NEVER;
    }
}

bool tamis_has_bucket(const tm_engine *engine, tamis_test test) {
    return guess_of_value(engine, test) < TAMIS_NEVER;
}

/* Of a list of one kind in which each value has a bucket for itself: no number without a code. */
static bool is_plain_list(const tm_constraint *constraint) {
    for (uint32_t i = 0; i < constraint->operand_count; i++) {
        const tm_value *value = &constraint->operands[i];
        bool is_wide =
            value->kind == TM_KIND_FLOAT || (value->kind == TM_KIND_INTEGER && !tamis_has_code(value->integer));
        if (is_wide || value->kind != constraint->operands[0].kind) {
            return false;
        }
    }
    return constraint->op == TM_OP_IN;
}

bool tamis_is_told_by_key(const tm_engine *engine, tamis_test test) {
    unsigned op = tamis_test_op(test);
    if (tamis_test_negated(test)) {
        return false;
    }
    if (op == TAMIS_COMPLEX) {
        return is_plain_list(&engine->complexes[tamis_test_operand(test)].constraint);
    }
    return op == TAMIS_BOOLEAN_EQ || op == TAMIS_NUMBER_EQ || op == TAMIS_STRING_EQ || op == TAMIS_PATTERN;
}

double tamis_odds_by_share(double guess, uint32_t with, uint32_t of) {
    return (guess * GUESS_FILTERS + with) / (GUESS_FILTERS + of);
}

double tamis_odds_behind(double odds, double other) {
    double behind = other + STEP_BEHIND;
    return odds * (behind < CERTAIN ? behind : CERTAIN);
}

double tamis_odds_of_bucket(const tm_engine *engine, tamis_test test, bool *opened) {
    double guess = guess_of_value(engine, test);
    *opened = false;
    if (guess >= TAMIS_NEVER) {
        return TAMIS_NEVER;
    }
    uint32_t name = tamis_test_name(test);
    unsigned kind = tamis_kind_of(engine, test);
    double of_name = tamis_odds_of_name(engine, name, kind);
    if (tamis_test_op(test) == TAMIS_COMPLEX) {
        return guess * of_name;
    }
    const tamis_key *key = engine->names.records[name].keys[kind];
    uint64_t bucket;
    tamis_bucket_keys(engine, TAMIS_IN_BUCKET, 0, test, &bucket);
    if (key != NULL) {
        bool is_pattern = tamis_test_op(test) == TAMIS_PATTERN;
        uint64_t bits = is_pattern ? key->pattern_bits : key->equal_bits;
        bool may_exist = bits & tamis_operand_bit((uint32_t)bucket);
        tamis_crowd crowd = may_exist ? tamis_buckets_crowd(&engine->buckets, bucket) : (tamis_crowd){0};
        uint32_t with = crowd.entries + crowd.singles + tamis_filters_behind(engine, crowd.opened);
        guess = tamis_odds_by_share(guess, with, is_pattern ? key->patterns : key->equalities);
        *opened = crowd.opened != NULL;
    }
    return tamis_sample_odds(&engine->sample, bucket, &engine->buckets.key, guess * of_name);
}
