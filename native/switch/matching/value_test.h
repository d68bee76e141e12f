/* value_test.h - one constraint, prepared for the values of one attribute: fast for integers and for short strings.
 *
 * Law: the result is that of tm_constraint_holds.
 */
#ifndef TM_VALUE_TEST_H
#define TM_VALUE_TEST_H

#include <string.h>

#include "base/words.h"
#include "base/work.h"
#include "model/filter.h"
#include "model/order.h"

/* An integer compared with an integer, a short string compared with a short string, and all other tests. */
typedef enum { TM_TEST_INTEGER, TM_TEST_TEXT, TM_TEST_ANY } tm_test_form;

typedef struct tm_value_test {
    uint8_t form;
    uint8_t attribute;        /* index among the attributes that the test is asked of; 0 unless its owner sets it */
    uint8_t holds;            /* TM_TEST_INTEGER, TM_TEST_TEXT: orders that satisfy the test (model/order.h) */
    uint32_t length;          /* TM_TEST_TEXT */
    words text;               /* TM_TEST_TEXT: at most sixteen bytes */
    int64_t integer;          /* TM_TEST_INTEGER */
    tm_constraint constraint; /* for other kinds of values; its operands and strings are borrowed */
} tm_value_test;

static inline uint8_t tm_test_orders(const tm_constraint *constraint) {
    static const uint8_t ORDERS[TM_OP_CONTAINS + 1] = {
        [TM_OP_LT] = 1, [TM_OP_EQ] = 2, [TM_OP_LE] = 3, [TM_OP_GT] = 4, [TM_OP_NE] = 5, [TM_OP_GE] = 6,
    };
    uint8_t orders = ORDERS[constraint->op];
    return constraint->negated ? orders ^ 7 : orders;
}

static inline tm_test_form tm_test_form_of(const tm_constraint *constraint) {
    bool is_equality = constraint->op == TM_OP_EQ || constraint->op == TM_OP_NE;
    bool is_order = is_equality || (constraint->op >= TM_OP_GT && constraint->op <= TM_OP_LE);
    const tm_value *operand = constraint->operands;
    if (is_order && operand->kind == TM_KIND_INTEGER) {
        return TM_TEST_INTEGER;
    }
    return is_equality && operand->kind == TM_KIND_STRING && operand->length <= WORDS_BYTES ? TM_TEST_TEXT
                                                                                            : TM_TEST_ANY;
}

/* Return the test of a constraint, which it borrows from. */
static inline tm_value_test tm_test_of(const tm_constraint *constraint) {
    tm_value_test test = {
        .form = (uint8_t)tm_test_form_of(constraint), .holds = tm_test_orders(constraint), .constraint = *constraint};
    if (test.form == TM_TEST_INTEGER) {
        test.integer = constraint->operands->integer;
    } else if (test.form == TM_TEST_TEXT) {
        test.length = constraint->operands->length;
        memcpy(&test.text, constraint->operands->string, test.length); /* the other bytes are zero */
    }
    return test;
}

static __attribute__((unused)) bool tm_test_holds_slowly(const tm_value_test *test, const tm_attribute *value,
                                                         tm_work *work) {
    return tm_work_spend(work, tm_constraint_steps(&test->constraint, value)) &&
           tm_constraint_holds(&test->constraint, value);
}

/* true if the attribute of the test, among these, satisfies it. Sixteen bytes behind a string must be readable. The
 * costs of a test that is not fast are spent from `work`; beyond its budget the result is false. */
static inline bool tm_test_holds(const tm_value_test *test, const tm_attribute *attributes, tm_work *work) {
    const tm_attribute *value = &attributes[test->attribute];
    if (test->form == TM_TEST_INTEGER && value->kind == TM_KIND_INTEGER) {
        return tm_order_holds(test->holds, value->integer, test->integer);
    }
    if (test->form == TM_TEST_TEXT && value->kind == TM_KIND_STRING) {
        words text = words_at(value->string, test->length);
        bool is_equal = value->length == test->length && text.low == test->text.low && text.high == test->text.high;
        return test->holds >> is_equal & 1;
    }
    return tm_test_holds_slowly(test, value, work);
}

#endif
