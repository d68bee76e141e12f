/* keep_life.c - a keep is opened, gets its filters and its messages, is forgotten.
 *
 * Law: a keep has in memory a row for each message that it has on disk, so what it needs in memory is asked for before
 * the record is appended.
 */
#include "base/grow.h"
#include "switch/keeps.h"

/* ---- keys ---- */

/* A value as a number that is equal for equal values; others meet once in 2^64. 0: there is none. */
static uint64_t key_of(const tm_keeps *keeps, const tm_attribute *attribute) {
    uint64_t kind = (uint64_t)attribute->kind + 1;
    uint64_t bits = (uint64_t)attribute->integer;
    if (attribute->kind == TM_KIND_STRING) {
        bits = tm_hash_text(attribute->string, attribute->length, &keeps->memory.key) ^ attribute->length;
    } else if (attribute->kind == TM_KIND_FLOAT) {
        memcpy(&bits, &attribute->real, sizeof bits);
    }
    return tm_hash_words(bits, kind, 0, &keeps->memory.key) | 1;
}

static uint64_t key_named(const tm_keeps *keeps, const tm_attribute *attributes, size_t count, const uint8_t *name,
                          uint32_t size) {
    for (size_t i = 0; size > 0 && i < count; i++) {
        if (attributes[i].name_length == size && memcmp(attributes[i].name, name, size) == 0) {
            return key_of(keeps, &attributes[i]);
        }
    }
    return 0;
}

tm_kept keep_row(const tm_switch *sw, const tm_keep *keep, uint64_t n, uint64_t at_ms, const uint8_t *frame,
                 uint32_t size, tm_kept_keys *keys) {
    const tm_keep_terms *terms = keep->terms;
    tm_kept row = {.n = n,
                   .place = KEPT_NO_PLACE,
                   .at_ms = at_ms,
                   .size = size,
                   .tried = KEPT_NO_TRY,
                   .is_recorded = keep_is_recorded(sw, frame)};
    *keys = (tm_kept_keys){0};
    wire_expiry_ms(frame, size, &keys->expires_ms);
    if (terms->order_by_size + terms->latest_by_size > 0) {
        tm_attribute attributes[TM_ATTRIBUTES_MAX];
        size_t count = keep_attributes_of(frame, attributes);
        keys->order_key = key_named(sw->keeps, attributes, count, terms->order_by, terms->order_by_size);
        keys->latest_key = key_named(sw->keeps, attributes, count, terms->latest_by, terms->latest_by_size);
    }
    return row;
}

/* ---- the newest of each value ---- */

static uint64_t latest_hash(const void *owner, uint64_t n) {
    const tm_keep *keep = owner;
    const tm_kept *row = tm_index_find(&keep->index, n);
    return row != NULL ? tm_index_keys(&keep->index, row)->latest_key : 0;
}

void keep_forget_latest(tm_keep *keep, const tm_kept *row) {
    uint64_t key = tm_index_keys(&keep->index, row)->latest_key;
    tm_idset_search search = tm_idset_start(&keep->account->latest, key);
    for (uint64_t n = tm_idset_next_word(&search); key != 0 && n != 0; n = tm_idset_next_word(&search)) {
        if (n == row->n) {
            tm_idset_remove(&keep->account->latest, key, n, latest_hash, keep);
            return;
        }
    }
}

static uint64_t find_latest(const tm_keep *keep, uint64_t key) {
    tm_idset_search search = tm_idset_start(&keep->account->latest, key);
    for (uint64_t n = tm_idset_next_word(&search); n != 0; n = tm_idset_next_word(&search)) {
        if (latest_hash(keep, n) == key) {
            return n;
        }
    }
    return 0;
}

int tm_keep_newest(const tm_switch *sw, uint32_t number, const uint8_t *attributes, size_t size, uint64_t *n) {
    if (sw == NULL || sw->keeps == NULL || attributes == NULL || n == NULL) {
        return TM_MISUSED;
    }
    uint32_t slot = keep_slot(sw, number);
    const tm_keep *keep = slot != KEEP_NONE ? keep_at(sw, slot) : NULL;
    tm_attribute decoded[TM_ATTRIBUTES_MAX];
    size_t count = 0;
    size_t used;
    if (keep == NULL || keep->account == NULL ||
        tm_attributes_decode(attributes, size, decoded, &count, &used) != TM_OK) {
        return TM_ABSENT;
    }
    const tm_keep_terms *terms = keep->terms;
    uint64_t key = key_named(sw->keeps, decoded, count, terms->latest_by, terms->latest_by_size);
    *n = key != 0 ? find_latest(keep, key) : 0;
    return *n != 0 ? TM_OK : TM_ABSENT;
}

/* ---- rows ---- */

