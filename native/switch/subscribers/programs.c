/* programs.c - see programs.h. */
#include "switch/subscribers/programs.h"

#include <string.h>

#include "base/grow.h"
#include "residual/form.h"
#include "switch/state.h"

void tm_programs_init(tm_programs *programs, tm_memory *memory) {
    *programs = (tm_programs){.memory = memory};
}

void tm_programs_clear(tm_programs *programs) {
    for (uint32_t row = 0; row < programs->count; row++) {
        if (programs->rows[row].bytes != NULL) {
            TM_DELETE(programs->memory, TM_COLD, programs->rows[row].bytes, uint8_t, programs->rows[row].size);
        }
    }
    TM_DELETE(programs->memory, TM_COLD, programs->rows, tm_program, programs->capacity);
    tm_programs_init(programs, programs->memory);
}

uint32_t tm_programs_add(tm_programs *programs, uint32_t subscription, const uint8_t *bytes, uint32_t size) {
    if (programs->free == 0 && !tm_grow(programs->memory, TM_COLD, &programs->rows, sizeof *programs->rows,
                                        &programs->capacity, programs->count + 1)) {
        return PROGRAM_NONE;
    }
    uint8_t *copy = TM_NEW(programs->memory, TM_COLD, uint8_t, size);
    if (copy == NULL) {
        return PROGRAM_NONE;
    }
    memcpy(copy, bytes, size);
    uint32_t number = programs->free != 0 ? programs->free : ++programs->count;
    tm_program *program = tm_programs_at(programs, number);
    programs->free = number == programs->free ? program->next_free : programs->free;
    *program = (tm_program){.bytes = copy, .size = size, .subscription = subscription};
    programs->live++;
    return number;
}

void tm_programs_remove(tm_programs *programs, uint32_t number) {
    tm_program *program = tm_programs_at(programs, number);
    TM_DELETE(programs->memory, TM_COLD, program->bytes, uint8_t, program->size);
    *program = (tm_program){.next_free = programs->free};
    programs->free = number;
    programs->live--;
}

/* ---- names ---- */

void switch_keep_name(tm_switch *sw, const uint8_t *name, size_t length) {
    if (!tm_kept_names_add(&sw->kept_names, &sw->memory.key, name, length)) {
        return;
    }
    for (uint32_t i = 0; i < SWITCH_FORMS; i++) { /* all attributes again, until they are trimmed */
        tm_shape_want_all(&sw->forms[i].shape, sw->forms[i].shape.unknown);
    }
}

void switch_keep_names(tm_switch *sw, const uint8_t *program) {
    residual_form form = residual_form_of(program);
    for (uint32_t i = 0; i < form.code_count; i++) {
        residual_instruction at = residual_instruction_at(&form, i);
        if (at.op == RESIDUAL_ATTRIBUTE || at.op == RESIDUAL_EXISTS) {
            residual_constant name = residual_constant_at(&form, at.a);
            switch_keep_name(sw, name.data, name.length);
        }
    }
}
