/* forward.c - see forward.h. */
#include "switch/forwarding/forward.h"

#include "switch/forwarding/by_root.h"
#include "switch/forwarding/depart.h"
#include "switch/forwarding/flood.h"
#include "switch/forwarding/keys.h"
#include "switch/forwarding/match_first.h"
#include "switch/forwarding/reuse.h"

static const tm_forwarding FORWARDINGS[TM_FORWARDINGS] = {
    [TM_FORWARD_WANTED] = {.targets = switch_depart},      [TM_FORWARD_FLOOD] = {.targets = switch_flood},
    [TM_FORWARD_DESTINATIONS] = {.targets = switch_reuse}, [TM_FORWARD_MATCH_FIRST] = {.targets = switch_match_first},
    [TM_FORWARD_BY_ROOT] = {.targets = switch_go_by_root}, [TM_FORWARD_KEYS] = {.targets = switch_forward_by_keys},
};

const tm_forwarding *switch_forwarding(uint32_t number) {
    return number < TM_FORWARDINGS ? &FORWARDINGS[number] : NULL;
}
