/* validate.c - validation of a message that enters here against the space that it names.
 *
 * Law: see validate.h. The first violating attribute in the order of the message is reported, otherwise the first
 * missing one in the order of the space.
 */
#include "switch/matching/validate.h"

#include "switch/matching/check.h"
#include "switch/message.h"

/* ---- once for messages of one shape ---- */

static uint32_t find_attribute(const tm_switch *sw, const tm_message *message, const tm_text *name) {
    for (uint32_t i = 0; i < message->attribute_count; i++) {
        const tm_attribute *attribute = &sw->attributes[i];
        if (attribute->name_length == name->length && memcmp(attribute->name, name->bytes, name->length) == 0) {
            return i;
        }
    }
    return FIT_NONE;
}

/* A trimmed shape was trimmed before there were spaces; decode all attributes if it has the naming one. */
static void note_shape(tm_switch *sw, tm_message *message) {
    tm_form *form = message->form;
    const tm_text *naming = &sw->spaces->naming;
    if (form->shape.is_trimmed && tm_shape_spells(&form->shape, naming->bytes, naming->length)) {
        switch_decode_all(sw, message);
    }
    form->fit = (tm_fit){.version = form->shape.version,
                         .naming = find_attribute(sw, message, naming),
                         .space = SPACE_NONE,
                         .missing = FIT_NONE};
}

static void note_space(const tm_switch *sw, const tm_message *message, uint32_t number) {
    tm_fit *fit = &message->form->fit;
    const tm_space *space = &sw->spaces->spaces[number];
    uint64_t seen = 0;
    for (uint32_t i = 0; i < message->attribute_count; i++) {
        const tm_attribute *attribute = &sw->attributes[i];
        uint32_t field = tm_texts_find(&space->names, &sw->memory, attribute->name, attribute->name_length);
        bool is_skipped = i == fit->naming || (field == TEXTS_NONE && space->is_open);
        fit->fields[i] = is_skipped ? FIT_SKIPPED : field == TEXTS_NONE ? FIT_UNDECLARED : (uint8_t)field;
        seen |= field == TEXTS_NONE ? 0 : UINT64_C(1) << field;
    }
    fit->space = number;
    fit->missing = FIT_NONE;
    for (uint32_t field = space->names.count; field-- > 0;) {
        bool is_missing = !space->attributes[field].is_optional && (seen >> field & 1) == 0;
        fit->missing = is_missing ? field : fit->missing;
    }
}

/* ---- for each message ---- */

/* Return the space that the message names, or SPACE_NONE. */
static uint32_t find_space(tm_switch *sw, tm_message *message) {
    tm_fit *fit = &message->form->fit;
    if (fit->version != message->form->shape.version) {
        note_shape(sw, message);
    }
    if (fit->naming == FIT_NONE) {
        return SPACE_NONE;
    }
    const tm_attribute *named = &sw->attributes[fit->naming];
    if (fit->space != SPACE_NONE && named->kind == TM_KIND_STRING) {
        const tm_text *last = &sw->spaces->names.texts[fit->space];
        if (named->length == last->length && memcmp(named->string, last->bytes, last->length) == 0) {
            return fit->space;
        }
    }
    uint32_t number = tm_spaces_find(sw->spaces, named);
    if (number != SPACE_NONE) {
        note_space(sw, message, number);
    }
    return number;
}

static bool fits_space(const tm_switch *sw, const tm_message *message, tm_violation *out) {
    const tm_fit *fit = &message->form->fit;
    const tm_space *space = &sw->spaces->spaces[fit->space];
    for (uint32_t i = 0; i < message->attribute_count; i++) {
        uint32_t field = fit->fields[i];
        if (field == FIT_SKIPPED) {
            continue;
        }
        const tm_attribute *attribute = &sw->attributes[i];
        unsigned why = field == FIT_UNDECLARED
                           ? TM_VIOLATION_UNDECLARED
                           : tm_domain_violation(&space->attributes[field].domain, attribute, &sw->memory);
        if (__builtin_expect(why != TM_VIOLATION_NONE, 0)) {
            *out = (tm_violation){.name = attribute->name,
                                  .length = attribute->name_length,
                                  .space = fit->space,
                                  .field = field == FIT_UNDECLARED ? TEXTS_NONE : field,
                                  .why = why};
            return false;
        }
    }
    if (fit->missing != FIT_NONE) {
        const tm_text *name = &space->names.texts[fit->missing];
        *out = (tm_violation){.name = name->bytes,
                              .length = name->length,
                              .space = fit->space,
                              .field = fit->missing,
                              .why = TM_VIOLATION_MISSING};
        return false;
    }
    return true;
}

bool switch_fits(tm_switch *sw, tm_message *message, tm_violation *out) {
    uint32_t number = find_space(sw, message);
    if (number == SPACE_NONE) {
        const tm_text *naming = &sw->spaces->naming;
        *out = (tm_violation){naming->bytes, naming->length, SPACE_NONE, TEXTS_NONE, TM_VIOLATION_NO_SPACE};
        return !sw->spaces->refuses_unknown;
    }
    tm_space *space = &sw->spaces->spaces[number];
    bool fits = fits_space(sw, message, out);
    space->stats.checked++;
    space->stats.refused += !fits;
    return fits;
}

/* ---- the spaces ---- */

/* Carry over the counters of spaces that stay. */
static void keep_counts(tm_spaces *spaces, const tm_spaces *old) {
    for (uint32_t i = 0; old != NULL && i < spaces->count; i++) {
        const tm_text *name = &spaces->names.texts[i];
        uint32_t number = tm_texts_find(&old->names, old->memory, name->bytes, name->length);
        if (number != TEXTS_NONE) {
            spaces->spaces[i].stats = old->spaces[number].stats;
        }
    }
}

int tm_switch_spaces(tm_switch *sw, const uint8_t *packed, size_t size) {
    tm_spaces *spaces = NULL;
    if (sw == NULL || (packed == NULL && size > 0)) {
        return TM_MISUSED;
    }
    int result = size == 0 ? TM_OK : tm_spaces_new(&sw->memory, packed, size, &spaces);
    if (result != TM_OK) {
        return result;
    }
    if (spaces != NULL) {
        keep_counts(spaces, sw->spaces);
    }
    tm_spaces_free(sw->spaces);
    sw->spaces = spaces;
    sw->has_door = spaces != NULL || sw->guards != NULL;
    for (uint32_t i = 0; i < SWITCH_FORMS; i++) {
        sw->forms[i].fit = (tm_fit){0};
    }
    return TM_OK;
}

int tm_switch_space(const tm_switch *sw, uint32_t number, tm_space_stats *out) {
    if (sw == NULL || out == NULL) {
        return TM_MISUSED;
    }
    if (sw->spaces == NULL || number >= sw->spaces->count) {
        return TM_ABSENT;
    }
    *out = sw->spaces->spaces[number].stats;
    return TM_OK;
}
