/* verify.c - whether bytes are a residual program: its sizes, constants, operands and the depth of its stack.
 *
 * Law: that of protocol/residual/program.py, which a test compares with this. One pass, nothing is allocated.
 */
#include <math.h>

#include "base/utf8.h"
#include "residual/form.h"

/* What stands in the operand `a` of an instruction. */
typedef enum {
    TAKES_NOTHING,
    TAKES_VALUE,
    TAKES_NAME,
    TAKES_GLOB,
    TAKES_CIDR,
    TAKES_MIXED,
    TAKES_ARITHMETIC,
    TAKES_DIVISION,
    TAKES_CAST,
    TAKES_KINDS,
    TAKES_FOLDED,
    TAKES_SET,
    TAKES_TARGET,
} takes;

typedef struct effect {
    uint8_t pops;
    uint8_t pushes;
    uint8_t takes; /* takes */
} effect;

static const effect EFFECTS[RESIDUAL_OPS] = {
    [RESIDUAL_CONSTANT] = {0, 1, TAKES_VALUE},
    [RESIDUAL_ATTRIBUTE] = {0, 1, TAKES_NAME},
    [RESIDUAL_EXISTS] = {0, 1, TAKES_NAME},
    [RESIDUAL_EQ] = {2, 1, TAKES_MIXED},
    [RESIDUAL_NE] = {2, 1, TAKES_MIXED},
    [RESIDUAL_LT] = {2, 1, TAKES_MIXED},
    [RESIDUAL_LE] = {2, 1, TAKES_MIXED},
    [RESIDUAL_GT] = {2, 1, TAKES_MIXED},
    [RESIDUAL_GE] = {2, 1, TAKES_MIXED},
    [RESIDUAL_NOT] = {1, 1, TAKES_NOTHING},
    [RESIDUAL_AND] = {2, 1, TAKES_NOTHING},
    [RESIDUAL_OR] = {2, 1, TAKES_NOTHING},
    [RESIDUAL_JUMP] = {0, 0, TAKES_TARGET},
    [RESIDUAL_JUMP_FALSE] = {1, 1, TAKES_TARGET},
    [RESIDUAL_JUMP_TRUE] = {1, 1, TAKES_TARGET},
    [RESIDUAL_JUMP_UNKNOWN] = {1, 1, TAKES_TARGET},
    [RESIDUAL_BRANCH] = {1, 0, TAKES_TARGET},
    [RESIDUAL_DROP] = {1, 0, TAKES_NOTHING},
    [RESIDUAL_REQUIRE] = {1, 1, TAKES_NOTHING},
    [RESIDUAL_ADD] = {2, 1, TAKES_ARITHMETIC},
    [RESIDUAL_SUB] = {2, 1, TAKES_ARITHMETIC},
    [RESIDUAL_MUL] = {2, 1, TAKES_ARITHMETIC},
    [RESIDUAL_DIV] = {2, 1, TAKES_DIVISION},
    [RESIDUAL_MOD] = {2, 1, TAKES_ARITHMETIC},
    [RESIDUAL_NEG] = {1, 1, TAKES_ARITHMETIC},
    [RESIDUAL_CAST] = {1, 1, TAKES_CAST},
    [RESIDUAL_KIND] = {1, 1, TAKES_KINDS},
    [RESIDUAL_IN] = {1, 1, TAKES_SET},
    [RESIDUAL_GLOB] = {1, 1, TAKES_GLOB},
    [RESIDUAL_CIDR] = {1, 1, TAKES_CIDR},
    [RESIDUAL_SAME_FOLDED] = {2, 1, TAKES_NOTHING},
    [RESIDUAL_PREFIX] = {2, 1, TAKES_FOLDED},
    [RESIDUAL_SUFFIX] = {2, 1, TAKES_FOLDED},
    [RESIDUAL_CONTAINS] = {2, 1, TAKES_NOTHING},
    [RESIDUAL_LENGTH] = {1, 1, TAKES_NOTHING},
    [RESIDUAL_UPPER] = {1, 1, TAKES_NOTHING},
    [RESIDUAL_LOWER] = {1, 1, TAKES_NOTHING},
    [RESIDUAL_TRIM] = {1, 1, TAKES_NOTHING},
    [RESIDUAL_SUBSTRING] = {3, 1, TAKES_NOTHING},
    [RESIDUAL_LEFT] = {2, 1, TAKES_NOTHING},
    [RESIDUAL_RIGHT] = {2, 1, TAKES_NOTHING},
    [RESIDUAL_CONCAT] = {2, 1, TAKES_NOTHING},
};

