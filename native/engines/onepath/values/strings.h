/* strings.h - the string constants of equality and order: dense ids, and for order a label that sorts like them.
 *
 * Law: a constant lives as long as a test refers to it. Labels of constants are even and increase with the strings; a
 * value that is no constant gets the odd label just above its predecessor's, so that order is one integer comparison.
 * Labels of constants may change when one joins the order (labels.h; ids stay, and everything else keeps ids):
 * `order_version` changes with every constant that joins or leaves.
 */
#ifndef TM_ONEPATH_STRINGS_H
#define TM_ONEPATH_STRINGS_H

#include <stdbool.h>

#include "base/idset.h"
#include "engines/onepath/values/sorted.h"
#include "tm.h"

#define TM_NO_STRING UINT32_MAX
#define LABEL_STEPS 16U /* of work, of a search among the ordered constants */

#define ONEPATH_NO_LABEL INT64_MIN /* of a number that no test needs in order; of a string that would be anything */

#define ONEPATH_STRING_SHORT 8U /* bytes that a record has room for beside the head */

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

/* The head of sixteen bytes is all of them, in order: numbers have no copy. */
static inline bool onepath_string_has_copy(uint32_t length) {
    return length > ONEPATH_STRING_SHORT && length != TM_INLINE_BYTES;
}

/* The text of a constant, good as long as the record stays where it is. */
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
    int64_t *labels; /* by id, where ordered > 0; apart, as searches among bounds read nothing else of a constant */
    tm_idset set;    /* of ids + 1, by hash */
    onepath_sorted sorted; /* the ordered ones */
    uint32_t record_count;
    uint32_t record_capacity;
    uint32_t live;
    uint32_t free;
    uint64_t text_bytes;    /* of the copies, as they are counted */
    uint32_t version;       /* changes when a constant comes or goes */
    uint32_t order_version; /* changes when labels of values may have changed */
};

/* `of_numbers`: all constants are those of onepath_number_bytes. */
void onepath_strings_init(onepath_strings *strings, tm_memory *memory, bool of_numbers);
void onepath_strings_clear(onepath_strings *strings);

/* The id of the constant, one reference more; TM_NO_STRING: no memory, nothing changed. `bytes` is copied. */
uint32_t onepath_strings_acquire(onepath_strings *strings, const uint8_t *bytes, uint32_t length, bool ordered);
/* One reference more to an ordered constant. */
void onepath_strings_hold(onepath_strings *strings, uint32_t id);
void onepath_strings_release(onepath_strings *strings, uint32_t id, bool ordered);
/* A reference without order becomes one with it; false: no memory, nothing changed. And back. */
bool onepath_strings_order(onepath_strings *strings, uint32_t id);
void onepath_strings_disorder(onepath_strings *strings, uint32_t id);

/* Ask for the memory in which the search for a string begins. */
void onepath_strings_ask(const onepath_strings *strings, const uint8_t *bytes, uint32_t length);
/* When that is there, for the memory of those that a search for it comes to. */
void onepath_strings_ask_found(const onepath_strings *strings, const uint8_t *bytes, uint32_t length);
/* The same two of a constant that is about to lose its last reference; of any other nothing. */
void onepath_strings_ask_last(const onepath_strings *strings, uint32_t id);
void onepath_strings_ask_beside(const onepath_strings *strings, uint32_t id);
/* The id of a value that is a constant, or TM_NO_STRING. */
uint32_t onepath_strings_find(const onepath_strings *strings, const uint8_t *bytes, uint32_t length);

/* The label of any value among the ordered constants; `constant` is what onepath_strings_find says of it: a value that
 * is an ordered constant itself is not searched for. */
int64_t onepath_strings_label(const onepath_strings *strings, uint32_t constant, const uint8_t *bytes, uint32_t length);
/* The label of a value that is no constant and lies before this place. */
static inline int64_t onepath_strings_label_before(const onepath_strings *strings, onepath_sorted_place place) {
    uint32_t before = onepath_sorted_before(&strings->sorted, place);
    return before == TM_NO_STRING ? INT64_MIN : strings->labels[before] + 1;
}

int onepath_strings_validate(const onepath_strings *strings, const char **reason);

/* One search for each that is there. */
void onepath_strings_probes(const onepath_strings *strings, tm_probes *probes);

#endif
