/* index.h - what one keep has, by position, ascending.
 *
 *     rows   ....... first [ left | open | past | open ] end .......
 *                                       ^ fresh: this row and those behind it were never given out
 *
 * Law: positions ascend. A row that has left stays as a gap until the next reserve, or until it is the first; so places
 * of rows hold between two reserves. tm_index_append cannot fail after tm_index_reserve. What few messages have stands
 * beside the rows, and takes room from the first one on that has it.
 */
#ifndef TM_KEEPS_INDEX_H
#define TM_KEEPS_INDEX_H

#include "base/memory.h"
#include "tm.h"

#define KEPT_NO_PLACE UINT64_MAX
#define KEPT_NO_ATTEMPT UINT32_MAX

typedef enum {
    KEPT_OPEN,
    KEPT_PAST,
    KEPT_LEFT,
    KEPT_DOUBT,     /* no message: here some may be missing */
    KEPT_DOUBT_TOLD /* the same, and members were told */
} tm_kept_state;

typedef struct tm_kept {
    uint64_t n;
    union {
        uint64_t place; /* of its record in the memory of the log; KEPT_NO_PLACE: it is on disk alone, or not yet */
        uint64_t first; /* of a doubt: position from which on messages may be missing */
    };
    uint64_t at_ms : 42; /* when it came, since 1970; it lasts until 2109 */
    uint64_t size : 22;  /* of the frame, or of what the book says */
    uint32_t attempt;
    uint8_t state;
    bool maybe_duplicate;
    bool is_letter;   /* it came from another keep, as a dead letter */
    bool is_recorded; /* what becomes of it is noted in the records */
} tm_kept;

_Static_assert(sizeof(tm_kept) == 32, "a message that waits takes 32 bytes");

/* All zero: the message has none of these. */
typedef struct tm_kept_keys {
    uint64_t expires_ms; /* 0: never */
    uint64_t order_key;  /* of its values of order_by and latest_by; 0: it has none */
    uint64_t latest_key;
} tm_kept_keys;

typedef struct tm_index {
    tm_kept *rows;      /* owned */
    tm_kept_keys *keys; /* owned: of each row; NULL: none has any */
    uint32_t key_capacity;
    uint32_t first;
    uint32_t end;
    uint32_t capacity;
    uint32_t left; /* rows that have left, between first and end */
    uint32_t fresh;
} tm_index;

/* Room for one more row, which may have keys. false: no memory. */
bool tm_index_reserve(tm_index *index, tm_memory *memory, bool has_keys);
/* `keys` NULL: it has none. */
void tm_index_append(tm_index *index, const tm_kept *row, const tm_kept_keys *keys);
/* The keys of a row. Borrowed until the next reserve. */
const tm_kept_keys *tm_index_keys(const tm_index *index, const tm_kept *row);
/* The place of the first row whose position is `n` or higher; `end`: there is none. */
uint32_t tm_index_from(const tm_index *index, uint64_t n);
/* The row of a position that has not left; NULL: there is none. Borrowed until the next reserve. */
tm_kept *tm_index_find(const tm_index *index, uint64_t n);
/* The row at a place leaves. What it says for the log: its keep is done with the numbers from `*first` to its own. */
void tm_index_leave(tm_index *index, uint32_t at, uint64_t *first);
void tm_index_free(tm_index *index, tm_memory *memory);
bool tm_index_is_sound(const tm_index *index);

#endif
