/* copied.c - see copied.h. */
#include "durable/core/copied.h"

#include "base/grow.h"
#include "durable/core/append.h"
#include "durable/core/table.h"

#define RUN_MAX 64U /* messages of one range: FINISHED_RUN_MAX of protocol/limits.py */

/* ---- open messages ---- */

static uint64_t id_hash(const tm_memory *memory, tm_stored_id id) {
    return tm_hash_words(id.origin, id.number, 0, &memory->key);
}

/* A set, and the memory whose key its hashes use. */
typedef struct keyed {
    const tm_copied *copied;
    const tm_memory *memory;
} keyed;

static uint64_t hash_by_id(const void *owner, uint64_t id) {
    const keyed *of = owner;
    return id_hash(of->memory, of->copied->messages[id - 1].id);
}

static uint64_t hash_by_n(const void *owner, uint64_t id) {
    const keyed *of = owner;
    return tm_hash_u64(of->copied->messages[id - 1].n, &of->memory->key);
}

/* Return the row + 1 of an open message, by its id or its position; 0: there is none. */
static uint32_t find_id(const tm_switch *sw, const tm_copied *copied, tm_stored_id id) {
    tm_idset_search search = tm_idset_start(&copied->by_id, id_hash(&sw->durables->memory, id));
    for (uint32_t row; (row = tm_idset_next(&search)) != 0;) {
        const tm_copied_message *message = &copied->messages[row - 1];
        if (message->id.origin == id.origin && message->id.number == id.number) {
            return row;
        }
    }
    return 0;
}

static uint32_t find_n(const tm_switch *sw, const tm_copied *copied, uint64_t n) {
    tm_idset_search search = tm_idset_start(&copied->by_n, tm_hash_u64(n, &sw->durables->memory.key));
    for (uint32_t row; (row = tm_idset_next(&search)) != 0;) {
        if (copied->messages[row - 1].n == n) {
            return row;
        }
    }
    return 0;
}

static tm_copied *new_copied(tm_switch *sw, const tm_durable *durable) {
    tm_copied *copied = TM_NEW(&sw->durables->memory, TM_COLD, tm_copied, 1);
    if (copied != NULL) { /* later numbers than those of an earlier run, which other homes may know */
        copied->durable = durable->number;
        copied->next = durable_wall_ms(sw) * 1000;
        copied->read_to = copied->next - 1;
    }
    return copied;
}

bool durable_reserve_copied(tm_switch *sw, tm_durable *durable) {
    if (durable->policy->copies == 0) {
        return true;
    }
    tm_memory *memory = &sw->durables->memory;
    tm_durable_account *account = durable->account;
    account->copied = account->copied != NULL ? account->copied : new_copied(sw, durable);
    tm_copied *copied = account->copied;
    if (copied == NULL) {
        return false;
    }
    keyed of = {copied, memory};
    return tm_idset_reserve(&copied->by_id, memory, TM_COLD, hash_by_id, &of) == TM_OK &&
           tm_idset_reserve(&copied->by_n, memory, TM_COLD, hash_by_n, &of) == TM_OK &&
           (copied->free != 0 || tm_grow(memory, TM_COLD, &copied->messages, sizeof *copied->messages,
                                         &copied->message_capacity, copied->message_count + 1));
}

void durable_note_copied(tm_switch *sw, tm_durable *durable, tm_stored_id id, uint64_t n) {
    tm_copied *copied = durable->policy->copies != 0 ? durable->account->copied : NULL;
    if (copied == NULL) {
        return;
    }
    uint32_t row = copied->free;
    if (row != 0) {
        copied->free = (uint32_t)copied->messages[row - 1].n;
    } else {
        row = ++copied->message_count;
    }
    copied->messages[row - 1] = (tm_copied_message){id, n};
    const tm_memory *memory = &sw->durables->memory;
    if (find_id(sw, copied, id) == 0) { /* else a publisher has sent it twice, and its later position stays open */
        tm_idset_insert(&copied->by_id, id_hash(memory, id), row);
    }
    tm_idset_insert(&copied->by_n, tm_hash_u64(n, &memory->key), row);
}

/* ---- what is finished here ---- */

