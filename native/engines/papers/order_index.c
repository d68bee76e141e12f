/* order_index.c - the sorted sets of one attribute. Law: see order_index.h. */
#include "engines/papers/order_index.h"

#define TAG_SECOND 1 /* <= behind <, > behind >= */

static tm_ordered *set_of(tm_order_index *index, uint8_t op) {
    switch (op) {
    case TM_OP_NE:
        return &index->unequal;
    case TM_OP_LT:
    case TM_OP_LE:
        return &index->less;
    case TM_OP_GT:
    case TM_OP_GE:
        return &index->greater;
    default: /* TM_OP_EQ, TM_OP_IN */
        return &index->equal;
    }
}

tm_probe tm_probe_operand(const tm_intern *strings, const tm_atom *operand) {
    if (strings == NULL) {
        return tm_probe_number(tm_atom_key(operand));
    }
    const tm_interned *string = &strings->entries[operand->string];
    return tm_probe_text(string->bytes, string->length);
}

static tm_probe probe_for(const tm_intern *strings, uint8_t op, const tm_atom *operand, uint32_t constraint) {
    tm_probe probe = tm_probe_operand(strings, operand);
    probe.tag = op == TM_OP_LE || op == TM_OP_GT ? TAG_SECOND : 0;
    probe.constraint = constraint;
    return probe;
}

static const tm_intern *strings_of(const tm_constraints *constraints, const tm_atom *operand) {
    return operand->kind == TM_KIND_STRING ? &constraints->strings : NULL;
}

int tm_order_add(tm_order_index *index, const tm_constraints *constraints, uint8_t op, const tm_atom *operand,
                 uint32_t constraint) {
    if (op == TM_OP_BETWEEN) {
        return tm_between_add(&index->between, constraints, constraint);
    }
    const tm_intern *strings = strings_of(constraints, operand);
    tm_probe probe = probe_for(strings, op, operand, constraint);
    return tm_ordered_add(set_of(index, op), constraints->memory, strings, &probe, operand->string);
}

void tm_order_remove(tm_order_index *index, const tm_constraints *constraints, uint8_t op, const tm_atom *operand,
                     uint32_t constraint) {
    if (op == TM_OP_BETWEEN) {
        tm_between_remove(&index->between, constraints, constraint);
        return;
    }
    const tm_intern *strings = strings_of(constraints, operand);
    tm_probe probe = probe_for(strings, op, operand, constraint);
    tm_ordered_remove(set_of(index, op), constraints->memory, strings, &probe);
}

void tm_order_free(tm_order_index *index, tm_memory *memory) {
    tm_ordered *sets[] = {&index->equal, &index->unequal, &index->less, &index->greater};
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        tm_ordered_free(sets[i], memory);
    }
    tm_between_free(&index->between, memory);
}

void tm_order_match(const tm_order_index *index, const tm_constraints *constraints, const tm_intern *strings,
                    const tm_probe *value, tm_found *found) {
    tm_probe second = *value;
    second.tag = TAG_SECOND;
    if (index->equal.count > 0) {
        tm_ordered_equal(&index->equal, strings, value, found);
    }
    if (index->less.count > 0) {
        tm_ordered_from(&index->less, tm_ordered_seek(&index->less, strings, &second), found);
    }
    if (index->greater.count > 0) {
        tm_ordered_before(&index->greater, tm_ordered_seek(&index->greater, strings, &second), found);
    }
    if (index->unequal.count > 0) {
        tm_ordered_unequal(&index->unequal, strings, value, found);
    }
    tm_between_match(&index->between, constraints, value, found);
}

uint64_t tm_order_count(const tm_order_index *index) {
    return tm_ordered_count(&index->equal) + tm_ordered_count(&index->unequal) + tm_ordered_count(&index->less) +
           tm_ordered_count(&index->greater) + tm_between_count(&index->between);
}

int tm_order_validate(const tm_order_index *index, const tm_intern *strings, const char **reason) {
    const tm_ordered *sets[] = {&index->equal, &index->unequal, &index->less, &index->greater};
    int result = tm_between_validate(&index->between, reason);
    for (size_t i = 0; result == TM_OK && i < sizeof sets / sizeof *sets; i++) {
        result = tm_ordered_validate(sets[i], strings, reason);
    }
    return result;
}
