/* run.c - runs a verified residual program on the attributes of one message.
 *
 * Law: protocol/residual/instructions.py says what an instruction means and costs, and protocol/residual/evaluate.py
 * does it plainly; a test compares them. Nothing is allocated. A verified program cannot fault: its jumps lead forward,
 * so each instruction runs once at most, and the depth of its stack is known to fit.
 */
#include "residual/glob.h"
#include "residual/numbers.h"
#include "residual/texts.h"

typedef struct machine {
    residual_form form;
    const tm_attribute *attributes; /* borrowed */
    size_t count;
    uint64_t left; /* of the budget */
    residual_arena arena;
} machine;

/* Spend steps; false: there are not as many. */
static inline bool spend(machine *m, uint64_t steps) {
    bool suffices = steps <= m->left;
    m->left -= suffices ? steps : 0;
    return suffices;
}

/* ---- loads ---- */

static residual_value constant(const machine *m, uint32_t number) {
    residual_constant stored = residual_constant_at(&m->form, number);
    if (stored.kind == RESIDUAL_IS_TEXT) {
        return residual_text(stored.data, stored.length);
    }
    residual_value value = {.kind = stored.kind};
    if (stored.kind == RESIDUAL_IS_BOOLEAN) {
        value.integer = stored.data[0];
    } else {
        memcpy(&value.integer, stored.data, sizeof value.integer); /* of a double as well: they share their place */
    }
    return value;
}

/* Names of at least four bytes are told apart by their ends, which are loaded at once: a call of memcmp takes longer.
 */
#define END_BYTES 4U

static bool same_name(const tm_attribute *at, residual_constant name) {
    return at->name_length == name.length && memcmp(at->name, name.data, name.length) == 0;
}

static const tm_attribute *find(const machine *m, uint32_t number) {
    residual_constant name = residual_constant_at(&m->form, number);
    const tm_attribute *end = m->attributes + m->count;
    if (name.length < END_BYTES) {
        for (const tm_attribute *at = m->attributes; at < end; at++) {
            if (at->name[0] == name.data[0] && same_name(at, name)) {
                return at;
            }
        }
        return NULL;
    }
    uint32_t last = name.length - END_BYTES;
    uint32_t head = tm_load32(name.data);
    uint32_t tail = tm_load32(name.data + last);
    for (const tm_attribute *at = m->attributes; at < end; at++) {
        if (at->name_length == name.length && tm_load32(at->name) == head && tm_load32(at->name + last) == tail &&
            (last <= END_BYTES || same_name(at, name))) {
            return at;
        }
    }
    return NULL;
}

static residual_value value_of(const tm_attribute *attribute) {
    if (attribute == NULL) {
        return residual_unknown();
    }
    switch (attribute->kind) {
    case TM_KIND_STRING:
        return residual_text(attribute->string, attribute->length);
    case TM_KIND_FLOAT:
        return residual_double(attribute->real);
    case TM_KIND_BOOLEAN:
        return residual_boolean(attribute->integer != 0);
    default:
        return residual_integer(attribute->integer);
    }
}

/* ---- instructions ---- */

/* Each of these replaces the values that it takes by its result; false: the budget is spent. */

static inline bool compare(machine *m, residual_value *left, residual_instruction at) {
    const residual_value *right = left + 1;
    if (left->kind == RESIDUAL_IS_INTEGER && right->kind == RESIDUAL_IS_INTEGER) {
        int order = (left->integer > right->integer) - (left->integer < right->integer);
        *left = residual_boolean(residual_holds((residual_op)at.op, order));
        return true;
    }
    if (left->kind == RESIDUAL_IS_UNKNOWN || right->kind == RESIDUAL_IS_UNKNOWN) {
        *left = residual_unknown();
        return true;
    }
    if (left->kind == RESIDUAL_IS_TEXT && right->kind == RESIDUAL_IS_TEXT) {
        uint32_t least = left->length < right->length ? left->length : right->length;
        if (!spend(m, least / RESIDUAL_TEXT_STEP_BYTES)) {
            return false;
        }
    }
    *left = residual_compare((residual_op)at.op, *left, *right, at.a);
    return true;
}

static inline unsigned rank(residual_value value) {
    return value.kind != RESIDUAL_IS_BOOLEAN ? 1 : value.integer != 0 ? 2 : 0;
}

static inline residual_value of_rank(unsigned rank) {
    return rank == 1 ? residual_unknown() : residual_boolean(rank == 2);
}

static inline void join(residual_value *left, uint32_t op) {
    unsigned a = rank(left[0]);
    unsigned b = rank(left[1]);
    *left = of_rank((a < b) == (op == RESIDUAL_AND) ? a : b);
}

