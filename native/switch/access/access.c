/* access.c - see access.h. */
#include "switch/access/access.h"

#include "base/grow.h"
#include "model/msgpack.h"
#include "switch/access/guard.h"
#include "switch/matching/check.h"
#include "switch/matching/local.h"

#define MAP_FEW 0x80U  /* msgpack: a map of at most 15 pairs, with their number in the byte */
#define MAP_MANY 0xdeU /* a map, with the number of pairs in the two bytes that follow */
#define MAP_FEW_MAX 15U

/* ---- who is guarded ---- */

bool switch_knows_guard(const tm_switch *sw, uint32_t guard) {
    return guard == TM_GUARD_NONE ||
           (sw->guards != NULL && guard - 1 < sw->guards->count && guard_at(sw, guard)->filters != NULL);
}

static bool is_sound(const tm_switch *sw, const tm_guarding *guarding) {
    return switch_knows_guard(sw, guarding->door) && switch_knows_guard(sw, guarding->hand) &&
           switch_knows_guard(sw, guarding->answers) && switch_knows_guard(sw, guarding->refuse) &&
           guarding->name_size <= TM_NAME_BYTES_MAX && guarding->stamp_size <= TM_STAMP_BYTES_MAX &&
           guarding->stamp_count <= TM_ATTRIBUTES_MAX && guarding->stamp_reason_size <= TM_REASON_BYTES_MAX;
}

static void append(uint8_t *to, uint32_t *at, const uint8_t *bytes, size_t size) {
    if (size > 0) {
        memcpy(to + *at, bytes, size);
        *at += (uint32_t)size;
    }
}

/* Return the block of what guards a subscriber; NULL: no memory. */
static tm_guarded *block_of(tm_switch *sw, const tm_guarding *guarding) {
    tm_guarded sizes = {.door = guarding->door,
                        .plain_door = guarding->stamp_count == 0 ? guarding->door : TM_GUARD_NONE,
                        .hand = guarding->hand,
                        .answers = guarding->answers,
                        .answers_id = guarding->answers_id,
                        .refuse = guarding->refuse,
                        .observes = guarding->observes,
                        .name_size = (uint32_t)guarding->name_size,
                        .stamp_size = (uint32_t)guarding->stamp_size,
                        .stamp_count = (uint32_t)guarding->stamp_count,
                        .reason_size = (uint32_t)guarding->stamp_reason_size};
    tm_guarded *guarded = tm_alloc_counted(&sw->memory, TM_HOT, guarded_bytes(&sizes));
    uint32_t at = 0;
    if (guarded != NULL) {
        *guarded = sizes;
        append(guarded->bytes, &at, guarding->name, guarding->name_size);
        append(guarded->bytes, &at, guarding->stamp, guarding->stamp_size);
        append(guarded->bytes, &at, guarding->stamp_reason, guarding->stamp_reason_size);
    }
    return guarded;
}

/* Allocate the blocks of all subscribers, and room for them; false: no memory, and nothing is left behind. */
static bool allocate_all(tm_switch *sw, const uint32_t *ids, const tm_guarding *guardings, size_t count,
                         tm_guarded **blocks) {
    size_t made = 0;
    bool has_room = switch_begin_guards(sw);
    for (; made < count && has_room; made++) {
        blocks[made] = block_of(sw, &guardings[made]);
        if (blocks[made] == NULL) {
            break;
        }
        has_room = switch_reserve_guarded(sw, ids[made]);
    }
    if (made == count && has_room) {
        return true;
    }
    while (made > 0) {
        made--;
        tm_free_counted(&sw->memory, TM_HOT, blocks[made], guarded_bytes(blocks[made]));
    }
    return false;
}

/* Return the guard that decides whether a message that satisfies the filter `handle` may be handed to its client. */
static uint32_t hand_of(const tm_switch *sw, const tm_guarded *guarded, uint32_t handle) {
    if (guarded->answers_id == 0) {
        return guarded->hand;
    }
    uint32_t subscription = sw->subscriptions.kept[handle].subscription;
    return sw->subscriptions.rows[subscription].id == guarded->answers_id ? guarded->answers : guarded->hand;
}

