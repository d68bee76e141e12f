/* glob.h - whether a text matches a pattern of any texts and any characters.
 *
 * Law: the text is valid UTF-8 and so are the pieces of the pattern between its wildcards (form.h). The work is the
 * text's length once for each piece without an ANY_CHARACTER at most, and by the piece's length for others.
 */
#ifndef TM_GLOB_H
#define TM_GLOB_H

#include <stdbool.h>
#include <stdint.h>

bool residual_glob(const uint8_t *text, uint32_t length, const uint8_t *pattern, uint32_t pattern_length);

#endif
