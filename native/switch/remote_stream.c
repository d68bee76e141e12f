/* remote_stream.c - see remote_stream.h.
 *
 * Law: a piece is taken if it is the next one and within what this end has allowed; any other is dropped, and the other
 * end learns what was taken. Pieces fill at most half of a link's queue, so that live messages always have the other
 * half; what found no room leaves later. No session crosses a link with a border: its client is not of this domain. A
 * false frame ends its session and nothing else. Of what the home says a near end passes DELIVER to the consumers of
 * this session and LOST; Python judges the rest.
 */
#include "switch/remote_stream.h"

#include <errno.h>

#include "base/tested.h"
#include "model/msgpack.h"
#include "switch/connections/connection.h"
#include "switch/connections/events.h"
#include "switch/connections/outbox.h"
#include "switch/connections/queue.h"
#include "switch/connections/write.h"

#define REMOTE_FIELDS 9U
#define REMOTE_HEAD_BYTES 70U /* of a frame without a piece */
#define REMOTE_HOPS_AT (WIRE_PREFIX_BYTES + 1U)
#define REMOTE_HOPS_MAX 127U
#define REMOTE_WORD_MS 1000U /* an end says something at least that often */
#define REMOTE_AGAIN_MS 500U /* doubles up to the next one */
#define REMOTE_AGAIN_MS_MAX 4000U

/* ---- frames: numbers are written in their longest form, and read in any ---- */

static uint8_t *put64(uint8_t *at, uint64_t number) {
    *at = 0xcf;
    wire_store64(at + 1, __builtin_bswap64(number));
    return at + 9;
}

static uint8_t *put32(uint8_t *at, uint8_t head, uint32_t number) {
    *at = head;
    wire_store32(at + 1, __builtin_bswap32(number));
    return at + 5;
}

static void write_remote(uint8_t *out, const tm_remote_frame *say) {
    memset(out, 0, WIRE_PREFIX_BYTES);
    wire_store32(out, REMOTE_HEAD_BYTES + say->size);
    out[WIRE_KIND] = WIRE_REMOTE;
    out[WIRE_PREFIX_BYTES] = 0x90 | REMOTE_FIELDS;
    out[REMOTE_HOPS_AT] = say->hops;
    uint8_t *at = put64(out + REMOTE_HOPS_AT + 1, say->receiver);
    at = put64(at, say->sender);
    at = put64(at, say->session);
    at = put64(at, say->at);
    at = put64(at, say->taken);
    at = put32(at, 0xce, say->room);
    at = put32(at, 0xce, say->marks);
    at = put32(at, 0xc6, say->size);
    if (say->size > 0) {
        memcpy(at, say->piece, say->size);
    }
}

/* Read a number of at most `most`, in any form. */
static bool read_number(tm_cursor *cursor, uint64_t most, uint64_t *number) {
    if (cursor->end - cursor->at >= 9 && cursor->at[0] == 0xcf) {
        *number = __builtin_bswap64(tm_load64(cursor->at + 1));
        cursor->at += 9;
        return *number <= most;
    }
    int64_t read;
    bool is_one = tm_read_integer(cursor, &read) && read >= 0;
    *number = is_one ? (uint64_t)read : 0;
    return is_one && *number <= most;
}

bool switch_read_remote(const uint8_t *frame, size_t size, tm_remote_frame *out) {
    if (size < REMOTE_HOPS_AT + 1 || frame[WIRE_PREFIX_BYTES] != (0x90 | REMOTE_FIELDS)) {
        return false;
    }
    tm_cursor cursor = {frame + REMOTE_HOPS_AT + 1, frame + size};
    uint64_t room;
    uint64_t marks;
    out->hops = frame[REMOTE_HOPS_AT];
    bool is_sound = read_number(&cursor, UINT64_MAX, &out->receiver) &&
                    read_number(&cursor, UINT64_MAX, &out->sender) && read_number(&cursor, UINT64_MAX, &out->session) &&
                    read_number(&cursor, INT64_MAX, &out->at) && read_number(&cursor, UINT64_MAX, &out->taken) &&
                    read_number(&cursor, UINT32_MAX, &room) && read_number(&cursor, REMOTE_MARKS, &marks) &&
                    tm_read_binary(&cursor, &out->piece, &out->size);
    if (!is_sound || cursor.at != cursor.end || out->hops > REMOTE_HOPS_MAX || out->session == 0 ||
        out->size > TM_REMOTE_PIECE) {
        return false;
    }
    out->room = (uint32_t)room;
    out->marks = (uint32_t)marks;
    return true;
}

/* ---- links ---- */

