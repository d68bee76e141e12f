/* outbox.c - see outbox.h. */
#include "switch/connections/outbox.h"

#include "model/wire.h"

#define LANE_BYTES_MIN 512U

/* ---- lanes ---- */

/* Double the needed size, so that moving the unsent bytes down is paid for by as many appended bytes. */
static bool lane_grow(tm_lane *lane, tm_memory *memory, uint32_t size) {
    uint64_t wanted = lane->capacity == 0 ? LANE_BYTES_MIN : lane->capacity;
    while (wanted / 2 < (uint64_t)tm_lane_size(lane) + size) {
        wanted *= 2;
    }
    if (wanted > UINT32_MAX) {
        return false;
    }
    uint8_t *bytes = TM_RESIZE(memory, TM_COLD, lane->bytes, uint8_t, lane->capacity, wanted);
    if (bytes == NULL) {
        return false;
    }
    lane->bytes = bytes;
    lane->capacity = (uint32_t)wanted;
    return true;
}

/* Move the unsent bytes down, and grow the lane if they fill more than half of it; true if there is room for `size` */
static bool lane_make_room(tm_lane *lane, tm_memory *memory, uint32_t size) {
    if (lane->head > 0) {
        memmove(lane->bytes, lane->bytes + lane->head, tm_lane_size(lane));
        lane->tail -= lane->head;
        lane->boundary -= lane->head;
        lane->head = 0;
    }
    bool is_roomy = (uint64_t)lane->tail + size <= lane->capacity / 2;
    return is_roomy || lane_grow(lane, memory, size) || size <= lane->capacity - lane->tail;
}

/* Reserve `size` bytes at the tail; NULL: no memory. */
static inline uint8_t *lane_reserve(tm_lane *lane, tm_memory *memory, uint32_t size) {
    if (size > lane->capacity - lane->tail && !lane_make_room(lane, memory, size)) {
        return NULL;
    }
    uint8_t *at = lane->bytes + lane->tail;
    lane->tail += size;
    return at;
}

static void lane_clear(tm_lane *lane, tm_memory *memory) {
    TM_DELETE(memory, TM_COLD, lane->bytes, uint8_t, lane->capacity);
    *lane = (tm_lane){0};
}

/* ---- appending ---- */

uint8_t *tm_outbox_append(tm_outbox *outbox, tm_memory *memory, uint32_t size) {
    uint8_t *at = lane_reserve(&outbox->ordered, memory, size);
    uint32_t waiting = tm_lane_size(&outbox->ordered);
    outbox->peak = waiting > outbox->peak ? waiting : outbox->peak;
    return at;
}

uint8_t *tm_outbox_urge(tm_outbox *outbox, tm_memory *memory, uint32_t size) {
    if ((uint64_t)tm_lane_size(&outbox->urgent) + size > OUTBOX_URGENT_MAX) {
        return NULL;
    }
    return lane_reserve(&outbox->urgent, memory, size);
}

void tm_outbox_drop_oldest(tm_outbox *outbox, tm_memory *memory, uint32_t room, uint64_t *frames, uint64_t *bytes) {
    tm_lane *lane = &outbox->ordered;
    uint32_t at = lane->boundary;
    while (at < lane->tail && at - lane->boundary < room) {
        uint32_t size = tm_load32(lane->bytes + at);
        if (lane->bytes[at + WIRE_KIND] < WIRE_DATA_KINDS_END) {
            (*frames)++;
            *bytes += size;
        } else {
            uint8_t *urgent = tm_outbox_urge(outbox, memory, size);
            if (urgent == NULL) {
                break;
            }
            memcpy(urgent, lane->bytes + at, size);
        }
        at += size;
    }
    uint32_t dropped = at - lane->boundary;
    memmove(lane->bytes + lane->head + dropped, lane->bytes + lane->head, lane->boundary - lane->head);
    lane->head += dropped;
    lane->boundary += dropped;
}

/* A partly sent frame is counted as data: it is rarely a control frame, and its kind is no longer in the lane. */
uint32_t tm_outbox_messages(const tm_outbox *outbox, uint64_t *bytes) {
    const tm_lane *lane = &outbox->ordered;
    uint32_t count = lane->boundary > lane->head;
    *bytes = lane->boundary - lane->head;
    for (uint32_t at = lane->boundary; at < lane->tail; at += tm_load32(lane->bytes + at)) {
        if (lane->bytes[at + WIRE_KIND] < WIRE_DATA_KINDS_END) {
            count++;
            *bytes += tm_load32(lane->bytes + at);
        }
    }
    return count;
}

/* ---- from one socket to the next ---- */

