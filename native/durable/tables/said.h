/* said.h - what a member says: the bodies of ACK and CREDIT.
 *
 * Law: a body is read whole before anything is done with it. What is not as the wire page has it is read by nobody, and
 * no byte past its end is.
 */
#ifndef TM_KEEPS_SAID_H
#define TM_KEEPS_SAID_H

#include "model/msgpack.h"

#define SAID_RANGES_MAX 10000U
#define SAID_REASON_BYTES_MAX 1024U

typedef enum { VERDICT_DONE, VERDICT_AGAIN, VERDICT_EXTEND, VERDICT_REJECT, VERDICTS } tm_verdict;

/* Ranges do not touch, and rise. */
typedef struct tm_said_ack {
    const uint8_t *reason; /* borrowed from the body */
    tm_cursor ranges;      /* in the body: from the head of their list to its end */
    uint64_t request;      /* 0: no answer is asked for */
    uint64_t subscription;
    uint64_t verdict; /* a tm_verdict */
    uint64_t delay_ms;
    uint32_t reason_size;
    uint32_t range_count;
} tm_said_ack;

typedef struct tm_said_credit {
    uint64_t deliveries; /* in all, of the attachment */
    uint64_t subscription;
} tm_said_credit;

bool tm_said_read_ack(const uint8_t *body, size_t size, tm_said_ack *out);
bool tm_said_read_credit(const uint8_t *body, size_t size, tm_said_credit *out);

/* The ranges of an ACK that was read: the cursor stands behind the head of their list, and moves past one. */
tm_cursor tm_said_ranges(const tm_said_ack *said);
void tm_said_next(tm_cursor *ranges, uint64_t *first, uint64_t *last);

#endif