static bool among(machine *m, residual_value *value, residual_instruction at) {
    uint64_t text = value->kind == RESIDUAL_IS_TEXT ? value->length / RESIDUAL_TEXT_STEP_BYTES : 0;
    if (!spend(m, at.b + text)) {
        return false;
    }
    if (value->kind == RESIDUAL_IS_UNKNOWN) {
        return true;
    }
    residual_value found = residual_boolean(false);
    for (uint32_t i = 0; i < at.b && found.integer == 0; i++) {
        found = residual_compare(RESIDUAL_EQ, *value, constant(m, at.a + i), 0);
    }
    *value = found;
    return true;
}

static bool match(machine *m, residual_value *value, uint32_t number) {
    residual_constant pattern = residual_constant_at(&m->form, number);
    if (value->kind != RESIDUAL_IS_TEXT) {
        *value = value->kind == RESIDUAL_IS_UNKNOWN ? residual_unknown() : residual_boolean(false);
        return true;
    }
    bool is_hard = pattern.length > 0 && memchr(pattern.data, RESIDUAL_ANY_CHARACTER, pattern.length) != NULL;
    uint64_t times = is_hard ? pattern.length : pattern.length / RESIDUAL_TEXT_STEP_BYTES;
    if (!spend(m, value->length * (1 + times) / RESIDUAL_TEXT_STEP_BYTES)) {
        return false;
    }
    *value = residual_boolean(residual_glob(value->text, value->length, pattern.data, pattern.length));
    return true;
}

static void locate(const machine *m, residual_value *value, uint32_t number) {
    if (value->kind != RESIDUAL_IS_UNKNOWN) {
        bool is_inside =
            value->kind == RESIDUAL_IS_TEXT && residual_is_inside(*value, residual_constant_at(&m->form, number));
        *value = residual_boolean(is_inside);
    }
}

static bool has(machine *m, residual_value *left, residual_instruction at) {
    residual_value part = left[1];
    if (left->kind == RESIDUAL_IS_UNKNOWN || part.kind == RESIDUAL_IS_UNKNOWN) {
        *left = residual_unknown();
        return true;
    }
    if (left->kind != RESIDUAL_IS_TEXT || part.kind != RESIDUAL_IS_TEXT) {
        *left = residual_boolean(false);
        return true;
    }
    uint64_t bytes = left->length < part.length ? left->length : part.length;
    if (at.op == RESIDUAL_CONTAINS) {
        bytes = left->length * (1 + (uint64_t)part.length / RESIDUAL_TEXT_STEP_BYTES);
    }
    if (!spend(m, bytes / RESIDUAL_TEXT_STEP_BYTES)) {
        return false;
    }
    *left = residual_boolean(residual_has((residual_op)at.op, *left, part, at.a == 1));
    return true;
}

/* A function of `count` values, of which the first is the text. */
static bool apply(machine *m, residual_value *first, uint32_t count, uint32_t op) {
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < count; i++) {
        bytes += first[i].kind == RESIDUAL_IS_TEXT ? first[i].length : 0;
    }
    if (!spend(m, bytes / RESIDUAL_TEXT_STEP_BYTES)) {
        return false;
    }
    if (first->kind != RESIDUAL_IS_TEXT) {
        *first = residual_unknown();
    } else if (op == RESIDUAL_SUBSTRING) {
        *first = residual_substring(first[0], first[1], first[2]);
    } else if (op == RESIDUAL_LEFT || op == RESIDUAL_RIGHT) {
        *first = residual_side((residual_op)op, first[0], first[1]);
    } else if (op == RESIDUAL_CONCAT) {
        *first =
            first[1].kind == RESIDUAL_IS_TEXT ? residual_concat(first[0], first[1], &m->arena) : residual_unknown();
    } else {
        *first = residual_of_text((residual_op)op, *first, &m->arena);
    }
    return true;
}

/* ---- the program ---- */

static inline bool is_boolean(const residual_value *value, bool wanted) {
    return value->kind == RESIDUAL_IS_BOOLEAN && value->integer == wanted;
}

/* Return the instruction behind a jump, whose value is the top of the stack. */
static inline uint32_t jumped(residual_instruction at, const residual_value *top, uint32_t next) {
    bool jumps = at.op == RESIDUAL_JUMP || (at.op == RESIDUAL_JUMP_FALSE && is_boolean(top, false)) ||
                 (at.op == RESIDUAL_JUMP_TRUE && is_boolean(top, true)) ||
                 (at.op == RESIDUAL_JUMP_UNKNOWN && top->kind == RESIDUAL_IS_UNKNOWN) ||
                 (at.op == RESIDUAL_BRANCH && !is_boolean(top, true));
    return jumps ? at.b : next;
}

/* The instructions below return the top of the stack behind them, where their result is. */

