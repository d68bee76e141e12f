/* tamis.h - what both protocols of Tamis share (tamis.c): messages that are not stored, and stored ones
 * (tamis_durable.c).
 */
#ifndef TAMIS_H
#define TAMIS_H

#include "connection.h"
#include "walk.h"

#define HELLO 0x10
#define WELCOME 0x11
#define AUTH 0x12
#define AUTHENTICATED 0x13
#define ERROR 0x14
#define PING 0x15
#define PONG 0x16
#define SUBSCRIBE 0x20
#define ACK 0x22
#define CREDIT 0x23
#define LOST 0x24
#define CREATE_DURABLE 0x25
#define ATTACH 0x26

static inline walk tamis_body(const unit *u) {
    return (walk){u->body, u->body + u->body_length};
}

/* In this version of the wire. */
void tamis_open(connection *c, unsigned version);
size_t tamis_take(const uint8_t *data, size_t length, unit *out);
/* Refusals fail the program. */
void tamis_answer(connection *c, const unit *u);
void tamis_keep_alive(connection *c);

#endif
