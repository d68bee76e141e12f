/* fold.c - see fold.h.
 *
 * Of a long text only its ends are folded, which are all that a condition of the index can be about: an operand has at
 * most TM_OPERAND_BYTES_MAX bytes, one of a prefix or a suffix TM_PATTERN_BYTES_MAX, and a character loses at most two
 * of three bytes when it is folded.
 */
#include "switch/matching/fold.h"

#include <string.h>

#include "residual/cases.h"
#include "residual/characters.h"
#include "switch/message.h"
#include "switch/state.h"

#define WHOLE_BYTES_MAX (3U * TM_OPERAND_BYTES_MAX) /* of a text that is folded whole */
#define END_BYTES (3U * TM_PATTERN_BYTES_MAX)       /* of a longer one, at both of its ends */
#define ROOM_BYTES (2U * WHOLE_BYTES_MAX)           /* for a folded text, which may be longer */
#define SLACK_BYTES 16U                             /* readable behind a text (table/answer.h) */

/* ---- which attributes ---- */

static void make_plan(tm_switch *sw, const tm_message *message, tm_fold_plan *plan) {
    tm_shape *shape = &message->form->shape;
    const tm_folded_names *names = &sw->subscriptions.folded;
    size_t count = message->attribute_count;
    *plan = (tm_fold_plan){.shape_version = shape->version, .names_version = names->version};
    for (size_t i = 0; i < count && !plan->is_unfit; i++) {
        uint32_t number = tm_folded_names_find(names, sw->attributes[i].name, sw->attributes[i].name_length);
        if (number == FOLDED_NONE) {
            continue;
        }
        const tm_folded_name *name = tm_folded_names_at(names, number);
        plan->is_unfit = count + plan->count == TM_ATTRIBUTES_MAX || shape->count == 0 ||
                         tm_shape_spells(shape, name->marked, name->length);
        plan->places[plan->count] = (uint8_t)i;
        plan->names[plan->count++] = number;
    }
    if (!plan->is_unfit) { /* entries of the memo behind those of the attributes are used for folded texts alone */
        memset(shape->memo[SHAPE_LOCAL] + count, 0, sizeof(uint64_t) * plan->count);
    }
}

static bool reserve_texts(tm_switch *sw, uint32_t count) {
    uint32_t bytes = count * (ROOM_BYTES + SLACK_BYTES);
    if (bytes <= sw->folded_bytes) {
        return true;
    }
    uint8_t *grown = TM_RESIZE(&sw->memory, TM_COLD, sw->folded_texts, uint8_t, sw->folded_bytes, bytes);
    if (grown == NULL) {
        return false;
    }
    sw->folded_texts = grown;
    sw->folded_bytes = bytes;
    return true;
}

/* ---- texts ---- */

/* Append a folded part of a text. */
static void append(const uint8_t *part, uint32_t length, uint8_t *out, uint32_t *written) {
    uint32_t more = 0;
    tm_case_text(part, length, CASE_FOLDED, out + *written, ROOM_BYTES - *written, &more);
    *written += more;
}

/* Fold a text, or the two ends of a long one with a zero byte between them; returns its bytes. */
static uint32_t fold(const uint8_t *text, uint32_t length, uint8_t *out) {
    uint32_t written = 0;
    if (length <= WHOLE_BYTES_MAX) {
        append(text, length, out, &written);
        return written;
    }
    uint32_t head = END_BYTES;
    uint32_t tail = length - END_BYTES;
    while (!character_begins(text[head])) {
        head++;
    }
    while (!character_begins(text[tail])) {
        tail--;
    }
    append(text, head, out, &written);
    out[written++] = 0;
    append(text + tail, length - tail, out, &written);
    return written;
}

bool switch_fold(tm_switch *sw, const tm_message *message, size_t *count) {
    tm_fold_plan *plan = &message->form->folds;
    *count = message->attribute_count;
    if (plan->shape_version != message->form->shape.version ||
        plan->names_version != sw->subscriptions.folded.version) {
        make_plan(sw, message, plan);
    }
    if (plan->is_unfit || !reserve_texts(sw, plan->count)) {
        return false;
    }
    uint8_t *out = sw->folded_texts;
    for (uint32_t i = 0; i < plan->count; i++) {
        const tm_attribute *of = &sw->attributes[plan->places[i]];
        const tm_folded_name *name = tm_folded_names_at(&sw->subscriptions.folded, plan->names[i]);
        tm_attribute *folded = &sw->attributes[(*count)++];
        *folded = (tm_attribute){
            .name = name->marked, .name_length = (uint16_t)name->length, .kind = TM_KIND_BOOLEAN}; /* no text: false */
        if (of->kind == TM_KIND_STRING) {
            sw->work.steps += tm_work_of_text(of->length < WHOLE_BYTES_MAX ? of->length : WHOLE_BYTES_MAX);
            folded->kind = TM_KIND_STRING;
            folded->string = out;
            folded->length = fold(of->string, of->length, out);
        }
        out += ROOM_BYTES + SLACK_BYTES;
    }
    return true;
}

bool switch_add_folded(tm_switch *sw, size_t *count) {
    const tm_subscriptions *subscriptions = &sw->subscriptions;
    for (uint32_t number = 1; number <= subscriptions->programs.count; number++) {
        const tm_program *program = tm_programs_at(&subscriptions->programs, number);
        if (program->bytes == NULL || !subscriptions->rows[program->subscription].is_folded) {
            continue;
        }
        if (*count < sw->rows.capacity) {
            sw->rows.groups[*count] = subscriptions->rows[program->subscription].subscriber;
            sw->rows.handles[*count] = subscriptions->rows[program->subscription].filters;
        }
        ++*count;
    }
    return *count <= sw->rows.capacity;
}
