/* space.h - what messages of a space may carry, in the form in which they are checked.
 *
 * Law: a value fits here exactly if it fits the same domain of protocol/spaces/domains.py; a test holds both to one
 * answer and one sentence. What was built does not change but for its counters.
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
    int64_t low; /* of integers that belong to it */
    int64_t high;
    double real_low; /* DOMAIN_FIXED: of all */
    double real_high;
    double scale;    /* DOMAIN_FIXED: units in one */
    tm_texts values; /* DOMAIN_CHOICE */
    uint8_t kind;    /* tm_domain_kind */
} tm_domain;

typedef struct tm_space_attribute {
    tm_domain domain;
    tm_text allowed; /* for people */
    bool is_optional;
} tm_space_attribute;

typedef struct tm_space {
    tm_texts names; /* of its attributes, in their order */
    tm_space_attribute *attributes;
    tm_text declared; /* for people: the names */
    bool is_open;
    tm_space_stats stats;
} tm_space;

typedef struct tm_spaces {
    tm_memory *memory; /* borrowed */
    uint8_t *bytes;    /* owned: all that texts are borrowed from */
    size_t size;
    tm_texts names;
    tm_space *spaces; /* owned */
    uint32_t count;
    tm_text naming; /* the attribute that names the space of a message */
    tm_text known;  /* for people: the names of spaces */
    bool refuses_unknown;
} tm_spaces;

/* New spaces from their packed form (native/spaces.py), yours to free: TM_OK, TM_NO_MEMORY or TM_MALFORMED. */
int tm_spaces_new(tm_memory *memory, const uint8_t *packed, size_t size, tm_spaces **made);
void tm_spaces_free(tm_spaces *spaces); /* NULL is allowed */

/* The space that the value of the naming attribute names, or SPACE_NONE. */
uint32_t tm_spaces_find(const tm_spaces *spaces, const tm_attribute *naming);

/* Does the value belong to the domain? TM_VIOLATION_NONE, or why it does not. */
unsigned tm_domain_violation(const tm_domain *domain, const tm_attribute *attribute, const tm_memory *memory);

/* Why a message does not fit. */
typedef struct tm_violation {
    const uint8_t *name; /* of the attribute; borrowed from the message or the space */
    uint32_t length;
    uint32_t space; /* SPACE_NONE: it names none */
    uint32_t field; /* of the space; TEXTS_NONE: it declares none of that name */
    unsigned why;   /* TM_MISFIT_* */
} tm_violation;

/* The sentence, as in protocol/spaces/space.py, cut at SPACE_SENTENCE_BYTES; it ends with a zero. */
#define SPACE_SENTENCE_BYTES 255U
void tm_violation_say(const tm_violation *violation, const tm_spaces *spaces, char out[SPACE_SENTENCE_BYTES + 1]);

#endif
