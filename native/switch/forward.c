/* forward.c - see forward.h. */
#include "switch/forward.h"

static const tm_forwarding FORWARDINGS[TM_FORWARDINGS] = {
    [TM_FORWARD_WANTED] = {.accept = tm_routes_accept, .targets = switch_depart, .annotate = switch_stamp},
    [TM_FORWARD_FLOOD] = {.accept = tm_routes_accept, .targets = switch_flood, .annotate = switch_stamp},
    [TM_FORWARD_DESTINATIONS] = {.accept = tm_routes_accept, .targets = switch_reuse, .annotate = switch_stamp},
    [TM_FORWARD_MATCH_FIRST] = {.accept = tm_routes_accept, .targets = switch_match_first, .annotate = switch_stamp},
    [TM_FORWARD_BY_ROOT] = {.accept = tm_routes_accept, .targets = switch_go_by_root, .annotate = switch_stamp},
};

const tm_forwarding *switch_forwarding(uint32_t number) {
    return number < TM_FORWARDINGS ? &FORWARDINGS[number] : NULL;
}
