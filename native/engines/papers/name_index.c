/* name_index.c - name, then type, then operator. Law: see name_index.h. */
#include <string.h>

#include "engines/papers/name_index.h"

static uint8_t plain_op(const tm_constraints *constraints, uint32_t id) {
    return (uint8_t)(constraints->keys[id].op & ~TM_OP_NEGATED);
}

/* Return how many operands are indexed: a `between` is under its lower bound. */
static uint16_t indexed_operands(const tm_constraints *constraints, uint32_t id) {
    return plain_op(constraints, id) == TM_OP_BETWEEN ? 1 : constraints->keys[id].operand_count;
}

static int add_string(tm_name_index *index, tm_constraints *constraints, tm_text_kind kind, uint32_t string,
                      uint32_t id) {
    if (index->strings == NULL) {
        index->strings = kind.class->create(constraints, kind.shared);
    }
    return index->strings == NULL ? TM_NO_MEMORY
                                  : kind.class->add(index->strings, plain_op(constraints, id), string, id);
}

static int add_operand(tm_name_index *index, tm_constraints *constraints, tm_text_kind kind, const tm_atom *operand,
                       uint32_t id) {
    if (operand->kind == TM_KIND_STRING) {
        return add_string(index, constraints, kind, operand->string, id);
    }
    tm_order_index *values = operand->kind == TM_KIND_BOOLEAN ? &index->booleans : &index->numbers;
    return tm_order_add(values, constraints, plain_op(constraints, id), operand, id);
}

static void remove_operand(tm_name_index *index, tm_constraints *constraints, tm_text_kind kind, const tm_atom *operand,
                           uint32_t id) {
    if (operand->kind == TM_KIND_STRING) {
        kind.class->remove(index->strings, plain_op(constraints, id), operand->string, id);
        return;
    }
    tm_order_index *values = operand->kind == TM_KIND_BOOLEAN ? &index->booleans : &index->numbers;
    tm_order_remove(values, constraints, plain_op(constraints, id), operand, id);
}

static void remove_operands(tm_name_index *index, tm_constraints *constraints, tm_text_kind kind, uint32_t id,
                            uint16_t count) {
    for (uint16_t i = 0; i < count; i++) {
        tm_atom operand = tm_constraints_operand(constraints, id, i);
        remove_operand(index, constraints, kind, &operand, id);
    }
}

int tm_name_index_add(tm_name_index *index, tm_constraints *constraints, tm_text_kind kind, uint32_t id) {
    for (uint16_t i = 0; i < indexed_operands(constraints, id); i++) {
        tm_atom operand = tm_constraints_operand(constraints, id, i);
        if (add_operand(index, constraints, kind, &operand, id) != TM_OK) {
            remove_operands(index, constraints, kind, id, i);
            return TM_NO_MEMORY;
        }
    }
    if (plain_op(constraints, id) == TM_OP_EXISTS) {
        index->exists = id;
    }
    index->constraints++;
    return TM_OK;
}

void tm_name_index_remove(tm_name_index *index, tm_constraints *constraints, tm_text_kind kind, uint32_t id) {
    remove_operands(index, constraints, kind, id, indexed_operands(constraints, id));
    if (plain_op(constraints, id) == TM_OP_EXISTS) {
        index->exists = 0;
    }
    index->constraints--;
}

void tm_name_index_free(tm_name_index *index, tm_memory *memory, tm_text_kind kind) {
    tm_order_free(&index->booleans, memory);
    tm_order_free(&index->numbers, memory);
    kind.class->destroy(index->strings);
    *index = (tm_name_index){0};
}

static tm_probe number_probe(const tm_attribute *attribute) {
    return tm_probe_number(tm_number_key_of(attribute->integer, attribute->real, attribute->kind == TM_KIND_FLOAT));
}

void tm_name_index_match(const tm_name_index *index, const tm_constraints *constraints, tm_text_kind kind,
                         const tm_attribute *attribute, tm_found *found) {
    tm_found_add(found, index->exists);
    if (attribute->kind == TM_KIND_STRING) {
        if (index->strings != NULL) {
            kind.class->match(index->strings, attribute->string, attribute->length, found);
        }
        return;
    }
    tm_probe value = number_probe(attribute);
    bool is_boolean = attribute->kind == TM_KIND_BOOLEAN;
    tm_order_match(is_boolean ? &index->booleans : &index->numbers, constraints, NULL, &value, found);
}

int tm_name_index_validate(const tm_name_index *index, tm_text_kind kind, uint64_t *operands, const char **reason) {
    *operands = tm_order_count(&index->booleans) + tm_order_count(&index->numbers) + (index->exists != 0);
    int result = tm_order_validate(&index->booleans, NULL, reason);
    if (result == TM_OK) {
        result = tm_order_validate(&index->numbers, NULL, reason);
    }
    if (result == TM_OK && index->strings != NULL) {
        *operands += kind.class->count(index->strings);
        result = kind.class->validate(index->strings, reason);
    }
    return result;
}