/* Logic, arithmetic and casts: none costs more than its step. */
static inline residual_value *work_out(machine *m, residual_value *top, residual_instruction at) {
    switch (at.op) {
    case RESIDUAL_NOT:
        *top = of_rank(2 - rank(*top));
        return top;
    case RESIDUAL_AND:
    case RESIDUAL_OR:
        join(--top, at.op);
        return top;
    case RESIDUAL_DROP:
        return top - 1;
    case RESIDUAL_NEG:
        *top = residual_negative(*top, (residual_arithmetic)at.a);
        return top;
    case RESIDUAL_CAST:
        if (top->kind != RESIDUAL_IS_UNKNOWN) {
            *top = residual_cast_to((residual_cast)at.a, *top, &m->arena);
        }
        return top;
    case RESIDUAL_KIND:
        *top = residual_boolean((at.a >> top->kind & 1) != 0);
        return top;
    default: /* ADD, SUB, MUL, DIV, MOD */
        top--;
        *top = residual_calculate((residual_op)at.op, top[0], top[1], (residual_arithmetic)at.a);
        return top;
    }
}

/* What reads texts or a set, from RESIDUAL_IN on; NULL: the budget is spent. */
static residual_value *read_texts(machine *m, residual_value *top, residual_instruction at) {
    bool goes_on = true;
    switch (at.op) {
    case RESIDUAL_IN:
        goes_on = among(m, top, at);
        break;
    case RESIDUAL_GLOB:
        goes_on = match(m, top, at.a);
        break;
    case RESIDUAL_CIDR:
        locate(m, top, at.a);
        break;
    case RESIDUAL_SAME_FOLDED:
    case RESIDUAL_PREFIX:
    case RESIDUAL_SUFFIX:
    case RESIDUAL_CONTAINS:
        goes_on = has(m, --top, at);
        break;
    case RESIDUAL_SUBSTRING:
        top -= 2;
        goes_on = apply(m, top, 3, at.op);
        break;
    case RESIDUAL_LEFT:
    case RESIDUAL_RIGHT:
    case RESIDUAL_CONCAT:
        goes_on = apply(m, --top, 2, at.op);
        break;
    default: /* LENGTH, UPPER, LOWER, TRIM */
        goes_on = apply(m, top, 1, at.op);
    }
    return goes_on ? top : NULL;
}

static int verdict(machine *m) {
    residual_value stack[RESIDUAL_STACK_MAX + 1];
    residual_value *top = stack; /* the first place stays empty */
    const uint64_t scan = m->count / RESIDUAL_ATTRIBUTE_STEP;
    uint64_t left = m->left; /* in a register: m->left is behind it but where a function spends */
    for (uint32_t next = 0; next < m->form.code_count;) {
        residual_instruction at = residual_instruction_at(&m->form, next++);
        if (left-- == 0) {
            return TM_RESIDUAL_OVER;
        }
        bool goes_on = true;
        if (at.op == RESIDUAL_CONSTANT) {
            *++top = constant(m, at.a);
        } else if (at.op <= RESIDUAL_EXISTS) {
            goes_on = scan <= left;
            left -= goes_on ? scan : 0;
            const tm_attribute *found = find(m, at.a);
            *++top = at.op == RESIDUAL_ATTRIBUTE ? value_of(found) : residual_boolean(found != NULL);
        } else if (at.op <= RESIDUAL_GE) {
            m->left = left;
            goes_on = compare(m, --top, at);
            left = m->left;
        } else if (at.op >= RESIDUAL_JUMP && at.op <= RESIDUAL_BRANCH) {
            next = jumped(at, top, next);
            top -= at.op == RESIDUAL_BRANCH;
        } else if (at.op == RESIDUAL_REQUIRE) {
            if (top->kind == RESIDUAL_IS_UNKNOWN) {
                m->left = left;
                return TM_RESIDUAL_ERROR;
            }
        } else if (at.op >= RESIDUAL_IN) {
            m->left = left;
            top = read_texts(m, top, at);
            left = m->left;
            goes_on = top != NULL;
        } else {
            top = work_out(m, top, at);
        }
        if (!goes_on) {
            return TM_RESIDUAL_OVER;
        }
    }
    m->left = left;
    return rank(*top) == 1 ? TM_RESIDUAL_UNKNOWN : (int)top->integer;
}

int tm_residual_run(const uint8_t *program, const tm_attribute *attributes, size_t count, uint64_t budget,
                    uint64_t *steps) {
    static const tm_attribute none = {0};
    machine m; /* not initialised as a whole: of its arena only what is used is ever read */
    m.form = residual_form_of(program);
    m.attributes = count > 0 ? attributes : &none; /* a null pointer has no end */
    m.count = count;
    m.left = budget;
    m.arena.used = 0;
    int result = verdict(&m);
    *steps = result == TM_RESIDUAL_OVER ? budget + 1 : budget - m.left;
    return result;
}
