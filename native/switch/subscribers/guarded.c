/* guarded.c - see guarded.h. */
#include "switch/subscribers/guarded.h"

#include "switch/access/guard.h"

static void count_user(tm_switch *sw, uint32_t guard, bool is_more) {
    if (guard != TM_GUARD_NONE) {
        guard_at(sw, guard)->users += is_more ? 1 : UINT32_MAX;
    }
}

static void set_state(tm_subscriber *subscriber, bool is_guarded) {
    if (switch_is_live(subscriber)) {
        subscriber->state = is_guarded ? SUBSCRIBER_GUARDED : SUBSCRIBER_LIVE;
    } else if (switch_is_durable(subscriber)) {
        subscriber->state = is_guarded ? SUBSCRIBER_GUARDED_DURABLE : SUBSCRIBER_DURABLE;
    }
}

void switch_set_guarded(tm_switch *sw, tm_subscriber *subscriber, tm_guarded *guarded) {
    tm_guarded *old = subscriber->guarded;
    if (guarded != NULL) {
        count_user(sw, guarded->door, true);
        count_user(sw, guarded->hand, true);
    }
    if (old != NULL) {
        count_user(sw, old->door, false);
        count_user(sw, old->hand, false);
        tm_free_counted(&sw->memory, TM_HOT, old, guarded_bytes(old));
    }
    subscriber->guarded = guarded;
    set_state(subscriber, guarded != NULL && guarded->hand != TM_GUARD_NONE);
}
