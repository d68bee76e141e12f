/* views.c - see views.h. */
#include "table/views.h"

#include <string.h>

#include "base/grow.h"

#define VIEW_NONE UINT32_MAX

void tm_views_init(tm_views *views, tm_memory *memory) {
    *views = (tm_views){.memory = memory, .free = VIEW_NONE};
}

/* A view without interfaces has a block, too. */
static uint32_t room_of(uint32_t count) {
    return count > 0 ? count : 1;
}

void tm_views_free(tm_views *views) {
    for (uint32_t row = 0; row < views->count; row++) {
        tm_view *view = &views->rows[row];
        if (view->groups != NULL) {
            TM_DELETE(views->memory, TM_HOT, view->groups, uint32_t, room_of(view->count));
        }
    }
    TM_DELETE(views->memory, TM_HOT, views->rows, tm_view, views->capacity);
    tm_views_init(views, views->memory);
}

static uint64_t bytes_of(uint32_t count) {
    return sizeof(uint32_t) * (uint64_t)room_of(count);
}

int tm_views_add(tm_views *views, const uint32_t *groups, uint32_t count, uint32_t *view) {
    bool is_new = views->free == VIEW_NONE;
    if ((is_new && views->count == TM_VIEWS_MAX) || views->bytes + bytes_of(count) > TM_VIEW_BYTES_MAX) {
        return TM_TOO_MANY;
    }
    if (is_new &&
        !tm_grow(views->memory, TM_HOT, &views->rows, sizeof *views->rows, &views->capacity, views->count + 1)) {
        return TM_NO_MEMORY;
    }
    uint32_t *copy = TM_NEW(views->memory, TM_HOT, uint32_t, room_of(count));
    if (copy == NULL) {
        return TM_NO_MEMORY;
    }
    if (count > 0) {
        memcpy(copy, groups, sizeof *groups * count);
    }
    uint32_t row = is_new ? views->count++ : views->free;
    views->free = is_new ? VIEW_NONE : views->rows[row].count;
    views->rows[row] = (tm_view){copy, count};
    views->bytes += bytes_of(count);
    *view = row + 1;
    return TM_OK;
}

void tm_views_drop(tm_views *views, uint32_t view) {
    tm_view *row = &views->rows[view - 1];
    views->bytes -= bytes_of(row->count);
    TM_DELETE(views->memory, TM_HOT, row->groups, uint32_t, room_of(row->count));
    *row = (tm_view){.count = views->free};
    views->free = view - 1;
}
