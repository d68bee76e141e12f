/* tests.h - a constraint in eight bytes: a name, an operator and an operand.
 *
 * Law: a test holds exactly where its constraint does. Its name is a dense id (names.h). The operand of a small number
 * is its code, of a string or of a number without a code the id of a constant, of a pattern the pattern's id.
 */
#ifndef TM_ONEPATH_TESTS_H
#define TM_ONEPATH_TESTS_H

#include "tm.h"

#define ONEPATH_TESTS_MAX (2 * TM_CONSTRAINTS_MAX) /* a between is two tests */
#define ONEPATH_NONE UINT32_MAX

/* Kinds of value: the index of onepath_name.keys. */
#define ONEPATH_BOOLEAN 0U
#define ONEPATH_NUMBER 1U
#define ONEPATH_STRING 2U
#define ONEPATH_ANY 3U

/* Operators of a test. The operand of a number is its code (onepath_code_of_integer); of strings a constant's id. */
typedef enum {
    ONEPATH_EXISTS,
    ONEPATH_TRUE,    /* always holds: used where there is no further test */
    ONEPATH_COMPLEX, /* operand: index of a stored constraint, evaluated by tm_constraint_holds */
    ONEPATH_WIDE_LT, /* operand: id of a number's key in `numbers` */
    ONEPATH_WIDE_LE,
    ONEPATH_WIDE_GT,
    ONEPATH_WIDE_GE,
    ONEPATH_BOOLEAN_EQ,
    ONEPATH_NUMBER_EQ,
    ONEPATH_NUMBER_NE,
    ONEPATH_NUMBER_LE,
    ONEPATH_NUMBER_GE,
    ONEPATH_STRING_EQ,
    ONEPATH_STRING_NE,
    ONEPATH_STRING_LT,
    ONEPATH_STRING_LE,
    ONEPATH_STRING_GT,
    ONEPATH_STRING_GE,
    ONEPATH_PATTERN,
} onepath_op;

#define ONEPATH_NEGATED 0x80U

typedef uint64_t onepath_test; /* name << 40 | op << 32 | operand; op with ONEPATH_NEGATED where negated */

#define ONEPATH_NO_TEST UINT64_MAX /* no name has so large an id */

static inline onepath_test onepath_test_of(uint32_t name, unsigned op, uint32_t operand) {
    return (uint64_t)name << 40 | (uint64_t)op << 32 | operand;
}
static inline uint32_t onepath_test_name(onepath_test test) {
    return (uint32_t)(test >> 40);
}
static inline unsigned onepath_test_op(onepath_test test) {
    return (unsigned)(test >> 32) & 0x7f;
}
static inline bool onepath_op_is_wide(unsigned op) {
    return op >= ONEPATH_WIDE_LT && op <= ONEPATH_WIDE_GE;
}
/* true if a test may hold for a string. The negation of another test holds for a string as it does without the name. */
static inline bool onepath_op_takes_string(unsigned op) {
    return op == ONEPATH_EXISTS || op == ONEPATH_COMPLEX || op >= ONEPATH_STRING_EQ;
}
static inline bool onepath_test_negated(onepath_test test) {
    return test >> 39 & 1;
}
static inline uint32_t onepath_test_operand(onepath_test test) {
    return (uint32_t)test;
}

/* A small integer n has the even code 2n, a value between two the odd one; values beyond are clamped, so that a
 * constant with a code is compared exactly with any number. */
#define ONEPATH_CODED_MAX ((INT64_C(1) << 30) - 1)

static inline bool onepath_has_code(int64_t integer) {
    return integer >= -ONEPATH_CODED_MAX && integer <= ONEPATH_CODED_MAX;
}
static inline int32_t onepath_code_of_integer(int64_t integer) {
    return onepath_has_code(integer) ? (int32_t)(integer * 2) : integer < 0 ? INT32_MIN : INT32_MAX;
}
/* Return the code of the number; between two integers it is the odd one between theirs. */
int32_t onepath_code_of_real(double real);

/* The constants of wide ranges are stored as strings are: sixteen bytes that sort as the numbers do. */
#define ONEPATH_NUMBER_BYTES 16U

void onepath_number_bytes(bool is_real, int64_t integer, double real, uint8_t out[ONEPATH_NUMBER_BYTES]);
/* Restore the number of these bytes; true if it is a real, as tm_number_of_key returns. */
bool onepath_number_of_bytes(const uint8_t bytes[ONEPATH_NUMBER_BYTES], int64_t *integer, double *real);

/* true if the test is one bound of a positive range. */
bool onepath_is_bound(onepath_test test);

typedef struct onepath_tests {
    uint32_t count;
    onepath_test tests[ONEPATH_TESTS_MAX];
} onepath_tests;

static inline void onepath_swap_tests(onepath_tests *tests, uint32_t a, uint32_t b) {
    onepath_test kept = tests->tests[a];
    tests->tests[a] = tests->tests[b];
    tests->tests[b] = kept;
}

#endif
