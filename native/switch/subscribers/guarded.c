/* guarded.c - see guarded.h. */
#include "switch/subscribers/guarded.h"

#include "base/grow.h"
#include "switch/access/guard.h"

static void count_user(tm_switch *sw, uint32_t guard, bool is_more) {
    if (guard != TM_GUARD_NONE) {
        guard_at(sw, guard)->users += is_more ? 1 : UINT32_MAX;
    }
}

const tm_guarded *switch_guarded(const tm_switch *sw, uint32_t subscriber) {
    const tm_guards *guards = sw->guards;
    return guards != NULL && subscriber < guards->guarded_room ? guards->guarded[subscriber] : NULL;
}

bool switch_reserve_guarded(tm_switch *sw, uint32_t subscriber) {
    tm_guards *guards = sw->guards;
    return tm_grow(&sw->memory, TM_HOT, &guards->guarded, sizeof *guards->guarded, &guards->guarded_room,
                   subscriber + 1);
}

void switch_set_guarded(tm_switch *sw, uint32_t subscriber, tm_guarded *guarded) {
    tm_guards *guards = sw->guards;
    if (guards == NULL || subscriber >= guards->guarded_room) {
        return; /* it is not guarded, and shall not be */
    }
    tm_guarded *old = guards->guarded[subscriber];
    if (guarded != NULL) {
        count_user(sw, guarded->door, true);
        count_user(sw, guarded->hand, true);
        count_user(sw, guarded->answers, true);
        count_user(sw, guarded->refuse, true);
    }
    if (old != NULL) {
        count_user(sw, old->door, false);
        count_user(sw, old->hand, false);
        count_user(sw, old->answers, false);
        count_user(sw, old->refuse, false);
        tm_free_counted(&sw->memory, TM_HOT, old, guarded_bytes(old));
    }
    guards->guarded[subscriber] = guarded;
}
