/* compile.c - a filter's constraints as tests of eight bytes.
 *
 * Law: a test holds exactly where its constraint does; it owns one reference on its name and on the constant, pattern
 * or stored constraint in its operand, released by onepath_release_test.
 */
#include "engines/onepath/values/compile.h"

#include <string.h>

#include "model/number.h"

/* ---- stored constraints ---- */

static bool reserve_complex(tm_engine *engine) {
    if (engine->complex_free != ONEPATH_NONE || engine->complex_count < engine->complex_capacity) {
        return true;
    }
    uint32_t capacity = engine->complex_capacity + engine->complex_capacity / 4 + 16;
    onepath_complex *complexes =
        TM_RESIZE(engine->memory, TM_HOT, engine->complexes, onepath_complex, engine->complex_capacity, capacity);
    if (complexes == NULL) {
        return false;
    }
    engine->complexes = complexes;
    engine->complex_capacity = capacity;
    return true;
}

/* Release the strings among the first `count` values of a stored `in`. They are far apart: all are prefetched. */
static void release_members(tm_engine *engine, const tm_constraint *kept, uint32_t count) {
    for (uint32_t i = 0; kept->op == TM_OP_IN && i < count; i++) {
        if (kept->operands[i].kind == TM_KIND_STRING) {
            __builtin_prefetch(&engine->strings.records[kept->operands[i].integer]);
        }
    }
    for (uint32_t i = 0; kept->op == TM_OP_IN && i < count; i++) {
        if (kept->operands[i].kind == TM_KIND_STRING) {
            onepath_strings_release(&engine->strings, (uint32_t)kept->operands[i].integer, false);
        }
    }
}

/* Acquire the strings of an `in` as constants, by which its buckets are found; the copy gets their ids. false if out of
 * memory. */
static bool acquire_members(tm_engine *engine, const tm_constraint *kept) {
    tm_value *values = (tm_value *)(uintptr_t)(const void *)kept->operands; /* the copy's own block */
    for (uint32_t i = 0; kept->op == TM_OP_IN && i < kept->operand_count; i++) {
        if (values[i].kind == TM_KIND_STRING) {
            onepath_strings_ask(&engine->strings, values[i].string, values[i].length);
        }
    }
    for (uint32_t i = 0; kept->op == TM_OP_IN && i < kept->operand_count; i++) {
        if (values[i].kind == TM_KIND_STRING) {
            uint32_t id = onepath_strings_acquire(&engine->strings, values[i].string, values[i].length, false);
            if (id == TM_NO_STRING) {
                release_members(engine, kept, i);
                return false;
            }
            values[i].integer = id;
        }
    }
    return true;
}

/* Copy a constraint into one block: the operands, then their strings. */
static bool copy_constraint(tm_engine *engine, const tm_constraint *from, onepath_complex *to) {
    size_t size = sizeof(tm_value) * from->operand_count;
    for (uint32_t i = 0; i < from->operand_count; i++) {
        size += from->operands[i].kind == TM_KIND_STRING ? from->operands[i].length : 0;
    }
    uint8_t *block = TM_NEW(engine->memory, TM_HOT, uint8_t, size);
    if (block == NULL) {
        return false;
    }
    tm_value *operands = (tm_value *)(void *)block;
    uint8_t *text = block + sizeof(tm_value) * from->operand_count;
    for (uint32_t i = 0; i < from->operand_count; i++) {
        operands[i] = from->operands[i];
        if (operands[i].kind == TM_KIND_STRING) {
            memcpy(text, from->operands[i].string, operands[i].length);
            operands[i].string = text;
            text += operands[i].length;
        }
    }
    *to = (onepath_complex){.constraint = *from, .size = size};
    to->constraint.name = NULL; /* the test has the name */
    to->constraint.operands = operands;
    to->constraint.negated = false; /* and the negation */
    return true;
}

static void free_copy(tm_engine *engine, const onepath_complex *complex) {
    TM_DELETE(engine->memory, TM_HOT, (uint8_t *)(uintptr_t)(const void *)complex->constraint.operands, uint8_t,
              complex->size);
}

