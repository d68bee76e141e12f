/* publishers.c - see publishers.h. */
#include "network/publishers.h"

#include <string.h>

#include "base/bits.h"
#include "base/grow.h"
#include "base/hash.h"

void tm_publishers_init(tm_publishers *publishers, tm_memory *memory, uint32_t rows_max) {
    *publishers = (tm_publishers){
        .memory = memory, .rows_max = rows_max > 0 ? rows_max : 1, .newest = PUBLISHER_NONE, .oldest = PUBLISHER_NONE};
}

static void forget_runs(tm_publishers *publishers, tm_publisher *publisher) {
    while (publisher->run_count > 0) {
        TM_DELETE(publishers->memory, TM_COLD, publisher->runs[--publisher->run_count], tm_run, 1);
    }
}

void tm_publishers_clear(tm_publishers *publishers) {
    for (uint32_t row = 0; row < publishers->count; row++) {
        forget_runs(publishers, &publishers->rows[row]);
    }
    TM_DELETE(publishers->memory, TM_COLD, publishers->rows, tm_publisher, publishers->capacity);
    tm_idset_free(&publishers->set, publishers->memory, TM_COLD);
    tm_publishers_init(publishers, publishers->memory, publishers->rows_max);
}

/* ---- the set ---- */

static uint64_t hash_of(const void *owner, uint64_t id) {
    const tm_publishers *publishers = owner;
    return tm_hash_u64(publishers->rows[id - 1].number, &publishers->memory->key);
}

static uint32_t find(const tm_publishers *publishers, uint64_t number) {
    tm_idset_search at = tm_idset_start(&publishers->set, tm_hash_u64(number, &publishers->memory->key));
    for (uint32_t id; (id = tm_idset_next(&at)) != 0;) {
        if (publishers->rows[id - 1].number == number) {
            return id - 1;
        }
    }
    return PUBLISHER_NONE;
}

static bool grow(tm_publishers *publishers) {
    uint32_t capacity = tm_next_capacity(publishers->capacity, sizeof *publishers->rows);
    capacity = capacity < publishers->rows_max ? capacity : publishers->rows_max;
    tm_publisher *rows =
        TM_RESIZE(publishers->memory, TM_COLD, publishers->rows, tm_publisher, publishers->capacity, capacity);
    if (rows == NULL) {
        return false;
    }
    publishers->rows = rows;
    publishers->capacity = capacity;
    return true;
}

/* ---- order of use ---- */

static void unlink_row(tm_publishers *publishers, uint32_t row) {
    const tm_publisher *publisher = &publishers->rows[row];
    if (publisher->newer != PUBLISHER_NONE) {
        publishers->rows[publisher->newer].older = publisher->older;
    } else {
        publishers->newest = publisher->older;
    }
    if (publisher->older != PUBLISHER_NONE) {
        publishers->rows[publisher->older].newer = publisher->newer;
    } else {
        publishers->oldest = publisher->newer;
    }
}

static void link_newest(tm_publishers *publishers, uint32_t row) {
    publishers->rows[row].newer = PUBLISHER_NONE;
    publishers->rows[row].older = publishers->newest;
    if (publishers->newest != PUBLISHER_NONE) {
        publishers->rows[publishers->newest].newer = row;
    } else {
        publishers->oldest = row;
    }
    publishers->newest = row;
}

/* Return a row for a new publisher: a free one, or that of the publisher quiet longest; PUBLISHER_NONE: no memory. */
static uint32_t new_row(tm_publishers *publishers, uint64_t number) {
    if (tm_idset_reserve(&publishers->set, publishers->memory, TM_COLD, hash_of, publishers) != TM_OK ||
        (publishers->count == publishers->capacity && publishers->count < publishers->rows_max && !grow(publishers))) {
        return PUBLISHER_NONE;
    }
    uint32_t row = publishers->count;
    if (row < publishers->capacity) {
        publishers->count++;
    } else {
        row = publishers->oldest;
        unlink_row(publishers, row);
        tm_idset_remove(&publishers->set, hash_of(publishers, row + 1), row + 1, hash_of, publishers);
        forget_runs(publishers, &publishers->rows[row]);
    }
    publishers->rows[row] = (tm_publisher){.number = number};
    tm_idset_insert(&publishers->set, tm_hash_u64(number, &publishers->memory->key), row + 1);
    link_newest(publishers, row);
    return row;
}

/* Return a publisher and make it the most recently used; NULL: no memory. */
static tm_publisher *use(tm_publishers *publishers, uint64_t number, uint32_t *row) {
    if (*row >= publishers->count || publishers->rows[*row].number != number) {
        *row = find(publishers, number);
        *row = *row == PUBLISHER_NONE ? new_row(publishers, number) : *row;
    }
    if (*row == PUBLISHER_NONE) {
        return NULL;
    }
    if (publishers->newest != *row) {
        unlink_row(publishers, *row);
        link_newest(publishers, *row);
    }
    return &publishers->rows[*row];
}

/* ---- runs ---- */

