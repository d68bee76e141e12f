/* connection.c - see connection.h. */
#include "connection.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fail.h"

/* How long one wait of the setting-up may take: rabbitmq takes half a minute over ten thousand bindings. */
#define SETUP_SECONDS 120

static int connected_socket(uint16_t port) {
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        fail_errno("no socket");
    }
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct timeval patience = {.tv_sec = SETUP_SECONDS};
    int on = 1;
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (connect(fd, (struct sockaddr *)&to, sizeof to) != 0) {
        fail_errno("no connection to the daemon");
    }
    return fd;
}

void connection_open(connection *c, const endpoint *to, uint32_t index) {
    *c = (connection){
        .protocol = to->protocol,
        .fd = connected_socket(to->port),
        .index = index,
        .in = malloc(to->receive_bytes),
        .in_room = to->receive_bytes,
        .credit_frames = UINT64_MAX,
        .credit_bytes = UINT64_MAX,
    };
    if (c->in == NULL) {
        fail("out of memory");
    }
    c->tls = to->with_tls ? tls_open(c->fd) : NULL;
    c->protocol->open(c);
}

void connection_close(connection *c) {
    if (c->tls != NULL) {
        tls_close(c->tls);
    }
    close(c->fd);
    free(c->in);
    buffer_free(&c->out);
    buffer_free(&c->taken.names);
    *c = (connection){.fd = -1};
}

void connection_subscribe(connection *c, const records *filters, size_t first, size_t count) {
    size_t end = first + count;
    for (size_t at = first; at < end; at += c->protocol->subscriptions_at_once) {
        size_t left = end - at;
        size_t most = c->protocol->subscriptions_at_once;
        c->protocol->subscribe(c, filters, at, left < most ? left : most);
    }
}

unit connection_await(connection *c, uint32_t wanted) {
    connection_flush(c);
    for (;;) {
        unit u;
        while (connection_next(c, &u)) {
            if (u.content != NULL) {
                fail("a message arrived before any was published");
            }
            c->protocol->answer(c, &u);
            if (u.control == wanted) {
                return u;
            }
        }
        if (!connection_read(c)) {
            fail("%s did not answer within %d s", c->protocol->name, SETUP_SECONDS);
        }
        connection_flush(c);
    }
}

void connection_start(connection *c) {
    if (fcntl(c->fd, F_SETFL, O_NONBLOCK) != 0) {
        fail_errno("a socket that must block");
    }
}

static void make_room(connection *c) {
    if (c->in_begin > 0) {
        memmove(c->in, c->in + c->in_begin, c->in_end - c->in_begin);
        c->in_end -= c->in_begin;
        c->in_begin = 0;
    }
    if (c->in_end == c->in_room) {
        fail("%s sent something longer than %zu bytes", c->protocol->name, c->in_room);
    }
}

bool connection_read(connection *c) {
    make_room(c);
    uint8_t *to = c->in + c->in_end;
    size_t room = c->in_room - c->in_end;
    ssize_t got = c->tls != NULL ? tls_read(c->tls, to, room) : recv(c->fd, to, room, 0);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
        return false;
    }
    if (got <= 0) {
        fail("%s closed connection %u", c->protocol->name, c->index);
    }
    c->in_end += (size_t)got;
    return true;
}

bool connection_next(connection *c, unit *out) {
    *out = (unit){0};
    size_t used = c->protocol->take(c->in + c->in_begin, c->in_end - c->in_begin, out);
    c->in_begin += used;
    return used > 0;
}

void connection_flush(connection *c) {
    while (c->out_sent < c->out.length) {
        const uint8_t *from = c->out.bytes + c->out_sent;
        size_t length = c->out.length - c->out_sent;
        ssize_t sent = c->tls != NULL ? tls_write(c->tls, from, length) : send(c->fd, from, length, MSG_NOSIGNAL);
        if (sent < 0 && (errno == EAGAIN || errno == EINTR)) {
            c->waits_for_room = true;
            return;
        }
        if (sent <= 0) {
            fail_errno("a message cannot be sent");
        }
        c->out_sent += (size_t)sent;
    }
    c->out.length = c->out_sent = 0;
    c->waits_for_room = false;
}
