/* counts.c - see counts.h.
 *
 * Law: the newest counts of a subscription are valid. A dead letter behind them is counted by its own record, which
 * stays in the log until counts include it: the subscription that got it writes no acknowledgement before that.
 */
#include "durable/start/counts.h"

#include <stdlib.h>

#include "base/grow.h"
#include "durable/core/table.h"
#include "durable/messages/leave.h"
#include "durable/messages/losses.h"

#define WAYS_BEFORE LEFT_SKIPPED /* outcomes of counts that were written before messages could be skipped */

/* The form of these counts on disk. */
typedef struct counts_before {
    uint64_t durable;
    uint64_t left[WAYS_BEFORE];
    uint64_t bytes[WAYS_BEFORE];
    uint64_t unknowns;
    uint64_t unknown_first;
    uint64_t unknown_last;
} counts_before;

/* ---- counts ---- */

static bool read_counts(const tm_log_record *record, const uint8_t *body, tm_durable_counts *counts) {
    if (record->kind != TM_LOG_DEAD_LETTER) {
        return false;
    }
    if (record->body_size == sizeof(tm_log_done) + sizeof *counts) {
        memcpy(counts, body + sizeof(tm_log_done), sizeof *counts);
        return true;
    }
    if (record->body_size != sizeof(tm_log_done) + sizeof(counts_before)) {
        return false;
    }
    counts_before before;
    memcpy(&before, body + sizeof(tm_log_done), sizeof before);
    *counts = (tm_durable_counts){.durable = before.durable,
                                  .unknowns = before.unknowns,
                                  .unknown_first = before.unknown_first,
                                  .unknown_last = before.unknown_last};
    memcpy(counts->left, before.left, sizeof before.left);
    memcpy(counts->bytes, before.bytes, sizeof before.bytes);
    return true;
}

bool durable_note_counts(tm_switch *sw, const tm_log_record *record, const uint8_t *body) {
    tm_durables *durables = sw->durables;
    tm_catalog_counts found = {.n = record->n};
    if (!read_counts(record, body, &found.counts)) {
        return true;
    }
    if (!tm_grow(&durables->memory, TM_COLD, &durables->counts, sizeof *durables->counts, &durables->counts_capacity,
                 durables->counts_count + 1)) {
        return false;
    }
    durables->counts[durables->counts_count++] = found;
    durables->has_order = false;
    return true;
}

static int compare_counts(const void *one, const void *other) {
    const tm_catalog_counts *a = one;
    const tm_catalog_counts *b = other;
    int by_durable = (a->counts.durable > b->counts.durable) - (a->counts.durable < b->counts.durable);
    return by_durable != 0 ? by_durable : (a->n > b->n) - (a->n < b->n);
}

/* Return the index of the first counts of a subscription, or where they would be. */
static uint32_t first_counts(tm_durables *durables, uint64_t number) {
    if (!durables->has_order && durables->counts_count > 0) {
        qsort(durables->counts, durables->counts_count, sizeof *durables->counts, compare_counts);
    }
    durables->has_order = true;
    uint32_t low = 0;
    uint32_t high = durables->counts_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (durables->counts[middle].counts.durable < number) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* Return the number of the newest counts of a subscription; 0: there are none. */
static uint64_t newest_counts(tm_durables *durables, uint64_t number) {
    uint64_t n = 0;
    for (uint32_t i = first_counts(durables, number);
         i < durables->counts_count && durables->counts[i].counts.durable == number; i++) {
        n = durables->counts[i].n;
    }
    return n;
}

/* ---- dead letters ---- */

/* Count more dead letters and have the counts written; false: no memory. */
static bool count_dead_letters(tm_switch *sw, tm_durable *durable, uint64_t count, uint64_t bytes) {
    if (!durable_reserve_loss(sw, durable)) {
        return false;
    }
    durable->appended += count;
    durable->account->counts.left[LEFT_DEAD] += count;
    durable->account->counts.bytes[LEFT_DEAD] += bytes;
    durable_note_counts_due(sw, durable);
    return true;
}

/* Return the index of the dead letters of a subscription, or the index at which to insert them. */
static uint32_t dead_letters_at(const tm_durables *durables, uint64_t number) {
    uint32_t low = 0;
    uint32_t high = durables->dead_letter_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (durables->dead_letters[middle].durable < number) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* Count one dead letter of a subscription that is not open yet; false if out of memory. */
static bool put_off(tm_durables *durables, uint64_t number, uint32_t size) {
    uint32_t at = dead_letters_at(durables, number);
    if (at == durables->dead_letter_count || durables->dead_letters[at].durable != number) {
        if (!tm_grow(&durables->memory, TM_COLD, &durables->dead_letters, sizeof *durables->dead_letters,
                     &durables->dead_letter_capacity, durables->dead_letter_count + 1)) {
            return false;
        }
        memmove(durables->dead_letters + at + 1, durables->dead_letters + at,
                (durables->dead_letter_count - at) * sizeof *durables->dead_letters);
        durables->dead_letters[at] = (tm_catalog_dead_letters){.durable = number};
        durables->dead_letter_count++;
    }
    durables->dead_letters[at].count++;
    durables->dead_letters[at].bytes += size;
    return true;
}

bool durable_fold_dead_letter(tm_switch *sw, const tm_log_record *record, const uint8_t *body, uint32_t size) {
    tm_durables *durables = sw->durables;
    tm_log_done done;
    memcpy(&done, body, sizeof done);
    if (record->n <= newest_counts(durables, done.holder)) {
        return true;
    }
    uint32_t from = durable_slot(sw, (uint32_t)done.holder);
    if (from == DURABLE_NONE) {
        return put_off(durables, done.holder, size);
    }
    durable_make_due(sw, from);
    return count_dead_letters(sw, durable_at(sw, from), 1, size);
}

/* ---- opening a subscription ---- */

bool durable_take_counts(tm_switch *sw, tm_durable *durable) {
    tm_durables *durables = sw->durables;
    for (uint32_t i = first_counts(durables, durable->number);
         i < durables->counts_count && durables->counts[i].counts.durable == durable->number; i++) {
        if (!durable_open_account(sw, durable)) {
            return false;
        }
        tm_durable_account *account = durable->account;
        if (account->counts_n != 0) {
            durable_retire_catalog(sw,
                                   account->counts_n); /* a crash came between it and the retirement by its successor */
        }
        account->counts = durables->counts[i].counts;
        account->counts_n = durables->counts[i].n;
        memcpy(account->told, account->counts.left, sizeof account->told);
        account->told_unknowns = account->counts.unknowns;
    }
    for (unsigned how = 0; how < LEFT_WAYS; how++) {
        durable->appended += durable_account(durable)->counts.left[how];
    }
    uint32_t at = dead_letters_at(durables, durable->number);
    bool has_dead_letters = at < durables->dead_letter_count && durables->dead_letters[at].durable == durable->number;
    return !has_dead_letters ||
           count_dead_letters(sw, durable, durables->dead_letters[at].count, durables->dead_letters[at].bytes);
}
