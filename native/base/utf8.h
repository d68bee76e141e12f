/* utf8.h - validation of UTF-8.
 *
 * Law: exactly Unicode's well-formed byte sequences: shortest form only, no surrogates, nothing above U+10FFFF.
 */
#ifndef TM_UTF8_H
#define TM_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

bool tm_utf8_valid(const uint8_t *bytes, size_t size);

#endif
