/* strings.h - the constants of equality and order: dense ids, and for order a label that sorts as they do.
 *
 * Law: a constant lives as long as a test refers to it. Labels of constants are even and increase with the strings; a
 * value that is no constant gets the odd label just above its predecessor's, so that order is one integer comparison.
 * Labels of constants may change when one is ordered (labels.h); ids do not change: `order_version` changes with every
 * constant that is ordered, or no longer is.
 */
#ifndef TM_ONEPATH_STRINGS_H
#define TM_ONEPATH_STRINGS_H

#include <stdbool.h>

#include "base/idset.h"
#include "engines/onepath/values/sorted.h"
#include "tm.h"

#define TM_NO_STRING UINT32_MAX
#define LABEL_STEPS 16U /* of work, for a search among the ordered constants */

#define ONEPATH_NO_LABEL INT64_MIN /* of a number that is not ordered; the labels of such strings are undefined */

#define ONEPATH_STRING_SHORT 8U /* bytes that fit in a record beside the head */

typedef struct onepath_string {
    tm_head head;
    union {
        uint8_t *copy; /* owned; see onepath_string_has_copy */
        uint8_t text[ONEPATH_STRING_SHORT];
    };
    uint32_t length;
    uint32_t references; /* tests that use it; 0: a free record, then `length` is the next free id */
    uint32_t ordered;    /* of these, tests of order */
    uint32_t hash;
} onepath_string;

/* true if a text of this length has a copy. The head of sixteen bytes is the whole text, in order: numbers have no
 * copy. */
static inline bool onepath_string_has_copy(uint32_t length) {
    return length > ONEPATH_STRING_SHORT && length != TM_INLINE_BYTES;
}

/* Return the text of a constant, valid as long as the record does not move. */
static inline const uint8_t *onepath_string_text(const onepath_string *string) {
    if (onepath_string_has_copy(string->length)) {
        return string->copy;
    }
    return string->length == TM_INLINE_BYTES ? (const uint8_t *)&string->head : string->text;
}

struct onepath_strings {
    tm_memory *memory; /* borrowed */
    tm_hash_key key;
    onepath_string *records;
    int64_t *labels; /* by id, where ordered > 0; an array of its own, as searches among bounds read nothing else */
    tm_idset set;    /* of ids + 1, by hash */
    onepath_sorted sorted; /* the ordered ones */
    uint32_t record_count;
    uint32_t record_capacity;
    uint32_t live;
    uint32_t free;
    uint64_t text_bytes;    /* of the copies, as charged */
    uint32_t version;       /* changes when a constant is added or removed */
    uint32_t order_version; /* changes when labels of values may have changed */
};

/* `of_numbers`: the texts of all constants are onepath_number_bytes. */
void onepath_strings_init(onepath_strings *strings, tm_memory *memory, bool of_numbers);
void onepath_strings_clear(onepath_strings *strings);

/* Return the id of the constant and add a reference; TM_NO_STRING if out of memory, then nothing changed. Copies
 * `bytes`. */
uint32_t onepath_strings_acquire(onepath_strings *strings, const uint8_t *bytes, uint32_t length, bool ordered);
/* Add a reference to an ordered constant. */
void onepath_strings_hold(onepath_strings *strings, uint32_t id);
/* Release a reference, which is ordered or not; the last one frees the id. */
void onepath_strings_release(onepath_strings *strings, uint32_t id, bool ordered);
/* Make a reference an ordered one; false if out of memory, then nothing changed. onepath_strings_disorder reverts
 * it. */
bool onepath_strings_order(onepath_strings *strings, uint32_t id);
void onepath_strings_disorder(onepath_strings *strings, uint32_t id);

/* Prefetch where the search for a string begins. */
void onepath_strings_ask(const onepath_strings *strings, const uint8_t *bytes, uint32_t length);
/* Then prefetch the constants that the search compares. */
void onepath_strings_ask_found(const onepath_strings *strings, const uint8_t *bytes, uint32_t length);
/* Prefetch in these two steps for a constant that is about to lose its last reference; nothing for any other. */
void onepath_strings_ask_last(const onepath_strings *strings, uint32_t id);
void onepath_strings_ask_beside(const onepath_strings *strings, uint32_t id);
/* Return the id of the constant that equals the value, or TM_NO_STRING. */
uint32_t onepath_strings_find(const onepath_strings *strings, const uint8_t *bytes, uint32_t length);

/* Return the label of any value among the ordered constants; `constant` is the result of onepath_strings_find: an
 * ordered constant is not searched for. */
int64_t onepath_strings_label(const onepath_strings *strings, uint32_t constant, const uint8_t *bytes, uint32_t length);
/* Return the label of a value that is no constant and lies before this place. */
static inline int64_t onepath_strings_label_before(const onepath_strings *strings, onepath_sorted_place place) {
    uint32_t before = onepath_sorted_before(&strings->sorted, place);
    return before == TM_NO_STRING ? INT64_MIN : strings->labels[before] + 1;
}

int onepath_strings_validate(const onepath_strings *strings, const char **reason);

/* Note one search for each constant. */
void onepath_strings_probes(const onepath_strings *strings, tm_probes *probes);

#endif