static void list_news(tm_durables *durables, tm_copied *copied) {
    if (!copied->has_news) {
        copied->has_news = true;
        copied->next_with_news = durables->copied_news;
        durables->copied_news = copied;
    }
}

static tm_copied_range *range_at(const tm_copied *copied, uint32_t i) {
    return &copied->ranges[(copied->range_first + i) % copied->range_capacity];
}

static void drop_oldest(tm_durables *durables, tm_copied *copied) {
    copied->range_first = (copied->range_first + 1) % copied->range_capacity;
    copied->range_count--;
    durables->copied_ranges--;
}

/* Make room for one more range. A ring that grows begins with its oldest one. false: it stays full. */
static bool reserve_range(tm_durables *durables, tm_copied *copied) {
    if (copied->range_count < copied->range_capacity) {
        return durables->copied_ranges < COPIED_ALL_RANGES_MAX;
    }
    if (copied->range_capacity == COPIED_RANGES_MAX || durables->copied_ranges == COPIED_ALL_RANGES_MAX) {
        return false;
    }
    uint32_t capacity = copied->range_capacity == 0 ? 16 : copied->range_capacity * 2;
    tm_copied_range *ranges = TM_NEW(&durables->memory, TM_COLD, tm_copied_range, capacity);
    if (ranges == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < copied->range_count; i++) {
        ranges[i] = *range_at(copied, i);
    }
    TM_DELETE(&durables->memory, TM_COLD, copied->ranges, tm_copied_range, copied->range_capacity);
    copied->ranges = ranges;
    copied->range_capacity = capacity;
    copied->range_first = 0;
    return true;
}

static void note_finished(tm_durables *durables, tm_copied *copied, tm_stored_id id) {
    list_news(durables, copied);
    bool may_grow = copied->range_count > 0 && copied->next - 1 > copied->read_to;
    tm_copied_range *last = may_grow ? range_at(copied, copied->range_count - 1) : NULL;
    if (last != NULL && last->origin == id.origin && last->first + last->count == id.number && last->count < RUN_MAX) {
        last->count++;
        return;
    }
    if (!reserve_range(durables, copied)) {
        if (copied->range_count == 0) {
            return;
        }
        drop_oldest(durables, copied);
    }
    copied->range_count++;
    durables->copied_ranges++;
    copied->next++;
    *range_at(copied, copied->range_count - 1) = (tm_copied_range){id.origin, id.number, 1};
}

/* true if consumers are done with what leaves in this way, at every home. */
static bool is_finished(tm_leaving how) {
    return how == LEFT_ACKED || how == LEFT_DEAD || how == LEFT_SKIPPED || how == LEFT_UNDELIVERABLE;
}

uint64_t durable_find_copied(const tm_switch *sw, const tm_durable *durable, tm_stored_id id) {
    const tm_copied *copied = durable->account != NULL ? durable->account->copied : NULL;
    uint32_t row = copied != NULL ? find_id(sw, copied, id) : 0;
    return row != 0 ? copied->messages[row - 1].n : 0;
}

void durable_end_copied(tm_switch *sw, tm_durable *durable, uint64_t n, tm_leaving how) {
    tm_copied *copied = durable->account != NULL ? durable->account->copied : NULL;
    uint32_t row = copied != NULL ? find_n(sw, copied, n) : 0;
    if (row == 0) {
        return;
    }
    tm_memory *memory = &sw->durables->memory;
    tm_stored_id id = copied->messages[row - 1].id;
    keyed of = {copied, memory};
    tm_idset_remove(&copied->by_n, tm_hash_u64(n, &memory->key), row, hash_by_n, &of);
    if (find_id(sw, copied, id) == row) {
        tm_idset_remove(&copied->by_id, id_hash(memory, id), row, hash_by_id, &of);
    }
    copied->messages[row - 1].n = copied->free;
    copied->free = row;
    if (is_finished(how) && !sw->durables->is_finishing) {
        note_finished(sw->durables, copied, id);
    }
}

