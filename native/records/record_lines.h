/* record_lines.h - a record as a line of JSON: the kinds `message` and `kept` of protocol/records.py. */
#ifndef TM_RECORD_LINES_H
#define TM_RECORD_LINES_H

#include "records/records.h"

/* Return an upper bound of the bytes of an entry's line; the entry is no filler. */
size_t tm_record_line_bytes(const tm_records *records, const tm_record_head *entry);
/* Write the line; returns its end. */
uint8_t *tm_record_line(const tm_records *records, tm_record_head *entry, uint8_t *out);

#endif
