/* said.h - bodies of the ACK and CREDIT frames of consumers.
 *
 * Law: a body is validated whole before any of it is applied. A body that differs from the wire page is refused, and no
 * byte past its end is read.
 */
#ifndef TM_DURABLES_SAID_H
#define TM_DURABLES_SAID_H

#include "model/msgpack.h"

#define SAID_RANGES_MAX 10000U
#define SAID_REASON_BYTES_MAX 1024U

typedef enum { VERDICT_DONE, VERDICT_AGAIN, VERDICT_EXTEND, VERDICT_REJECT, VERDICTS } tm_verdict;

/* Ranges ascend and do not touch. */
typedef struct tm_said_ack {
    const uint8_t *reason; /* borrowed from the body */
    tm_cursor ranges;      /* in the body: from the head of the list to its end */
    uint64_t request;      /* 0: the sender requests no answer */
    uint64_t subscription;
    uint64_t verdict; /* a tm_verdict */
    uint64_t delay_ms;
    uint32_t reason_size;
    uint32_t range_count;
} tm_said_ack;

typedef struct tm_said_credit {
    uint64_t deliveries; /* total credit of the consumer */
    uint64_t subscription;
} tm_said_credit;

/* Decode the body of an ACK of DELIVER, or of a CREDIT. false: it differs from the wire page. */
bool tm_said_read_ack(const uint8_t *body, size_t size, tm_said_ack *out);
bool tm_said_read_credit(const uint8_t *body, size_t size, tm_said_credit *out);

/* Return a cursor behind the head of the range list of a validated ACK; tm_said_next advances it by one range. */
tm_cursor tm_said_ranges(const tm_said_ack *said);
void tm_said_next(tm_cursor *ranges, uint64_t *first, uint64_t *last);

#endif
