/* cases.h - text in another case, each character mapped to one: simple folding, upper and lower case of Unicode 14.
 *
 * Law: equal to protocol/residual/cases.py (a test compares them). Every function requires valid UTF-8.
 */
#ifndef TM_CASES_H
#define TM_CASES_H

#include <stdbool.h>
#include <stdint.h>

/* Every `stride`-th character from `first` to `last` becomes itself plus `added`. */
typedef struct tm_case_run {
    uint32_t first;
    uint32_t last : 24;
    uint32_t stride : 8;
    int32_t added;
} tm_case_run;

typedef enum { CASE_FOLDED, CASE_LOWER, CASE_UPPER } tm_case;

/* Return the character in the case. */
uint32_t tm_case_of(uint32_t character, tm_case to);

/* Write the text in the case into `out`: `*written` bytes. false: it needs more than `capacity`. */
bool tm_case_text(const uint8_t *text, uint32_t length, tm_case to, uint8_t *out, uint32_t capacity, uint32_t *written);

/* true if the folded text begins with, ends with or equals the folded part. */
bool tm_case_prefix(const uint8_t *text, uint32_t length, const uint8_t *part, uint32_t part_length);
bool tm_case_suffix(const uint8_t *text, uint32_t length, const uint8_t *part, uint32_t part_length);
bool tm_case_same(const uint8_t *text, uint32_t length, const uint8_t *other, uint32_t other_length);

#endif
