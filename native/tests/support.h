/* support.h - what the C tests share: a seeded random walk over small filters and messages, and the dumb twin.
 *
 * Law: everything random comes from one printed seed; names, strings and numbers are drawn from tiny alphabets, so that
 * constraints coincide, overlap and nest far more often than in any real table.
 */
#ifndef TM_TEST_SUPPORT_H
#define TM_TEST_SUPPORT_H

#include <stdio.h>
#include <stdlib.h>

#include "table/engine.h"

#define CHECK(condition, ...)                                                                                          \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: %s: ", __FILE__, __LINE__, #condition);                                            \
            fprintf(stderr, __VA_ARGS__);                                                                              \
            fprintf(stderr, "\n");                                                                                     \
            abort();                                                                                                   \
        }                                                                                                              \
    } while (0)

/* ---- randomness ---- */

typedef struct dice {
    uint64_t state;
} dice;

uint64_t roll(dice *d);
uint32_t below(dice *d, uint32_t bound); /* 0 .. bound - 1 */

/* ---- bytes of the wire ---- */

typedef struct wire {
    uint8_t bytes[1 << 17];
    size_t size;
} wire;

void put_array(wire *out, uint32_t count);
void put_map(wire *out, uint32_t count);
void put_integer(wire *out, int64_t value);
void put_real(wire *out, double value);
void put_boolean(wire *out, bool value);
void put_string(wire *out, const void *bytes, uint32_t length);

/* A copy of `bytes` that ends where an unreadable page begins; freed by unguard. */
typedef struct guarded {
    uint8_t *bytes;
    void *mapping;
    size_t mapped;
} guarded;

guarded guard(const void *bytes, size_t size);
void unguard(guarded *copy);

/* ---- random content ---- */

void random_filter(dice *d, wire *out);
void random_message(dice *d, wire *out);

/* A message whose names are the set bits of `present`. */
#define RANDOM_SHAPES 64
void random_values(dice *d, uint32_t present, wire *out);

/* ---- the twin ---- */

#define TWIN_FILTERS_MAX 400
#define TWIN_INTERFACES_MAX 90

typedef struct twin_filter {
    uint8_t *bytes; /* owned; NULL when not in use */
    tm_filter *parsed;
    uint32_t interface;
    uint32_t handle;
} twin_filter;

typedef struct twin {
    twin_filter filters[TWIN_FILTERS_MAX];
    bool clients[TWIN_INTERFACES_MAX];
    uint32_t live;
} twin;

void twin_add(twin *t, const wire *filter, uint32_t interface, uint32_t handle);
void twin_clear(twin *t);
uint32_t twin_pick(const twin *t, dice *d); /* the place of a random live filter */
void twin_remove(twin *t, uint32_t place);
bool twin_matches(const twin_filter *filter, const tm_attribute *attributes, size_t count);

/* Ask the table all kinds of queries about one message and compare with the twin. */
void compare_all(const twin *t, tm_table *table, dice *d, const tm_attribute *attributes, size_t count);

void check_valid(const tm_table *table);

/* How many engines there are, at most ENGINES_MAX. */
#define ENGINES_MAX 16U
uint32_t engines(void);
/* A table of one, with little of what its options may say. */
tm_table *new_table(uint32_t engine);

#endif
