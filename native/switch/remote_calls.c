/* remote_calls.c - what Python does with remote sessions (tm_remote_api.h).
 *
 * Law: a call sends what it has caused before it returns.
 */
#include "switch/connections/connection.h"
#include "switch/connections/events.h"
#include "switch/lifecycle.h"
#include "switch/remote_stream.h"

int tm_remote_begin(tm_switch *sw, uint32_t connection, uint64_t peer, uint64_t session) {
    if (!switch_knows(sw, connection) || switch_at(sw, connection)->state != CONNECTION_OPEN ||
        switch_is_link(switch_at(sw, connection)) || peer == sw->options.number) {
        return TM_MISUSED;
    }
    return switch_new_remote(sw, session, peer, connection, true);
}

int tm_remote_accept(tm_switch *sw, uint32_t connection, const uint8_t *frame, size_t size) {
    tm_remote_frame said;
    if (!switch_knows(sw, connection) || !switch_at(sw, connection)->is_fed || frame == NULL ||
        switch_at(sw, connection)->state != CONNECTION_GREETING || !switch_read_remote(frame, size, &said)) {
        return TM_MISUSED;
    }
    int result = switch_new_remote(sw, said.session, said.sender, connection, false);
    if (result == TM_OK) {
        switch_begin(sw);
        switch_hear_remote(sw, switch_remote_of(sw, said.session, false), &said);
        switch_finish(sw);
    }
    return result;
}

int tm_remote_send(tm_switch *sw, uint64_t session, const uint8_t *frames, size_t size) {
    if (sw == NULL || frames == NULL || size > TM_REMOTE_WINDOW) {
        return TM_MISUSED;
    }
    tm_remote *remote = switch_remote_of(sw, session, true);
    if (remote == NULL) {
        return TM_ABSENT;
    }
    if (!switch_add_bytes(sw, &remote->flight, frames, (uint32_t)size, TM_REMOTE_WINDOW)) {
        return TM_TOO_MANY;
    }
    switch_work_on_remote(sw, remote);
    return tm_remote_flush(sw);
}

int tm_remote_consumer(tm_switch *sw, uint64_t session, uint32_t id, uint32_t is_there) {
    tm_remote *remote = sw != NULL ? switch_remote_of(sw, session, true) : NULL;
    bool was_there = remote != NULL && switch_has_consumer(remote, id);
    if (remote == NULL || (!is_there && !was_there)) {
        return TM_ABSENT;
    }
    if (is_there && !was_there) {
        if (remote->consumer_count == TM_REMOTE_CONSUMERS_MAX) {
            return TM_TOO_MANY;
        }
        remote->consumers[remote->consumer_count++] = id;
    } else if (!is_there) {
        uint32_t at = 0;
        while (remote->consumers[at] != id) {
            at++;
        }
        remote->consumers[at] = remote->consumers[--remote->consumer_count];
    }
    return TM_OK;
}

int tm_remote_end(tm_switch *sw, uint64_t session) {
    tm_remote *remote = sw != NULL ? switch_remote_of(sw, session, true) : NULL;
    if (remote == NULL) {
        return TM_ABSENT;
    }
    switch_begin(sw);
    switch_end_remote(sw, remote, false);
    switch_finish(sw);
    return TM_OK;
}

int tm_remote_flush(tm_switch *sw) {
    if (sw == NULL) {
        return TM_MISUSED;
    }
    switch_begin(sw);
    switch_send_remotes(sw);
    switch_finish(sw);
    return TM_OK;
}

int tm_remote_figures(const tm_switch *sw, tm_remote_stats *out) {
    if (sw == NULL || out == NULL) {
        return TM_MISUSED;
    }
    *out = sw->remotes != NULL ? sw->remotes->stats : (tm_remote_stats){0};
    for (uint32_t i = 0; sw->remotes != NULL && i < sw->remotes->count; i++) {
        const tm_remote *remote = &sw->remotes->rows[i];
        out->near_ends += remote->session != 0 && remote->is_near;
        out->far_ends += remote->session != 0 && !remote->is_near;
    }
    return TM_OK;
}
