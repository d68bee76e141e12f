/* copied.h - durable subscriptions with copies at other homes: which messages are finished, by their ids.
 *
 *     ACK here ──> ranges ──> Python ──> other homes             (tm_durable_finished, tm_durable_passed_on)
 *     other homes ──> Python ──> messages leave here             (tm_durable_finish)
 *                           └──> known, if a message is to come
 *
 * Law: a message has a position of its own at each home, so homes name it by its publisher and its counter. Ranges
 * have rising numbers; one that was read does not grow. All of this is in memory and bounded: what is forgotten is
 * delivered again once its home is gone, and never lost.
 */
#ifndef TM_DURABLE_CORE_COPIED_H
#define TM_DURABLE_CORE_COPIED_H

#include "durable/state.h"

#define COPIED_RANGES_MAX 65536U /* of one subscription, 24 bytes each */
#define COPIED_ALL_RANGES_MAX (1U << 20)

/* An open message of a copy. */
typedef struct tm_copied_message {
    tm_stored_id id;
    uint64_t n; /* its position; of a free row, the next one + 1 */
} tm_copied_message;

/* Messages that were finished here: `count` counters of a publisher. */
typedef struct tm_copied_range {
    uint64_t origin;
    uint64_t first;
    uint32_t count;
} tm_copied_range;

struct tm_copied {
    uint32_t durable;            /* its number */
    tm_copied_message *messages; /* owned */
    uint32_t message_count;
    uint32_t message_capacity;
    uint32_t free;  /* first free row + 1; 0: none */
    tm_idset by_id; /* of rows + 1, as the next one */
    tm_idset by_n;
    tm_copied_range *ranges; /* owned: a ring */
    uint32_t range_capacity;
    uint32_t range_first;
    uint32_t range_count;
    uint64_t next;    /* number of the next range */
    uint64_t read_to; /* ranges up to this number have been read */
    bool has_news;    /* listed in `copied_news` of tm_durables */
    tm_copied *next_with_news;
};

/* Reserve one more open message; true at once if the subscription has no copies. false: no memory. */
bool durable_reserve_copied(tm_switch *sw, tm_durable *durable);
/* Take an open message at position `n`. */
void durable_note_copied(tm_switch *sw, tm_durable *durable, tm_stored_id id, uint64_t n);
/* Return the position of an open message; 0: there is none. */
uint64_t durable_find_copied(const tm_switch *sw, const tm_durable *durable, tm_stored_id id);
/* Return the subscription of a number if it has copies, else NULL. */
tm_durable *durable_copied_of(tm_switch *sw, uint32_t number);
/* Forget an open message, which other homes are told of if consumers here are done with it. */
void durable_end_copied(tm_switch *sw, tm_durable *durable, uint64_t n, tm_leaving how);
void durable_free_copied(tm_switch *sw, tm_durable_account *account);
/* Return the broken rule; NULL: none. */
const char *durable_check_copied(const tm_switch *sw, const tm_durable *durable);

#endif
