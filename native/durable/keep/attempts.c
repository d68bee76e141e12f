/* attempts.c - see attempts.h. */
#include "durable/keep/attempts.h"

#include "durable/keep/table.h"
#include "durable/tables/tries.h"

void keep_unhold(tm_switch *sw, uint32_t id) {
    tm_try *tried = keep_try(sw, id);
    if (tried->holder == MEMBER_NONE) {
        return;
    }
    if (tried->previous != TRY_NONE) {
        keep_try(sw, tried->previous)->next = tried->next;
    } else {
        keep_member(sw, tried->holder)->tries = tried->next;
    }
    if (tried->next != TRY_NONE) {
        keep_try(sw, tried->next)->previous = tried->previous;
    }
    tried->holder = MEMBER_NONE;
    tried->next = tried->previous = TRY_NONE;
}

void keep_make_ready(tm_switch *sw, uint32_t slot, uint32_t id) {
    tm_keep *keep = keep_at(sw, slot);
    tm_try *tried = keep_try(sw, id);
    tm_heap_take(&sw->keeps->tries, &sw->keeps->tries.due, id);
    keep->out -= tried->state == TRY_OUT;
    keep->paused -= tried->state == TRY_PAUSED;
    tried->state = TRY_READY;
    tm_heap_put(&sw->keeps->tries, &keep->ready, id, tried->n);
    keep_make_due(sw, slot);
}
