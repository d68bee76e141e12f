/* load.h - numbers of two, four and eight bytes read in place, at any alignment.
 *
 * Law: no function here checks a length; the caller does.
 */
#ifndef TM_LOAD_H
#define TM_LOAD_H

#include <stdint.h>
#include <string.h>

static inline uint16_t tm_load16(const uint8_t *at) {
    uint16_t word;
    memcpy(&word, at, sizeof word);
    return word;
}

static inline uint32_t tm_load32(const uint8_t *at) {
    uint32_t word;
    memcpy(&word, at, sizeof word);
    return word;
}

static inline uint64_t tm_load64(const uint8_t *at) {
    uint64_t word;
    memcpy(&word, at, sizeof word);
    return word;
}

#endif
