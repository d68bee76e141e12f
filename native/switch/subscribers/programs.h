/* programs.h - residual programs of subscriptions, which decide what their filters leave undecided.
 *
 * Law: a program is verified before it is here, and belongs to one subscription. From then on the attributes that it
 * names are decoded in every message.
 */
#ifndef TM_SWITCH_PROGRAMS_H
#define TM_SWITCH_PROGRAMS_H

#include "base/memory.h"
#include "tm.h"

#define PROGRAM_NONE 0U

typedef struct tm_program {
    uint8_t *bytes;      /* owned; NULL: the row is free */
    uint64_t asked;      /* number of the last match that ran it, with `passes` */
    uint64_t candidates; /* messages that the filters matched */
    uint64_t passed;     /* those of them that it let pass */
    uint32_t size;
    uint32_t subscription; /* its row */
    uint32_t next_free;    /* of a free row */
    bool passes;
} tm_program;

typedef struct tm_programs {
    tm_memory *memory; /* borrowed */
    tm_program *rows;  /* owned */
    uint32_t count;
    uint32_t capacity;
    uint32_t free; /* first free row + 1; 0: none */
    uint32_t live;
    uint64_t matches; /* that asked programs */
} tm_programs;

void tm_programs_init(tm_programs *programs, tm_memory *memory);
void tm_programs_clear(tm_programs *programs);

/* Copy a verified program of the subscription in row `subscription`; returns its number, or PROGRAM_NONE without
 * memory. */
uint32_t tm_programs_add(tm_programs *programs, uint32_t subscription, const uint8_t *bytes, uint32_t size);
void tm_programs_remove(tm_programs *programs, uint32_t number);

static inline tm_program *tm_programs_at(const tm_programs *programs, uint32_t number) {
    return &programs->rows[number - 1];
}

/* Decode the attributes that a program names in all messages from now on. */
void switch_keep_names(tm_switch *sw, const uint8_t *program);
/* Decode an attribute in all messages from now on. */
void switch_keep_name(tm_switch *sw, const uint8_t *name, size_t length);

#endif