void durable_free_copied(tm_switch *sw, tm_durable_account *account) {
    tm_durables *durables = sw->durables;
    tm_copied *copied = account->copied;
    if (copied == NULL) {
        return;
    }
    for (tm_copied **at = &durables->copied_news; copied->has_news; at = &(*at)->next_with_news) {
        if (*at == copied) {
            *at = copied->next_with_news;
            break;
        }
    }
    durables->copied_ranges -= copied->range_count;
    tm_idset_free(&copied->by_id, &durables->memory, TM_COLD);
    tm_idset_free(&copied->by_n, &durables->memory, TM_COLD);
    TM_DELETE(&durables->memory, TM_COLD, copied->messages, tm_copied_message, copied->message_capacity);
    TM_DELETE(&durables->memory, TM_COLD, copied->ranges, tm_copied_range, copied->range_capacity);
    TM_DELETE(&durables->memory, TM_COLD, copied, tm_copied, 1);
    account->copied = NULL;
}

/* ---- calls ---- */

tm_durable *durable_copied_of(tm_switch *sw, uint32_t number) {
    uint32_t slot = sw != NULL && sw->durables != NULL ? durable_slot(sw, number) : DURABLE_NONE;
    tm_durable *durable = slot != DURABLE_NONE && slot != DURABLE_CATALOG ? durable_at(sw, slot) : NULL;
    return durable != NULL && !durable->is_closing && durable->policy->copies != 0 ? durable : NULL;
}

size_t tm_durables_finished_news(tm_switch *sw, uint32_t *numbers, size_t room) {
    tm_durables *durables = sw != NULL ? sw->durables : NULL;
    size_t count = 0;
    while (durables != NULL && durables->copied_news != NULL && count < room) {
        tm_copied *copied = durables->copied_news;
        durables->copied_news = copied->next_with_news;
        copied->has_news = false;
        numbers[count++] = copied->durable;
    }
    return count;
}

int tm_durable_finished(tm_switch *sw, uint32_t number, uint64_t *at, uint8_t *out, size_t room, size_t *count) {
    tm_durable *durable = durable_copied_of(sw, number);
    if (durable == NULL || at == NULL || out == NULL || count == NULL) {
        return TM_ABSENT;
    }
    *count = 0;
    tm_copied *copied = durable->account != NULL ? durable->account->copied : NULL;
    if (copied == NULL || copied->range_count == 0) {
        return TM_OK;
    }
    uint64_t oldest = copied->next - copied->range_count;
    *at = *at < oldest ? oldest : *at;
    for (; *at + *count < copied->next && *count < room; ++*count, out += TM_DURABLE_RANGE_BYTES) {
        const tm_copied_range *range = range_at(copied, (uint32_t)(*at + *count - oldest));
        wire_store64(out, range->origin);
        wire_store64(out + 8, range->first);
        wire_store32(out + 16, range->count);
    }
    uint64_t read_to = *at + *count - 1;
    copied->read_to = *count > 0 && copied->read_to < read_to ? read_to : copied->read_to;
    return TM_OK;
}

int tm_durable_passed_on(tm_switch *sw, uint32_t number, uint64_t upto) {
    tm_durable *durable = durable_copied_of(sw, number);
    if (durable == NULL) {
        return TM_ABSENT;
    }
    tm_copied *copied = durable->account != NULL ? durable->account->copied : NULL;
    while (copied != NULL && copied->range_count > 0 && copied->next - copied->range_count <= upto) {
        drop_oldest(sw->durables, copied);
    }
    return TM_OK;
}

/* ---- checks ---- */

const char *durable_check_copied(const tm_switch *sw, const tm_durable *durable) {
    const tm_copied *copied = durable->account != NULL ? durable->account->copied : NULL;
    if (copied == NULL) {
        return durable->policy != NULL && durable->policy->copies != 0 && durable->open > 0
                   ? "messages of a copy are not known by their ids"
                   : NULL;
    }
    keyed of = {copied, &sw->durables->memory};
    if (!tm_idset_is_sound(&copied->by_n, hash_by_n, &of) || !tm_idset_is_sound(&copied->by_id, hash_by_id, &of) ||
        copied->by_n.count != durable->open || copied->by_id.count > copied->by_n.count) {
        return "messages of a copy are not found by their ids and positions";
    }
    if (copied->range_count > copied->range_capacity || copied->range_capacity > COPIED_RANGES_MAX ||
        sw->durables->copied_ranges > COPIED_ALL_RANGES_MAX) {
        return "more finished messages are noted than the limit";
    }
    return NULL;
}
