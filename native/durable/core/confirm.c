/* confirm.c - see confirm.h. */
#include "durable/core/confirm.h"

#include "switch/connections/connection.h"
#include "switch/connections/control.h"

bool durable_is_publisher(tm_switch *sw, uint32_t id, uint64_t publisher) {
    const tm_connection *connection = switch_at(sw, id);
    return connection->state == CONNECTION_OPEN && connection->admission.number == publisher;
}

void durable_send_confirmations(tm_switch *sw, uint32_t *confirming) {
    if (*confirming != CONNECTION_NONE) {
        switch_send_confirmations(sw, *confirming);
        switch_drop_confirmations(sw);
        *confirming = CONNECTION_NONE;
    }
}

void durable_confirm_run(tm_switch *sw, uint32_t connection, uint64_t first, uint32_t count, tm_storage stored,
                         uint32_t *confirming) {
    if (*confirming != connection) {
        durable_send_confirmations(sw, confirming);
        *confirming = connection;
    }
    switch_confirm_run(sw, connection, first, first + count - 1, stored);
}
