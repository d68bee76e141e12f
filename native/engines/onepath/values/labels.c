/* labels.c - gives labels to ordered constants. Law: as in labels.h. */
#include "engines/onepath/values/labels.h"

#define LABEL_STEP (INT64_C(1) << 32) /* distance of neighbours where there is room */
#define LABEL_MAX (INT64_C(1) << 61)  /* limit of absolute values: no distance of two overflows */
#define CHUNK_STEP_MIN                                                                                                 \
    (INT64_C(1) << 6) /* least step by which labels of one chunk are spread; twice that for twice as many chunks */

/* Chunks whose labels are spread together, and the labels before and after them. */
typedef struct part {
    uint32_t first;
    uint32_t end;
    int64_t below;
    int64_t above;
} part;

static int64_t label_of(const onepath_strings *strings, uint32_t id, int64_t where_none) {
    return id == TM_NO_STRING ? where_none : strings->labels[id];
}

static part part_of(const onepath_strings *strings, uint32_t first, uint32_t end) {
    const onepath_sorted *sorted = &strings->sorted;
    uint32_t before = onepath_sorted_before(sorted, (onepath_sorted_place){first, 0});
    uint32_t behind = onepath_sorted_at(sorted, (onepath_sorted_place){end, 0});
    return (part){first, end, label_of(strings, before, -LABEL_MAX), label_of(strings, behind, LABEL_MAX)};
}

static int64_t rows_of(const onepath_sorted *sorted, part some) {
    int64_t rows = 0;
    for (uint32_t at = some.first; at < some.end; at++) {
        rows += sorted->chunks[at].count;
    }
    return rows;
}

/* Give all constants of the part labels that are `step` apart, in the middle of the available range. */
static void spread(onepath_strings *strings, part some, int64_t rows, int64_t step) {
    int64_t label = some.below + (some.above - some.below - step * (rows - 1)) / 2;
    label &= ~INT64_C(1);
    for (uint32_t at = some.first; at < some.end; at++) {
        const onepath_sorted_chunk *chunk = &strings->sorted.chunks[at];
        for (uint32_t row = 0; row < chunk->count; row++, label += step) {
            strings->labels[onepath_sorted_ids(chunk)[row]] = label;
        }
    }
}

/* Spread the labels of the fewest chunks around this one that have room. All chunks together have room: 2^61 / 2^32 is
 * more than there are handles. */
static void make_room(onepath_strings *strings, uint32_t chunk) {
    uint32_t all = strings->sorted.chunk_count;
    uint32_t width = 1;
    for (int64_t least = CHUNK_STEP_MIN;; least *= 2, width *= 2) {
        uint32_t first = chunk & ~(width - 1);
        uint32_t end = width < all - first ? first + width : all;
        part some = part_of(strings, first, end);
        int64_t rows = rows_of(&strings->sorted, some);
        int64_t step = (some.above - some.below) / (rows + 1) & ~INT64_C(1);
        step = step < LABEL_STEP ? step : LABEL_STEP;
        if (step >= least || (first == 0 && end == all)) {
            spread(strings, some, rows, step);
            return;
        }
    }
}

void onepath_labels_give(onepath_strings *strings, onepath_sorted_place place) {
    const onepath_sorted *sorted = &strings->sorted;
    uint32_t before = onepath_sorted_before(sorted, place);
    uint32_t behind = onepath_sorted_behind(sorted, place);
    int64_t below = label_of(strings, before, -LABEL_MAX);
    int64_t above = label_of(strings, behind, LABEL_MAX);
    if (above - below < 4) {
        make_room(strings, place.chunk);
        return;
    }
    int64_t label = below + (above - below) / 2;
    if (before != TM_NO_STRING && above - below > 2 * LABEL_STEP) {
        label = below + LABEL_STEP;
    } else if (before == TM_NO_STRING && behind != TM_NO_STRING && above - below > 2 * LABEL_STEP) {
        label = above - LABEL_STEP;
    }
    strings->labels[onepath_sorted_at(sorted, place)] = label & ~INT64_C(1);
}

int onepath_labels_validate(const onepath_strings *strings, const char **reason) {
    int64_t below = -LABEL_MAX;
    for (uint32_t at = 0; at < strings->sorted.chunk_count; at++) {
        const onepath_sorted_chunk *chunk = &strings->sorted.chunks[at];
        for (uint32_t row = 0; row < chunk->count; row++) {
            int64_t label = strings->labels[onepath_sorted_ids(chunk)[row]];
            if (label % 2 != 0 || label <= below || label >= LABEL_MAX) {
                *reason = "labels of constants are out of order";
                return TM_MISUSED;
            }
            below = label;
        }
    }
    return TM_OK;
}
