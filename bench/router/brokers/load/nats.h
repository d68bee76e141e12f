/* nats.h - what both protocols of nats-server share (nats.c): messages that are not stored, and JetStream's
 * (jetstream.c).
 */
#ifndef NATS_H
#define NATS_H

#include "connection.h"

enum { NATS_INFO = 1, NATS_PING, NATS_PONG, NATS_OTHER };

void nats_open(connection *c);
/* The body of a message is its line, MSG <subject> <sid> [reply] <bytes>. */
size_t nats_take(const uint8_t *data, size_t length, unit *out);
/* Errors fail the program. */
void nats_answer(connection *c, const unit *u);

#endif
