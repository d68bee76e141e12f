/* scan.h - what can be read of the bytes of a segment, whatever they are.
 *
 * Law: a scan finds every record of the longest run of batches that were on disk, and the sound records of damaged
 * ones. A batch that is not sound is torn, and was never reported as on disk, unless a later batch of the segment, or
 * knowledge from elsewhere, states that it was committed. The work is bounded by the size: each byte is examined a few
 * times (SALVAGE_TIMES).
 */
#ifndef TM_LOG_SCAN_H
#define TM_LOG_SCAN_H

#include "log/layout.h"

#define SALVAGE_TIMES 16U /* bytes under a checksum, for each byte of a damaged stretch */

typedef struct tm_scan {
    const uint8_t *bytes; /* borrowed */
    uint64_t size;
    uint64_t serial;
    uint64_t seq_max;   /* later batches were written again elsewhere */
    uint64_t known_seq; /* batches up to it were on disk */
    uint64_t known_n;   /* numbers up to it were on disk */
    uint64_t seq;       /* of the last batch: that before this segment, then that in it */
    uint64_t next_n;    /* the least number of the next record, at first and during the scan */
    uint64_t end;       /* result: where the last batch ends */
    uint64_t torn_bytes;
    uint64_t records;
    uint32_t damages;
    uint32_t lost_copies;
    void *context;
    void (*found)(void *context, const tm_log_record *record, uint32_t place, uint64_t seq); /* NULL: not called */
    void (*missing)(void *context, uint64_t first, uint64_t last);                           /* NULL: not called */
} tm_scan;

/* Scan the bytes; `found` is called for each sound record, `missing` for each range of lost numbers. */
void tm_scan_segment(tm_scan *scan);

#endif
