/* unmatched.c - see unmatched.h. */
#include "switch/observe/unmatched.h"

#include "switch/message.h"

#define ENTRY_ALIGN 8U

static uint8_t *place_of(const unmatched_ring *ring, uint64_t position) {
    return ring->bytes + position % ring->size;
}

/* Drop the oldest entries until `bytes` fit behind the end. */
static void make_room(unmatched_ring *ring, uint64_t bytes) {
    while (ring->end + bytes - ring->oldest > ring->size) {
        ring->oldest += ((const unmatched_entry *)place_of(ring, ring->oldest))->size;
    }
}

/* Reserve `size` bytes in one piece. An entry that does not fit in front of the end of the ring begins at its start,
 * behind a filler, of which only the first eight bytes are read. */
static unmatched_entry *append(unmatched_ring *ring, uint32_t size) {
    uint32_t before_end = ring->size - (uint32_t)(ring->end % ring->size);
    uint32_t skipped = size > before_end ? before_end : 0;
    if (skipped > 0) {
        make_room(ring, skipped);
        unmatched_entry *filler = (unmatched_entry *)place_of(ring, ring->end);
        filler->size = skipped;
        filler->attribute_bytes = UNMATCHED_FILLER;
        ring->end += skipped;
    }
    make_room(ring, size);
    unmatched_entry *entry = (unmatched_entry *)place_of(ring, ring->end);
    ring->end += size;
    return entry;
}

void switch_note_unmatched(tm_switch *sw, const tm_message *message) {
    unmatched_ring *ring = &sw->unmatched;
    uint64_t origin = tm_load64(message->frame + WIRE_ORIGIN);
    uint64_t number = tm_load64(message->frame + WIRE_COUNTER);
    if (ring->share != UINT64_MAX && tm_records_mix(origin, number) >= ring->share) {
        return;
    }
    uint32_t attribute_bytes = tm_load32(message->frame + WIRE_ATTRIBUTE_SIZE);
    uint32_t before = WIRE_HEADER_BYTES + message->extension_size;
    uint64_t size =
        (sizeof(unmatched_entry) + (uint64_t)attribute_bytes + ENTRY_ALIGN - 1) & ~(uint64_t)(ENTRY_ALIGN - 1);
    ring->n++;
    if (size > ring->size) {
        return;
    }
    unmatched_entry *entry = append(ring, (uint32_t)size);
    *entry = (unmatched_entry){.size = (uint32_t)size,
                               .attribute_bytes = attribute_bytes,
                               .n = ring->n,
                               .t_ns = tm_clock_unix_ns(),
                               .origin = origin,
                               .number = number,
                               .connection = message->from,
                               .payload_bytes = message->size - before - attribute_bytes};
    memcpy(entry + 1, message->frame + before, attribute_bytes);
}

int tm_switch_keep_unmatched(tm_switch *sw, uint64_t share, uint32_t bytes) {
    if (sw == NULL || (bytes > 0 && (bytes < TM_UNMATCHED_BYTES_MIN || bytes % ENTRY_ALIGN != 0))) {
        return TM_MISUSED;
    }
    unmatched_ring *ring = &sw->unmatched;
    uint8_t *room = ring->bytes;
    if (bytes != ring->size) {
        room = bytes > 0 ? TM_NEW(&sw->memory, TM_COLD, uint8_t, bytes) : NULL;
        if (bytes > 0 && room == NULL) {
            return TM_NO_MEMORY;
        }
        TM_DELETE(&sw->memory, TM_COLD, ring->bytes, uint8_t, ring->size);
        ring->oldest = ring->end = 0;
    }
    ring->bytes = room;
    ring->size = bytes;
    ring->share = share;
    return TM_OK;
}

uint64_t tm_switch_unmatched(const tm_switch *sw, uint64_t after, tm_unmatched *rows, uint32_t capacity,
                             uint32_t *count) {
    const unmatched_ring *ring = &sw->unmatched;
    *count = 0;
    for (uint64_t at = ring->oldest; at < ring->end && *count < capacity;) {
        const unmatched_entry *entry = (const unmatched_entry *)place_of(ring, at);
        at += entry->size;
        if (entry->attribute_bytes != UNMATCHED_FILLER && entry->n > after) {
            rows[(*count)++] = (tm_unmatched){.n = entry->n,
                                              .t_ns = entry->t_ns,
                                              .origin = entry->origin,
                                              .number = entry->number,
                                              .attributes = (const uint8_t *)(entry + 1),
                                              .attribute_bytes = entry->attribute_bytes,
                                              .payload_bytes = entry->payload_bytes,
                                              .connection = entry->connection};
        }
    }
    return ring->n;
}

bool switch_unmatched_is_sound(const unmatched_ring *ring) {
    uint64_t at = ring->oldest;
    uint64_t n = 0;
    while (at < ring->end) {
        const unmatched_entry *entry = (const unmatched_entry *)place_of(ring, at);
        if (entry->size == 0 || entry->size % ENTRY_ALIGN != 0 || at % ring->size + entry->size > ring->size) {
            return false;
        }
        if (entry->attribute_bytes != UNMATCHED_FILLER) {
            if (entry->n <= n || entry->size < sizeof *entry + entry->attribute_bytes) {
                return false;
            }
            n = entry->n;
        }
        at += entry->size;
    }
    return at == ring->end && ring->end - ring->oldest <= ring->size && n <= ring->n;
}