/* Keep the frames that stay valid on another socket. */
static void lane_durable(tm_lane *lane) {
    uint32_t kept = 0;
    uint32_t size;
    for (uint32_t at = lane->boundary; at < lane->tail; at += size) {
        uint8_t kind = lane->bytes[at + WIRE_KIND];
        size = tm_load32(lane->bytes + at);
        if (kind < WIRE_DATA_KINDS_END || kind == WIRE_LOST) {
            memmove(lane->bytes + kept, lane->bytes + at, size);
            kept += size;
        }
    }
    lane->head = lane->boundary = 0;
    lane->tail = kept;
}

void tm_outbox_keep(tm_outbox *from, tm_outbox *to) {
    lane_durable(&from->ordered);
    lane_durable(&from->urgent);
    *to = *from;
    *from = (tm_outbox){0};
}

static void lane_copy(uint8_t *to, const tm_lane *from) {
    if (to != NULL) {
        memcpy(to, from->bytes + from->head, tm_lane_size(from));
    }
}

bool tm_outbox_move(tm_outbox *from, tm_outbox *to, tm_memory *memory) {
    uint32_t ordered = tm_lane_size(&from->ordered);
    uint32_t urgent = tm_lane_size(&from->urgent);
    uint8_t *behind = ordered > 0 ? tm_outbox_append(to, memory, ordered) : NULL;
    if (ordered > 0 && behind == NULL) {
        return false;
    }
    uint8_t *before = urgent > 0 ? tm_outbox_urge(to, memory, urgent) : NULL;
    if (urgent > 0 && before == NULL) {
        to->ordered.tail -= ordered;
        return false;
    }
    lane_copy(behind, &from->ordered);
    lane_copy(before, &from->urgent);
    tm_outbox_clear(from, memory);
    return true;
}

/* ---- sending ---- */

static int add_piece(struct iovec *pieces, int count, const tm_lane *lane, uint32_t from, uint32_t to) {
    if (from < to) {
        pieces[count++] = (struct iovec){.iov_base = lane->bytes + from, .iov_len = to - from};
    }
    return count;
}

int tm_outbox_pieces(const tm_outbox *outbox, struct iovec pieces[OUTBOX_PIECES]) {
    const tm_lane *ordered = &outbox->ordered;
    const tm_lane *urgent = &outbox->urgent;
    int count = add_piece(pieces, 0, ordered, ordered->head, ordered->boundary);
    count = add_piece(pieces, count, urgent, urgent->head, urgent->tail);
    return add_piece(pieces, count, ordered, ordered->boundary, ordered->tail);
}

static uint32_t take(tm_lane *lane, uint64_t *bytes, uint32_t most) {
    uint32_t taken = *bytes < most ? (uint32_t)*bytes : most;
    lane->head += taken;
    *bytes -= taken;
    return taken;
}

static void lane_settle(tm_lane *lane) {
    if (lane->head == lane->tail) {
        lane->head = lane->tail = lane->boundary = 0;
    }
    while (lane->boundary < lane->head) {
        lane->boundary += tm_load32(lane->bytes + lane->boundary);
    }
}

/* Whole urgent frames leave before ordered ones, so a partly sent urgent frame is the first of its lane. */
void tm_outbox_sent(tm_outbox *outbox, uint64_t bytes) {
    tm_lane *ordered = &outbox->ordered;
    take(ordered, &bytes, ordered->boundary - ordered->head);
    take(&outbox->urgent, &bytes, tm_lane_size(&outbox->urgent));
    take(ordered, &bytes, tm_lane_size(ordered));
    lane_settle(&outbox->urgent);
    lane_settle(ordered);
}

/* ---- memory ---- */

static void lane_trim(tm_lane *lane, tm_memory *memory, uint32_t peak) {
    if (lane->head == lane->tail && lane->capacity / 4 >= peak) {
        lane_clear(lane, memory);
    }
}

void tm_outbox_trim(tm_outbox *outbox, tm_memory *memory) {
    lane_trim(&outbox->urgent, memory, 0);
    lane_trim(&outbox->ordered, memory, outbox->peak);
    outbox->peak = tm_lane_size(&outbox->ordered);
}

void tm_outbox_clear(tm_outbox *outbox, tm_memory *memory) {
    lane_clear(&outbox->ordered, memory);
    lane_clear(&outbox->urgent, memory);
    *outbox = (tm_outbox){0};
}

static bool lane_is_sound(const tm_lane *lane) {
    if (lane->head > lane->tail || lane->tail > lane->capacity || lane->boundary < lane->head) {
        return false;
    }
    uint32_t at = lane->boundary;
    while (at < lane->tail) {
        uint32_t size = tm_load32(lane->bytes + at);
        if (size < WIRE_PREFIX_BYTES || size > lane->tail - at) {
            return false;
        }
        at += size;
    }
    return at == lane->tail;
}

bool tm_outbox_is_sound(const tm_outbox *outbox) {
    return lane_is_sound(&outbox->ordered) && lane_is_sound(&outbox->urgent);
}
