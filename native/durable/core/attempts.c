/* attempts.c - see attempts.h. */
#include "durable/core/attempts.h"

#include "durable/core/table.h"
#include "durable/tables/attempts.h"

void durable_resume(tm_switch *sw, uint32_t id) {
    tm_attempt *attempt = durable_attempt(sw, id);
    if (attempt->holder == CONSUMER_NONE) {
        return;
    }
    if (attempt->previous != ATTEMPT_NONE) {
        durable_attempt(sw, attempt->previous)->next = attempt->next;
    } else {
        durable_consumer(sw, attempt->holder)->attempts = attempt->next;
    }
    if (attempt->next != ATTEMPT_NONE) {
        durable_attempt(sw, attempt->next)->previous = attempt->previous;
    }
    attempt->holder = CONSUMER_NONE;
    attempt->next = attempt->previous = ATTEMPT_NONE;
}

void durable_make_ready(tm_switch *sw, uint32_t slot, uint32_t id) {
    tm_durable *durable = durable_at(sw, slot);
    tm_attempt *attempt = durable_attempt(sw, id);
    tm_heap_take(&sw->durables->attempts, &sw->durables->attempts.due, id);
    durable->out -= attempt->state == ATTEMPT_OUT;
    durable->paused -= attempt->state == ATTEMPT_PAUSED;
    attempt->state = ATTEMPT_READY;
    tm_heap_put(&sw->durables->attempts, &durable->ready, id, attempt->n);
    durable_make_due(sw, slot);
}
