/* durables_lives.h - the lives of a durables world: kinds of subscriptions, starts, crashes, memory that fails.
 *
 * Law: a start opens the subscriptions in the catalog and removes those that were begun and not completed. See
 * durables_world.h.
 */
#ifndef TM_DURABLES_LIVES_H
#define TM_DURABLES_LIVES_H

#include "durables_world.h"

#define SEGMENT_BYTES 16384U /* of the log */
#define PUBLISHER 1U
#define BYSTANDER 2U
#define RECORD_OF_DURABLE 64U /* its kind in the catalog; the body is the kind of subscription and the number */
#define RECORD_OF_BEGUN 65U   /* as that, of a subscription that is still copying the messages in the log */
#define BOOKED_BYTES 16U /* of a subscription that has copied them: with the number of the record at which it began */

typedef struct kind_of_durable {
    const uint8_t *filter;
    uint32_t filter_size;
    tm_durable_policy policy;
    uint32_t dead_letter; /* kind + 1 */
} kind_of_durable;

extern const kind_of_durable DURABLES_OF_KINDS[DURABLES_KINDS];

/* The `n`-th allocation from now on of the starved component fails; 0: none. */
void durables_starve(durables_world *w, uint64_t n);
/* Check that the result is TM_OK, or TM_NO_MEMORY if allocations may fail. */
void durables_check_result(const durables_world *w, int result, const char *what);

/* Open a connection of a client; UINT32_MAX if out of memory. */
uint32_t durables_connect(durables_world *w, uint64_t number);
/* Without memory a connection may end by itself. */
bool durables_is_open(const durables_world *w, uint32_t connection);
void durables_disconnect(durables_world *w, uint32_t connection);

/* Check that each delivery is recorded once. */
void durables_check_records(durables_world *w);

void durables_point_at_dead_letters(durables_world *w);
/* Open a subscription in the switch. `since`: the first number of records that may belong to it; 0: it is new. */
int durables_open(durables_world *w, uint32_t kind, uint32_t number, uint64_t since);
/* Begin the next life; `w->starved` and `w->failing` apply to it, too. */
void durables_crash(durables_world *w, crash_kind kind);

#endif