bool keep_reserve(tm_switch *sw, tm_keep *keep, const uint8_t *frame) {
    uint64_t expires_ms = 0;
    if (frame != NULL) {
        wire_expiry_ms(frame, tm_load32(frame), &expires_ms);
    }
    const tm_keep_terms *terms = keep->terms;
    bool has_keys = frame != NULL && (terms->order_by_size + terms->latest_by_size > 0 || expires_ms > 0);
    return keep_reserve_row(sw, keep, has_keys);
}

bool keep_reserve_row(tm_switch *sw, tm_keep *keep, bool has_keys) {
    tm_memory *memory = &sw->keeps->memory;
    const tm_keep_terms *terms = keep->terms;
    if (terms == NULL) { /* the book has messages of its own alone */
        return tm_index_reserve(&keep->index, memory, has_keys);
    }
    bool has_latest = keep_open_account(sw, keep) &&
                      (terms->latest_by_size == 0 ||
                       tm_idset_reserve(&keep->account->latest, memory, TM_COLD, latest_hash, keep) == TM_OK);
    return has_latest && tm_index_reserve(&keep->index, memory, has_keys);
}

void keep_put(tm_switch *sw, uint32_t slot, const tm_kept *row, const tm_kept_keys *keys) {
    tm_keep *keep = keep_at(sw, slot);
    uint64_t older = keys->latest_key != 0 ? find_latest(keep, keys->latest_key) : 0;
    if (older != 0) {
        keep_leave(sw, slot, tm_index_from(&keep->index, older), LEFT_REPLACED);
    }
    tm_index_append(&keep->index, row, keys);
    if (keys->latest_key != 0) {
        tm_idset_insert(&keep->account->latest, keys->latest_key, row->n);
    }
    bool is_open = row->state == KEPT_OPEN;
    keep->appended += is_open;
    keep->open += is_open;
    keep->past += !is_open;
    keep->bytes += row->size;
    keep_charge(sw, keep, 1, row->size);
    keep->account->past_bytes += is_open ? 0 : row->size;
    uint64_t ends_ms = keep->terms->for_ms > 0 ? row->at_ms + keep->terms->for_ms : UINT64_MAX;
    ends_ms = keys->expires_ms > 0 && keys->expires_ms < ends_ms ? keys->expires_ms : ends_ms;
    keep_note_end(sw, keep, ends_ms);
    if (row->n > sw->keeps->committed) {
        keep_make_unwritten(sw, slot);
    }
    if (keep_is_past_bounds(sw, keep) || keep->look_ms <= sw->keeps->turn_ms) {
        keep_make_due(sw, slot);
    }
}

void keep_clear(tm_switch *sw, tm_keep *keep) {
    tm_memory *memory = &sw->keeps->memory;
    for (uint32_t at = keep->index.first; at < keep->index.end; at++) {
        uint32_t id = keep->index.rows[at].tried;
        if (id != KEPT_NO_TRY) {
            tm_try *tried = &sw->keeps->tries.rows[id];
            tm_heap_take(&sw->keeps->tries, tried->state == TRY_READY ? &keep->ready : &sw->keeps->tries.due, id);
            tm_tries_end(&sw->keeps->tries, id);
        }
    }
    tm_index_free(&keep->index, memory);
    tm_heap_free(&keep->ready, memory);
    if (keep->account != NULL) {
        tm_idset_free(&keep->account->latest, memory, TM_COLD);
        TM_DELETE(memory, TM_COLD, keep->account->losses, tm_keep_loss, keep->account->loss_capacity);
        TM_DELETE(memory, TM_COLD, keep->account, tm_keep_account, 1);
        keep->account = NULL;
    }
    keep_drop_answers(sw, keep);
    keep_drop_cold(sw, keep);
    keep_end_charge(sw, keep);
    tm_terms_drop(&sw->keeps->terms, keep->terms);
    keep->terms = NULL;
    sw->keeps->losses -= keep->loss_count;
    keep->loss_count = 0;
}

/* ---- opening ---- */

static bool terms_are_sound(const tm_keep_terms *terms) {
    return terms->bytes_max > 0 && terms->unacked_max > 0 && terms->unacked_max <= TM_KEEP_UNACKED_MAX &&
           terms->ack_wait_ms > 0 && terms->backoff_count <= TM_KEEP_BACKOFFS_MAX &&
           terms->overflow <= TM_KEEP_REFUSE && terms->order_by_size <= TM_NAME_BYTES_MAX &&
           terms->latest_by_size <= TM_NAME_BYTES_MAX;
}

/* What the keep needs beside its row. */
static bool take_terms(tm_switch *sw, tm_keep *keep, const tm_keep_terms *terms) {
    tm_keeps *keeps = sw->keeps;
    if (terms->order_by_size > 0 && keeps->lanes == NULL) {
        keeps->lanes = TM_NEW(&keeps->memory, TM_COLD, tm_keep_lane, KEEP_LANES);
        if (keeps->lanes == NULL) {
            return false;
        }
    }
    keep->terms = tm_terms_take(&keeps->terms, terms);
    return keep->terms != NULL;
}