/* Remove from the rows of a match those of subscribers, durable ones among them, that may not get the message. */
static void withhold(tm_switch *sw, const tm_message *message, size_t *count) {
    size_t left = 0;
    for (size_t row = 0; row < *count; row++) {
        const tm_guarded *guarded = switch_guarded(sw, sw->rows.groups[row]);
        uint32_t hand = guarded != NULL ? hand_of(sw, guarded, sw->rows.handles[row]) : TM_GUARD_NONE;
        if (hand != TM_GUARD_NONE) {
            tm_guard *guard = guard_at(sw, hand);
            if (!guard_passes(sw, guard, guarded, message)) {
                guard->stats.withheld++;
                if (!guarded->observes) {
                    continue;
                }
            }
        }
        sw->rows.groups[left] = sw->rows.groups[row];
        sw->rows.handles[left++] = sw->rows.handles[row];
    }
    *count = left;
}

/* Match as switch_match_some does, without the rows of clients that may not get the message. */
static int match_allowed(tm_switch *sw, const tm_message *message, size_t *count) {
    int result = switch_match_some(sw, message, count);
    if (result == TM_OK) {
        withhold(sw, message, count);
    }
    return result;
}

int tm_switch_guard_all(tm_switch *sw, const uint32_t *ids, const tm_guarding *guardings, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (!switch_knows_subscriber(sw, ids[i]) || !is_sound(sw, &guardings[i])) {
            return TM_MISUSED;
        }
    }
    tm_guarded **blocks = TM_NEW(&sw->memory, TM_COLD, tm_guarded *, count + 1);
    bool is_ready = blocks != NULL && allocate_all(sw, ids, guardings, count, blocks);
    for (size_t i = 0; i < count && is_ready; i++) {
        bool is_at_hand = blocks[i]->hand != TM_GUARD_NONE || blocks[i]->answers != TM_GUARD_NONE;
        sw->match = is_at_hand ? match_allowed : sw->match;
        switch_set_guarded(sw, ids[i], blocks[i]);
    }
    TM_DELETE(&sw->memory, TM_COLD, blocks, tm_guarded *, count + 1);
    return is_ready ? TM_OK : TM_NO_MEMORY;
}

int tm_switch_guard(tm_switch *sw, uint32_t id, const tm_guarding *guarding) {
    if (!switch_knows_subscriber(sw, id)) {
        return TM_MISUSED;
    }
    if (guarding == NULL) {
        switch_set_guarded(sw, id, NULL);
        return TM_OK;
    }
    return tm_switch_guard_all(sw, &id, guarding, 1);
}

/* ---- the stamp ---- */

/* true if the message has an attribute of the stamp already */
static bool has_stamped(const tm_message *message, const tm_guarded *guarded) {
    tm_attribute stamp[TM_ATTRIBUTES_MAX];
    uint8_t map[3 + TM_STAMP_BYTES_MAX];
    size_t count;
    size_t used;
    map[0] = MAP_MANY;
    map[1] = (uint8_t)(guarded->stamp_count >> 8);
    map[2] = (uint8_t)guarded->stamp_count;
    memcpy(map + 3, guarded_stamp(guarded), guarded->stamp_size);
    if (tm_attributes_decode(map, 3 + guarded->stamp_size, stamp, &count, &used) != TM_OK) {
        return true;
    }
    for (size_t i = 0; i < count; i++) {
        if (tm_shape_spells(&message->form->shape, stamp[i].name, stamp[i].name_length)) {
            return true;
        }
    }
    return false;
}

/* Replace the message by one with the stamp behind the head of its map of attributes, and decode that. NULL, or why it
 * cannot be stamped. */
