/* line_moves.c - moves earlier filters to a new line, and those of a line that is given up to other places.
 *
 * Law: as in lines.h. A few move with each filter that is added under the name; out of memory some stay, which is
 * exact, too.
 */
#include "engines/onepath/placing/line_moves.h"

#include "engines/onepath/paths/entries.h"
#include "engines/onepath/paths/lines.h"
#include "engines/onepath/placing/place.h"
#include "engines/onepath/records.h"

#define DRAWN_AT_ONCE 2U /* earlier filters that follow a new one: a few microseconds */
#define GIVEN_AT_ONCE 4U /* filters of a line that is given up, with each addition under its name */

/* ---- filters older than the line ---- */

static uint32_t last_of_run(const onepath_run *run) {
    if (run == NULL || run->count == 0) {
        return ONEPATH_NONE;
    }
    const onepath_chunk *chunk = &run->chunks[run->count - 1];
    return chunk->handles[chunk->count - 1];
}

static uint32_t last_of_cells(const onepath_cells *cells) {
    bool is_empty = !onepath_cells_exist(cells) || cells->spans->count == 0;
    return is_empty ? ONEPATH_NONE : cells->spans->rows[cells->spans->count - 1].handle;
}

/* Return a filter in the cells, runs or intervals of this part of a key; ONEPATH_NONE if there is none. */
static uint32_t last_of_part(const onepath_key *key) {
    const onepath_run *runs[] = {key->intervals, key->at_most, key->at_least};
    uint32_t found = last_of_cells(&key->cells);
    for (uint32_t i = 0; i < 3 && found == ONEPATH_NONE; i++) {
        found = last_of_run(runs[i]);
    }
    return found;
}

/* Return such a filter of the whole key, its wide part first. */
static uint32_t last_of_key(const tm_engine *engine, uint32_t name) {
    const onepath_key *key = engine->names.records[name].keys[ONEPATH_NUMBER];
    uint32_t found = key == NULL || key->wide == NULL ? ONEPATH_NONE : last_of_part(key->wide);
    return key == NULL || found != ONEPATH_NONE ? found : last_of_part(key);
}

static void draw(tm_engine *engine, uint32_t name) {
    for (uint32_t i = 0; i < DRAWN_AT_ONCE; i++) {
        uint32_t handle = last_of_key(engine, name);
        onepath_tests tests;
        if (handle == ONEPATH_NONE) {
            return;
        }
        onepath_tests_of_record(engine, handle, &tests);
        if (!onepath_lines_has_open(engine, &tests) || !onepath_move_anew(engine, handle, true)) {
            return;
        }
    }
}

/* ---- a line that is given up ---- */

static bool is_full(const tm_engine *engine, const tm_family *line) {
    uint32_t boxes = line->tree.count;
    bool is_of_limits = line->limits > onepath_lines_limits_max(engine) && line->limits > boxes / ONEPATH_LINE_LIMITS;
    bool is_of_few = boxes >= ONEPATH_LINE_BOXES && boxes / ONEPATH_LINE_FILTERS >= engine->holders->interface_count;
    return is_of_limits || is_of_few;
}

static void give_back(tm_engine *engine, const tm_family *line) {
    uint32_t bodies[GIVEN_AT_ONCE];
    uint32_t count = tm_boxes_ids(&line->tree, bodies, GIVEN_AT_ONCE);
    engine->scatters = true;
    for (uint32_t i = 0; i < count; i++) {
        if (!onepath_move_anew(engine, onepath_body_at(engine, bodies[i])->handle, false)) {
            break;
        }
    }
    engine->scatters = false;
}

void onepath_lines_settle(tm_engine *engine, const onepath_tests *tests) {
    tm_family *line = onepath_lines_find(engine, tests);
    if (line == NULL) {
        return;
    }
    line->is_leaving |= is_full(engine, line);
    if (line->is_leaving) {
        give_back(engine, line);
    } else {
        draw(engine, onepath_test_name(tests->tests[0]));
    }
}
