/* held.c - see held.h. */
#include "durable/tables/held.h"

#include <string.h>

#include "base/grow.h"
#include "base/hash.h"

#define MOVES_A_MARK 8U /* at most, to drop the marks of answered messages */

/* ---- messages by id ---- */

static uint64_t hash_of_id(const tm_held_all *all, uint64_t origin, uint64_t counter) {
    return tm_hash_words(origin, counter, 0, &all->memory->key);
}

static uint64_t hash_of(const void *owner, uint64_t id) {
    const tm_held_all *all = owner;
    return hash_of_id(all, all->rows[id - 1].origin, all->rows[id - 1].counter);
}

uint32_t tm_held_find(const tm_held_all *all, uint64_t origin, uint64_t counter) {
    tm_idset_search search = tm_idset_start(&all->set, hash_of_id(all, origin, counter));
    for (uint32_t id = tm_idset_next(&search); id != 0; id = tm_idset_next(&search)) {
        if (all->rows[id - 1].origin == origin && all->rows[id - 1].counter == counter) {
            return id - 1;
        }
    }
    return HELD_NONE;
}

uint32_t tm_held_begin(tm_held_all *all, const tm_held *message) {
    uint32_t row = all->live < all->count ? all->free : all->count;
    if (!tm_grow(all->memory, TM_COLD, &all->rows, sizeof *all->rows, &all->capacity, row + 1) ||
        tm_idset_reserve(&all->set, all->memory, TM_COLD, hash_of, all) != TM_OK) {
        return HELD_NONE;
    }
    if (row == all->count) {
        all->count++;
    } else {
        all->free = all->rows[row].connection;
    }
    all->rows[row] = *message;
    all->rows[row].left = all->rows[row].waits = 0;
    all->rows[row].reached = all->rows[row].lost = 0;
    all->rows[row].is_answered = false;
    all->live++;
    tm_idset_insert(&all->set, hash_of(all, row + 1), row + 1);
    return row;
}

static void answer(tm_held_all *all, uint32_t row) {
    if (!all->rows[row].is_answered) {
        tm_idset_remove(&all->set, hash_of(all, row + 1), row + 1, hash_of, all);
        all->rows[row].is_answered = true;
    }
}

static void end_row(tm_held_all *all, uint32_t row) {
    answer(all, row);
    all->rows[row].connection = all->free;
    all->free = row;
    all->live--;
}

/* ---- claims ---- */

static bool have_enough(const tm_held *message, uint16_t places) {
    uint32_t met = 0;
    while (met < message->claim_count &&
           __builtin_popcount(message->claims[met].places & places) >= message->claims[met].needed) {
        met++;
    }
    return met == message->claim_count;
}

static bool is_held(const tm_held *message) {
    return message->waits == 0 && have_enough(message, message->reached);
}

/* Note that a disk does not get a message; false: its claims cannot be met now. */
static bool lose(tm_held *message, uint32_t place) {
    if (place == HELD_NO_PLACE) {
        return false;
    }
    message->lost |= (uint16_t)(1U << place);
    return have_enough(message, (uint16_t)~message->lost);
}

/* ---- marks ---- */

/* Drop the marks of messages that are answered. */
static void drop_answered(tm_held_all *all, tm_held_queue *queue) {
    uint32_t end = 0;
    for (uint32_t at = queue->first; at < queue->end; at++) {
        tm_held_mark mark = queue->marks[at];
        if (!all->rows[mark.row].is_answered) {
            queue->marks[end++] = mark;
            continue;
        }
        all->marks--;
        if (--all->rows[mark.row].left == 0) {
            end_row(all, mark.row);
        }
    }
    queue->first = 0;
    queue->end = end;
    queue->rest = end / MOVES_A_MARK;
}

static bool has_part(const tm_held_all *all, const tm_held_queue *queue) {
    return all->marks < all->marks_max && queue->end - queue->first <= (all->marks_max - all->marks) / 2;
}

/* Make room for one more mark; false: the queue has its part of them, or no memory. */
static bool reserve(tm_held_all *all, tm_held_queue *queue) {
    queue->rest -= queue->rest > 0;
    if (queue->rest == 0 && (queue->end == queue->capacity || !has_part(all, queue))) {
        drop_answered(all, queue);
    }
    if (!has_part(all, queue)) {
        return false;
    }
    return queue->end < queue->capacity ||
           tm_grow(all->memory, TM_COLD, &queue->marks, sizeof *queue->marks, &queue->capacity, queue->end + 1);
}

