/* crc.h - the checksum of everything in the log: CRC-32C, which processors compute.
 *
 * Law: tm_crc(0, "123456789") is 0xe3069283 on every machine; of bytes in two pieces, the crc of the first begins that
 * of the second.
 */
#ifndef TM_LOG_CRC_H
#define TM_LOG_CRC_H

#include <stddef.h>
#include <stdint.h>

uint32_t tm_crc(uint32_t before, const void *bytes, size_t size);

#endif
