/* answers.h - answers to the ACKs of members that ask for one. */
#ifndef TM_DURABLE_MESSAGES_ANSWERS_H
#define TM_DURABLE_MESSAGES_ANSWERS_H

#include "durable/state.h"

/* What an ACK of a connection says is noted for keep `slot`: answer it when all of that is on disk. The connection ends
 * where too many of its answers wait. */
void keep_promise(tm_switch *sw, uint32_t connection, uint32_t slot, const uint8_t *frame, const tm_said_ack *said);
/* An answer that has waited for dead letters waits for the disk from now on. */
void keep_release_answers(tm_switch *sw, tm_keep *keep);
/* What is said is on disk (`is_written`), or will never be: answer so, where the connection is still there. Frees the
 * answer. */
void keep_end_answer(tm_switch *sw, const tm_wait *wait, bool is_written);
/* The keep goes, and nobody is answered. */
void keep_drop_answers(tm_switch *sw, tm_keep *keep);

#endif
