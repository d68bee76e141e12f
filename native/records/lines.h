/* lines.h - lines of records as columns, in a memory of the caller's choice. */
#ifndef TM_RECORD_COLUMNS_H
#define TM_RECORD_COLUMNS_H

#include "base/memory.h"
#include "tm.h"

/* Parse like tm_lines_parse. `memory`: what the lines allocate from; copied, so its counts are not those of the lines.
 */
int tm_lines_parse_in(tm_memory memory, const uint8_t *bytes, size_t size, const tm_field *fields, uint32_t count,
                      tm_lines **made);

#endif
