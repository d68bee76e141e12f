/* space.c - see space.h. */
#include "model/space.h"

#include "model/msgpack.h"
#include "model/number.h"

/* ---- values ---- */

static unsigned violation_of_integers(const tm_domain *domain, const tm_attribute *attribute) {
    if (attribute->kind == TM_KIND_INTEGER) {
        bool is_inside = attribute->integer >= domain->low && attribute->integer <= domain->high;
        return is_inside ? TM_VIOLATION_NONE : TM_VIOLATION_OUTSIDE;
    }
    if (attribute->kind != TM_KIND_FLOAT) {
        return TM_VIOLATION_KIND;
    }
    bool is_inside = tm_number_compare(0, attribute->real, true, domain->low, 0, false) >= 0 &&
                     tm_number_compare(0, attribute->real, true, domain->high, 0, false) <= 0;
    return is_inside ? TM_VIOLATION_TOO_FINE : TM_VIOLATION_OUTSIDE;
}

/* Adding and subtracting 1.5 * 2^52 rounds a double to the nearest integer; within SPACE_UNITS_MAX the product is off
 * by less than a quarter, and the quotient is the double nearest to the decimal number. */
static bool is_decimal(double real, double scale) {
    double units = (real * scale + 0x1.8p52) - 0x1.8p52;
    return units / scale == real;
}

static unsigned violation_of_fixed(const tm_domain *domain, const tm_attribute *attribute) {
    if (attribute->kind == TM_KIND_INTEGER) {
        bool is_inside = attribute->integer >= domain->low && attribute->integer <= domain->high;
        return is_inside ? TM_VIOLATION_NONE : TM_VIOLATION_OUTSIDE;
    }
    if (attribute->kind != TM_KIND_FLOAT) {
        return TM_VIOLATION_KIND;
    }
    if (!(attribute->real >= domain->real_low && attribute->real <= domain->real_high)) {
        return TM_VIOLATION_OUTSIDE;
    }
    return is_decimal(attribute->real, domain->scale) ? TM_VIOLATION_NONE : TM_VIOLATION_TOO_FINE;
}

static unsigned violation_of_choice(const tm_domain *domain, const tm_attribute *attribute, const tm_memory *memory) {
    if (attribute->kind != TM_KIND_STRING) {
        return TM_VIOLATION_KIND;
    }
    bool is_there = tm_texts_find(&domain->values, memory, attribute->string, attribute->length) != TEXTS_NONE;
    return is_there ? TM_VIOLATION_NONE : TM_VIOLATION_NOT_LISTED;
}

unsigned tm_domain_violation(const tm_domain *domain, const tm_attribute *attribute, const tm_memory *memory) {
    switch ((tm_domain_kind)domain->kind) {
    case DOMAIN_TEXT:
        return attribute->kind == TM_KIND_STRING ? TM_VIOLATION_NONE : TM_VIOLATION_KIND;
    case DOMAIN_TRUTH:
        return attribute->kind == TM_KIND_BOOLEAN ? TM_VIOLATION_NONE : TM_VIOLATION_KIND;
    case DOMAIN_NUMBER:
        return attribute->kind == TM_KIND_INTEGER || attribute->kind == TM_KIND_FLOAT ? TM_VIOLATION_NONE
                                                                                      : TM_VIOLATION_KIND;
    case DOMAIN_INTEGER:
        return violation_of_integers(domain, attribute);
    case DOMAIN_FIXED:
        return violation_of_fixed(domain, attribute);
    case DOMAIN_CHOICE:
        return violation_of_choice(domain, attribute, memory);
    }
    return TM_VIOLATION_KIND;
}

uint32_t tm_spaces_find(const tm_spaces *spaces, const tm_attribute *naming) {
    if (naming->kind != TM_KIND_STRING) {
        return SPACE_NONE;
    }
    return tm_texts_find(&spaces->names, spaces->memory, naming->string, naming->length);
}

/* ---- the packed form ---- */

static bool read_text(tm_cursor *cursor, tm_text *text) {
    *text = (tm_text){0};
    if (!tm_read_string(cursor, TM_STRING_BYTES_MAX, &text->bytes, &text->length)) {
        return false;
    }
    text->head = tm_head_of(text->bytes, text->length);
    return true;
}

static bool read_count(tm_cursor *cursor, uint32_t max, uint32_t *count) {
    return tm_read_array(cursor, count) && *count <= max;
}

static bool read_flag(tm_cursor *cursor, bool *flag) {
    int64_t number = 0;
    bool is_read = tm_read_integer(cursor, &number) && (number == 0 || number == 1);
    *flag = number == 1;
    return is_read;
}

