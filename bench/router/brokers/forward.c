/* forward.c - the plain forwarder: what is left of a router when nothing is matched and nothing promised.
 *
 *     forward PORT
 *
 * Connections that sent a SUBSCRIBE (a bare prefix; answered with a bare ACK) are outputs. Every whole data frame of
 * any connection goes to all outputs: its attributes are walked, and the bytes leave from where they were received, in
 * one send for each output. Law: an output that takes no more is waited for, so nothing is lost and nothing queued; the
 * load generator's window keeps that from lasting. This is the ceiling that a router is compared with, so it does no
 * more.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "load/fail.h"
#include "load/frame.h"
#include "load/walk.h"

#define SUBSCRIBE 0x20
#define ACK 0x22
#define RECEIVE_BYTES 262144
#define EVENTS_AT_ONCE 256
#define CONNECTIONS_MAX 20000

typedef struct input {
    int fd;
    size_t length;
    uint8_t *bytes; /* owned; NULL until something has come in that was not whole */
} input;

static int outputs[CONNECTIONS_MAX];
static size_t output_count;
static uint8_t received[RECEIVE_BYTES];

static void walk_attributes(const uint8_t *frame) {
    record attributes = frame_attributes(frame);
    walk w = {attributes.bytes, attributes.bytes + attributes.length};
    walk_item map, name, value;
    bool read = walk_expect(&w, WALK_MAP, &map);
    for (uint64_t i = 0; read && i < map.number; i++) {
        read = walk_expect(&w, WALK_TEXT, &name) && walk_next(&w, &value);
    }
    if (!read) {
        fail("attributes that cannot be read");
    }
}

static void send_all(int fd, const uint8_t *bytes, size_t length) {
    while (length > 0) {
        ssize_t sent = send(fd, bytes, length, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < 0 && errno == EAGAIN) {
            poll(&(struct pollfd){.fd = fd, .events = POLLOUT}, 1, -1);
        } else if (sent < 0) {
            return; /* it has gone; its own event will say so */
        } else {
            bytes += sent;
            length -= (size_t)sent;
        }
    }
}

static void become_output(int fd) {
    static const uint8_t ack[FRAME_PREFIX_BYTES] = {FRAME_PREFIX_BYTES, 0, 0, 0, ACK};
    if (output_count == CONNECTIONS_MAX) {
        fail("more than %d outputs", CONNECTIONS_MAX);
    }
    outputs[output_count++] = fd;
    send_all(fd, ack, sizeof ack);
}

/* Walk the whole frames in `bytes`; how many bytes they are. `*messages` is where the data frames begin. */
static size_t walk_frames(input *in, const uint8_t *bytes, size_t length, size_t *messages) {
    size_t at = 0;
    while (length - at >= FRAME_PREFIX_BYTES && length - at >= frame_length(bytes + at)) {
        uint32_t frame = frame_length(bytes + at);
        if (frame < FRAME_PREFIX_BYTES) {
            fail("a frame of %u bytes", frame);
        }
        if (frame_kind(bytes + at) == SUBSCRIBE) {
            become_output(in->fd);
            *messages = at + frame;
        } else {
            walk_attributes(bytes + at);
        }
        at += frame;
    }
    return at;
}

static void forward(input *in, size_t length) {
    size_t messages = 0;
    size_t whole = walk_frames(in, received, length, &messages);
    for (size_t i = 0; i < output_count && whole > messages; i++) {
        send_all(outputs[i], received + messages, whole - messages);
    }
    in->length = length - whole;
    if (in->length > 0 && in->bytes == NULL) {
        in->bytes = malloc(RECEIVE_BYTES);
    }
    if (in->length > 0) {
        memcpy(in->bytes, received + whole, in->length);
    }
}

static void leave(input *in) {
    for (size_t i = 0; i < output_count; i++) {
        if (outputs[i] == in->fd) {
            outputs[i] = outputs[--output_count];
            break;
        }
    }
    close(in->fd);
    free(in->bytes);
    free(in);
}

static void receive(input *in) {
    if (in->length > 0) {
        memcpy(received, in->bytes, in->length);
    }
    ssize_t got = recv(in->fd, received + in->length, sizeof received - in->length, 0);
    if (got <= 0) {
        leave(in);
    } else {
        forward(in, in->length + (size_t)got);
    }
}

static void welcome(int epoll, int listener) {
    int on = 1;
    input *in = calloc(1, sizeof *in);
    in->fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = in};
    setsockopt(in->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (in->fd < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, in->fd, &event) != 0) {
        fail_errno("a connection cannot be accepted");
    }
}

static int listener_on(uint16_t port) {
    int on = 1;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (fd < 0 || bind(fd, (struct sockaddr *)&at, sizeof at) != 0 || listen(fd, SOMAXCONN) != 0) {
        fail_errno("the port cannot be listened on");
    }
    return fd;
}

int main(int argc, char **argv) {
    if (argc != 2) {
        fail("forward PORT");
    }
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    int listener = listener_on((uint16_t)atoi(argv[1]));
    struct epoll_event events[EVENTS_AT_ONCE], listening = {.events = EPOLLIN, .data.ptr = NULL};
    epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &listening);
    for (;;) {
        int count = epoll_wait(epoll, events, EVENTS_AT_ONCE, -1);
        for (int i = 0; i < count; i++) {
            if (events[i].data.ptr == NULL) {
                welcome(epoll, listener);
            } else {
                receive(events[i].data.ptr);
            }
        }
    }
}