static inline bool has(const tm_run *run, tm_mark mark, uint64_t counter) {
    uint32_t place = (uint32_t)(counter % PUBLISHER_WINDOW);
    return tm_bit_at(run->seen[mark], place);
}

/* Clear the bits of the counters after `highest` up to `counter`, which stem from counters that left the window. */
static void forget_places(tm_run *run, uint64_t counter) {
    if (counter - run->highest >= PUBLISHER_WINDOW) {
        memset(run->seen, 0, sizeof run->seen);
        return;
    }
    for (uint64_t left = counter - run->highest; left > 0; left--) {
        uint32_t place = (uint32_t)((run->highest + left) % PUBLISHER_WINDOW);
        for (unsigned mark = 0; mark < MARKS; mark++) {
            tm_bit_clear(run->seen[mark], place);
        }
    }
}

/* Extend a run to `counter`, at most RUN_REACH above it; false: the counter is below its window. */
static bool reach(tm_run *run, uint64_t counter) {
    if (counter > run->highest) {
        forget_places(run, counter);
        run->highest = counter;
        return true;
    }
    run->first = counter < run->first ? counter : run->first;
    return run->highest - counter < PUBLISHER_WINDOW;
}

static bool mark(tm_run *run, tm_mark mark, uint64_t counter) {
    uint32_t place = (uint32_t)(counter % PUBLISHER_WINDOW);
    bool is_fresh = !tm_bit_at(run->seen[mark], place);
    tm_bit_set(run->seen[mark], place);
    return is_fresh;
}

/* Return the run that contains the counter, precedes it or begins just above it; RUNS_MAX: it begins a new one. */
static uint32_t run_of(const tm_publisher *publisher, uint64_t counter) {
    uint32_t below = RUNS_MAX;
    uint32_t above = RUNS_MAX;
    for (uint32_t i = 0; i < publisher->run_count; i++) {
        const tm_run *run = publisher->runs[i];
        if (run->first <= counter && counter <= run->highest) {
            return i;
        }
        if (run->highest < counter) {
            below = below == RUNS_MAX || run->highest > publisher->runs[below]->highest ? i : below;
        } else {
            above = above == RUNS_MAX || run->first < publisher->runs[above]->first ? i : above;
        }
    }
    if (below < RUNS_MAX && counter - publisher->runs[below]->highest <= RUN_REACH) {
        return below;
    }
    bool is_just_below = above < RUNS_MAX && publisher->runs[above]->highest - counter < PUBLISHER_WINDOW;
    return is_just_below ? above : RUNS_MAX;
}

/* Begin a run at `counter`, in place of the least recently used one at RUNS_MAX; NULL: no memory. */
static tm_run *begin_run(tm_publishers *publishers, tm_publisher *publisher, uint64_t counter) {
    tm_run *run = publisher->run_count == RUNS_MAX ? publisher->runs[RUNS_MAX - 1]
                                                   : TM_NEW(publishers->memory, TM_COLD, tm_run, 1);
    if (run == NULL) {
        return NULL;
    }
    publisher->run_count += publisher->run_count < RUNS_MAX;
    memset(run, 0, sizeof *run);
    run->first = counter;
    run->highest = counter;
    publisher->runs[publisher->run_count - 1] = run;
    return run;
}

/* Return the run of a counter, made if needed, as the most recently used one; NULL: no memory. */
static tm_run *use_run(tm_publishers *publishers, tm_publisher *publisher, uint64_t counter) {
    uint32_t at = run_of(publisher, counter);
    if (at == RUNS_MAX) {
        if (begin_run(publishers, publisher, counter) == NULL) {
            return NULL;
        }
        at = publisher->run_count - 1;
    }
    tm_run *run = publisher->runs[at];
    for (; at > 0; at--) {
        publisher->runs[at] = publisher->runs[at - 1];
    }
    publisher->runs[0] = run;
    return run;
}

/* Return the run whose window contains a counter; NULL: there is none. */
static tm_run *window_of(const tm_publishers *publishers, uint64_t number, uint64_t counter) {
    uint32_t row = find(publishers, number);
    uint32_t at = row != PUBLISHER_NONE ? run_of(&publishers->rows[row], counter) : RUNS_MAX;
    tm_run *run = at < RUNS_MAX ? publishers->rows[row].runs[at] : NULL;
    bool is_inside =
        run != NULL && run->first <= counter && counter <= run->highest && run->highest - counter < PUBLISHER_WINDOW;
    return is_inside ? run : NULL;
}

static void clear_mark(tm_publishers *publishers, uint64_t number, uint64_t counter, tm_mark mark) {
    tm_run *run = window_of(publishers, number, counter);
    if (run != NULL) {
        tm_bit_clear(run->seen[mark], (uint32_t)(counter % PUBLISHER_WINDOW));
    }
}

void tm_publishers_withdraw(tm_publishers *publishers, uint64_t number, uint64_t counter) {
    clear_mark(publishers, number, counter, MARK_ENTERED);
    clear_mark(publishers, number, counter, MARK_DELIVERED);
}