static int64_t divide_down(int64_t units, int64_t scale) {
    return units / scale - (units % scale < 0);
}

/* Read [low, high, digits], in units of the last digit. */
static bool read_bounds(tm_cursor *cursor, tm_domain *domain) {
    int64_t low = 0;
    int64_t high = 0;
    int64_t digits = 0;
    if (!tm_read_integer(cursor, &low) || !tm_read_integer(cursor, &high) || !tm_read_integer(cursor, &digits)) {
        return false;
    }
    domain->low = low;
    domain->high = high;
    if (domain->kind != DOMAIN_FIXED) {
        return true;
    }
    if (digits < 0 || digits > SPACE_DIGITS_MAX || low < -SPACE_UNITS_MAX || high > SPACE_UNITS_MAX || low > high) {
        return false;
    }
    int64_t scale = 1;
    for (; digits > 0; digits--) {
        scale *= 10;
    }
    domain->low = -divide_down(-low, scale);
    domain->high = divide_down(high, scale);
    domain->scale = (double)scale;
    domain->real_low = (double)low / domain->scale;
    domain->real_high = (double)high / domain->scale;
    return true;
}

/* Read an array of distinct texts, which the caller frees whatever the result. */
static int read_texts(tm_cursor *cursor, uint32_t max, tm_memory *memory, tm_texts *texts) {
    uint32_t count = 0;
    if (!read_count(cursor, max, &count)) {
        return TM_MALFORMED;
    }
    if (!tm_texts_new(texts, memory, count)) {
        return TM_NO_MEMORY;
    }
    for (uint32_t i = 0; i < count; i++) {
        tm_text text;
        if (!read_text(cursor, &text) || !tm_texts_add(texts, memory, text.bytes, text.length)) {
            return TM_MALFORMED;
        }
    }
    return TM_OK;
}

/* Read [name, optional, allowed, kind, low, high, digits, values]. */
static int read_attribute(tm_cursor *cursor, tm_memory *memory, tm_space *space) {
    tm_space_attribute *attribute = &space->attributes[space->names.count];
    uint32_t fields = 0;
    tm_text name;
    int64_t kind = 0;
    if (!tm_read_array(cursor, &fields) || fields != 8 || !read_text(cursor, &name) ||
        !read_flag(cursor, &attribute->is_optional) || !read_text(cursor, &attribute->allowed) ||
        !tm_read_integer(cursor, &kind) || kind < DOMAIN_TEXT || kind > DOMAIN_CHOICE) {
        return TM_MALFORMED;
    }
    attribute->domain.kind = (uint8_t)kind;
    if (!read_bounds(cursor, &attribute->domain) || !tm_texts_add(&space->names, memory, name.bytes, name.length)) {
        return TM_MALFORMED;
    }
    return read_texts(cursor, TM_SPACE_VALUES_MAX, memory, &attribute->domain.values);
}

/* Read [open, declared, attributes]. */
static int read_space(tm_cursor *cursor, tm_memory *memory, tm_space *space) {
    uint32_t fields = 0;
    uint32_t count = 0;
    if (!tm_read_array(cursor, &fields) || fields != 3 || !read_flag(cursor, &space->is_open) ||
        !read_text(cursor, &space->declared) || !read_count(cursor, TM_SPACE_ATTRIBUTES_MAX, &count)) {
        return TM_MALFORMED;
    }
    space->attributes = TM_NEW(memory, TM_COLD, tm_space_attribute, count + 1);
    if (space->attributes == NULL || !tm_texts_new(&space->names, memory, count)) {
        TM_DELETE(memory, TM_COLD, space->attributes, tm_space_attribute, count + 1);
        space->attributes = NULL;
        return TM_NO_MEMORY;
    }
    int result = TM_OK;
    for (uint32_t i = 0; i < count && result == TM_OK; i++) {
        result = read_attribute(cursor, memory, space);
    }
    return result;
}

static int read_spaces(tm_spaces *spaces) {
    tm_cursor cursor = {spaces->bytes, spaces->bytes + spaces->size};
    uint32_t fields = 0;
    uint32_t count = 0;
    if (!tm_read_array(&cursor, &fields) || fields != 5 || !read_text(&cursor, &spaces->naming) ||
        !read_flag(&cursor, &spaces->refuses_unknown) || !read_text(&cursor, &spaces->known)) {
        return TM_MALFORMED;
    }
    int result = read_texts(&cursor, TM_SPACES_MAX, spaces->memory, &spaces->names);
    if (result != TM_OK) {
        return result;
    }
    if (!read_count(&cursor, TM_SPACES_MAX, &count) || count != spaces->names.count) {
        return TM_MALFORMED;
    }
    spaces->spaces = TM_NEW(spaces->memory, TM_COLD, tm_space, count + 1);
    if (spaces->spaces == NULL) {
        return TM_NO_MEMORY;
    }
    spaces->count = count;
    for (uint32_t i = 0; i < count && result == TM_OK; i++) {
        result = read_space(&cursor, spaces->memory, &spaces->spaces[i]);
    }
    return result != TM_OK || cursor.at == cursor.end ? result : TM_MALFORMED;
}

