/* tests.h - a constraint in eight bytes: a name, an operator and an operand.
 *
 * Law: a test holds exactly where its constraint does. Its name is a dense id (names.h). The operand of a small number
 * is its code, of a string or of a number without a code the id of a constant, of a pattern the pattern's id.
 */
#ifndef TM_ONEPATH_TESTS_H
#define TM_ONEPATH_TESTS_H

#include "tm.h"

#define TAMIS_TESTS_MAX (2 * TM_CONSTRAINTS_MAX) /* a between is two tests */
#define TAMIS_NONE UINT32_MAX

/* kind of value: index of tamis_name.keys */
#define TAMIS_BOOLEAN 0U
#define TAMIS_NUMBER 1U
#define TAMIS_STRING 2U
#define TAMIS_ANY 3U

/* Operators of a test. The operand of a number is its code (tamis_code_of_integer); of strings a constant's id. */
typedef enum {
    TAMIS_EXISTS,
    TAMIS_TRUE,    /* holds always: stands where there is no further test */
    TAMIS_COMPLEX, /* operand: index of a kept constraint, evaluated by tm_constraint_holds */
    TAMIS_WIDE_LT, /* operand: id of a number's key in `numbers` */
    TAMIS_WIDE_LE,
    TAMIS_WIDE_GT,
    TAMIS_WIDE_GE,
    TAMIS_BOOLEAN_EQ,
    TAMIS_NUMBER_EQ,
    TAMIS_NUMBER_NE,
    TAMIS_NUMBER_LE,
    TAMIS_NUMBER_GE,
    TAMIS_STRING_EQ,
    TAMIS_STRING_NE,
    TAMIS_STRING_LT,
    TAMIS_STRING_LE,
    TAMIS_STRING_GT,
    TAMIS_STRING_GE,
    TAMIS_PATTERN,
} tamis_op;

#define TAMIS_NEGATED 0x80U

typedef uint64_t tamis_test; /* name << 40 | op << 32 | operand; op with TAMIS_NEGATED where negated */

#define TAMIS_NO_TEST UINT64_MAX /* no name has so great an id */

static inline tamis_test tamis_test_of(uint32_t name, unsigned op, uint32_t operand) {
    return (uint64_t)name << 40 | (uint64_t)op << 32 | operand;
}
static inline uint32_t tamis_test_name(tamis_test test) {
    return (uint32_t)(test >> 40);
}
static inline unsigned tamis_test_op(tamis_test test) {
    return (unsigned)(test >> 32) & 0x7f;
}
static inline bool tamis_op_is_wide(unsigned op) {
    return op >= TAMIS_WIDE_LT && op <= TAMIS_WIDE_GE;
}
/* May a test hold for a string? A negation of one that may not holds for a string as it does without the name. */
static inline bool tamis_op_takes_string(unsigned op) {
    return op == TAMIS_EXISTS || op == TAMIS_COMPLEX || op >= TAMIS_STRING_EQ;
}
static inline bool tamis_test_negated(tamis_test test) {
    return test >> 39 & 1;
}
static inline uint32_t tamis_test_operand(tamis_test test) {
    return (uint32_t)test;
}

/* Small integers n have the even code 2n, values between two the odd one; values beyond are clamped, so that a constant
 * with a code is compared exactly with any number. */
#define TAMIS_CODED_MAX ((INT64_C(1) << 30) - 1)

static inline bool tamis_has_code(int64_t integer) {
    return integer >= -TAMIS_CODED_MAX && integer <= TAMIS_CODED_MAX;
}
static inline int32_t tamis_code_of_integer(int64_t integer) {
    return tamis_has_code(integer) ? (int32_t)(integer * 2) : integer < 0 ? INT32_MIN : INT32_MAX;
}
/* The code of the number; of one between two integers the odd one between theirs. */
int32_t tamis_code_of_real(double real);

/* The constants of wide ranges are kept as strings are: sixteen bytes that sort as the numbers do. */
#define TAMIS_NUMBER_BYTES 16U

void tamis_number_bytes(bool is_real, int64_t integer, double real, uint8_t out[TAMIS_NUMBER_BYTES]);
/* The number that these are the bytes of: whether it is a real, as tm_number_of_key. */
bool tamis_number_of_bytes(const uint8_t bytes[TAMIS_NUMBER_BYTES], int64_t *integer, double *real);

/* Is the test one bound of a positive range? */
bool tamis_is_bound(tamis_test test);

typedef struct tamis_tests {
    uint32_t count;
    tamis_test tests[TAMIS_TESTS_MAX];
} tamis_tests;

static inline void tamis_swap_tests(tamis_tests *tests, uint32_t a, uint32_t b) {
    tamis_test kept = tests->tests[a];
    tests->tests[a] = tests->tests[b];
    tests->tests[b] = kept;
}

#endif