int tm_keep_open(tm_switch *sw, uint32_t number, const tm_keep_terms *terms, uint32_t *subscriber) {
    if (sw == NULL || sw->keeps == NULL || terms == NULL || subscriber == NULL || number == TM_KEEPS_BOOK ||
        number >= KEEP_UNACKED || !terms_are_sound(terms) || keep_slot(sw, number) != KEEP_NONE) {
        return TM_MISUSED;
    }
    uint32_t slot = keep_new_slot(sw, number);
    if (slot == KEEP_NONE) {
        return TM_NO_MEMORY;
    }
    tm_admission admission = {.number = number, .filters_max = UINT32_MAX, .table_bytes_max = UINT64_MAX};
    int result =
        take_terms(sw, keep_at(sw, slot), terms) ? switch_new_subscriber(sw, &admission, subscriber) : TM_NO_MEMORY;
    if (result != TM_OK) {
        keep_free_slot(sw, slot);
        return result;
    }
    keep_at(sw, slot)->subscriber = *subscriber;
    switch_subscriber(sw, *subscriber)->state = SUBSCRIBER_KEEP;
    switch_subscriber(sw, *subscriber)->keep = slot;
    sw->keeps->live++;
    return TM_OK;
}

int tm_keep_filter(tm_switch *sw, uint32_t number, const uint8_t *filter, uint32_t size) {
    uint32_t slot = sw != NULL && sw->keeps != NULL && filter != NULL ? keep_slot(sw, number) : KEEP_NONE;
    if (slot == KEEP_NONE || slot == KEEP_BOOK || keep_at(sw, slot)->is_closing) {
        return TM_MISUSED;
    }
    uint32_t id = keep_at(sw, slot)->subscriber;
    tm_subscriber *subscriber = switch_subscriber(sw, id);
    uint32_t row;
    int result = tm_subscriptions_begin(&sw->subscriptions, id, subscriber->filter_count, true,
                                        &subscriber->subscriptions, &row);
    if (result != TM_OK) {
        return result;
    }
    result = tm_subscriptions_add(&sw->subscriptions, row, filter, size);
    if (result != TM_OK) {
        tm_subscriptions_end(&sw->subscriptions, row, &subscriber->subscriptions);
        return result;
    }
    subscriber->filter_count++;
    subscriber->table_bytes += sw->subscriptions.rows[row].table_bytes;
    subscriber->subscription_count++;
    return TM_OK;
}

int tm_keep_dead_letter(tm_switch *sw, uint32_t number, uint32_t to) {
    uint32_t slot = sw != NULL && sw->keeps != NULL ? keep_slot(sw, number) : KEEP_NONE;
    if (slot == KEEP_NONE || slot == KEEP_BOOK) {
        return TM_ABSENT;
    }
    if (to == number) {
        return TM_MISUSED;
    }
    keep_at(sw, slot)->dead_letter = to;
    return TM_OK;
}

/* ---- the end ---- */

static int begin_to_forget(tm_switch *sw, uint32_t slot) {
    tm_keep *keep = keep_at(sw, slot);
    tm_log_done done[2] = {{.claimant = keep->number, .last = UINT64_MAX},
                           {.claimant = keep->number | KEEP_UNACKED, .last = UINT64_MAX}};
    tm_log_entry entry = {.body = done,
                          .body_size = (keep_keeps_past(keep) ? 2 : 1) * (uint32_t)sizeof *done,
                          .kind = TM_LOG_FORGET,
                          .t_us = keep_wall_ms(sw) * 1000};
    uint64_t n;
    int result = keep_append(sw, &entry, &n);
    if (result != TM_OK) {
        return result;
    }
    while (keep->members != MEMBER_NONE) {
        keep_detach(sw, keep->members);
    }
    if (keep_account(keep)->tally_n != 0) {
        keep_retire_book(sw, keep->account->tally_n);
    }
    keep = keep_at(sw, slot);
    keep->is_closing = true;
    keep_disown(sw, keep);
    switch_subscriber(sw, keep->subscriber)->state = SUBSCRIBER_ENDED;
    return TM_OK;
}

int tm_keep_forget(tm_switch *sw, uint32_t number, uint32_t steps, uint32_t *left) {
    uint32_t slot = sw != NULL && sw->keeps != NULL && left != NULL ? keep_slot(sw, number) : KEEP_NONE;
    if (slot == KEEP_NONE || slot == KEEP_BOOK) {
        return TM_MISUSED;
    }
    switch_begin(sw);
    int result = keep_at(sw, slot)->is_closing ? TM_OK : begin_to_forget(sw, slot);
    if (result != TM_OK) {
        return result;
    }
    *left = switch_forget_subscriber(sw, keep_at(sw, slot)->subscriber, steps);
    if (*left == 0) {
        sw->keeps->live--;
        keep_free_slot(sw, slot);
    }
    keep_flush_done(sw);
    tm_log_flush(sw->keeps->log);
    return TM_OK;
}