/* Return the link towards a router that takes a frame of `size` bytes now, or CONNECTION_NONE. */
static uint32_t link_towards(tm_switch *sw, uint64_t number, uint32_t size) {
    const tm_net *net = sw->net;
    uint32_t router = net != NULL ? tm_routers_find(&net->routers, number) : ROUTER_NONE;
    if (router == ROUTER_NONE || net->routes.in_force == 0) {
        return CONNECTION_NONE;
    }
    uint32_t place = tm_routes_next_hop(&net->routes, net->routes.in_force - 1, tm_key_of_source(net->me), router);
    uint32_t link = place != NEIGHBOUR_NONE ? net->neighbours[place].connection : CONNECTION_NONE;
    if (link == CONNECTION_NONE || switch_at(sw, link)->border != NULL) {
        return CONNECTION_NONE;
    }
    const tm_admission *terms = &switch_at(sw, link)->admission;
    uint64_t waiting = tm_lane_size(&switch_at(sw, link)->outbox.ordered);
    bool has_room = size <= terms->frame_bytes_max && (waiting == 0 || waiting + size <= terms->queue_bytes_max / 2);
    return has_room ? link : CONNECTION_NONE;
}

/* Queue a frame of this router; false: it cannot leave now. */
static bool send_frame(tm_switch *sw, const tm_remote_frame *say) {
    uint32_t size = REMOTE_HEAD_BYTES + say->size;
    uint32_t link = link_towards(sw, say->receiver, size);
    uint8_t *out = link != CONNECTION_NONE ? switch_queue_allowed(sw, link, size) : NULL;
    if (out == NULL) {
        return false;
    }
    write_remote(out, say);
    return true;
}

static void drop(tm_switch *sw, uint32_t size) {
    switch_count_drop(sw, TM_DROP_DIRECTED, 1, size);
    if (sw->remotes != NULL) {
        sw->remotes->stats.dropped++;
    }
}

static void pass_on(tm_switch *sw, uint32_t from, const uint8_t *frame, uint32_t size, const tm_remote_frame *said) {
    uint32_t link = said->hops > 0 ? link_towards(sw, said->receiver, size) : CONNECTION_NONE;
    uint8_t *out = link != CONNECTION_NONE && link != from ? switch_queue_allowed(sw, link, size) : NULL;
    if (out == NULL) {
        drop(sw, size);
        return;
    }
    memcpy(out, frame, size);
    out[REMOTE_HOPS_AT]--;
    sw->stats.forwarded++;
    if (sw->remotes != NULL) {
        sw->remotes->stats.passed++;
    }
}

/* ---- what an end says ---- */

/* Return how many bytes an end takes beyond what it has taken: none while a client does not read, or a connection has
 * not processed what came. */
static uint32_t room_of(tm_switch *sw, const tm_remote *remote) {
    const tm_connection *connection = switch_at(sw, remote->connection);
    if (!remote->is_near) {
        return TM_REMOTE_WINDOW - remote->input.size;
    }
    bool reads = tm_lane_size(&connection->outbox.ordered) <= connection->admission.queue_bytes_max / 2;
    return reads || TM_BREAKS(REMOTE_READS_ANY) ? TM_REMOTE_WINDOW : 0;
}

/* Say what was taken, with at most `size` bytes from `out_at` on; false: it cannot leave now. */
static bool say(tm_switch *sw, tm_remote *remote, uint32_t size, uint32_t marks) {
    uint32_t room = room_of(sw, remote);
    tm_remote_frame frame = {.hops = sw->options.hop_limit < REMOTE_HOPS_MAX ? sw->options.hop_limit : REMOTE_HOPS_MAX,
                             .receiver = remote->peer,
                             .sender = sw->options.number,
                             .session = remote->session,
                             .at = remote->out_at,
                             .taken = remote->in_at,
                             .room = room,
                             .marks = marks | (remote->is_near ? 0U : REMOTE_FROM_FAR),
                             .size = size};
    frame.piece = size > 0 ? remote->flight.bytes + (remote->out_at - remote->out_taken) : NULL;
    if (!send_frame(sw, &frame)) {
        return false;
    }
    sw->remotes->stats.sent++;
    remote->out_at += size;
    if (TM_BREAKS(REMOTE_FORGETS_EARLY)) {
        switch_drop_bytes(sw, &remote->flight, size);
        remote->out_taken += size;
    }
    remote->sent_ms = sw->now_ms;
    remote->in_told = remote->in_at;
    remote->told_room = room;
    remote->in_limit = remote->in_at + room > remote->in_limit ? remote->in_at + room : remote->in_limit;
    remote->owes_word = false;
    return true;
}

