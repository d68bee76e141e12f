/* ordered.c - sorted runs. Law: see ordered.h. */
#include <string.h>

#include "base/grow.h"
#include "engines/papers/ordered.h"

static uint64_t first_bytes(const uint8_t *text, uint32_t length) {
    uint64_t word = 0;
    for (uint32_t i = 0; i < 8; i++) {
        word = word << 8 | (i < length ? text[i] : 0);
    }
    return word;
}

tm_probe tm_probe_number(tm_number_key key) {
    return (tm_probe){.key = key};
}

tm_probe tm_probe_text(const uint8_t *text, uint32_t length) {
    static const uint8_t empty;
    return (tm_probe){.key = {first_bytes(text, length), 0}, .text = text != NULL ? text : &empty, .length = length};
}

/* ---- order ---- */

static inline int three_way(uint64_t a, uint64_t b) {
    return (a > b) - (a < b);
}

/* Compare the entry's value with the probe's. */
static inline int compare_value(const tm_entry *entry, const tm_intern *strings, const tm_probe *probe) {
    if (entry->high != probe->key.high) {
        return entry->high < probe->key.high ? -1 : 1;
    }
    if (strings == NULL) {
        return three_way(entry->low, probe->key.low);
    }
    return tm_intern_compare(strings, (uint32_t)entry->low, probe->text, probe->length);
}

static inline int compare(const tm_entry *entry, const tm_intern *strings, const tm_probe *probe) {
    int order = compare_value(entry, strings, probe);
    if (order == 0) {
        order = three_way(entry->tag, probe->tag);
    }
    return order != 0 ? order : three_way(entry->constraint, probe->constraint);
}

