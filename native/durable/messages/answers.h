/* answers.h - answers to the ACKs of consumers that request one. */
#ifndef TM_DURABLE_MESSAGES_ANSWERS_H
#define TM_DURABLE_MESSAGES_ANSWERS_H

#include "durable/state.h"

/* Answer an ACK of a connection, whose verdicts are recorded for the subscription `slot`, when the records are on disk.
 * The connection ends if too many of its answers wait. */
void durable_promise(tm_switch *sw, uint32_t connection, uint32_t slot, const uint8_t *frame, const tm_said_ack *said);
/* Let the answers that waited for dead letters wait for the disk. */
void durable_release_answers(tm_switch *sw, tm_durable *durable);
/* Send an answer, or a refusal if its record will never be on disk (`is_written` false), if its connection still
 * exists. Frees the answer. */
void durable_end_answer(tm_switch *sw, const tm_wait *wait, bool is_written);
/* Drop the answers of a subscription that is deleted. */
void durable_drop_answers(tm_switch *sw, tm_durable *durable);

#endif
