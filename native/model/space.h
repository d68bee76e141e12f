/* space.h - the spaces of messages, in the form that validation uses.
 *
 * Law: a value is valid here exactly if it is valid in the same domain of protocol/spaces/domains.py; a test compares
 * results and sentences. A space never changes once built, except for its counters.
 */
#ifndef TM_SPACE_H
#define TM_SPACE_H

#include "model/texts.h"
#include "tm.h"

#define SPACE_NONE UINT32_MAX
#define SPACE_DIGITS_MAX 9U
#define SPACE_UNITS_MAX INT64_C(1000000000000000)

typedef enum { DOMAIN_TEXT, DOMAIN_TRUTH, DOMAIN_NUMBER, DOMAIN_INTEGER, DOMAIN_FIXED, DOMAIN_CHOICE } tm_domain_kind;

typedef struct tm_domain {
    int64_t low; /* bounds of the integers in it */
    int64_t high;
    double real_low; /* DOMAIN_FIXED: bounds of all numbers */
    double real_high;
    double scale;    /* DOMAIN_FIXED: units in 1 */
    tm_texts values; /* DOMAIN_CHOICE */
    uint8_t kind;    /* tm_domain_kind */
} tm_domain;

typedef struct tm_space_attribute {
    tm_domain domain;
    tm_text allowed; /* text for messages to users */
    bool is_optional;
} tm_space_attribute;

typedef struct tm_space {
    tm_texts names; /* of its attributes, in their order */
    tm_space_attribute *attributes;
    tm_text declared; /* text for messages to users: the names */
    bool is_open;
    tm_space_stats stats;
} tm_space;

typedef struct tm_spaces {
    tm_memory *memory; /* borrowed */
    uint8_t *bytes;    /* owned: the memory that texts borrow */
    size_t size;
    tm_texts names;
    tm_space *spaces; /* owned */
    uint32_t count;
    tm_text naming; /* name of the attribute that names the space of a message */
    tm_text known;  /* text for messages to users: the names of spaces */
    bool refuses_unknown;
} tm_spaces;

/* Make spaces from their packed form (native/spaces.py), which the caller frees: TM_OK, TM_NO_MEMORY or TM_MALFORMED.
 */
int tm_spaces_new(tm_memory *memory, const uint8_t *packed, size_t size, tm_spaces **made);
void tm_spaces_free(tm_spaces *spaces); /* NULL is allowed */

/* Return the space that the value of the naming attribute names, or SPACE_NONE. */
uint32_t tm_spaces_find(const tm_spaces *spaces, const tm_attribute *naming);

/* Return TM_VIOLATION_NONE if the value belongs to the domain, or the violation. */
unsigned tm_domain_violation(const tm_domain *domain, const tm_attribute *attribute, const tm_memory *memory);

/* The violation of a space by a message. */
typedef struct tm_violation {
    const uint8_t *name; /* of the attribute; borrowed from the message or the space */
    uint32_t length;
    uint32_t space; /* SPACE_NONE: it names none */
    uint32_t field; /* of the space; TEXTS_NONE: it declares no such name */
    unsigned why;   /* TM_VIOLATION_* */
} tm_violation;

/* Write the sentence of protocol/spaces/space.py, cut at SPACE_SENTENCE_BYTES, with a zero behind it. */
#define SPACE_SENTENCE_BYTES 255U
void tm_violation_say(const tm_violation *violation, const tm_spaces *spaces, char out[SPACE_SENTENCE_BYTES + 1]);

#endif
