/* remote_rows.c - see remote_rows.h.
 *
 * Law: an end has at most a window of bytes in each direction, and of a near end the beginning of one frame that its
 * client accepts. Bytes are freed when there are none, so that an idle session is a row.
 */
#include "switch/remote_rows.h"

#include "base/grow.h"
#include "switch/connections/connection.h"

tm_remote *switch_remote_of(const tm_switch *sw, uint64_t session, bool is_near) {
    for (uint32_t i = 0; sw->remotes != NULL && i < sw->remotes->count; i++) {
        tm_remote *remote = &sw->remotes->rows[i];
        if (remote->session == session && remote->is_near == is_near) {
            return session != 0 ? remote : NULL;
        }
    }
    return NULL;
}

/* Return a free row, or NULL with the reason in `*why`. */
static tm_remote *free_row(tm_switch *sw, int *why) {
    tm_remotes *remotes = sw->remotes;
    for (uint32_t i = 0; i < remotes->count; i++) {
        if (remotes->rows[i].session == 0) {
            return &remotes->rows[i];
        }
    }
    *why = remotes->count == TM_REMOTES_MAX ? TM_TOO_MANY : TM_NO_MEMORY;
    if (remotes->count == TM_REMOTES_MAX ||
        (remotes->count == remotes->capacity && !tm_grow(&sw->memory, TM_COLD, &remotes->rows, sizeof *remotes->rows,
                                                         &remotes->capacity, remotes->count + 1))) {
        return NULL;
    }
    return &remotes->rows[remotes->count++];
}

int switch_new_remote(tm_switch *sw, uint64_t session, uint64_t peer, uint32_t connection, bool is_near) {
    if (session == 0 || switch_remote_of(sw, session, is_near) != NULL) {
        return TM_MISUSED;
    }
    if (sw->remotes == NULL && (sw->remotes = TM_NEW(&sw->memory, TM_COLD, tm_remotes, 1)) == NULL) {
        return TM_NO_MEMORY;
    }
    int why = TM_OK;
    tm_remote *remote = free_row(sw, &why);
    if (remote == NULL) {
        return why;
    }
    *remote = (tm_remote){.session = session,
                          .peer = peer,
                          .connection = connection,
                          .is_near = is_near,
                          .room = TM_REMOTE_WINDOW,
                          .told_room = TM_REMOTE_WINDOW,
                          .in_limit = TM_REMOTE_WINDOW,
                          .heard_ms = sw->now_ms,
                          .sent_ms = sw->now_ms,
                          .progress_ms = sw->now_ms};
    switch_at(sw, connection)->remotes++;
    switch_at(sw, connection)->is_far_end = !is_near;
    return TM_OK;
}

static void free_bytes(tm_switch *sw, tm_remote_bytes *bytes) {
    TM_DELETE(&sw->memory, TM_COLD, bytes->bytes, uint8_t, bytes->capacity);
    *bytes = (tm_remote_bytes){0};
}

void switch_free_remote(tm_switch *sw, tm_remote *remote) {
    free_bytes(sw, &remote->flight);
    free_bytes(sw, &remote->input);
    switch_at(sw, remote->connection)->remotes--;
    switch_at(sw, remote->connection)->is_far_end = false;
    *remote = (tm_remote){0};
}

void switch_free_remotes(tm_switch *sw) {
    if (sw->remotes != NULL) {
        for (uint32_t i = 0; i < sw->remotes->count; i++) {
            free_bytes(sw, &sw->remotes->rows[i].flight);
            free_bytes(sw, &sw->remotes->rows[i].input);
        }
        TM_DELETE(&sw->memory, TM_COLD, sw->remotes->rows, tm_remote, sw->remotes->capacity);
        TM_DELETE(&sw->memory, TM_COLD, sw->remotes, tm_remotes, 1);
        sw->remotes = NULL;
    }
}

bool switch_add_bytes(tm_switch *sw, tm_remote_bytes *to, const uint8_t *bytes, uint32_t size, uint32_t most) {
    if (size > most || to->size > most - size) {
        return false;
    }
    if (to->size + size > to->capacity &&
        !tm_grow(&sw->memory, TM_COLD, &to->bytes, 1, &to->capacity, to->size + size)) {
        return false;
    }
    memcpy(to->bytes + to->size, bytes, size);
    to->size += size;
    return true;
}

void switch_drop_bytes(tm_switch *sw, tm_remote_bytes *from, uint32_t size) {
    from->size -= size;
    if (from->size == 0) {
        free_bytes(sw, from);
    } else {
        memmove(from->bytes, from->bytes + size, from->size);
    }
}

bool switch_has_consumer(const tm_remote *remote, uint32_t id) {
    for (uint32_t i = 0; i < remote->consumer_count; i++) {
        if (remote->consumers[i] == id) {
            return true;
        }
    }
    return false;
}
