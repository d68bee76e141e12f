/* protocol.c - the protocols by name. */
#include "protocol.h"

#include <string.h>

static const protocol *const PROTOCOLS[] = {
    &tamis_protocol,        &plain_protocol,         &nats_protocol,         &redis_protocol,
    &mqtt_protocol,         &amqp_fanout_protocol,   &amqp_headers_protocol, &tamis_durable_protocol,
    &jetstream_protocol,    &redis_streams_protocol, &amqp_streams_protocol, &tamis_held_protocol,
    &jetstream_r3_protocol, &redis_wait_protocol,    &amqp_quorum_protocol,
};

const protocol *protocol_named(const char *name) {
    for (size_t i = 0; i < sizeof PROTOCOLS / sizeof *PROTOCOLS; i++) {
        if (strcmp(PROTOCOLS[i]->name, name) == 0) {
            return PROTOCOLS[i];
        }
    }
    return NULL;
}