void tm_publishers_note_stored(tm_publishers *publishers, uint64_t number, uint64_t counter) {
    clear_mark(publishers, number, counter, MARK_DELIVERED);
}

void tm_publishers_note_moved(tm_publishers *publishers, uint64_t number, uint64_t counter) {
    clear_mark(publishers, number, counter, MARK_ENTERED);
}

tm_storage tm_publishers_stored(const tm_publishers *publishers, uint64_t number, uint64_t counter) {
    const tm_run *run = window_of(publishers, number, counter);
    if (run == NULL || !has(run, MARK_ENTERED, counter)) {
        return STORED_UNKNOWN;
    }
    return has(run, MARK_DELIVERED, counter) ? STORED_NOT : STORED;
}

/* ---- messages ---- */

static uint64_t newest_of(const tm_publisher *publisher, uint64_t believable) {
    uint64_t newest = 0;
    for (uint32_t i = 0; i < publisher->run_count; i++) {
        uint64_t highest = publisher->runs[i]->highest;
        newest = highest > newest && highest <= believable ? highest : newest;
    }
    return newest;
}

/* Fast path: mark the next counter of a publisher with one run, which cannot be a duplicate, as delivered and, if
 * `enters`, as entered; false: it does not apply. */
static inline bool take_next(tm_publisher *publisher, uint64_t counter, bool enters) {
    if (publisher->run_count != 1 || counter != publisher->runs[0]->highest + 1) {
        return false;
    }
    tm_run *run = publisher->runs[0];
    uint32_t place = (uint32_t)(counter % PUBLISHER_WINDOW);
    uint64_t bit = UINT64_C(1) << (place % 64);
    run->highest = counter;
    uint64_t *entered = &run->seen[MARK_ENTERED][place / 64];
    *entered = enters ? *entered | bit : *entered & ~bit; /* clears the bit of the counter that left the window */
    run->seen[MARK_DELIVERED][place / 64] |= bit;
    return true;
}

tm_counter tm_publishers_enter(tm_publishers *publishers, uint64_t number, uint64_t counter, uint64_t believable,
                               uint32_t *row) {
    tm_publisher *publisher = use(publishers, number, row);
    if (publisher == NULL) {
        return COUNTER_NO_MEMORY;
    }
    if (take_next(publisher, counter, true)) {
        return COUNTER_NEW;
    }
    uint64_t newest = newest_of(publisher, believable);
    if (newest > counter && newest - counter >= PUBLISHER_WINDOW) {
        uint32_t at = run_of(publisher, counter);
        const tm_run *known = at < RUNS_MAX ? publisher->runs[at] : NULL;
        bool is_exact = known != NULL && counter <= known->highest && known->highest - counter < PUBLISHER_WINDOW;
        return is_exact && has(known, MARK_ENTERED, counter) ? COUNTER_DUPLICATE : COUNTER_TOO_OLD;
    }
    tm_run *run = use_run(publishers, publisher, counter);
    if (run == NULL) {
        return COUNTER_NO_MEMORY;
    }
    if (!reach(run, counter) || !mark(run, MARK_ENTERED, counter)) {
        return COUNTER_DUPLICATE;
    }
    return mark(run, MARK_DELIVERED, counter) ? COUNTER_NEW : COUNTER_NEW_BUT_DELIVERED;
}

bool tm_publishers_deliver(tm_publishers *publishers, uint64_t number, uint64_t counter, bool *fresh) {
    uint32_t row = publishers->newest; /* a guess: messages of one publisher often arrive consecutively */
    tm_publisher *publisher = use(publishers, number, &row);
    if (publisher != NULL && take_next(publisher, counter, false)) {
        *fresh = true;
        return true;
    }
    tm_run *run = publisher == NULL ? NULL : use_run(publishers, publisher, counter);
    if (run == NULL) {
        return false;
    }
    *fresh = reach(run, counter) && !has(run, MARK_ENTERED, counter) && mark(run, MARK_DELIVERED, counter);
    return true;
}

uint64_t tm_publishers_newest(const tm_publishers *publishers, uint64_t number, uint64_t believable) {
    uint32_t row = find(publishers, number);
    return row == PUBLISHER_NONE ? 0 : newest_of(&publishers->rows[row], believable);
}

bool tm_publishers_are_sound(const tm_publishers *publishers) {
    uint32_t linked = 0;
    for (uint32_t row = publishers->newest; row != PUBLISHER_NONE; row = publishers->rows[row].older) {
        const tm_publisher *publisher = &publishers->rows[row];
        if (++linked > publishers->count || find(publishers, publisher->number) != row ||
            publisher->run_count > RUNS_MAX) {
            return false;
        }
        for (uint32_t i = 0; i < publisher->run_count; i++) {
            for (uint32_t j = 0; j < publisher->run_count; j++) {
                const tm_run *one = publisher->runs[i];
                const tm_run *other = publisher->runs[j];
                if (one->first > one->highest ||
                    (i != j && one->first <= other->highest && other->first <= one->highest)) {
                    return false;
                }
            }
        }
    }
    return linked == publishers->count && linked == publishers->set.count;
}