static uint32_t keep_complex(tm_engine *engine, const tm_constraint *constraint) {
    onepath_complex copy;
    if (!reserve_complex(engine) || !copy_constraint(engine, constraint, &copy)) {
        return ONEPATH_NONE;
    }
    if (!acquire_members(engine, &copy.constraint)) {
        free_copy(engine, &copy);
        return ONEPATH_NONE;
    }
    uint32_t id = engine->complex_free;
    if (id != ONEPATH_NONE) {
        engine->complex_free = (uint32_t)engine->complexes[id].size;
    } else {
        id = engine->complex_count++;
    }
    engine->complexes[id] = copy;
    engine->complex_live++;
    engine->complex_bytes += tm_memory_charge(copy.size);
    return id;
}

static void drop_complex(tm_engine *engine, uint32_t id) {
    onepath_complex *complex = &engine->complexes[id];
    release_members(engine, &complex->constraint, complex->constraint.operand_count);
    engine->complex_live--;
    engine->complex_bytes -= tm_memory_charge(complex->size);
    free_copy(engine, complex);
    *complex = (onepath_complex){.size = engine->complex_free};
    engine->complex_free = id;
}

/* ---- one constraint ---- */

/* The test that a constraint becomes, before anything is acquired. */
typedef struct draft {
    unsigned op;
    const tm_value *value; /* an operand that becomes a constant: a string or wide number */
    int32_t code;          /* of small numbers and booleans */
} draft;

static bool is_coded(const tm_value *value) {
    return value->kind == TM_KIND_INTEGER && onepath_has_code(value->integer);
}

static bool is_range(unsigned op) {
    return op >= TM_OP_BETWEEN && op <= TM_OP_LE;
}

/* true if a range of the filter on this name has a bound without a code. All ranges on the name are then wide, so that
 * together they are one range. */
static bool has_wide_range(const tm_filter *filter, const tm_constraint *like) {
    for (size_t i = 0; i < filter->count; i++) {
        const tm_constraint *constraint = &filter->constraints[i];
        bool is_wide = false;
        for (uint32_t j = 0; is_range(constraint->op) && !constraint->negated && j < constraint->operand_count; j++) {
            const tm_value *value = &constraint->operands[j];
            is_wide |= value->kind == TM_KIND_FLOAT || (value->kind == TM_KIND_INTEGER && !is_coded(value));
        }
        if (is_wide && constraint->name_length == like->name_length &&
            memcmp(constraint->name, like->name, like->name_length) == 0) {
            return true;
        }
    }
    return false;
}

static draft draft_of_wide(unsigned op, const tm_value *value) {
    switch (op) {
    case TM_OP_LT:
        return (draft){ONEPATH_WIDE_LT, value, 0};
    case TM_OP_LE:
        return (draft){ONEPATH_WIDE_LE, value, 0};
    case TM_OP_GT:
        return (draft){ONEPATH_WIDE_GT, value, 0};
    case TM_OP_GE:
        return (draft){ONEPATH_WIDE_GE, value, 0};
    default:
        return (draft){ONEPATH_COMPLEX, NULL, 0};
    }
}

static draft draft_of_number(unsigned op, const tm_value *value) {
    int32_t code = onepath_code_of_integer(value->integer);
    switch (op) {
    case TM_OP_EQ:
        return (draft){ONEPATH_NUMBER_EQ, NULL, code};
    case TM_OP_NE:
        return (draft){ONEPATH_NUMBER_NE, NULL, code};
    case TM_OP_LT:
        return (draft){ONEPATH_NUMBER_LE, NULL, code - 1};
    case TM_OP_LE:
        return (draft){ONEPATH_NUMBER_LE, NULL, code};
    case TM_OP_GT:
        return (draft){ONEPATH_NUMBER_GE, NULL, code + 1};
    default:
        return (draft){ONEPATH_NUMBER_GE, NULL, code};
    }
}

