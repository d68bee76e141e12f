/* loop.c - see loop.h. */
#include "loop.h"

#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "clock.h"
#include "fail.h"
#include "frame.h"

#define EVENTS_AT_ONCE 256
#define WAIT_MS 50
#define STALL_SECONDS 20
#define KEEP_ALIVE_SECONDS 5
#define TICK_NS 100000 /* a fixed rate is kept in steps of a tenth of a millisecond */

static void watch(loop *l, connection *c, int operation, uint32_t events) {
    struct epoll_event event = {.events = events, .data.ptr = c};
    if (epoll_ctl(l->epoll, operation, c->fd, &event) != 0) {
        fail_errno("a connection cannot be watched");
    }
}

/* ---- publishing ---- */

static uint64_t last_due(const loop *l, double now) {
    uint64_t last = l->slowest + l->window;
    if (l->rate > 0) {
        uint64_t due = (uint64_t)((now - l->rate_start) * l->rate);
        last = due < last ? due : last;
    }
    return l->last != 0 && l->last < last ? l->last : last;
}

static void publish(loop *l) {
    publisher *p = &l->publisher;
    double now = clock_seconds();
    uint64_t before = p->published;
    uint64_t last = last_due(l, now);
    if (last > before) {
        publisher_publish(p, last);
    }
    for (uint64_t counter = before + 1; l->times != NULL && counter <= p->published; counter++) {
        latency_sent(l->times, counter, now);
    }
    if (p->connection.waits_for_room != l->publisher_waits) {
        l->publisher_waits = p->connection.waits_for_room;
        watch(l, &p->connection, EPOLL_CTL_MOD, EPOLLIN | (l->publisher_waits ? EPOLLOUT : 0));
    }
}

/* ---- receiving ---- */

static void find_slowest(loop *l) {
    uint64_t slowest = UINT64_MAX;
    for (size_t i = 0; i < l->subscriber_count; i++) {
        uint64_t received = l->subscribers[i].received;
        l->at_slowest = received < slowest ? 0 : l->at_slowest;
        slowest = received < slowest ? received : slowest;
        l->at_slowest += received == slowest;
    }
    if (l->times != NULL) {
        latency_arrived(l->times, l->slowest + 1, slowest, clock_seconds());
    }
    l->slowest = slowest;
}

static void take_message(connection *c, const uint8_t *frame) {
    uint64_t counter = frame_counter(frame);
    if (counter != c->received + 1) {
        fail("connection %u: message %llu came behind message %llu", c->index, (unsigned long long)counter,
             (unsigned long long)c->received);
    }
    c->received++;
}

/* All that has been read. */
static void take_units(connection *c) {
    unit u;
    while (connection_next(c, &u)) {
        if (u.content == NULL) {
            c->protocol->answer(c, &u);
            continue;
        }
        take_message(c, u.content);
        if (c->protocol->note != NULL) {
            c->protocol->note(c, &u);
        }
    }
    if (c->protocol->settle != NULL) {
        c->protocol->settle(c);
    }
    connection_flush(c);
}

static void receive(loop *l, connection *c) {
    uint64_t before = c->received;
    if (!connection_read(c)) {
        return;
    }
    take_units(c);
    if (c->received > before) {
        l->deliveries += c->received - before;
        l->last_arrival = clock_seconds();
        l->at_slowest -= before == l->slowest;
        if (l->at_slowest == 0) {
            find_slowest(l);
        }
    }
}

static bool is_subscriber(const loop *l, const connection *c) {
    return c >= l->subscribers && c < l->subscribers + l->subscriber_count;
}

static void handle(loop *l, const struct epoll_event *event) {
    connection *c = event->data.ptr;
    if (c == NULL) {
        return; /* the timer: publish() looks at the clock */
    }
    if (event->events & EPOLLOUT) {
        connection_flush(c);
    }
    if (event->events & ~(uint32_t)EPOLLOUT) {
        receive(l, c);
    }
    if (c->received > 0 && !is_subscriber(l, c)) {
        fail("a message reached connection %u, whose filters it does not satisfy", c->index);
    }
}

/* ---- starting ---- */

static void begin(loop *l, connection *c) {
    connection_start(c);
    watch(l, c, EPOLL_CTL_ADD, EPOLLIN);
    take_units(c); /* what came together with the last answer waited for: no event will tell of it */
}

/* A fixed rate needs to be woken between two messages; the timer has no connection. */
static void start_timer(loop *l) {
    prctl(PR_SET_TIMERSLACK, 1UL);
    int fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    struct itimerspec every = {.it_interval = {0, TICK_NS}, .it_value = {0, TICK_NS}};
    struct epoll_event event = {.events = EPOLLIN | EPOLLET, .data.ptr = NULL};
    if (fd < 0 || timerfd_settime(fd, 0, &every, NULL) != 0 || epoll_ctl(l->epoll, EPOLL_CTL_ADD, fd, &event) != 0) {
        fail_errno("no timer");
    }
}

void loop_start(loop *l) {
    l->epoll = epoll_create1(EPOLL_CLOEXEC);
    l->at_slowest = l->subscriber_count;
    l->rate_start = l->last_arrival = l->last_keep_alive = clock_seconds();
    begin(l, &l->publisher.connection);
    for (size_t i = 0; i < l->subscriber_count; i++) {
        if (&l->subscribers[i] != &l->publisher.connection) {
            begin(l, &l->subscribers[i]);
        }
    }
    for (size_t i = 0; i < l->other_count; i++) {
        begin(l, &l->others[i]);
    }
    if (l->rate > 0) {
        start_timer(l);
    }
}

void loop_consume(loop *l, connection *subscriber) {
    l->publisher.connection.received = 0;
    l->subscribers = subscriber;
    l->slowest = 0;
    l->at_slowest = l->subscriber_count;
    l->last_arrival = clock_seconds();
    subscriber->protocol->consume(subscriber);
    connection_flush(subscriber);
}

/* ---- the loop ---- */

static void keep_alive(loop *l, double now) {
    const protocol *p = l->publisher.connection.protocol;
    if (p->keep_alive == NULL || now < l->last_keep_alive + KEEP_ALIVE_SECONDS) {
        return;
    }
    l->last_keep_alive = now;
    p->keep_alive(&l->publisher.connection);
    for (size_t i = 0; i < l->subscriber_count; i++) {
        p->keep_alive(&l->subscribers[i]);
        connection_flush(&l->subscribers[i]);
    }
    for (size_t i = 0; i < l->other_count; i++) {
        p->keep_alive(&l->others[i]);
        connection_flush(&l->others[i]);
    }
}

static void refuse_stall(const loop *l, double now) {
    if (now > l->last_arrival + STALL_SECONDS) {
        fail("nothing arrived for %d s: %llu messages published, %llu received by all", STALL_SECONDS,
             (unsigned long long)l->publisher.published, (unsigned long long)l->slowest);
    }
}

void loop_run(loop *l, double seconds) {
    struct epoll_event events[EVENTS_AT_ONCE];
    double end = clock_seconds() + seconds;
    for (double now = clock_seconds(); now < end && (l->last == 0 || l->slowest < l->last); now = clock_seconds()) {
        publish(l);
        int count = epoll_wait(l->epoll, events, EVENTS_AT_ONCE, WAIT_MS);
        for (int i = 0; i < count; i++) {
            handle(l, &events[i]);
        }
        keep_alive(l, now);
        refuse_stall(l, now);
    }
}
