/* index.h - the messages of one durable subscription, by position, ascending.
 *
 *     rows   ....... first [ left | open | past | open ] end .......
 *                                       ^ fresh: this row and those behind it were never delivered
 *
 * Law: positions ascend. A row that has left stays as a gap until the next reserve or until it is the first row, so
 * places of rows are valid between two reserves. tm_index_append cannot fail after tm_index_reserve. Fields that few
 * messages have are in a second array, which is allocated with the first message that has one.
 */
#ifndef TM_DURABLES_INDEX_H
#define TM_DURABLES_INDEX_H

#include "base/memory.h"
#include "tm.h"

#define ROW_NO_PLACE UINT64_MAX
#define STORED_NO_ATTEMPT UINT32_MAX
#define ROW_MISSING_MAX ((1U << 22) - 1) /* messages that an unknown range counts */

typedef enum {
    ROW_OPEN,
    ROW_PAST,
    ROW_LEFT,
    ROW_UNKNOWN,     /* no message: an unknown range, in which messages may be missing */
    ROW_UNKNOWN_TOLD /* an unknown range that was reported to the consumers */
} tm_stored_state;

typedef struct tm_stored_row {
    uint64_t n;
    union {
        uint64_t place; /* place of its record in the memory of the log; ROW_NO_PLACE: the record is only on disk, or
                         * not written yet */
        uint64_t first; /* of an unknown range: position from which on messages may be missing */
    };
    uint64_t at_ms : 42; /* arrival, Unix time; the field lasts until 2109 */
    uint64_t size : 22;  /* of the frame, or of the body of a catalog record; of an unknown range: how many messages are
                          * missing, 0: that is unknown */
    uint32_t attempt;
    uint8_t state;
    bool maybe_duplicate;
    bool is_dead_letter;  /* a dead letter of another subscription */
    bool is_recorded : 1; /* message records are written about the message */
    bool is_held : 1;     /* held back: none of the consumers may get the message (consumers/hands.h) */
    uint8_t loss : 6;     /* of an unknown range: wire_loss */
} tm_stored_row;

_Static_assert(sizeof(tm_stored_row) == 32, "a message that waits takes 32 bytes");

/* A message that has none of these fields has all of them zero. */
typedef struct tm_stored_keys {
    uint64_t expires_ms; /* 0: never */
    uint64_t order_key;  /* hashes of its values of order_by and latest_by; 0: no value */
    uint64_t latest_key;
} tm_stored_keys;

typedef struct tm_index {
    tm_stored_row *rows;  /* owned */
    tm_stored_keys *keys; /* owned: of each row; NULL: no row has any */
    uint32_t key_capacity;
    uint32_t first;
    uint32_t end;
    uint32_t capacity;
    uint32_t left; /* rows between first and end that have left */
    uint32_t fresh;
} tm_index;

/* Reserve one row, and with `has_keys` its keys. false: no memory. */
bool tm_index_reserve(tm_index *index, tm_memory *memory, bool has_keys);
/* Append a row after tm_index_reserve; `keys` NULL: the row has none. */
void tm_index_append(tm_index *index, const tm_stored_row *row, const tm_stored_keys *keys);
/* Return the keys of a row, borrowed until the next reserve. */
const tm_stored_keys *tm_index_keys(const tm_index *index, const tm_stored_row *row);
/* Return the place of the first row whose position is `n` or higher; `end`: there is none. */
uint32_t tm_index_from(const tm_index *index, uint64_t n);
/* Return the row of a position that has not left, borrowed until the next reserve; NULL: there is none. */
tm_stored_row *tm_index_find(const tm_index *index, uint64_t n);
/* Let the row at a place leave. The subscription is then done with the numbers from `*first` to that of the row. */
void tm_index_leave(tm_index *index, uint32_t at, uint64_t *first);
void tm_index_free(tm_index *index, tm_memory *memory);
bool tm_index_is_sound(const tm_index *index);

#endif