typedef struct complaint {
    const char *reason; /* static; NULL: none yet */
    uint32_t place;
} complaint;

static bool complain(complaint *found, const char *reason, uint32_t place) {
    *found = (complaint){reason, place};
    return false;
}

/* ---- constants ---- */

static bool is_glob(const uint8_t *bytes, uint32_t length) {
    uint32_t start = 0;
    for (uint32_t at = 0; at <= length; at++) {
        if (at == length || bytes[at] >= RESIDUAL_ANY_CHARACTER) {
            if (!tm_utf8_valid(bytes + start, at - start)) {
                return false;
            }
            start = at + 1;
        }
    }
    return true;
}

static bool is_finite(const uint8_t *bytes) {
    double real;
    memcpy(&real, bytes, sizeof real);
    return isfinite(real);
}

static bool is_constant(residual_constant constant) {
    const uint8_t *data = constant.data;
    uint32_t length = constant.length;
    switch (constant.kind) {
    case RESIDUAL_IS_BOOLEAN:
        return length == 1 && data[0] <= 1;
    case RESIDUAL_IS_INTEGER:
        return length == sizeof(int64_t);
    case RESIDUAL_IS_DOUBLE:
        return length == sizeof(double) && is_finite(data);
    case RESIDUAL_IS_TEXT:
        return length <= RESIDUAL_TEXT_BYTES_MAX && tm_utf8_valid(data, length);
    case RESIDUAL_IS_GLOB:
        return length <= RESIDUAL_TEXT_BYTES_MAX && is_glob(data, length);
    case RESIDUAL_IS_CIDR:
        return (length == 5 && data[0] <= 32) || (length == 17 && data[0] <= 128);
    default:
        return false;
    }
}

/* The offsets tile the data: each constant begins where the one before it ends, and the last one ends the program. */
static bool check_constants(const residual_form *form, size_t data_size, complaint *found) {
    size_t at = 0;
    for (uint32_t i = 0; i < form->constant_count; i++) {
        residual_constant constant = residual_constant_at(form, i);
        const uint8_t *entry = form->constants + (size_t)i * RESIDUAL_ENTRY_BYTES;
        if (entry[1] != 0 || tm_load16(entry + 4) != at || constant.length > data_size - at) {
            return complain(found, "a constant has no place in the data", i);
        }
        if (!is_constant(constant)) {
            return complain(found, "a constant is none of its kind", i);
        }
        at += constant.length;
    }
    return at == data_size || complain(found, "bytes after the last constant", form->constant_count);
}

/* ---- instructions ---- */

static bool is_value(uint32_t kind) {
    return kind >= RESIDUAL_IS_BOOLEAN && kind <= RESIDUAL_IS_TEXT;
}

static bool are_values(const residual_form *form, uint32_t first, uint32_t count) {
    if (count < 1 || first >= form->constant_count || count > form->constant_count - first) {
        return false;
    }
    for (uint32_t i = first; i < first + count; i++) {
        if (!is_value(residual_constant_at(form, i).kind)) {
            return false;
        }
    }
    return true;
}