bool tm_held_mark_at(tm_held_all *all, tm_held_queue *queue, uint64_t n, uint32_t row, uint32_t place) {
    if (!reserve(all, queue)) {
        bool needs_it = !lose(&all->rows[row], place);
        if (needs_it) {
            answer(all, row);
        }
        if (all->rows[row].left == 0) {
            end_row(all, row);
        }
        return !needs_it;
    }
    queue->marks[queue->end++] = (tm_held_mark){n, row, place};
    all->rows[row].left++;
    all->rows[row].waits += place == HELD_NO_PLACE;
    all->marks++;
    return true;
}

/* Take the first mark; return true if that meets the claims of its message, which was not answered: it is `*out`. */
static bool take_first(tm_held_all *all, tm_held_queue *queue, tm_held *out) {
    tm_held_mark mark = queue->marks[queue->first++];
    tm_held *message = &all->rows[mark.row];
    if (queue->first == queue->end) {
        queue->first = queue->end = 0;
    }
    all->marks--;
    message->left--;
    message->waits -= mark.place == HELD_NO_PLACE;
    if (mark.place != HELD_NO_PLACE) {
        message->reached |= (uint16_t)(1U << mark.place & ~message->lost);
    }
    bool is_now_held = !message->is_answered && is_held(message);
    *out = *message;
    if (is_now_held) {
        answer(all, mark.row);
    }
    if (all->rows[mark.row].left == 0) {
        end_row(all, mark.row);
    }
    return is_now_held;
}

bool tm_held_take(tm_held_all *all, tm_held_queue *queue, uint64_t n, tm_held *out) {
    while (queue->first < queue->end && queue->marks[queue->first].n <= n) {
        if (take_first(all, queue, out)) {
            return true;
        }
    }
    return false;
}

/* Return how many marks of a queue are up to number `n`. */
static uint32_t count_up_to(const tm_held_queue *queue, uint64_t n) {
    uint32_t low = queue->first;
    for (uint32_t high = queue->end; low < high;) {
        uint32_t middle = low + (high - low) / 2;
        if (queue->marks[middle].n <= n) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low - queue->first;
}

bool tm_held_lose(tm_held_all *all, tm_held_queue *queue, tm_held_loss *loss, tm_held *out) {
    loss->passed = loss->passed == 0 ? count_up_to(queue, loss->after) : loss->passed;
    while (loss->passed < queue->end - queue->first && queue->marks[queue->first + loss->passed].n <= loss->n) {
        const tm_held_mark *mark = &queue->marks[queue->first + loss->passed++];
        tm_held *message = &all->rows[mark->row];
        bool counts = !message->is_answered && (!loss->of_places || mark->place != HELD_NO_PLACE);
        if (counts && !lose(message, mark->place)) {
            *out = *message;
            answer(all, mark->row);
            return true;
        }
    }
    while (queue->first < queue->end && all->rows[queue->marks[queue->first].row].is_answered) {
        tm_held message;
        take_first(all, queue, &message);
    }
    return false;
}

/* ---- life ---- */

void tm_held_free_queue(tm_held_all *all, tm_held_queue *queue) {
    TM_DELETE(all->memory, TM_COLD, queue->marks, tm_held_mark, queue->capacity);
    *queue = (tm_held_queue){0};
}

void tm_held_clear(tm_held_all *all) {
    tm_idset_free(&all->set, all->memory, TM_COLD);
    TM_DELETE(all->memory, TM_COLD, all->rows, tm_held, all->capacity);
    *all = (tm_held_all){.memory = all->memory, .marks_max = all->marks_max};
}

bool tm_held_is_sound(const tm_held_all *all, const tm_held_queue *queue) {
    for (uint32_t at = queue->first; at < queue->end; at++) {
        const tm_held_mark *mark = &queue->marks[at];
        bool has_place = mark->place < HELD_PLACES_MAX || mark->place == HELD_NO_PLACE;
        if (mark->row >= all->count || all->rows[mark->row].left == 0 || !has_place ||
            (at > queue->first && queue->marks[at - 1].n > mark->n)) {
            return false;
        }
    }
    return queue->first <= queue->end && all->live <= all->count && all->marks <= all->marks_max &&
           tm_idset_is_sound(&all->set, hash_of, all);
}
