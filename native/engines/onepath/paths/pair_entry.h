/* pair_entry.h - both tests of a filter under a pair of names, in its entry.
 *
 * Law: the names and kinds of both tests are in the key of the bucket, so an entry needs of each only its operator and
 * its operand, and a match decides both without a body:
 *
 *     interface   second operator (4 bits), first operator (4), interface (24)
 *     test        second operand (32 bits), first operand (32)
 *
 * An operator is a set of orders (model/order.h) of codes or labels; ONEPATH_SIDE_APART marks other comparisons. A test
 * that has no such form makes the entry *plain*: its `test` is the first test, the second one is in the body.
 */
#ifndef TM_ONEPATH_PAIR_ENTRY_H
#define TM_ONEPATH_PAIR_ENTRY_H

#include "engines/onepath/paths/rows.h"

/* With orders: of strings, equality with the constant (with the orders of = or !=) or a pattern (all orders); of
 * numbers, the order of the key of a number without a code. Without orders, on both sides: the entry is plain. */
#define ONEPATH_SIDE_APART 8U
#define ONEPATH_SIDE_PLAIN ONEPATH_SIDE_APART
#define ONEPATH_SIDE_PATTERN (ONEPATH_SIDE_APART | 7U)
#define ONEPATH_SIDES_APART (ONEPATH_SIDE_APART << 28 | ONEPATH_SIDE_APART << 24) /* set in either operator */

/* Return the operator of a test that is not negated; 0 if an entry cannot express it. */
static inline unsigned onepath_side_of(onepath_test test) {
    static const uint8_t SIDES[ONEPATH_PATTERN + 1] = {
        [ONEPATH_BOOLEAN_EQ] = 2,
        [ONEPATH_NUMBER_EQ] = 2,
        [ONEPATH_NUMBER_NE] = 5,
        [ONEPATH_NUMBER_LE] = 3,
        [ONEPATH_NUMBER_GE] = 6,
        [ONEPATH_WIDE_LT] = ONEPATH_SIDE_APART | 1,
        [ONEPATH_WIDE_LE] = ONEPATH_SIDE_APART | 3,
        [ONEPATH_WIDE_GT] = ONEPATH_SIDE_APART | 4,
        [ONEPATH_WIDE_GE] = ONEPATH_SIDE_APART | 6,
        [ONEPATH_STRING_EQ] = ONEPATH_SIDE_APART | 2,
        [ONEPATH_STRING_NE] = ONEPATH_SIDE_APART | 5,
        [ONEPATH_STRING_LT] = 1,
        [ONEPATH_STRING_LE] = 3,
        [ONEPATH_STRING_GT] = 4,
        [ONEPATH_STRING_GE] = 6,
        [ONEPATH_PATTERN] = ONEPATH_SIDE_PATTERN,
    };
    return onepath_test_negated(test) ? 0 : SIDES[onepath_test_op(test)];
}

/* Return the test operator of a side, for values of a kind. */
static inline unsigned onepath_side_op(unsigned side, unsigned kind) {
    static const uint8_t OPS[ONEPATH_ANY][16] = {
        [ONEPATH_BOOLEAN] = {[2] = ONEPATH_BOOLEAN_EQ},
        [ONEPATH_NUMBER] = {[2] = ONEPATH_NUMBER_EQ,
                            [5] = ONEPATH_NUMBER_NE,
                            [3] = ONEPATH_NUMBER_LE,
                            [6] = ONEPATH_NUMBER_GE,
                            [ONEPATH_SIDE_APART | 1] = ONEPATH_WIDE_LT,
                            [ONEPATH_SIDE_APART | 3] = ONEPATH_WIDE_LE,
                            [ONEPATH_SIDE_APART | 4] = ONEPATH_WIDE_GT,
                            [ONEPATH_SIDE_APART | 6] = ONEPATH_WIDE_GE},
        [ONEPATH_STRING] = {[ONEPATH_SIDE_APART | 2] = ONEPATH_STRING_EQ,
                            [ONEPATH_SIDE_APART | 5] = ONEPATH_STRING_NE,
                            [1] = ONEPATH_STRING_LT,
                            [3] = ONEPATH_STRING_LE,
                            [4] = ONEPATH_STRING_GT,
                            [6] = ONEPATH_STRING_GE,
                            [ONEPATH_SIDE_PATTERN] = ONEPATH_PATTERN},
    };
    return OPS[kind][side];
}

/* true if an entry can express the first two of these tests. */
static inline bool onepath_pair_fits(const onepath_tests *tests) {
    return onepath_side_of(tests->tests[0]) != 0 && onepath_side_of(tests->tests[1]) != 0;
}

static inline onepath_entry onepath_pair_entry(uint32_t interface, uint32_t rest, const onepath_tests *tests) {
    uint32_t sides = onepath_side_of(tests->tests[1]) << 28 | onepath_side_of(tests->tests[0]) << 24;
    uint64_t operands = (uint64_t)onepath_test_operand(tests->tests[1]) << 32 | onepath_test_operand(tests->tests[0]);
    return (onepath_entry){interface | sides, rest, operands};
}
static inline onepath_entry onepath_pair_plain(uint32_t interface, uint32_t rest, onepath_test first) {
    return (onepath_entry){interface | ONEPATH_SIDE_PLAIN << 28 | ONEPATH_SIDE_PLAIN << 24, rest, first};
}

static inline unsigned onepath_pair_first_side(const onepath_entry *entry) {
    return entry->interface >> 24 & 15;
}
static inline unsigned onepath_pair_second_side(const onepath_entry *entry) {
    return entry->interface >> 28;
}
static inline bool onepath_pair_is_plain(const onepath_entry *entry) {
    return onepath_pair_first_side(entry) == ONEPATH_SIDE_PLAIN;
}
/* Return the second test, whose name and kind is `partner`. */
static inline onepath_test onepath_pair_second(const onepath_entry *entry, uint32_t partner) {
    return onepath_test_of(partner >> 2, onepath_side_op(onepath_pair_second_side(entry), partner & 3),
                           (uint32_t)(entry->test >> 32));
}

#endif