/* Move what the connection of a far end has to send into the flight. */
static void take_output(tm_switch *sw, tm_remote *remote) {
    tm_connection *connection = switch_at(sw, remote->connection);
    while (remote->flight.size < TM_REMOTE_WINDOW && tm_outbox_size(&connection->outbox) > 0) {
        struct iovec pieces[OUTBOX_PIECES];
        tm_outbox_pieces(&connection->outbox, pieces);
        uint32_t room = TM_REMOTE_WINDOW - remote->flight.size;
        uint32_t size = pieces[0].iov_len < room ? (uint32_t)pieces[0].iov_len : room;
        if (!switch_add_bytes(sw, &remote->flight, pieces[0].iov_base, size, TM_REMOTE_WINDOW)) {
            return;
        }
        switch_note_sent(sw, remote->connection, size);
    }
    bool has_all = tm_outbox_size(&connection->outbox) == 0 && remote->flight.size == 0;
    if (connection->state == CONNECTION_CLOSING && (has_all || TM_BREAKS(REMOTE_CLOSES_EARLY))) {
        switch_shut(sw, remote->connection, 0);
    }
}

/* Send what an end has to send; false: a link has no room, or there is none. */
static bool send_some(tm_switch *sw, tm_remote *remote) {
    if (!remote->is_near) {
        take_output(sw, remote);
    }
    uint64_t end = remote->out_taken + remote->flight.size;
    uint64_t limit = TM_BREAKS(REMOTE_ROOM_IS_ANY) ? end : remote->out_taken + remote->room;
    limit = limit < end ? limit : end;
    if (remote->is_near && remote->out_taken == 0 && !TM_BREAKS(REMOTE_BEGINS_LATE)) {
        /* the first piece begins the session there, and others are of no session until it has */
        uint64_t first = remote->out_at > 0 ? 0 : TM_REMOTE_PIECE;
        limit = limit < first ? limit : first;
    }
    while (remote->out_at < limit) {
        uint64_t left = limit - remote->out_at;
        if (remote->out_at == remote->out_taken) {
            remote->progress_ms = sw->now_ms;
            remote->wait_ms = remote->wait_ms == 0 ? REMOTE_AGAIN_MS : remote->wait_ms;
        }
        if (!say(sw, remote, left < TM_REMOTE_PIECE ? (uint32_t)left : TM_REMOTE_PIECE, 0)) {
            return false;
        }
    }
    bool is_due = remote->in_told == 0 || remote->in_at - remote->in_told >= TM_REMOTE_WINDOW / 4;
    bool must_say = remote->owes_word && (is_due || remote->told_room == 0);
    return !must_say || say(sw, remote, 0, 0);
}

void switch_send_remotes(tm_switch *sw) {
    uint32_t later = 0; /* those that could not send stay in the list */
    while (sw->remotes != NULL && sw->remotes->working != 0) {
        uint32_t id = sw->remotes->working;
        tm_remote *remote = &sw->remotes->rows[id - 1];
        sw->remotes->working = remote->next_working;
        remote->is_working = false;
        if (remote->session != 0 && !send_some(sw, remote) && !remote->is_working) {
            remote->is_working = true;
            remote->next_working = later;
            later = id;
        }
    }
    if (sw->remotes != NULL) {
        sw->remotes->working = later;
    }
}

/* ---- the end ---- */

void switch_end_remote(tm_switch *sw, tm_remote *remote, bool is_lost) {
    say(sw, remote, 0, REMOTE_ENDS | (is_lost ? REMOTE_IS_LOST : 0U)); /* lost, the other end hears nothing more */
    switch_free_remote(sw, remote);
}

/* End an end because of the other one: a far end's connection ends, and the client of a near one learns it. */
static void is_over(tm_switch *sw, tm_remote *remote, bool is_lost) {
    uint32_t connection = remote->connection;
    uint64_t session = remote->session;
    bool is_near = remote->is_near;
    switch_free_remote(sw, remote);
    if (is_near) {
        uint8_t *at =
            switch_tell_bytes(sw, (tm_event){.type = TM_EVENT_REMOTE_ENDED, .connection = connection}, sizeof session);
        if (at == NULL) {
            switch_shut(sw, connection, ENOMEM);
        } else {
            memcpy(at, &session, sizeof session);
        }
    } else if (is_lost) {
        switch_lose(sw, connection, 0);
    } else {
        switch_shut(sw, connection, 0);
    }
}

