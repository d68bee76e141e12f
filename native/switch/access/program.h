/* program.h - the tests of a small guard as steps for messages of one shape, without a call for each test.
 *
 * Law: the result is that of the guard's filters, or UNSURE, after which they are asked: for a value of another kind
 * than the test's. What the shape decides alone (which names there are) takes no step. A program with more than
 * PROGRAM_STEPS_MAX steps, or with a test that is not fast (matching/value_test.h), is not made.
 *
 *     kind = "reading" --> plant in {"rome", --> "oslo"} --> allowed
 *          |                                        |
 *          +----------------------------------------+------> not allowed
 */
#ifndef TM_SWITCH_ACCESS_PROGRAM_H
#define TM_SWITCH_ACCESS_PROGRAM_H

#include "switch/matching/value_test.h"

#define PROGRAM_STEPS_MAX 32U
#define PROGRAM_ENDS 2U

/* What a step does; the last three are how a program ends. */
typedef enum { STEP_TEXT, STEP_LONG_TEXT, STEP_INTEGER, STEP_ALLOWED, STEP_REFUSED, STEP_UNSURE } tm_step_form;

typedef struct tm_step {
    const tm_attribute *value; /* borrowed from the switch, which decodes each message there */
    /* the next steps, in the same program: for an equal value, and for one that is less or greater (of a text: for
     * another one, in `less`) */
    const struct tm_step *equal;
    const struct tm_step *less;
    const struct tm_step *greater;
    union {
        int64_t integer; /* STEP_INTEGER */
        words text;      /* STEP_TEXT: at most eight bytes; STEP_LONG_TEXT: at most sixteen */
    };
    uint64_t mask;   /* of the first word of a text */
    uint32_t length; /* of a text: never 0 */
    uint8_t form;
} tm_step;

typedef struct tm_guard tm_guard; /* guard.h */

/* Return how many steps a program of these constraints has at most, without its ends; more than PROGRAM_STEPS_MAX:
 * there is none. */
uint32_t program_room(const tm_constraint *constraints, size_t count);
/* Write the program of a guard for the shape with these places, and return its first step. `steps` has room for the
 * steps of all of its constraints, and for PROGRAM_ENDS. */
const tm_step *program_make(tm_step *steps, const tm_guard *guard, const uint8_t *places,
                            const tm_attribute *attributes);

extern const tm_step
    program_unsure; /* the end of a program that cannot tell, and all of the program of a large guard */

/* Return the next step of one that tests a text. Values of other kinds have no length (tm_api.h). */
static inline const tm_step *step_text(const tm_step *step) {
    const tm_attribute *value = step->value;
    if (value->length != step->length) {
        return value->kind == TM_KIND_STRING ? step->less : &program_unsure;
    }
    if ((tm_load64(value->string) & step->mask) != step->text.low) {
        return step->less;
    }
    bool is_long = step->form == STEP_LONG_TEXT;
    return is_long && words_at(value->string, step->length).high != step->text.high ? step->less : step->equal;
}

static inline const tm_step *step_integer(const tm_step *step) {
    const tm_attribute *value = step->value;
    if (value->kind != TM_KIND_INTEGER) {
        return &program_unsure;
    }
    if (value->integer < step->integer) {
        return step->less;
    }
    return value->integer == step->integer ? step->equal : step->greater;
}

/* Return how a program ends for the decoded message. Sixteen bytes behind each string of it must be readable. */
static inline tm_step_form program_run(const tm_step *step) {
    for (;;) {
        if (step->form == STEP_TEXT) {
            step = step_text(step);
        } else if (step->form == STEP_INTEGER) {
            step = step_integer(step);
        } else if (step->form == STEP_LONG_TEXT) {
            step = step_text(step);
        } else {
            return step->form;
        }
    }
}

#endif
