/* damage.c - see damage.h.
 *
 * Law: a message that the log knows to be for a subscription and cannot read is a row, which is counted as lost when
 * its turn comes. It is unknown for whom missing records were: each stretch of them that a subscription is not done
 * with is an unknown range, reported with its positions and without a count. The record that counts an unknown range
 * also marks the stretch as done, so it is counted once.
 */
#include "durable/start/damage.h"

#include "durable/core/table.h"
#include "durable/messages/losses.h"
#include "durable/tables/index.h"

#define STRETCHES_MAX 64U /* of a subscription at a start; the last one covers the remaining stretches */
#define PIECES_MAX 256U   /* records about them; the next start reports the rest */

static bool unknown(tm_switch *sw, tm_durable *durable, tm_log_range told, tm_log_range done) {
    if (!durable_reserve_loss(sw, durable)) {
        return false;
    }
    tm_durable_counts *counts = &durable->account->counts;
    counts->unknown_first =
        counts->unknowns == 0 || told.first < counts->unknown_first ? told.first : counts->unknown_first;
    counts->unknown_last = told.last > counts->unknown_last ? told.last : counts->unknown_last;
    counts->unknowns++;
    durable->account->losses[durable->loss_count++] = (tm_durable_loss){done.first, done.last, LEFT_DAMAGED, *counts};
    sw->durables->losses++;
    return true;
}

/* Count a missing stretch as unknown, except the rows of the subscription, whose records exist elsewhere. */
static bool unknown_around_rows(tm_switch *sw, uint32_t slot, tm_log_range stretch, uint32_t *pieces) {
    tm_durable *durable = durable_at(sw, slot);
    uint32_t at = tm_index_from(&durable->index, stretch.first);
    for (uint64_t first = stretch.first; first <= stretch.last && *pieces < PIECES_MAX; at++) {
        uint64_t row = at < durable->index.end ? durable->index.rows[at].n : UINT64_MAX;
        uint64_t end = row <= stretch.last ? row : stretch.last + 1;
        if (first < end) {
            bool is_last = ++*pieces == PIECES_MAX;
            tm_log_range piece = {first, end - 1};
            if (!unknown(sw, durable, is_last ? (tm_log_range){first, stretch.last} : piece, piece)) {
                return false;
            }
        }
        first = end + 1;
    }
    return true;
}

int durable_unknown(tm_switch *sw, uint32_t slot, uint64_t since) {
    tm_durable *durable = durable_at(sw, slot);
    tm_log_range stretches[STRETCHES_MAX];
    size_t count = tm_log_unknowns(sw->durables->log, durable->number, 0, since, stretches, STRETCHES_MAX);
    uint32_t pieces = 0;
    bool is_noted = true;
    for (size_t i = 0; i < count && is_noted; i++) {
        is_noted = unknown_around_rows(sw, slot, stretches[i], &pieces);
    }
    tm_log_recovery recovery;
    tm_log_recovery_of(sw->durables->log, &recovery);
    if (is_noted && recovery.lost_copies > 0) { /* their numbers may be of any age */
        is_noted = unknown(sw, durable, (tm_log_range){since, sw->durables->recovered_to}, (tm_log_range){0, 0});
    }
    if (durable->loss_count > 0) {
        durable_make_due(sw, slot);
    }
    return is_noted ? TM_OK : TM_NO_MEMORY;
}
