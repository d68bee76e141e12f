/* finished.c - see finished.h. */
#include "durable/messages/finished.h"

#include "durable/core/copied.h"
#include "durable/core/done.h"
#include "durable/core/table.h"
#include "durable/messages/leave.h"
#include "durable/tables/index.h"
#include "network/publishers.h"

#define GOLDEN UINT64_C(0x9e3779b97f4a7c15)

/* Return the name under which a message that is to come is known as finished: that of the message in one subscription.
 */
static uint64_t early_origin(const tm_durable *durable, uint64_t origin) {
    return origin ^ (durable->number * GOLDEN);
}

/* Let the message at a position leave as one that is finished at another home. false: no memory. */
static bool leave(tm_switch *sw, uint32_t slot, uint64_t n) {
    if (!durable_reserve_done(sw)) {
        return false;
    }
    sw->durables->is_finishing = true;
    durable_leave(sw, slot, tm_index_from(&durable_at(sw, slot)->index, n), LEFT_ACKED);
    sw->durables->is_finishing = false;
    return true;
}

void durable_leave_if_finished(tm_switch *sw, uint32_t slot, tm_stored_id id, uint64_t n) {
    const tm_durable *durable = durable_at(sw, slot);
    if (durable->policy->copies != 0 &&
        tm_custody_ids_has(&sw->durables->copied_early, early_origin(durable, id.origin), id.number)) {
        leave(sw, slot, n);
    }
}

/* Let a message leave that another home has finished; one that did not come yet is noted. false: no memory. */
static bool finish(tm_switch *sw, uint32_t slot, tm_stored_id id) {
    tm_durables *durables = sw->durables;
    tm_durable *durable = durable_at(sw, slot);
    uint64_t n = durable_find_copied(sw, durable, id);
    if (n != 0) {
        return leave(sw, slot, n);
    }
    uint64_t origin = early_origin(durable, id.origin);
    bool was_here = tm_custody_ids_has(&durables->arrivals.ids, id.origin, id.number) ||
                    tm_publishers_stored(&sw->publishers, id.origin, id.number) == STORED;
    if (!was_here && !tm_custody_ids_has(&durables->copied_early, origin, id.number)) {
        tm_custody_ids_note(&durables->copied_early, origin, id.number);
    }
    return true;
}

int tm_durable_finish(tm_switch *sw, uint32_t number, const uint8_t *ranges, size_t size) {
    tm_durable *durable = durable_copied_of(sw, number);
    if (durable == NULL || ranges == NULL || size % TM_DURABLE_RANGE_BYTES != 0) {
        return TM_ABSENT;
    }
    uint32_t slot = durable_slot(sw, number);
    int result = TM_OK;
    for (const uint8_t *at = ranges; at < ranges + size && result == TM_OK; at += TM_DURABLE_RANGE_BYTES) {
        tm_stored_id id = {tm_load64(at), tm_load64(at + 8)};
        for (uint32_t left = tm_load32(at + 16); left > 0 && result == TM_OK; left--, id.number++) {
            result = finish(sw, slot, id) ? TM_OK : TM_NO_MEMORY;
        }
    }
    durable_wake(sw);
    return result;
}
