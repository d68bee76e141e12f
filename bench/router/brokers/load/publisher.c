/* publisher.c - see publisher.h. */
#include "publisher.h"

#include <stdlib.h>

#include "fail.h"
#include "frame.h"

/* What one send is given: large enough that its fixed cost vanishes, small enough for the nearest caches. */
#define SEND_BYTES 131072

static void encode_one(publisher *p, record attributes, size_t message_bytes) {
    size_t bare = FRAME_HEADER_BYTES + attributes.length;
    buffer frame = {0};
    frame_put_publish(&frame, p->connection.number, attributes, bare < message_bytes ? message_bytes - bare : 0);
    encoded *m = &p->messages[p->message_count++];
    m->start = p->wire.length;
    m->frame_length = frame.length;
    m->frame_at = p->connection.protocol->encode((record){frame.bytes, frame.length}, &p->wire) - m->start;
    m->length = p->wire.length - m->start;
    buffer_free(&frame);
}

void publisher_open(publisher *p, const endpoint *to, uint32_t index, const records *attributes, size_t message_bytes) {
    *p = (publisher){0};
    connection_open(&p->connection, to, index);
    p->messages = calloc(attributes->count, sizeof *p->messages);
    if (attributes->count == 0 || p->messages == NULL) {
        fail("no messages to publish");
    }
    for (size_t i = 0; i < attributes->count; i++) {
        encode_one(p, records_at(attributes, i), message_bytes);
    }
    if (p->connection.protocol->begin_publishing != NULL) {
        p->connection.protocol->begin_publishing(&p->connection);
    }
}

static void append(publisher *p, const encoded *m) {
    uint8_t *at = buffer_extend(&p->connection.out, m->length);
    memcpy(at, p->wire.bytes + m->start, m->length);
    frame_set_counter(at + m->frame_at, ++p->published);
    p->published_bytes += m->frame_length;
    p->next = p->next + 1 < p->message_count ? p->next + 1 : 0;
}

static bool has_credit(const publisher *p, const encoded *m) {
    return p->published < p->connection.credit_frames &&
           p->published_bytes + m->frame_length <= p->connection.credit_bytes;
}

void publisher_publish(publisher *p, uint64_t last) {
    connection *c = &p->connection;
    while (p->published < last && !c->waits_for_room && has_credit(p, &p->messages[p->next])) {
        while (p->published < last && c->out.length < SEND_BYTES && has_credit(p, &p->messages[p->next])) {
            append(p, &p->messages[p->next]);
        }
        connection_flush(c);
    }
}

double publisher_frame_bytes(const publisher *p) {
    size_t sum = 0;
    for (size_t i = 0; i < p->message_count; i++) {
        sum += p->messages[i].frame_length;
    }
    return (double)sum / (double)p->message_count;
}