void switch_break_remote(tm_switch *sw, tm_remote *remote) {
    sw->remotes->stats.ended++;
    say(sw, remote, 0, REMOTE_ENDS);
    is_over(sw, remote, false);
}

/* ---- what an end hears ---- */

/* true if a DELIVER begins with SATISFIED and one id, that of a consumer of this session */
static bool is_for_consumer(const tm_remote *remote, const uint8_t *frame, uint32_t size) {
    const uint8_t *area = frame + WIRE_HEADER_BYTES;
    return size >= WIRE_HEADER_BYTES + WIRE_SATISFIED_BYTES_MIN &&
           tm_load16(frame + WIRE_EXTENSION_SIZE) >= WIRE_SATISFIED_BYTES_MIN && tm_load16(area) == WIRE_SATISFIED &&
           tm_load16(area + 2) == 4 &&
           (switch_has_consumer(remote, tm_load32(area + 4)) || TM_BREAKS(REMOTE_PASSES_OTHERS));
}

/* Pass a whole frame of the home to the client; false: no memory. */
static bool pass_frame(tm_switch *sw, const tm_remote *remote, const uint8_t *frame, uint32_t size) {
    uint32_t connection = remote->connection;
    if (frame[WIRE_KIND] == WIRE_DELIVER || frame[WIRE_KIND] == WIRE_LOST) {
        if (frame[WIRE_KIND] == WIRE_DELIVER && !is_for_consumer(remote, frame, size)) {
            return true; /* the consumer has left */
        }
        uint8_t *at = tm_outbox_append(&switch_at(sw, connection)->outbox, &sw->memory, size);
        if (at != NULL) {
            memcpy(at, frame, size);
            switch_mark_dirty(sw, connection);
            switch_at(sw, connection)->traffic.deliveries += frame[WIRE_KIND] == WIRE_DELIVER;
        }
        return at != NULL;
    }
    tm_event event = {.type = TM_EVENT_REMOTE_SAID, .connection = connection, .kind = frame[WIRE_KIND]};
    uint8_t *at = switch_tell_bytes(sw, event, size + (uint32_t)sizeof remote->session);
    if (at != NULL) {
        memcpy(at, &remote->session, sizeof remote->session);
        memcpy(at + sizeof remote->session, frame, size);
    }
    return at != NULL;
}

/* Pass the whole frames of a near end's input to its client; false: they are false, or there is no memory. */
static bool pass_frames(tm_switch *sw, tm_remote *remote) {
    uint32_t most = switch_at(sw, remote->connection)->admission.frame_bytes_max;
    uint32_t at = 0;
    while (remote->input.size - at >= WIRE_PREFIX_BYTES) {
        const uint8_t *frame = remote->input.bytes + at;
        uint32_t size = tm_load32(frame);
        if (size < WIRE_PREFIX_BYTES || size > most || (frame[WIRE_KIND] == WIRE_DELIVER && size < WIRE_HEADER_BYTES)) {
            return false;
        }
        if (size > remote->input.size - at) {
            break;
        }
        if (!pass_frame(sw, remote, frame, size)) {
            return false;
        }
        at += size;
    }
    switch_drop_bytes(sw, &remote->input, at);
    return true;
}

/* Take a piece that is the next one; false: the session cannot go on. */
static bool take_piece(tm_switch *sw, tm_remote *remote, const tm_remote_frame *said) {
    uint32_t most = remote->is_near ? switch_at(sw, remote->connection)->admission.frame_bytes_max + TM_REMOTE_PIECE
                                    : TM_REMOTE_WINDOW + TM_REMOTE_PIECE;
    if (!switch_add_bytes(sw, &remote->input, said->piece, said->size, most)) {
        return false;
    }
    remote->in_at += said->size;
    return !remote->is_near || pass_frames(sw, remote);
}

void switch_hear_remote(tm_switch *sw, tm_remote *remote, const tm_remote_frame *said) {
    remote->heard_ms = sw->now_ms;
    switch_work_on_remote(sw, remote);
    if (said->marks & REMOTE_ENDS) {
        is_over(sw, remote, (said->marks & REMOTE_IS_LOST) != 0);
        return;
    }
    if (said->taken > remote->out_taken + remote->flight.size) {
        switch_break_remote(sw, remote);
        return;
    }
    if (said->taken > remote->out_taken) {
        switch_drop_bytes(sw, &remote->flight, (uint32_t)(said->taken - remote->out_taken));
        remote->out_taken = said->taken;
        remote->out_at = remote->out_at > said->taken ? remote->out_at : said->taken;
        remote->progress_ms = sw->now_ms;
        remote->wait_ms = REMOTE_AGAIN_MS;
    }
    if (said->taken == remote->out_taken) {
        remote->room = said->room;
    }
    if (said->size == 0) {
        return;
    }
    remote->owes_word = true;
    bool follows = said->at == remote->in_at || (said->at > remote->in_at && TM_BREAKS(REMOTE_TAKES_LATER)) ||
                   (said->at < remote->in_at && TM_BREAKS(REMOTE_TAKES_AGAIN));
    bool is_next = follows && said->at + said->size <= remote->in_limit;
    if (is_next && !take_piece(sw, remote, said)) {
        switch_break_remote(sw, remote);
    } else if (!is_next) {
        sw->remotes->stats.dropped++;
    }
}

