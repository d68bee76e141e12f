/* tally.c - see tally.h.
 *
 * Law: the newest counts of a subscription are valid. A dead letter behind them is counted by its own record, which
 * stays in the log until counts include it: the subscription that got it writes no acknowledgement before that.
 */
#include "durable/start/tally.h"

#include <stdlib.h>

#include "base/grow.h"
#include "durable/keep/table.h"
#include "durable/messages/leave.h"
#include "durable/messages/losses.h"

#define WAYS_BEFORE LEFT_SKIPPED /* outcomes of counts that were written before messages could be skipped */

/* The form of these counts on disk. */
typedef struct tally_before {
    uint64_t keep;
    uint64_t left[WAYS_BEFORE];
    uint64_t bytes[WAYS_BEFORE];
    uint64_t doubts;
    uint64_t doubt_first;
    uint64_t doubt_last;
} tally_before;

/* ---- counts ---- */

static bool read_tally(const tm_log_record *record, const uint8_t *body, tm_keep_tally *tally) {
    if (record->kind != TM_LOG_DEAD_LETTER) {
        return false;
    }
    if (record->body_size == sizeof(tm_log_done) + sizeof *tally) {
        memcpy(tally, body + sizeof(tm_log_done), sizeof *tally);
        return true;
    }
    if (record->body_size != sizeof(tm_log_done) + sizeof(tally_before)) {
        return false;
    }
    tally_before before;
    memcpy(&before, body + sizeof(tm_log_done), sizeof before);
    *tally = (tm_keep_tally){.keep = before.keep,
                             .doubts = before.doubts,
                             .doubt_first = before.doubt_first,
                             .doubt_last = before.doubt_last};
    memcpy(tally->left, before.left, sizeof before.left);
    memcpy(tally->bytes, before.bytes, sizeof before.bytes);
    return true;
}

bool keep_note_tally(tm_switch *sw, const tm_log_record *record, const uint8_t *body) {
    tm_keeps *keeps = sw->keeps;
    tm_book_tally found = {.n = record->n};
    if (!read_tally(record, body, &found.tally)) {
        return true;
    }
    if (!tm_grow(&keeps->memory, TM_COLD, &keeps->tallies, sizeof *keeps->tallies, &keeps->tally_capacity,
                 keeps->tally_count + 1)) {
        return false;
    }
    keeps->tallies[keeps->tally_count++] = found;
    keeps->has_order = false;
    return true;
}

static int compare_tallies(const void *one, const void *other) {
    const tm_book_tally *a = one;
    const tm_book_tally *b = other;
    int by_keep = (a->tally.keep > b->tally.keep) - (a->tally.keep < b->tally.keep);
    return by_keep != 0 ? by_keep : (a->n > b->n) - (a->n < b->n);
}

/* Return the index of the first counts of a subscription, or where they would be. */
static uint32_t first_tally(tm_keeps *keeps, uint64_t number) {
    if (!keeps->has_order && keeps->tally_count > 0) {
        qsort(keeps->tallies, keeps->tally_count, sizeof *keeps->tallies, compare_tallies);
    }
    keeps->has_order = true;
    uint32_t low = 0;
    uint32_t high = keeps->tally_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (keeps->tallies[middle].tally.keep < number) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* Return the number of the newest counts of a subscription; 0: there are none. */
static uint64_t newest_tally(tm_keeps *keeps, uint64_t number) {
    uint64_t n = 0;
    for (uint32_t i = first_tally(keeps, number); i < keeps->tally_count && keeps->tallies[i].tally.keep == number;
         i++) {
        n = keeps->tallies[i].n;
    }
    return n;
}

/* ---- dead letters ---- */

/* Count more dead letters and have the counts written; false: no memory. */
static bool count_letters(tm_switch *sw, tm_keep *keep, uint64_t count, uint64_t bytes) {
    if (!keep_reserve_loss(sw, keep)) {
        return false;
    }
    keep->appended += count;
    keep->account->tally.left[LEFT_DEAD] += count;
    keep->account->tally.bytes[LEFT_DEAD] += bytes;
    keep_note_tally_due(sw, keep);
    return true;
}

/* Return the index of the letters of a subscription, or where they would be. */
static uint32_t letters_at(const tm_keeps *keeps, uint64_t number) {
    uint32_t low = 0;
    uint32_t high = keeps->letter_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (keeps->letters[middle].keep < number) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* Count one letter of a subscription that is not open yet; false: no memory. */
static bool put_off(tm_keeps *keeps, uint64_t number, uint32_t size) {
    uint32_t at = letters_at(keeps, number);
    if (at == keeps->letter_count || keeps->letters[at].keep != number) {
        if (!tm_grow(&keeps->memory, TM_COLD, &keeps->letters, sizeof *keeps->letters, &keeps->letter_capacity,
                     keeps->letter_count + 1)) {
            return false;
        }
        memmove(keeps->letters + at + 1, keeps->letters + at, (keeps->letter_count - at) * sizeof *keeps->letters);
        keeps->letters[at] = (tm_book_letters){.keep = number};
        keeps->letter_count++;
    }
    keeps->letters[at].count++;
    keeps->letters[at].bytes += size;
    return true;
}

bool keep_fold_letter(tm_switch *sw, const tm_log_record *record, const uint8_t *body, uint32_t size) {
    tm_keeps *keeps = sw->keeps;
    tm_log_done done;
    memcpy(&done, body, sizeof done);
    if (record->n <= newest_tally(keeps, done.holder)) {
        return true;
    }
    uint32_t from = keep_slot(sw, (uint32_t)done.holder);
    if (from == KEEP_NONE) {
        return put_off(keeps, done.holder, size);
    }
    keep_make_due(sw, from);
    return count_letters(sw, keep_at(sw, from), 1, size);
}

/* ---- opening a subscription ---- */

bool keep_take_tally(tm_switch *sw, tm_keep *keep) {
    tm_keeps *keeps = sw->keeps;
    for (uint32_t i = first_tally(keeps, keep->number);
         i < keeps->tally_count && keeps->tallies[i].tally.keep == keep->number; i++) {
        if (!keep_open_account(sw, keep)) {
            return false;
        }
        tm_keep_account *account = keep->account;
        if (account->tally_n != 0) {
            keep_retire_book(sw, account->tally_n); /* a crash came between it and the retirement by its successor */
        }
        account->tally = keeps->tallies[i].tally;
        account->tally_n = keeps->tallies[i].n;
        memcpy(account->told, account->tally.left, sizeof account->told);
        account->told_doubts = account->tally.doubts;
    }
    for (unsigned how = 0; how < LEFT_WAYS; how++) {
        keep->appended += keep_account(keep)->tally.left[how];
    }
    uint32_t at = letters_at(keeps, keep->number);
    bool has_letters = at < keeps->letter_count && keeps->letters[at].keep == keep->number;
    return !has_letters || count_letters(sw, keep, keeps->letters[at].count, keeps->letters[at].bytes);
}