/* Return the first run whose last entry is not below the probe. */
static uint32_t seek_run(const tm_ordered *set, const tm_intern *strings, const tm_probe *probe) {
    uint32_t low = 0;
    uint32_t high = set->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const tm_run *run = &set->runs[middle];
        if (compare(&run->entries[run->count - 1], strings, probe) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

tm_place tm_ordered_seek(const tm_ordered *set, const tm_intern *strings, const tm_probe *probe) {
    uint32_t at = seek_run(set, strings, probe);
    uint32_t low = 0;
    uint32_t high = at < set->count ? set->runs[at].count : 0;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (compare(&set->runs[at].entries[middle], strings, probe) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return (tm_place){at, low};
}

/* ---- changes ---- */

/* Insert a run at `index`, with room for `entries`; TM_NO_MEMORY: unchanged. */
static int insert_run(tm_ordered *set, tm_memory *memory, uint32_t index, uint32_t entries) {
    tm_run run = {0};
    if (!tm_grow(memory, TM_HOT, &set->runs, sizeof *set->runs, &set->capacity, set->count + 1) ||
        !tm_grow(memory, TM_HOT, &run.entries, sizeof *run.entries, &run.capacity, entries)) {
        return TM_NO_MEMORY;
    }
    memmove(&set->runs[index + 1], &set->runs[index], (set->count - index) * sizeof *set->runs);
    set->runs[index] = run;
    set->count++;
    return TM_OK;
}

/* Move the upper half of a full run to a new one after it, and `place` with it. */
static int split_run(tm_ordered *set, tm_memory *memory, tm_place *place) {
    const uint32_t half = TM_RUN_MAX / 2;
    if (insert_run(set, memory, place->run + 1, half + 1) != TM_OK) {
        return TM_NO_MEMORY;
    }
    tm_run *left = &set->runs[place->run];
    tm_run *right = left + 1;
    memcpy(right->entries, left->entries + half, (TM_RUN_MAX - half) * sizeof *left->entries);
    right->count = TM_RUN_MAX - half;
    left->count = half;
    if (place->index > half) {
        *place = (tm_place){place->run + 1, place->index - half};
    }
    return TM_OK;
}

/* Make room for one entry at `place`, which is updated. */
static int reserve_entry(tm_ordered *set, tm_memory *memory, tm_place *place) {
    if (set->count == 0) {
        *place = (tm_place){0, 0};
        return insert_run(set, memory, 0, 2);
    }
    if (place->run == set->count) { /* after all entries: at the end of the last run */
        *place = (tm_place){set->count - 1, set->runs[set->count - 1].count};
    }
    if (set->runs[place->run].count == TM_RUN_MAX && split_run(set, memory, place) != TM_OK) {
        return TM_NO_MEMORY;
    }
    tm_run *run = &set->runs[place->run];
    return tm_grow(memory, TM_HOT, &run->entries, sizeof *run->entries, &run->capacity, run->count + 1) ? TM_OK
                                                                                                        : TM_NO_MEMORY;
}

int tm_ordered_add(tm_ordered *set, tm_memory *memory, const tm_intern *strings, const tm_probe *probe,
                   uint32_t string) {
    tm_place place = tm_ordered_seek(set, strings, probe);
    if (reserve_entry(set, memory, &place) != TM_OK) {
        return TM_NO_MEMORY;
    }
    tm_run *run = &set->runs[place.run];
    tm_entry *at = &run->entries[place.index];
    memmove(at + 1, at, (run->count - place.index) * sizeof *at);
    *at = (tm_entry){.high = probe->key.high,
                     .low = strings != NULL ? string : probe->key.low,
                     .constraint = probe->constraint,
                     .tag = probe->tag};
    run->count++;
    return TM_OK;
}

static void remove_run(tm_ordered *set, tm_memory *memory, uint32_t index) {
    TM_DELETE(memory, TM_HOT, set->runs[index].entries, tm_entry, set->runs[index].capacity);
    set->count--;
    memmove(&set->runs[index], &set->runs[index + 1], (set->count - index) * sizeof *set->runs);
}

void tm_ordered_remove(tm_ordered *set, tm_memory *memory, const tm_intern *strings, const tm_probe *probe) {
    tm_place place = tm_ordered_seek(set, strings, probe);
    tm_run *run = &set->runs[place.run];
    tm_entry *at = &run->entries[place.index];
    run->count--;
    memmove(at, at + 1, (run->count - place.index) * sizeof *at);
    if (run->count == 0) {
        remove_run(set, memory, place.run);
    }
    if (set->count == 0) {
        tm_ordered_free(set, memory);
    }
}

void tm_ordered_free(tm_ordered *set, tm_memory *memory) {
    for (uint32_t i = 0; i < set->count; i++) {
        TM_DELETE(memory, TM_HOT, set->runs[i].entries, tm_entry, set->runs[i].capacity);
    }
    TM_DELETE(memory, TM_HOT, set->runs, tm_run, set->capacity);
    *set = (tm_ordered){0};
}

/* ---- reading ---- */

static void hand_on(const tm_run *run, uint32_t from, uint32_t to, tm_found *found) {
    for (uint32_t i = from; i < to; i++) {
        tm_found_add(found, run->entries[i].constraint);
    }
}

void tm_ordered_before(const tm_ordered *set, tm_place place, tm_found *found) {
    if (place.run < set->count) {
        hand_on(&set->runs[place.run], 0, place.index, found);
    }
    for (uint32_t i = place.run; i > 0 && !found->done; i--) {
        hand_on(&set->runs[i - 1], 0, set->runs[i - 1].count, found);
    }
}

void tm_ordered_from(const tm_ordered *set, tm_place place, tm_found *found) {
    uint32_t from = place.index;
    for (uint32_t i = place.run; i < set->count && !found->done; i++) {
        hand_on(&set->runs[i], from, set->runs[i].count, found);
        from = 0;
    }
}

const tm_entry *tm_ordered_at(const tm_ordered *set, tm_place place) {
    return place.run < set->count ? &set->runs[place.run].entries[place.index] : NULL;
}

const tm_entry *tm_ordered_last_before(const tm_ordered *set, tm_place place) {
    if (place.index > 0) {
        return &set->runs[place.run].entries[place.index - 1];
    }
    return place.run > 0 ? &set->runs[place.run - 1].entries[set->runs[place.run - 1].count - 1] : NULL;
}

static tm_place step(const tm_ordered *set, tm_place place) {
    place.index++;
    return place.index < set->runs[place.run].count ? place : (tm_place){place.run + 1, 0};
}

void tm_ordered_equal(const tm_ordered *set, const tm_intern *strings, const tm_probe *probe, tm_found *found) {
    tm_place place = tm_ordered_seek(set, strings, probe);
    for (const tm_entry *entry; (entry = tm_ordered_at(set, place)) != NULL; place = step(set, place)) {
        if (compare_value(entry, strings, probe) != 0 || found->done) {
            break;
        }
        tm_found_add(found, entry->constraint);
    }
}

void tm_ordered_unequal(const tm_ordered *set, const tm_intern *strings, const tm_probe *probe, tm_found *found) {
    tm_place place = tm_ordered_seek(set, strings, probe);
    tm_ordered_before(set, place, found);
    tm_probe behind = *probe;
    behind.tag = UINT32_MAX;
    tm_ordered_from(set, tm_ordered_seek(set, strings, &behind), found);
}

uint64_t tm_ordered_count(const tm_ordered *set) {
    uint64_t total = 0;
    for (uint32_t i = 0; i < set->count; i++) {
        total += set->runs[i].count;
    }
    return total;
}

/* ---- validation ---- */

static tm_probe probe_of(const tm_entry *entry, const tm_intern *strings) {
    tm_probe probe = {.key = {entry->high, entry->low}, .tag = entry->tag, .constraint = entry->constraint};
    if (strings != NULL) {
        const tm_interned *string = &strings->entries[entry->low];
        probe.text = string->bytes;
        probe.length = string->length;
    }
    return probe;
}

int tm_ordered_validate(const tm_ordered *set, const tm_intern *strings, const char **reason) {
    const tm_entry *last = NULL;
    for (uint32_t i = 0; i < set->count; i++) {
        if (set->runs[i].count == 0 || set->runs[i].count > TM_RUN_MAX) {
            *reason = "a sorted run is empty or too long";
            return TM_MISUSED;
        }
        for (uint32_t j = 0; j < set->runs[i].count; j++) {
            const tm_entry *entry = &set->runs[i].entries[j];
            tm_probe probe = probe_of(entry, strings);
            if (strings != NULL && entry->high != first_bytes(probe.text, probe.length)) {
                *reason = "a sorted string has other first bytes than its entry";
                return TM_MISUSED;
            }
            if (last != NULL && compare(last, strings, &probe) >= 0) {
                *reason = "a sorted set is out of order";
                return TM_MISUSED;
            }
            last = entry;
        }
    }
    return TM_OK;
}
