/* filter_copy.c - a filter copied into one block that its owner keeps.
 *
 * Law: a copy borrows nothing: behind its constraints lie their operands, and behind those all names and strings.
 */
#include <string.h>

#include "model/filter.h"

static bool has_text(const tm_value *value) {
    return value->kind == TM_KIND_STRING;
}

size_t tm_constraints_copy_bytes(const tm_constraint *from, size_t count) {
    size_t bytes = sizeof(tm_constraint) * count;
    for (size_t i = 0; i < count; i++) {
        const tm_constraint *constraint = &from[i];
        bytes += constraint->name_length + sizeof(tm_value) * constraint->operand_count;
        for (uint32_t k = 0; k < constraint->operand_count; k++) {
            bytes += has_text(&constraint->operands[k]) ? constraint->operands[k].length : 0;
        }
    }
    return bytes;
}

static const uint8_t *put(uint8_t **text, const uint8_t *bytes, size_t length) {
    const uint8_t *at = *text;
    if (length > 0) {
        memcpy(*text, bytes, length);
    }
    *text += length;
    return at;
}

const tm_constraint *tm_constraints_copy(const tm_constraint *from, size_t count, void *block) {
    tm_constraint *constraints = block;
    tm_value *operands = (tm_value *)(void *)(constraints + count);
    tm_value *operand = operands;
    for (size_t i = 0; i < count; i++) {
        operand += from[i].operand_count;
    }
    uint8_t *text = (uint8_t *)operand;
    for (size_t i = 0; i < count; i++) {
        constraints[i] = from[i];
        constraints[i].name = put(&text, from[i].name, from[i].name_length);
        constraints[i].operands = operands;
        for (uint32_t k = 0; k < from[i].operand_count; k++, operands++) {
            *operands = from[i].operands[k];
            operands->string = has_text(operands) ? put(&text, operands->string, operands->length) : NULL;
        }
    }
    return constraints;
}

size_t tm_filter_copy_bytes(const tm_filter *filter) {
    return tm_constraints_copy_bytes(filter->constraints, filter->count);
}

const tm_constraint *tm_filter_copy(const tm_filter *filter, void *block) {
    return tm_constraints_copy(filter->constraints, filter->count, block);
}
