/* crc.h - the checksum of everything in the log: CRC-32C, which processors compute.
 *
 * Law: tm_crc(0, "123456789") is 0xe3069283 on every machine. For bytes in two pieces, the crc of the first piece is
 * `before` of the second.
 */
#ifndef TM_LOG_CRC_H
#define TM_LOG_CRC_H

#include <stddef.h>
#include <stdint.h>

/* Return the CRC of `before`, that of the bytes before these, continued over `size` bytes; `before` is 0 at first. */
uint32_t tm_crc(uint32_t before, const void *bytes, size_t size);

#endif
