/* durables_lives.h - the lives of a world of keeps: what kinds of keeps there are, starts, crashes, memory that fails.
 *
 * Law: a start opens what the book has, and ends what was begun and not made. See durables_world.h.
 */
#ifndef TM_DURABLES_LIVES_H
#define TM_DURABLES_LIVES_H

#include "durables_world.h"

#define SEGMENT_BYTES 16384U /* of the log */
#define PUBLISHER 1U
#define BYSTANDER 2U
#define RECORD_OF_DURABLE 64U /* its kind in the book; the body is the kind of terms and the number */
#define RECORD_OF_BEGUN 65U   /* as that, of a keep that takes over what is in the log, and may not have all of it */
#define BOOKED_BYTES 16U      /* of a keep that took over: with the number of the record by which it began */

typedef struct kind_of_durable {
    const uint8_t *filter;
    uint32_t filter_size;
    tm_durable_policy policy;
    uint32_t dead_letter; /* kind + 1 */
} kind_of_durable;

extern const kind_of_durable DURABLES_OF_KINDS[DURABLES_KINDS];

/* The `n`-th allocation from now on of who is starved fails; 0: none. */
void durables_starve(durables_world *w, uint64_t n);
/* It is fine, or failed for want of memory where that may be. */
void durables_check_result(const durables_world *w, int result, const char *what);

/* A client's connection; UINT32_MAX: no memory. */
uint32_t durables_connect(durables_world *w, uint64_t number);
/* Without memory a connection may end by itself. */
bool durables_is_open(const durables_world *w, uint32_t connection);
void durables_disconnect(durables_world *w, uint32_t connection);

/* Each delivery is in the records, once. */
void durables_check_records(durables_world *w);

void durables_point_at_dead_letters(durables_world *w);
/* Open a keep in the switch. `since`: the number from which on records may be the keep's; 0: it is new. */
int durables_open(durables_world *w, uint32_t kind, uint32_t number, uint64_t since);
/* The next life begins; `w->starved` and `w->failing` are of that, too. */
void durables_crash(durables_world *w, crash_kind kind);

#endif
