/* intervals.c - filters of several bounds on one key, found by the value that lies between.
 *
 * Law: an interval stands in the run of its width, sorted by its lower end. One that reaches a value has its lower end
 * no further below it than its width, so that of a run only a stretch is looked at; the narrower half of it apart, all
 * of the stretch is found, whatever stands elsewhere. Ends are places on the grid: a value on it is decided by them
 * alone, one off it leaves a doubt where an end is its own place or the next, and there the tests decide.
 *
 *     width 3 bits (4 to 7)     [10 15] [12 16] [30 37]          value 14: lower ends from 7 to 14
 *     width 5 bits (16 to 31)   [0 20]  [11 40]                            lower ends from -17 to 14
 */
#include <string.h>

#include "engines/onepath/engine.h"

#define WIDTHS_MIN 2U

/* ---- ends ---- */

/* A bound as its constant, and whether it lies above or below what it admits. */
typedef struct end {
    int64_t place;
    bool on_grid;
    bool is_low;
    bool is_strict;
} end;

/* Codes between two integers are strict bounds; see compile.c. */
static end end_of_code(int32_t code, bool is_low) {
    bool is_strict = code % 2 != 0;
    int64_t integer = (code + (is_strict ? (is_low ? INT64_C(-1) : INT64_C(1)) : 0)) / 2;
    end found = {.is_low = is_low, .is_strict = is_strict};
    found.on_grid = tm_grid_of_number(integer, 0, false, &found.place);
    return found;
}

static end end_of_wide(const tamis_string *number, unsigned op) {
    int64_t integer;
    double real;
    bool is_real = tamis_number_of_bytes(tamis_string_text(number), &integer, &real);
    end found = {.is_low = op >= TAMIS_WIDE_GT, .is_strict = op == TAMIS_WIDE_LT || op == TAMIS_WIDE_GT};
    found.on_grid = tm_grid_of_number(integer, real, is_real, &found.place);
    return found;
}

static end end_of(const tm_engine *engine, tamis_test test) {
    unsigned op = tamis_test_op(test);
    if (op >= TAMIS_STRING_EQ) {
        const tamis_string *string = &engine->strings.records[tamis_test_operand(test)];
        return (end){.place = tm_grid_of_text(tamis_string_text(string), string->length),
                     .is_low = op >= TAMIS_STRING_GT};
    }
    return tamis_op_is_wide(op) ? end_of_wide(&engine->numbers.records[tamis_test_operand(test)], op)
                                : end_of_code((int32_t)tamis_test_operand(test), op == TAMIS_NUMBER_GE);
}

bool tamis_is_bound(tamis_test test) {
    unsigned op = tamis_test_op(test);
    bool is_bound = tamis_op_is_wide(op) || op == TAMIS_NUMBER_LE || op == TAMIS_NUMBER_GE ||
                    (op >= TAMIS_STRING_LT && op <= TAMIS_STRING_GE);
    return is_bound && !tamis_test_negated(test);
}

tamis_interval tamis_interval_of(const tm_engine *engine, const tamis_tests *tests) {
    tamis_interval all = {INT64_MIN, INT64_MAX};
    for (uint32_t i = 0; i < tests->count; i++) {
        end at = end_of(engine, tests->tests[i]);
        if (at.is_low) { /* above a constant off the grid lies only the next place for certain */
            int64_t low = at.place + (at.is_strict || !at.on_grid);
            all.low = low > all.low ? low : all.low;
        } else {
            int64_t high = at.place - (at.is_strict && at.on_grid);
            all.high = high < all.high ? high : all.high;
        }
    }
    return all;
}

/* ---- widths ---- */

/* The first width of at least so many bits. */
static uint32_t rank_of(const tamis_intervals *intervals, unsigned bits) {
    uint32_t at = 0;
    while (at < intervals->count && intervals->widths[at].bits < bits) {
        at++;
    }
    return at;
}

static bool reserve_width(tm_memory *memory, tamis_intervals *intervals) {
    if (intervals->count < intervals->capacity) {
        return true;
    }
    uint32_t capacity = intervals->capacity + intervals->capacity / 2 + WIDTHS_MIN;
    tamis_width *widths = TM_RESIZE(memory, TM_HOT, intervals->widths, tamis_width, intervals->capacity, capacity);
    if (widths == NULL) {
        return false;
    }
    intervals->widths = widths;
    intervals->capacity = capacity;
    return true;
}

static void drop_width(tm_memory *memory, tamis_intervals *intervals, uint32_t at) {
    tamis_run_clear(memory, &intervals->widths[at].run);
    intervals->count--;
    memmove(intervals->widths + at, intervals->widths + at + 1, sizeof *intervals->widths * (intervals->count - at));
}

bool tamis_intervals_add(tm_memory *memory, tamis_intervals *intervals, tamis_interval interval, tamis_single single) {
    unsigned bits = tm_grid_width(interval.low, interval.high);
    uint32_t at = rank_of(intervals, bits);
    if (at == intervals->count || intervals->widths[at].bits != bits) {
        if (!reserve_width(memory, intervals)) {
            return false;
        }
        memmove(intervals->widths + at + 1, intervals->widths + at,
                sizeof *intervals->widths * (intervals->count - at));
        intervals->widths[at] = (tamis_width){.bits = bits};
        intervals->count++;
    }
    if (!tamis_run_add_interval(memory, &intervals->widths[at].run, interval, single)) {
        if (intervals->widths[at].run.count == 0) {
            drop_width(memory, intervals, at);
        }
        return false;
    }
    return true;
}

void tamis_intervals_remove(tm_memory *memory, tamis_intervals *intervals, tamis_interval interval,
                            tamis_single single) {
    uint32_t at = rank_of(intervals, tm_grid_width(interval.low, interval.high));
    tamis_run_remove(memory, &intervals->widths[at].run, interval.low, single, NULL);
    if (intervals->widths[at].run.count == 0) {
        drop_width(memory, intervals, at);
    }
}

void tamis_intervals_clear(tm_memory *memory, tamis_intervals *intervals) {
    while (intervals->count > 0) {
        drop_width(memory, intervals, intervals->count - 1);
    }
    TM_DELETE(memory, TM_HOT, intervals->widths, tamis_width, intervals->capacity);
    *intervals = (tamis_intervals){0};
}

static int validate_width(const tamis_width *width, const char **reason) {
    for (uint32_t at = 0; at < width->run.count; at++) {
        const tamis_chunk *chunk = &width->run.chunks[at];
        for (uint32_t row = 0; row < chunk->count; row++) {
            if (chunk->highs == NULL || tm_grid_width(chunk->bounds[row], chunk->highs[row]) != width->bits) {
                *reason = "an interval stands among others of another width";
                return TM_MISUSED;
            }
        }
    }
    return tamis_run_validate(&width->run, NULL, reason);
}

int tamis_intervals_validate(const tamis_intervals *intervals, const char **reason) {
    int result = TM_OK;
    for (uint32_t at = 0; at < intervals->count && result == TM_OK; at++) {
        if (intervals->widths[at].run.count == 0 ||
            (at > 0 && intervals->widths[at - 1].bits >= intervals->widths[at].bits)) {
            *reason = "widths of intervals are out of order or kept for nothing";
            return TM_MISUSED;
        }
        result = validate_width(&intervals->widths[at], reason);
    }
    return result;
}