/* ---- life ---- */

int tm_spaces_new(tm_memory *memory, const uint8_t *packed, size_t size, tm_spaces **made) {
    tm_spaces *spaces = TM_NEW(memory, TM_COLD, tm_spaces, 1);
    if (spaces == NULL) {
        return TM_NO_MEMORY;
    }
    *spaces = (tm_spaces){.memory = memory, .bytes = TM_NEW(memory, TM_COLD, uint8_t, size), .size = size};
    int result = TM_NO_MEMORY;
    if (spaces->bytes != NULL) {
        memcpy(spaces->bytes, packed, size);
        result = read_spaces(spaces);
    }
    if (result != TM_OK) {
        tm_spaces_free(spaces);
        return result;
    }
    *made = spaces;
    return TM_OK;
}

static void free_space(tm_space *space, tm_memory *memory) {
    if (space->attributes == NULL) {
        return;
    }
    for (uint32_t i = 0; i < space->names.capacity; i++) {
        tm_texts_free(&space->attributes[i].domain.values, memory);
    }
    TM_DELETE(memory, TM_COLD, space->attributes, tm_space_attribute, space->names.capacity + 1);
    tm_texts_free(&space->names, memory);
}

void tm_spaces_free(tm_spaces *spaces) {
    if (spaces == NULL) {
        return;
    }
    tm_memory *memory = spaces->memory;
    for (uint32_t i = 0; i < spaces->count; i++) {
        free_space(&spaces->spaces[i], memory);
    }
    if (spaces->spaces != NULL) {
        TM_DELETE(memory, TM_COLD, spaces->spaces, tm_space, spaces->count + 1);
    }
    tm_texts_free(&spaces->names, memory);
    TM_DELETE(memory, TM_COLD, spaces->bytes, uint8_t, spaces->size);
    TM_DELETE(memory, TM_COLD, spaces, tm_spaces, 1);
}

/* ---- the sentence ---- */

typedef struct sentence {
    char *text; /* borrowed, with room for SPACE_SENTENCE_BYTES and a zero */
    uint32_t size;
    bool is_cut;
} sentence;

/* Append as much as there is room for, without splitting a character. */
static void put(sentence *out, const void *bytes, uint32_t length) {
    const uint8_t *from = bytes;
    uint32_t room = out->is_cut ? 0 : SPACE_SENTENCE_BYTES - out->size;
    uint32_t taken = length < room ? length : room;
    while (taken < length && taken > 0 && (from[taken] & 0xc0) == 0x80) {
        taken--;
    }
    memcpy(out->text + out->size, bytes, taken);
    out->size += taken;
    out->text[out->size] = '\0';
    out->is_cut |= taken < length;
}

static void put_literal(sentence *out, const char *text) {
    put(out, text, (uint32_t)strlen(text));
}

void tm_violation_say(const tm_violation *violation, const tm_spaces *spaces, char text[SPACE_SENTENCE_BYTES + 1]) {
    static const char *const WHAT[] = {
        [TM_VIOLATION_NONE] = "fits",
        [TM_VIOLATION_MISSING] = "is missing",
        [TM_VIOLATION_UNDECLARED] = "is not declared",
        [TM_VIOLATION_KIND] = "is of another kind",
        [TM_VIOLATION_OUTSIDE] = "lies outside its range",
        [TM_VIOLATION_TOO_FINE] = "has too many digits",
        [TM_VIOLATION_NOT_LISTED] = "is none of its values",
        [TM_VIOLATION_NO_SPACE] = "names no space",
    };
    sentence out = {.text = text};
    const tm_text *allowed = &spaces->known;
    if (violation->space != SPACE_NONE) {
        const tm_space *space = &spaces->spaces[violation->space];
        allowed = violation->field == TEXTS_NONE ? &space->declared : &space->attributes[violation->field].allowed;
        put_literal(&out, "space ");
        put(&out, spaces->names.texts[violation->space].bytes, spaces->names.texts[violation->space].length);
        put_literal(&out, ": ");
    }
    put_literal(&out, "attribute ");
    put(&out, violation->name, violation->length);
    put_literal(&out, " ");
    put_literal(&out, WHAT[violation->why]);
    put_literal(&out, "; allowed: ");
    put(&out, allowed->bytes, allowed->length);
}
