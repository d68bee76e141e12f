/* texts.c - see texts.h. At most half of the slots are used, so that a search ends. */
#include "model/texts.h"

bool tm_texts_new(tm_texts *texts, tm_memory *memory, uint32_t count) {
    uint32_t slots = 4;
    while (slots < 2 * count) {
        slots *= 2;
    }
    *texts = (tm_texts){.capacity = count, .mask = slots - 1};
    texts->texts = TM_NEW(memory, TM_COLD, tm_text, count + 1);
    texts->slots = TM_NEW(memory, TM_COLD, uint16_t, slots);
    if (texts->texts == NULL || texts->slots == NULL) {
        tm_texts_free(texts, memory);
        return false;
    }
    return true;
}

void tm_texts_free(tm_texts *texts, tm_memory *memory) {
    TM_DELETE(memory, TM_COLD, texts->texts, tm_text, texts->capacity + 1);
    TM_DELETE(memory, TM_COLD, texts->slots, uint16_t, texts->mask + 1);
    *texts = (tm_texts){0};
}

bool tm_texts_add(tm_texts *texts, const tm_memory *memory, const uint8_t *bytes, uint32_t length) {
    if (texts->count == texts->capacity || tm_texts_find(texts, memory, bytes, length) != TEXTS_NONE) {
        return false;
    }
    tm_head head = tm_head_of(bytes, length);
    uint64_t slot = tm_hash_headed(head, bytes, length, &memory->key);
    while (texts->slots[slot & texts->mask] != 0) {
        slot++;
    }
    texts->texts[texts->count++] = (tm_text){bytes, length, head};
    texts->slots[slot & texts->mask] = (uint16_t)texts->count;
    return true;
}
