/* form.h - the bytes of a residual program: what protocol/residual/program.py writes, read in place.
 *
 * Law: numbers equal those of protocol/residual/instructions.py (a test compares them). The functions here check
 * nothing: verify.c does, once.
 */
#ifndef TM_RESIDUAL_FORM_H
#define TM_RESIDUAL_FORM_H

#include "base/load.h"
#include "tm.h"
#include "tm_residual_api.h"

#define RESIDUAL_VERSION 1U
#define RESIDUAL_CONSTANTS_MAX 64U
#define RESIDUAL_TEXT_BYTES_MAX 1024U
#define RESIDUAL_INSTRUCTIONS_MAX 256U
#define RESIDUAL_STACK_MAX 16U
#define RESIDUAL_ARENA_BYTES 4096U
#define RESIDUAL_TEXT_STEP_BYTES 16U
#define RESIDUAL_ATTRIBUTE_STEP 8U
#define RESIDUAL_NUMBER_BYTES_MAX 64U

#define RESIDUAL_HEAD_BYTES 4U
#define RESIDUAL_ENTRY_BYTES 6U
#define RESIDUAL_INSTRUCTION_BYTES 4U

typedef enum {
    RESIDUAL_CONSTANT,
    RESIDUAL_ATTRIBUTE,
    RESIDUAL_EXISTS,
    RESIDUAL_EQ,
    RESIDUAL_NE,
    RESIDUAL_LT,
    RESIDUAL_LE,
    RESIDUAL_GT,
    RESIDUAL_GE,
    RESIDUAL_NOT,
    RESIDUAL_AND,
    RESIDUAL_OR,
    RESIDUAL_JUMP,
    RESIDUAL_JUMP_FALSE,
    RESIDUAL_JUMP_TRUE,
    RESIDUAL_JUMP_UNKNOWN,
    RESIDUAL_BRANCH,
    RESIDUAL_DROP,
    RESIDUAL_REQUIRE,
    RESIDUAL_ADD,
    RESIDUAL_SUB,
    RESIDUAL_MUL,
    RESIDUAL_DIV,
    RESIDUAL_MOD,
    RESIDUAL_NEG,
    RESIDUAL_CAST,
    RESIDUAL_KIND,
    RESIDUAL_IN,
    RESIDUAL_GLOB,
    RESIDUAL_CIDR,
    RESIDUAL_SAME_FOLDED,
    RESIDUAL_PREFIX,
    RESIDUAL_SUFFIX,
    RESIDUAL_CONTAINS,
    RESIDUAL_LENGTH,
    RESIDUAL_UPPER,
    RESIDUAL_LOWER,
    RESIDUAL_TRIM,
    RESIDUAL_SUBSTRING,
    RESIDUAL_LEFT,
    RESIDUAL_RIGHT,
    RESIDUAL_CONCAT,
    RESIDUAL_OPS,
} residual_op;

/* Kinds of constants. */
typedef enum {
    RESIDUAL_IS_BOOLEAN = 1,
    RESIDUAL_IS_INTEGER,
    RESIDUAL_IS_DOUBLE,
    RESIDUAL_IS_TEXT,
    RESIDUAL_IS_GLOB,
    RESIDUAL_IS_CIDR,
} residual_constant_kind;

#define RESIDUAL_MIXED_UNKNOWN 1U
#define RESIDUAL_NUMBERS_ONLY 2U

typedef enum { RESIDUAL_WIDE, RESIDUAL_INT64, RESIDUAL_INT32, RESIDUAL_REAL } residual_arithmetic;

typedef enum {
    RESIDUAL_TO_BOOLEAN = 1,
    RESIDUAL_TO_INTEGER,
    RESIDUAL_TO_DOUBLE,
    RESIDUAL_TO_TEXT,
    RESIDUAL_TO_INT32,
} residual_cast;

#define RESIDUAL_KINDS_MAX 31U /* a bit for each kind of a value */

/* In a glob: any text, and any character. */
#define RESIDUAL_ANY_TEXT 0xffU
#define RESIDUAL_ANY_CHARACTER 0xfeU

/* The parts of a program, borrowed from its bytes. */
typedef struct residual_form {
    const uint8_t *constants;
    const uint8_t *code;
    const uint8_t *data;
    uint32_t constant_count;
    uint32_t code_count;
} residual_form;

static inline residual_form residual_form_of(const uint8_t *program) {
    residual_form form = {.constant_count = program[1], .code_count = tm_load16(program + 2)};
    form.constants = program + RESIDUAL_HEAD_BYTES;
    form.code = form.constants + (size_t)form.constant_count * RESIDUAL_ENTRY_BYTES;
    form.data = form.code + (size_t)form.code_count * RESIDUAL_INSTRUCTION_BYTES;
    return form;
}

typedef struct residual_constant {
    const uint8_t *data; /* borrowed from the program */
    uint32_t length;
    uint32_t kind; /* residual_constant_kind */
} residual_constant;

static inline residual_constant residual_constant_at(const residual_form *form, uint32_t number) {
    const uint8_t *entry = form->constants + (size_t)number * RESIDUAL_ENTRY_BYTES;
    return (residual_constant){form->data + tm_load16(entry + 4), tm_load16(entry + 2), entry[0]};
}

typedef struct residual_instruction {
    uint32_t op; /* residual_op */
    uint32_t a;
    uint32_t b;
} residual_instruction;

static inline residual_instruction residual_instruction_at(const residual_form *form, uint32_t number) {
    const uint8_t *at = form->code + (size_t)number * RESIDUAL_INSTRUCTION_BYTES;
    return (residual_instruction){at[0], at[1], tm_load16(at + 2)};
}

#endif
