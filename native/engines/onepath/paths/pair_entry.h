/* pair_entry.h - both tests of a filter that stands under a pair of names, in its entry.
 *
 * Law: the names and kinds of both tests are in the key of the bucket, so an entry needs of each only its operator and
 * its operand, and a match decides about both without a body:
 *
 *     interface   second operator (4 bits), first operator (4), interface (24)
 *     test        second operand (32 bits), first operand (32)
 *
 * An operator is a set of orders (model/order.h) of codes or labels; with TAMIS_SIDE_APART something else decides. A
 * test of which an entry cannot say that leaves the entry *plain*: its `test` is the first test, the second one is in
 * the body.
 */
#ifndef TM_ONEPATH_PAIR_ENTRY_H
#define TM_ONEPATH_PAIR_ENTRY_H

#include "engines/onepath/paths/rows.h"

/* Beside the orders: of strings, whether it is the constant (with the orders of = or !=) or has the pattern (all
 * orders); of numbers, the order of the key of a number without a code. Without orders, on both sides: the entry is
 * plain. */
#define TAMIS_SIDE_APART 8U
#define TAMIS_SIDE_PLAIN TAMIS_SIDE_APART
#define TAMIS_SIDE_PATTERN (TAMIS_SIDE_APART | 7U)
#define TAMIS_SIDES_APART (TAMIS_SIDE_APART << 28 | TAMIS_SIDE_APART << 24) /* where either operator has it */

/* The operator of a test that is not negated; 0: an entry cannot say it. */
static inline unsigned tamis_side_of(tamis_test test) {
    static const uint8_t SIDES[TAMIS_PATTERN + 1] = {
        [TAMIS_BOOLEAN_EQ] = 2,
        [TAMIS_NUMBER_EQ] = 2,
        [TAMIS_NUMBER_NE] = 5,
        [TAMIS_NUMBER_LE] = 3,
        [TAMIS_NUMBER_GE] = 6,
        [TAMIS_WIDE_LT] = TAMIS_SIDE_APART | 1,
        [TAMIS_WIDE_LE] = TAMIS_SIDE_APART | 3,
        [TAMIS_WIDE_GT] = TAMIS_SIDE_APART | 4,
        [TAMIS_WIDE_GE] = TAMIS_SIDE_APART | 6,
        [TAMIS_STRING_EQ] = TAMIS_SIDE_APART | 2,
        [TAMIS_STRING_NE] = TAMIS_SIDE_APART | 5,
        [TAMIS_STRING_LT] = 1,
        [TAMIS_STRING_LE] = 3,
        [TAMIS_STRING_GT] = 4,
        [TAMIS_STRING_GE] = 6,
        [TAMIS_PATTERN] = TAMIS_SIDE_PATTERN,
    };
    return tamis_test_negated(test) ? 0 : SIDES[tamis_test_op(test)];
}

/* The operator of a test that this one stands for, on values of a kind. */
static inline unsigned tamis_side_op(unsigned side, unsigned kind) {
    static const uint8_t OPS[TAMIS_ANY][16] = {
        [TAMIS_BOOLEAN] = {[2] = TAMIS_BOOLEAN_EQ},
        [TAMIS_NUMBER] = {[2] = TAMIS_NUMBER_EQ,
                          [5] = TAMIS_NUMBER_NE,
                          [3] = TAMIS_NUMBER_LE,
                          [6] = TAMIS_NUMBER_GE,
                          [TAMIS_SIDE_APART | 1] = TAMIS_WIDE_LT,
                          [TAMIS_SIDE_APART | 3] = TAMIS_WIDE_LE,
                          [TAMIS_SIDE_APART | 4] = TAMIS_WIDE_GT,
                          [TAMIS_SIDE_APART | 6] = TAMIS_WIDE_GE},
        [TAMIS_STRING] = {[TAMIS_SIDE_APART | 2] = TAMIS_STRING_EQ,
                          [TAMIS_SIDE_APART | 5] = TAMIS_STRING_NE,
                          [1] = TAMIS_STRING_LT,
                          [3] = TAMIS_STRING_LE,
                          [4] = TAMIS_STRING_GT,
                          [6] = TAMIS_STRING_GE,
                          [TAMIS_SIDE_PATTERN] = TAMIS_PATTERN},
    };
    return OPS[kind][side];
}

/* Can an entry say the first two of these tests? */
static inline bool tamis_pair_fits(const tamis_tests *tests) {
    return tamis_side_of(tests->tests[0]) != 0 && tamis_side_of(tests->tests[1]) != 0;
}

static inline tamis_entry tamis_pair_entry(uint32_t interface, uint32_t rest, const tamis_tests *tests) {
    uint32_t sides = tamis_side_of(tests->tests[1]) << 28 | tamis_side_of(tests->tests[0]) << 24;
    uint64_t operands = (uint64_t)tamis_test_operand(tests->tests[1]) << 32 | tamis_test_operand(tests->tests[0]);
    return (tamis_entry){interface | sides, rest, operands};
}
static inline tamis_entry tamis_pair_plain(uint32_t interface, uint32_t rest, tamis_test first) {
    return (tamis_entry){interface | TAMIS_SIDE_PLAIN << 28 | TAMIS_SIDE_PLAIN << 24, rest, first};
}

static inline unsigned tamis_pair_first_side(const tamis_entry *entry) {
    return entry->interface >> 24 & 15;
}
static inline unsigned tamis_pair_second_side(const tamis_entry *entry) {
    return entry->interface >> 28;
}
static inline bool tamis_pair_is_plain(const tamis_entry *entry) {
    return tamis_pair_first_side(entry) == TAMIS_SIDE_PLAIN;
}
/* The second test, its name and kind being `partner`. */
static inline tamis_test tamis_pair_second(const tamis_entry *entry, uint32_t partner) {
    return tamis_test_of(partner >> 2, tamis_side_op(tamis_pair_second_side(entry), partner & 3),
                         (uint32_t)(entry->test >> 32));
}

#endif