static draft draft_of_string(unsigned op, const tm_value *value) {
    switch (op) {
    case TM_OP_EQ:
        return (draft){ONEPATH_STRING_EQ, value, 0};
    case TM_OP_NE:
        return (draft){ONEPATH_STRING_NE, value, 0};
    case TM_OP_LT:
        return (draft){ONEPATH_STRING_LT, value, 0};
    case TM_OP_LE:
        return (draft){ONEPATH_STRING_LE, value, 0};
    case TM_OP_GT:
        return (draft){ONEPATH_STRING_GT, value, 0};
    case TM_OP_GE:
        return (draft){ONEPATH_STRING_GE, value, 0};
    default:
        return (draft){ONEPATH_PATTERN, value, (int32_t)(op - TM_OP_PREFIX)};
    }
}

static draft draft_of_value(unsigned op, const tm_value *value, bool wide) {
    if (value->kind == TM_KIND_BOOLEAN) {
        return (draft){ONEPATH_BOOLEAN_EQ, NULL, (int32_t)(op == TM_OP_NE ? !value->integer : value->integer)};
    }
    if (value->kind == TM_KIND_STRING) {
        return draft_of_string(op, value);
    }
    wide = !is_coded(value) || (wide && is_range(op));
    return wide ? draft_of_wide(op, value) : draft_of_number(op, value);
}

/* Make one or two drafts (two for a plain `between`) of a constraint; `wide`: its ranges are wide ones. */
static unsigned draft_constraint(const tm_constraint *constraint, bool wide, draft out[2]) {
    const tm_value *values = constraint->operands;
    switch (constraint->op) {
    case TM_OP_EXISTS:
        out[0] = (draft){ONEPATH_EXISTS, NULL, 0};
        return 1;
    case TM_OP_IN:
        out[0] = constraint->operand_count == 1 ? draft_of_value(TM_OP_EQ, values, false)
                                                : (draft){ONEPATH_COMPLEX, NULL, 0};
        return 1;
    case TM_OP_BETWEEN:
        if (constraint->negated) {
            out[0] = (draft){ONEPATH_COMPLEX, NULL, 0};
            return 1;
        }
        out[0] = draft_of_value(TM_OP_GE, values, wide);
        out[1] = draft_of_value(TM_OP_LE, values + 1, wide);
        return 2;
    default:
        out[0] = draft_of_value(constraint->op, values, wide);
        return 1;
    }
}

static bool is_ordered(unsigned op) {
    return op >= ONEPATH_STRING_LT && op <= ONEPATH_STRING_GE;
}

/* Acquire the operand of a draft; false if out of memory. (A number's code is never ONEPATH_NONE: -1 is odd.) */
static bool acquire_operand(tm_engine *engine, const tm_constraint *constraint, draft plan, uint32_t *operand) {
    *operand = (uint32_t)plan.code;
    if (plan.op == ONEPATH_COMPLEX) {
        *operand = keep_complex(engine, constraint);
        return *operand != ONEPATH_NONE;
    }
    if (plan.op == ONEPATH_PATTERN) {
        *operand =
            onepath_patterns_acquire(&engine->patterns, plan.value->string, plan.value->length, (unsigned)plan.code);
        return *operand != TM_NO_PATTERN;
    }
    if (onepath_op_is_wide(plan.op)) {
        uint8_t bytes[ONEPATH_NUMBER_BYTES];
        onepath_number_bytes(plan.value->kind == TM_KIND_FLOAT, plan.value->integer, plan.value->real, bytes);
        *operand = onepath_strings_acquire(&engine->numbers, bytes, sizeof bytes, false);
        return *operand != TM_NO_STRING;
    }
    if (plan.value != NULL) {
        *operand =
            onepath_strings_acquire(&engine->strings, plan.value->string, plan.value->length, is_ordered(plan.op));
        return *operand != TM_NO_STRING;
    }
    return true;
}

static bool compile_constraint(tm_engine *engine, const tm_constraint *constraint, bool wide, onepath_tests *out) {
    draft plans[2];
    unsigned count = draft_constraint(constraint, wide, plans);
    for (unsigned i = 0; i < count; i++) {
        uint32_t operand;
        uint32_t name = onepath_names_acquire(&engine->names, constraint->name, constraint->name_length);
        if (name == TM_NO_NAME) {
            return false;
        }
        if (!acquire_operand(engine, constraint, plans[i], &operand)) {
            onepath_names_release(&engine->names, name);
            return false;
        }
        unsigned op = plans[i].op | (constraint->negated ? ONEPATH_NEGATED : 0);
        engine->string_tests += onepath_op_takes_string(plans[i].op);
        out->tests[out->count++] = onepath_test_of(name, op, operand);
    }
    return true;
}

