/* titles.c - see titles.h. */
#include "relay/codecs/titles.h"

#include <string.h>

#include "base/grow.h"
#include "relay/codecs/text.h"
#include "tm_relay.h"

#define JSON_BYTES_MAX (6 * TM_EVENTS_NAME_BYTES_MAX + 2 * TEXT_SLACK)

/* Return the place of an id, or where it would stand. */
static uint32_t place_of(const titles *t, uint32_t id) {
    uint32_t first = 0;
    uint32_t end = t->count;
    while (first < end) {
        uint32_t middle = (first + end) / 2;
        if (t->all[middle].id < id) {
            first = middle + 1;
        } else {
            end = middle;
        }
    }
    return first;
}

static bool is_at(const titles *t, uint32_t place, uint32_t id) {
    return place < t->count && t->all[place].id == id;
}

const title *titles_of(const titles *t, uint32_t id) {
    uint32_t place = place_of(t, id);
    return is_at(t, place, id) ? &t->all[place] : NULL;
}

static void delete_json(title *one, tm_memory *memory) {
    TM_DELETE(memory, TM_COLD, one->json, uint8_t, one->size);
}

static void remove_at(titles *t, tm_memory *memory, uint32_t place) {
    delete_json(&t->all[place], memory);
    t->count--;
    memmove(t->all + place, t->all + place + 1, sizeof *t->all * (t->count - place));
}

int titles_set(titles *t, tm_memory *memory, uint32_t id, const uint8_t *name, size_t size) {
    uint8_t json[JSON_BYTES_MAX];
    text written = {json, json + sizeof json, false};
    uint32_t place = place_of(t, id);
    bool is_there = is_at(t, place, id);
    if (size == 0) {
        if (is_there) {
            remove_at(t, memory, place);
        }
        return TM_OK;
    }
    if (size > TM_EVENTS_NAME_BYTES_MAX || !text_string(&written, name, size, name + size)) {
        return TM_MALFORMED;
    }
    if (!is_there && t->count == TM_EVENTS_NAMES_MAX) {
        return TM_TOO_MANY;
    }
    title made = {id, (uint32_t)(written.at - json), NULL};
    if (!tm_grow(memory, TM_COLD, &t->all, sizeof *t->all, &t->capacity, t->count + 1)) {
        return TM_NO_MEMORY;
    }
    made.json = TM_NEW(memory, TM_COLD, uint8_t, made.size);
    if (made.json == NULL) {
        return TM_NO_MEMORY;
    }
    memcpy(made.json, json, made.size);
    if (is_there) {
        delete_json(&t->all[place], memory);
    } else {
        memmove(t->all + place + 1, t->all + place, sizeof *t->all * (t->count - place));
        t->count++;
    }
    t->all[place] = made;
    return TM_OK;
}

void titles_free(titles *t, tm_memory *memory) {
    for (uint32_t i = 0; i < t->count; i++) {
        delete_json(&t->all[i], memory);
    }
    TM_DELETE(memory, TM_COLD, t->all, title, t->capacity);
}
