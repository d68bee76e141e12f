/* memory.h - counted allocation with planned failures; each memory has the key of the hashes that lie in it.
 *
 * Law: in native/ only memory.c calls malloc, realloc, mmap and free. A structure that a match may read
 * allocates from a `tm_memory` with `hot` accounting (pass TM_HOT), others with TM_COLD. On failure NULL is returned,
 * the old block is still valid and the counts are unchanged.
 */
#ifndef TM_MEMORY_H
#define TM_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"

typedef enum { TM_COLD, TM_HOT } tm_heat;

typedef struct tm_memory {
    uint64_t bytes;     /* in use, with the allocator's overhead */
    uint64_t hot_bytes; /* the part that a match may read */
    uint64_t bytes_max; /* 0: no bound */
    uint64_t fail_in;   /* 0: never; n: the n-th allocation from now fails */
    uint64_t freed;     /* freed since pages were last returned to the system */
    tm_hash_key key;    /* for hashes of names that peers choose; never all zeroes */
} tm_memory;

void *tm_alloc_counted(tm_memory *memory, tm_heat heat, size_t size);                            /* zeroed */
void *tm_realloc_counted(tm_memory *memory, tm_heat heat, void *block, size_t old, size_t size); /* tail not zeroed */
void tm_free_counted(tm_memory *memory, tm_heat heat, void *block, size_t size);                 /* NULL is allowed */

/* Grow a block that may be NULL, with its tail zeroed: memory that the system has just mapped is zero and is not
 * touched. */
void *tm_extend_counted(tm_memory *memory, tm_heat heat, void *block, size_t old, size_t size);

/* Return the bytes that a block of `size` bytes takes, with the allocator's overhead. */
uint64_t tm_memory_charge(size_t size);
/* Return freed pages to the system once they are many, which takes a few milliseconds. */
void tm_memory_give_back(tm_memory *memory);

/* Allocate an array of `count` zeroed elements of `type`; NULL: no memory. */
#define TM_NEW(memory, heat, type, count) ((type *)tm_alloc_counted((memory), (heat), sizeof(type) * (size_t)(count)))
#define TM_RESIZE(memory, heat, block, type, old, count)                                                               \
    ((type *)tm_realloc_counted((memory), (heat), (block), sizeof(type) * (size_t)(old),                               \
                                sizeof(type) * (size_t)(count)))
#define TM_DELETE(memory, heat, block, type, count)                                                                    \
    tm_free_counted((memory), (heat), (block), sizeof(type) * (size_t)(count))

#endif
