/* remote_rows.c - see remote_rows.h.
 *
 * Law: an end has at most a window of bytes in each direction, and of a near end the beginning of one frame that its
 * client accepts. Bytes are freed when there are none, so that an idle session is a row.
 */
#include "switch/remote_rows.h"

#include "base/grow.h"
#include "switch/connections/connection.h"

static uint64_t hash_of_end(const tm_remotes *remotes, uint64_t session, bool is_near) {
    return tm_hash_words(session, is_near, 0, remotes->key);
}

static uint64_t hash_of(const void *owner, uint64_t id) {
    const tm_remotes *remotes = owner;
    return hash_of_end(remotes, remotes->rows[id - 1].session, remotes->rows[id - 1].is_near);
}

tm_remote *switch_remote_of(const tm_switch *sw, uint64_t session, bool is_near) {
    if (sw->remotes == NULL || session == 0) {
        return NULL;
    }
    tm_idset_search at = tm_idset_start(&sw->remotes->set, hash_of_end(sw->remotes, session, is_near));
    for (uint32_t id; (id = tm_idset_next(&at)) != 0;) {
        tm_remote *remote = &sw->remotes->rows[id - 1];
        if (remote->session == session && remote->is_near == is_near) {
            return remote;
        }
    }
    return NULL;
}

void switch_work_on_remote(tm_switch *sw, tm_remote *remote) {
    if (!remote->is_working) {
        remote->is_working = true;
        remote->next_working = sw->remotes->working;
        sw->remotes->working = (uint32_t)(remote - sw->remotes->rows) + 1;
    }
}

static void far_has_output(tm_switch *sw, uint32_t connection) {
    switch_work_on_remote(sw, &sw->remotes->rows[switch_at(sw, connection)->remotes - 1]);
}

/* Return a free row with room for it in the set, or NULL with the reason in `*why`. */
static tm_remote *free_row(tm_switch *sw, int *why) {
    tm_remotes *remotes = sw->remotes;
    bool is_new = remotes->free == 0;
    *why = is_new && remotes->count == TM_REMOTES_MAX ? TM_TOO_MANY : TM_NO_MEMORY;
    if (*why == TM_TOO_MANY || tm_idset_reserve(&remotes->set, &sw->memory, TM_COLD, hash_of, remotes) != TM_OK ||
        (is_new && !tm_grow(&sw->memory, TM_COLD, &remotes->rows, sizeof *remotes->rows, &remotes->capacity,
                            remotes->count + 1))) {
        return NULL;
    }
    if (is_new) {
        remotes->rows[remotes->count] = (tm_remote){0};
        return &remotes->rows[remotes->count++];
    }
    tm_remote *row = &remotes->rows[remotes->free - 1];
    remotes->free = row->next;
    return row;
}

int switch_new_remote(tm_switch *sw, uint64_t session, uint64_t peer, uint32_t connection, bool is_near) {
    if (session == 0 || switch_remote_of(sw, session, is_near) != NULL) {
        return TM_MISUSED;
    }
    if (sw->remotes == NULL) {
        if ((sw->remotes = TM_NEW(&sw->memory, TM_COLD, tm_remotes, 1)) == NULL) {
            return TM_NO_MEMORY;
        }
        *sw->remotes = (tm_remotes){.key = &sw->memory.key};
        sw->far_has_output = far_has_output;
    }
    int why = TM_OK;
    tm_remote *remote = free_row(sw, &why);
    if (remote == NULL) {
        return why;
    }
    tm_connection *at = switch_at(sw, connection);
    *remote = (tm_remote){.session = session,
                          .peer = peer,
                          .connection = connection,
                          .next = at->remotes,
                          .next_working = remote->next_working,
                          .is_working = remote->is_working,
                          .is_near = is_near,
                          .room = TM_REMOTE_WINDOW,
                          .told_room = TM_REMOTE_WINDOW,
                          .in_limit = TM_REMOTE_WINDOW,
                          .heard_ms = sw->now_ms,
                          .sent_ms = sw->now_ms,
                          .progress_ms = sw->now_ms};
    at->remotes = (uint32_t)(remote - sw->remotes->rows) + 1;
    at->is_far_end = !is_near;
    tm_idset_insert(&sw->remotes->set, hash_of(sw->remotes, at->remotes), at->remotes);
    return TM_OK;
}

static void free_bytes(tm_switch *sw, tm_remote_bytes *bytes) {
    TM_DELETE(&sw->memory, TM_COLD, bytes->bytes, uint8_t, bytes->capacity);
    *bytes = (tm_remote_bytes){0};
}

void switch_free_remote(tm_switch *sw, tm_remote *remote) {
    tm_remotes *remotes = sw->remotes;
    uint32_t id = (uint32_t)(remote - remotes->rows) + 1;
    free_bytes(sw, &remote->flight);
    free_bytes(sw, &remote->input);
    tm_idset_remove(&remotes->set, hash_of(remotes, id), id, hash_of, remotes);
    tm_connection *connection = switch_at(sw, remote->connection);
    uint32_t *at = &connection->remotes;
    while (*at != id) {
        at = &remotes->rows[*at - 1].next;
    }
    *at = remote->next;
    connection->is_far_end = false;
    *remote =
        (tm_remote){.next = remotes->free, .next_working = remote->next_working, .is_working = remote->is_working};
    remotes->free = id;
}

void switch_free_remotes(tm_switch *sw) {
    if (sw->remotes != NULL) {
        for (uint32_t i = 0; i < sw->remotes->count; i++) {
            free_bytes(sw, &sw->remotes->rows[i].flight);
            free_bytes(sw, &sw->remotes->rows[i].input);
        }
        tm_idset_free(&sw->remotes->set, &sw->memory, TM_COLD);
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