/* Tell the other end that there is no session here, unless it says the same. */
static void say_unknown(tm_switch *sw, const tm_remote_frame *said) {
    tm_remote_frame frame = {.hops = said->hops,
                             .receiver = said->sender,
                             .sender = sw->options.number,
                             .session = said->session,
                             .marks = REMOTE_ENDS | (said->marks & REMOTE_FROM_FAR ? 0U : REMOTE_FROM_FAR)};
    if ((said->marks & REMOTE_ENDS) == 0 && !TM_BREAKS(REMOTE_TELLS_NO_END)) {
        send_frame(sw, &frame);
    }
}

void switch_take_remote(tm_switch *sw, uint32_t link, const uint8_t *frame, uint32_t size) {
    tm_remote_frame said;
    if (!switch_read_remote(frame, size, &said)) {
        switch_fault(sw, link, WIRE_MALFORMED, frame, "a REMOTE has nine fields within their bounds");
        return;
    }
    if (switch_at(sw, link)->border != NULL) {
        switch_count_drop(sw, TM_DROP_NOT_ALLOWED, 1, size);
        return;
    }
    if (said.receiver != sw->options.number) {
        pass_on(sw, link, frame, size, &said);
        return;
    }
    tm_remote *remote = switch_remote_of(sw, said.session, (said.marks & REMOTE_FROM_FAR) != 0);
    if (remote != NULL && remote->peer == said.sender) {
        switch_hear_remote(sw, remote, &said);
    } else if (remote == NULL && said.marks == 0 && said.at == 0 && said.size > 0) {
        switch_tell_frame(sw, link, TM_EVENT_REMOTE_BEGINS, frame, size); /* without memory, it comes again */
    } else {
        drop(sw, size);
        say_unknown(sw, &said);
    }
}

tm_remote *switch_remote_with_input(tm_switch *sw, uint32_t *at) {
    while (*at != 0) {
        tm_remote *remote = &sw->remotes->rows[*at - 1];
        *at = remote->next_working;
        if (remote->session != 0 && !remote->is_near && remote->input.size > 0) {
            return remote;
        }
    }
    return NULL;
}

/* ---- time ---- */

static void tick_one(tm_switch *sw, tm_remote *remote) {
    if (sw->now_ms - remote->heard_ms >= TM_REMOTE_SILENT_MS && !TM_BREAKS(REMOTE_STAYS)) {
        switch_break_remote(sw, remote);
        return;
    }
    if (remote->out_at > remote->out_taken && sw->now_ms - remote->progress_ms >= remote->wait_ms &&
        !TM_BREAKS(REMOTE_SENDS_ONCE)) {
        sw->remotes->stats.resent += (remote->out_at - remote->out_taken + TM_REMOTE_PIECE - 1) / TM_REMOTE_PIECE;
        remote->out_at = remote->out_taken;
        remote->progress_ms = sw->now_ms;
        remote->wait_ms = remote->wait_ms < REMOTE_AGAIN_MS_MAX ? remote->wait_ms * 2 : REMOTE_AGAIN_MS_MAX;
    }
    bool is_due = remote->owes_word || sw->now_ms - remote->sent_ms >= REMOTE_WORD_MS ||
                  (remote->told_room == 0 && room_of(sw, remote) > 0);
    /* a router that has not taken the first piece would answer a word with the end */
    bool has_begun = !remote->is_near || remote->out_taken > 0;
    if (is_due && has_begun && !TM_BREAKS(REMOTE_IS_SILENT)) {
        say(sw, remote, 0, 0);
    }
}

void switch_tick_remotes(tm_switch *sw) {
    for (uint32_t i = 0; sw->remotes != NULL && i < sw->remotes->count; i++) {
        if (sw->remotes->rows[i].session != 0) {
            switch_work_on_remote(sw, &sw->remotes->rows[i]);
            tick_one(sw, &sw->remotes->rows[i]);
        }
    }
}