static bool is_operand(takes wanted, residual_instruction at, const residual_form *form) {
    residual_constant constant = {0};
    if (at.a < form->constant_count) {
        constant = residual_constant_at(form, at.a);
    }
    if (wanted == TAKES_TARGET || wanted == TAKES_SET) {
        return wanted == TAKES_TARGET ? at.a == 0 : are_values(form, at.a, at.b);
    }
    if (at.b != 0) {
        return false;
    }
    switch (wanted) {
    case TAKES_VALUE:
        return is_value(constant.kind);
    case TAKES_NAME:
        return constant.kind == RESIDUAL_IS_TEXT && constant.length >= 1 && constant.length <= TM_NAME_BYTES_MAX;
    case TAKES_GLOB:
        return constant.kind == RESIDUAL_IS_GLOB;
    case TAKES_CIDR:
        return constant.kind == RESIDUAL_IS_CIDR;
    case TAKES_MIXED:
        return at.a <= (RESIDUAL_MIXED_UNKNOWN | RESIDUAL_NUMBERS_ONLY);
    case TAKES_ARITHMETIC:
        return at.a <= RESIDUAL_INT32;
    case TAKES_DIVISION:
        return at.a <= RESIDUAL_REAL;
    case TAKES_CAST:
        return at.a >= RESIDUAL_TO_BOOLEAN && at.a <= RESIDUAL_TO_INT32;
    case TAKES_KINDS:
        return at.a >= 1 && at.a <= RESIDUAL_KINDS_MAX;
    case TAKES_FOLDED:
        return at.a <= 1;
    default:
        return at.a == 0;
    }
}

#define UNREACHED (-1)

/* The depth of the stack in front of each instruction and at the end. */
typedef struct depths {
    int of[RESIDUAL_INSTRUCTIONS_MAX + 1];
} depths;

static bool meet(depths *all, uint32_t place, int depth, complaint *found) {
    if (all->of[place] == UNREACHED) {
        all->of[place] = depth;
    }
    return all->of[place] == depth || complain(found, "an instruction is reached with two depths of the stack", place);
}

static bool check_instruction(const residual_form *form, uint32_t number, depths *all, complaint *found) {
    residual_instruction at = residual_instruction_at(form, number);
    if (at.op >= RESIDUAL_OPS) {
        return complain(found, "there is no such instruction", number);
    }
    effect own = EFFECTS[at.op];
    if (!is_operand(own.takes, at, form)) {
        return complain(found, "an instruction does not take its operand", number);
    }
    int before = all->of[number];
    int after = before - own.pops + own.pushes;
    if (before == UNREACHED) {
        return complain(found, "an instruction is reached from nowhere", number);
    }
    if (before < own.pops || after > (int)RESIDUAL_STACK_MAX) {
        return complain(found, "the stack has too few or too many values", number);
    }
    if (own.takes == TAKES_TARGET) {
        if (at.b <= number || at.b > form->code_count) {
            return complain(found, "a jump leads back or past the end", number);
        }
        if (!meet(all, at.b, after, found)) {
            return false;
        }
    }
    return at.op == RESIDUAL_JUMP || meet(all, number + 1, after, found);
}

static bool check_code(const residual_form *form, complaint *found) {
    depths all;
    for (uint32_t i = 0; i <= form->code_count; i++) {
        all.of[i] = i == 0 ? 0 : UNREACHED;
    }
    for (uint32_t i = 0; i < form->code_count; i++) {
        if (!check_instruction(form, i, &all, found)) {
            return false;
        }
    }
    return all.of[form->code_count] == 1 ||
           complain(found, "the program does not end with one value", form->code_count);
}

static bool check_program(const uint8_t *program, size_t size, complaint *found) {
    if (size < RESIDUAL_HEAD_BYTES || size > TM_RESIDUAL_BYTES_MAX) {
        return complain(found, "a program has 4 to 4096 bytes", 0);
    }
    residual_form form = residual_form_of(program);
    if (program[0] != RESIDUAL_VERSION) {
        return complain(found, "the program has an unknown version", program[0]);
    }
    if (form.constant_count > RESIDUAL_CONSTANTS_MAX) {
        return complain(found, "a program has at most 64 constants", form.constant_count);
    }
    if (form.code_count < 1 || form.code_count > RESIDUAL_INSTRUCTIONS_MAX) {
        return complain(found, "a program has 1 to 256 instructions", form.code_count);
    }
    size_t data_at = (size_t)(form.data - program);
    if (data_at > size) {
        return complain(found, "the program is cut off", (uint32_t)size);
    }
    return check_constants(&form, size - data_at, found) && check_code(&form, found);
}

int tm_residual_verify(const uint8_t *program, size_t size, const char **reason, uint32_t *place) {
    complaint found = {0};
    bool is_one = check_program(program, size, &found);
    *reason = found.reason;
    *place = found.place;
    return is_one ? TM_OK : TM_MALFORMED;
}
