/* records.h - a file of byte strings, each behind its length (u32, little-endian): packed filters, or attributes.
 */
#ifndef RECORDS_H
#define RECORDS_H

#include "buffer.h"

typedef struct records {
    buffer content;
    size_t *offsets; /* count + 1 of them, into content */
    size_t count;
} records;

typedef struct record {
    const uint8_t *bytes; /* borrowed from the records */
    size_t length;
} record;

records records_read(const char *path);
record records_at(const records *r, size_t index);
void records_free(records *r);

#endif