static const char *add_stamp(tm_switch *sw, tm_message *message, const tm_guarded *guarded) {
    tm_guards *guards = sw->guards;
    const uint8_t *map = message->frame + WIRE_HEADER_BYTES + message->extension_size;
    tm_cursor cursor = {.at = map, .end = map + tm_load32(message->frame + WIRE_ATTRIBUTE_SIZE)};
    uint32_t pairs = 0;
    tm_read_map(&cursor, &pairs); /* the message was decoded before */
    pairs += guarded->stamp_count;
    uint32_t head = (uint32_t)(cursor.at - map);
    uint32_t new_head = pairs > MAP_FEW_MAX ? 3 : 1;
    uint32_t added = guarded->stamp_size + new_head - head;
    if (pairs > TM_ATTRIBUTES_MAX) {
        return "with its stamp the message has too many attributes";
    }
    if (message->size + added > DELIVERABLE_BYTES_MAX) {
        return "with its stamp the message is too large to be delivered";
    }
    if (!tm_grow(&sw->memory, TM_HOT, &guards->frame, 1, &guards->frame_capacity,
                 message->size + added + TM_SHAPE_SLACK)) {
        return "no memory for the stamp of the message";
    }
    uint8_t *out = guards->frame;
    uint32_t before = (uint32_t)(map - message->frame);
    memcpy(out, message->frame, before);
    wire_store32(out, message->size + added);
    wire_store32(out + WIRE_ATTRIBUTE_SIZE, tm_load32(message->frame + WIRE_ATTRIBUTE_SIZE) + added);
    uint8_t *at = out + before;
    at[0] = new_head == 3 ? MAP_MANY : (uint8_t)(MAP_FEW + pairs);
    if (new_head == 3) {
        at[1] = (uint8_t)(pairs >> 8);
        at[2] = (uint8_t)pairs;
    }
    memcpy(at + new_head, guarded_stamp(guarded), guarded->stamp_size);
    memcpy(at + new_head + guarded->stamp_size, map + head, message->size - before - head);
    message->frame = out;
    message->size += added;
    return switch_decode(sw, message) ? NULL : "the stamp of this client is malformed";
}

/* true if the message has the stamp now; otherwise `text` says why it has not */
static bool stamp(tm_switch *sw, tm_message *message, const tm_guarded *guarded, char *text) {
    const char *why = has_stamped(message, guarded) ? guarded_reason(guarded) : add_stamp(sw, message, guarded);
    if (why != NULL) {
        memcpy(text, why, strlen(why) + 1);
    }
    return why == NULL;
}

/* ---- door and hand ---- */

bool switch_enters_at_once(tm_switch *sw, const tm_message *message) {
    const tm_guards *guards = sw->guards;
    uint32_t subscriber = switch_at(sw, message->from)->subscriber;
    if (subscriber >= guards->guarded_room || guards->guarded[subscriber] == NULL) {
        return true;
    }
    uint32_t door = guards->guarded[subscriber]->plain_door;
    if (door == TM_GUARD_NONE) {
        return false;
    }
    tm_guard *guard = &guards->rows[door - 1];
    const tm_form *form = message->form;
    if (guard->versions[form->number] != form->shape.version ||
        program_run(guard->programs[form->number]) != STEP_ALLOWED) {
        return false;
    }
    guard->stats.judged++;
    return true;
}

bool switch_may_enter(tm_switch *sw, tm_message *message, char *text) {
    const tm_guarded *guarded = switch_guarded(sw, switch_at(sw, message->from)->subscriber);
    if (guarded == NULL) {
        return true;
    }
    bool is_stamped = guarded->stamp_count == 0 || stamp(sw, message, guarded, text);
    if (guarded->door == TM_GUARD_NONE) {
        return is_stamped || guarded->observes;
    }
    tm_guard *guard = guard_at(sw, guarded->door);
    if (is_stamped && guard_judges(sw, guard, guarded, message)) {
        return true;
    }
    guard->stats.refused++;
    if (is_stamped && !guarded->observes) {
        guard_say(sw, guard, guarded, message, text);
    }
    return guarded->observes;
}

bool switch_may_get(tm_switch *sw, uint32_t subscriber, uint32_t hand, const tm_attribute *attributes, size_t count) {
    const tm_guarded *guarded = switch_guarded(sw, subscriber);
    if (guarded == NULL || hand == TM_GUARD_NONE) {
        return true;
    }
    tm_guard *guard = guard_at(sw, hand);
    bool may = guard_passes_attributes(sw, guard, guarded, attributes, count);
    guard->stats.withheld += !may;
    return may || guarded->observes;
}
