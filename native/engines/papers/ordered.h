/* ordered.h - a sorted set of (value, constraint), the value being a number or an interned string.
 *
 * Law: entries are in ascending order of value, then tag, then constraint; no two are equal. They are in runs of at
 * most TM_RUN_MAX, none empty, so that an insertion moves a few kilobytes, however large the set.
 *
 *     runs -> [entry entry entry ...] [entry entry ...] [entry ...]
 */
#ifndef TM_ORDERED_H
#define TM_ORDERED_H

#include "engines/papers/constraints.h"
#include "engines/papers/found.h"

#define TM_RUN_MAX 256

typedef struct tm_entry {
    uint64_t high; /* a number's key, or a string's first eight bytes, padded with zeros */
    uint64_t low;  /* a number's key, or a string's id */
    uint32_t constraint;
    uint32_t tag;
} tm_entry;

typedef struct tm_run {
    tm_entry *entries; /* owned */
    uint32_t count;
    uint32_t capacity;
} tm_run;

typedef struct tm_ordered {
    tm_run *runs; /* owned */
    uint32_t count;
    uint32_t capacity;
} tm_ordered;

/* A place between entries to search for. `text` is NULL for numbers; borrowed. */
typedef struct tm_probe {
    tm_number_key key;
    const uint8_t *text;
    uint32_t length;
    uint32_t tag;
    uint32_t constraint;
} tm_probe;

/* Return the probe of a number, or of a text, which it borrows; tag and constraint are 0. */
tm_probe tm_probe_number(tm_number_key key);
tm_probe tm_probe_text(const uint8_t *text, uint32_t length);

/* A place in a set: the entry at `index` of run `run`; after the last one, `run` is the number of runs. */
typedef struct tm_place {
    uint32_t run;
    uint32_t index;
} tm_place;

/* Add (probe, probe->tag, probe->constraint), `string` being the id of its text. TM_NO_MEMORY: unchanged. `strings` is
 * NULL for a set of numbers, here and below. */
int tm_ordered_add(tm_ordered *set, tm_memory *memory, const tm_intern *strings, const tm_probe *probe,
                   uint32_t string);

/* Remove an entry, which must be there. */
void tm_ordered_remove(tm_ordered *set, tm_memory *memory, const tm_intern *strings, const tm_probe *probe);

void tm_ordered_free(tm_ordered *set, tm_memory *memory);

/* Return the place of the first entry not below (probe, tag, constraint). */
tm_place tm_ordered_seek(const tm_ordered *set, const tm_intern *strings, const tm_probe *probe);

/* Report the entries before `place`, from the nearest outwards, or from `place` to the end. */
void tm_ordered_before(const tm_ordered *set, tm_place place, tm_found *found);
void tm_ordered_from(const tm_ordered *set, tm_place place, tm_found *found);

/* Report the entries whose value is the probe's, or all others. */
void tm_ordered_equal(const tm_ordered *set, const tm_intern *strings, const tm_probe *probe, tm_found *found);
void tm_ordered_unequal(const tm_ordered *set, const tm_intern *strings, const tm_probe *probe, tm_found *found);

/* Return the entry at `place`, or the one before it; NULL at the ends. */
const tm_entry *tm_ordered_at(const tm_ordered *set, tm_place place);
const tm_entry *tm_ordered_last_before(const tm_ordered *set, tm_place place);

uint64_t tm_ordered_count(const tm_ordered *set);

/* TM_OK, or TM_MISUSED and the reason. */
int tm_ordered_validate(const tm_ordered *set, const tm_intern *strings, const char **reason);

#endif