typedef void (*asking)(const onepath_strings *strings, const uint8_t *bytes, uint32_t length);

/* Apply `ask`, which prefetches, to all constants that the compilation of a filter will search for. */
static void ask_operands(const tm_engine *engine, const tm_filter *filter, asking ask) {
    for (size_t i = 0; i < filter->count; i++) {
        const tm_constraint *constraint = &filter->constraints[i];
        for (uint32_t j = 0; constraint->op < TM_OP_PREFIX && j < constraint->operand_count; j++) {
            const tm_value *value = &constraint->operands[j];
            if (value->kind == TM_KIND_FLOAT && is_range(constraint->op)) {
                uint8_t bytes[ONEPATH_NUMBER_BYTES];
                onepath_number_bytes(true, 0, value->real, bytes);
                ask(&engine->numbers, bytes, sizeof bytes);
            } else if (value->kind == TM_KIND_STRING && constraint->op != TM_OP_IN) {
                ask(&engine->strings, value->string, value->length);
            }
        }
    }
}

/* ---- a filter ---- */

int onepath_compile(tm_engine *engine, const tm_filter *filter, onepath_tests *out) {
    out->count = 0;
    ask_operands(engine, filter, onepath_strings_ask);
    ask_operands(engine, filter, onepath_strings_ask_found);
    for (size_t i = 0; i < filter->count; i++) {
        const tm_constraint *constraint = &filter->constraints[i];
        bool wide = is_range(constraint->op) && !constraint->negated && has_wide_range(filter, constraint);
        if (!compile_constraint(engine, constraint, wide, out)) {
            for (uint32_t made = 0; made < out->count; made++) {
                onepath_release_test(engine, out->tests[made]);
            }
            return TM_NO_MEMORY;
        }
    }
    return TM_OK;
}

/* The engine frees a name's keys before the last reference on the name is released. */
void onepath_release_test(tm_engine *engine, onepath_test test) {
    unsigned op = onepath_test_op(test);
    uint32_t operand = onepath_test_operand(test);
    engine->string_tests -= onepath_op_takes_string(op);
    if (op == ONEPATH_COMPLEX) {
        drop_complex(engine, operand);
    } else if (op == ONEPATH_PATTERN) {
        onepath_patterns_release(&engine->patterns, operand);
    } else if (onepath_op_is_wide(op)) {
        onepath_strings_release(&engine->numbers, operand, false);
    } else if (op >= ONEPATH_STRING_EQ && op <= ONEPATH_STRING_GE) {
        onepath_strings_release(&engine->strings, operand, is_ordered(op));
    }
    onepath_names_release(&engine->names, onepath_test_name(test));
}

/* ---- kinds ---- */

static unsigned kind_of_value(const tm_value *value) {
    return value->kind == TM_KIND_BOOLEAN  ? ONEPATH_BOOLEAN
           : value->kind == TM_KIND_STRING ? ONEPATH_STRING
                                           : ONEPATH_NUMBER;
}

unsigned onepath_kind_of(const tm_engine *engine, onepath_test test) {
    unsigned op = onepath_test_op(test);
    if (op == ONEPATH_COMPLEX) {
        const tm_constraint *constraint = &engine->complexes[onepath_test_operand(test)].constraint;
        unsigned kind = kind_of_value(&constraint->operands[0]);
        for (uint32_t i = 1; i < constraint->operand_count; i++) {
            kind = kind_of_value(&constraint->operands[i]) == kind ? kind : ONEPATH_ANY;
        }
        return kind;
    }
    if (op == ONEPATH_EXISTS) {
        return ONEPATH_ANY;
    }
    if (op == ONEPATH_BOOLEAN_EQ) {
        return ONEPATH_BOOLEAN;
    }
    return op <= ONEPATH_NUMBER_GE ? ONEPATH_NUMBER : ONEPATH_STRING;
}
