/* scan.h - what can be read of a segment's bytes, whatever they are.
 *
 * Law: the answer is every record of the longest run of batches that were on disk, and what else is sound of those that
 * are damaged. A batch that is not sound is torn (nobody was told that it was on disk) unless something says that it
 * was committed: a later batch of the segment, or what is known from elsewhere. Work is bound by the size: each byte
 * is looked at a few times (SALVAGE_TIMES).
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
    uint64_t known_n;   /* and numbers up to it */
    uint64_t seq;       /* of the last batch: before, then in this segment */
    uint64_t next_n;    /* that a record may have: at first, then after the last */
    uint64_t end;       /* answer: where the last batch ends */
    uint64_t torn_bytes;
    uint64_t records;
    uint32_t damages;
    uint32_t lost_copies;
    void *context;
    void (*found)(void *context, const tm_log_record *record, uint32_t place, uint64_t seq); /* NULL: nobody */
    void (*missing)(void *context, uint64_t first, uint64_t last);                           /* NULL: nobody */
} tm_scan;

void tm_scan_segment(tm_scan *scan);

#endif
