/* value.h - a value on the stack of a residual program, and the arena for texts that the program makes.
 *
 * Law: doubles are finite; texts are valid UTF-8, borrowed from the message, the program or the arena.
 */
#ifndef TM_RESIDUAL_VALUE_H
#define TM_RESIDUAL_VALUE_H

#include "residual/form.h"

/* The kinds of constants without those of patterns, and unknown. */
#define RESIDUAL_IS_UNKNOWN 0U

typedef struct residual_value {
    union {
        int64_t integer; /* of a boolean, too: 0 or 1 */
        double real;
        const uint8_t *text;
    };
    uint32_t length;
    uint32_t kind; /* residual_constant_kind up to TEXT, or RESIDUAL_IS_UNKNOWN */
} residual_value;

typedef struct residual_arena {
    uint32_t used;
    uint8_t bytes[RESIDUAL_ARENA_BYTES];
} residual_arena;

static inline residual_value residual_unknown(void) {
    return (residual_value){.kind = RESIDUAL_IS_UNKNOWN};
}

static inline residual_value residual_boolean(bool is_true) {
    return (residual_value){.integer = is_true, .kind = RESIDUAL_IS_BOOLEAN};
}

static inline residual_value residual_integer(int64_t integer) {
    return (residual_value){.integer = integer, .kind = RESIDUAL_IS_INTEGER};
}

/* Return a double; unknown if it is not finite. */
static inline residual_value residual_double(double real) {
    bool is_finite = real - real == 0;
    return (residual_value){.real = real, .kind = is_finite ? RESIDUAL_IS_DOUBLE : RESIDUAL_IS_UNKNOWN};
}

static inline residual_value residual_text(const uint8_t *text, uint32_t length) {
    return (residual_value){.text = text, .length = length, .kind = RESIDUAL_IS_TEXT};
}

static inline bool residual_is_number(residual_value value) {
    return value.kind == RESIDUAL_IS_INTEGER || value.kind == RESIDUAL_IS_DOUBLE;
}

static inline double residual_real_of(residual_value number) {
    return number.kind == RESIDUAL_IS_DOUBLE ? number.real : (double)number.integer;
}

#endif
