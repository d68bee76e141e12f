/* attempts.c - see attempts.h. */
#include "durable/keep/attempts.h"

#include "durable/keep/table.h"
#include "durable/tables/attempts.h"

void keep_unhold(tm_switch *sw, uint32_t id) {
    tm_attempt *attempt = keep_attempt(sw, id);
    if (attempt->holder == MEMBER_NONE) {
        return;
    }
    if (attempt->previous != ATTEMPT_NONE) {
        keep_attempt(sw, attempt->previous)->next = attempt->next;
    } else {
        keep_member(sw, attempt->holder)->attempts = attempt->next;
    }
    if (attempt->next != ATTEMPT_NONE) {
        keep_attempt(sw, attempt->next)->previous = attempt->previous;
    }
    attempt->holder = MEMBER_NONE;
    attempt->next = attempt->previous = ATTEMPT_NONE;
}

void keep_make_ready(tm_switch *sw, uint32_t slot, uint32_t id) {
    tm_keep *keep = keep_at(sw, slot);
    tm_attempt *attempt = keep_attempt(sw, id);
    tm_heap_take(&sw->keeps->attempts, &sw->keeps->attempts.due, id);
    keep->out -= attempt->state == ATTEMPT_OUT;
    keep->paused -= attempt->state == ATTEMPT_PAUSED;
    attempt->state = ATTEMPT_READY;
    tm_heap_put(&sw->keeps->attempts, &keep->ready, id, attempt->n);
    keep_make_due(sw, slot);
}
