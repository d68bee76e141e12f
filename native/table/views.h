/* views.h - groupings of interfaces that are registered once and named by an id.
 *
 * Law: a view gives the group of each interface, and never changes: a user of another grouping registers another view.
 * Views are counted in the table's memory; there are at most TM_VIEWS_MAX, with TM_VIEW_BYTES_MAX in all. Ids begin at
 * 1; 0 is no view. The id of a dropped view is reused.
 */
#ifndef TM_VIEWS_H
#define TM_VIEWS_H

#include "base/memory.h"
#include "tm.h"

typedef struct tm_view {
    uint32_t *groups; /* owned; by interface; NULL: the row is free */
    uint32_t count;   /* of groups; in a free row the next free one */
} tm_view;

typedef struct tm_views {
    tm_memory *memory; /* borrowed */
    tm_view *rows;     /* owned; by id - 1 */
    uint32_t capacity;
    uint32_t count; /* rows ever used */
    uint32_t free;  /* a free row, or VIEW_NONE */
    uint64_t bytes; /* of all groups */
} tm_views;

void tm_views_init(tm_views *views, tm_memory *memory);
void tm_views_free(tm_views *views);

/* Register a view; `groups` is copied. TM_NO_MEMORY, TM_TOO_MANY: nothing has changed. */
int tm_views_add(tm_views *views, const uint32_t *groups, uint32_t count, uint32_t *view);
void tm_views_drop(tm_views *views, uint32_t view); /* the view must exist */

/* Return a view; NULL: there is no such view. */
static inline const tm_view *tm_views_at(const tm_views *views, uint32_t view) {
    return view - 1 < views->count && views->rows[view - 1].groups != NULL ? &views->rows[view - 1] : NULL;
}

#endif
