/* amqp.h - what both protocols of rabbitmq share (amqp.c): messages that are not stored, and streams (amqp_streams.c).
 */
#ifndef AMQP_H
#define AMQP_H

#include "connection.h"

#define METHOD(class, method) ((uint32_t)(class) << 16 | (method))
#define CONNECTION_START METHOD(10, 10)
#define CONNECTION_START_OK METHOD(10, 11)
#define CONNECTION_TUNE METHOD(10, 30)
#define CONNECTION_TUNE_OK METHOD(10, 31)
#define CONNECTION_OPEN METHOD(10, 40)
#define CONNECTION_OPEN_OK METHOD(10, 41)
#define CONNECTION_CLOSE METHOD(10, 50)
#define CHANNEL_OPEN METHOD(20, 10)
#define CHANNEL_OPEN_OK METHOD(20, 11)
#define CHANNEL_CLOSE METHOD(20, 40)
#define EXCHANGE_DECLARE METHOD(40, 10)
#define EXCHANGE_DECLARE_OK METHOD(40, 11)
#define QUEUE_DECLARE METHOD(50, 10)
#define QUEUE_DECLARE_OK METHOD(50, 11)
#define QUEUE_BIND METHOD(50, 20)
#define QUEUE_BIND_OK METHOD(50, 21)
#define BASIC_CONSUME METHOD(60, 20)
#define BASIC_CONSUME_OK METHOD(60, 21)
#define BASIC_PUBLISH METHOD(60, 40)

enum { FRAME_METHOD = 1, FRAME_HEADER = 2, FRAME_BODY = 3 };

#define FRAME_END 0xce
#define FRAME_HEAD_BYTES 7
#define BASIC_CLASS 60
#define HAS_HEADERS 0x2000

/* A method on the one channel, or of the connection. */
size_t amqp_begin(buffer *out, uint32_t method);
void amqp_end(buffer *out, size_t start);
void amqp_put_short(buffer *out, const char *text);
/* What goes between a publication and its body; ended by amqp_end. */
size_t amqp_begin_header(buffer *out, uint64_t body_bytes, uint16_t properties);
/* Returns where the message begins. */
size_t amqp_put_body(buffer *out, record frame);

/* A connection and its one channel. */
void amqp_open(connection *c);
size_t amqp_take(const uint8_t *data, size_t length, unit *out);
/* Errors fail the program. */
void amqp_answer(connection *c, const unit *u);

#endif
