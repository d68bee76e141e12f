/* cut.c - makes and compares cuts of values. Law: see cut.h. */
#include <string.h>

#include "engines/interval/cut.h"
#include "model/number.h"

const tm_cut tm_cut_first = {.kind = TM_CUT_BOOLEAN};
const tm_cut tm_cut_end = {.kind = TM_CUT_END};

/* Return eight bytes from `from` on as a number of their order; missing bytes are 0. */
static uint64_t word_of(const uint8_t *text, uint32_t length, uint32_t from) {
    uint64_t word = 0;
    for (uint32_t i = from; i < from + 8; i++) {
        word = word << 8 | (i < length ? text[i] : 0);
    }
    return word;
}

tm_cut tm_cut_of_text(const uint8_t *text, uint32_t length, bool after) {
    return (tm_cut){word_of(text, length, 0), word_of(text, length, 8), text, length, TM_CUT_STRING, after};
}

tm_cut tm_cut_at(const tm_value *value, bool after) {
    if (value->kind == TM_KIND_STRING) {
        return tm_cut_of_text(value->string, value->length, after);
    }
    if (value->kind == TM_KIND_BOOLEAN) {
        return (tm_cut){.high = (uint64_t)value->integer, .kind = TM_CUT_BOOLEAN, .after = after};
    }
    tm_number_key key = tm_number_key_of(value->integer, value->real, value->kind == TM_KIND_FLOAT);
    return (tm_cut){.high = key.high, .low = key.low, .kind = TM_CUT_NUMBER, .after = after};
}

tm_cut tm_cut_of_attribute(const tm_attribute *attribute) {
    tm_value value = {.string = attribute->string,
                      .integer = attribute->integer,
                      .real = attribute->real,
                      .length = attribute->length,
                      .kind = attribute->kind};
    return tm_cut_at(&value, true);
}

tm_cut tm_cut_of_kind(const tm_value *value, bool end) {
    switch (value->kind) {
    case TM_KIND_BOOLEAN:
        return end ? (tm_cut){.kind = TM_CUT_NUMBER} : tm_cut_first;
    case TM_KIND_STRING:
        return end ? tm_cut_end : (tm_cut){.kind = TM_CUT_STRING};
    default:
        return (tm_cut){.kind = end ? TM_CUT_STRING : TM_CUT_NUMBER};
    }
}

static int compare_texts(const tm_cut *a, const tm_cut *b) {
    uint32_t shared = a->length < b->length ? a->length : b->length;
    int order = shared > 0 ? memcmp(a->text, b->text, shared) : 0;
    return order != 0 ? order : (a->length > b->length) - (a->length < b->length);
}

int tm_cut_compare(const tm_cut *a, const tm_cut *b) {
    if (a->kind != b->kind) {
        return a->kind < b->kind ? -1 : 1;
    }
    if (a->high != b->high) {
        return a->high < b->high ? -1 : 1;
    }
    if (a->low != b->low) {
        return a->low < b->low ? -1 : 1;
    }
    int order = a->kind == TM_CUT_STRING ? compare_texts(a, b) : 0;
    return order != 0 ? order : (int)a->after - (int)b->after;
}
