/* load.c - the load generator: one publisher, some subscribers, one daemon; prints one JSON object about what it saw.
 *
 * Law: what is told about the daemon (processor time, memory) is read from /proc between the same two moments that the
 * messages are counted between.
 *
 *     load --protocol NAME --port N --messages FILE --filters FILE [--pid N] [--subscribers N] [--message-bytes N]
 *          [--others N --other-filters FILE] [--window N] [--rate N] [--warm S] [--seconds S] [--transport tls]
 *          [--publish-at PORT] [--other-pid N] [--kept confirmed|consumed] [--count N]
 *
 * With --kept confirmed the publisher alone counts: messages are those that the daemon confirmed. With consumed,
 * --count messages are published first, and then received and acknowledged.
 */
#include <getopt.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "clock.h"
#include "fail.h"
#include "loop.h"
#include "process.h"

/* Receive buffers: as much as a socket holds, unless there are thousands of them. */
#define FEW 64
#define RECEIVE_BYTES_OF_FEW 262144
#define RECEIVE_BYTES_OF_MANY 8192
/* The longest that --kept consumed may take to publish. */
#define PRELOAD_SECONDS 240

typedef struct options {
    const char *protocol;
    const char *transport;
    const char *messages;
    const char *filters;
    const char *other_filters;
    const char *kept;
    uint64_t port;
    uint64_t publish_at;
    uint64_t pid;
    uint64_t other_pid; /* of another daemon, whose processor time is told as well; 0: there is none */
    uint64_t subscribers;
    uint64_t others;
    uint64_t message_bytes;
    uint64_t window;
    uint64_t count;
    double rate;
    double warm_s;
    double seconds;
} options;

typedef struct moment {
    double at;
    double daemon_cpu_s;
    double other_cpu_s;
    double own_cpu_s;
    uint64_t messages;
    uint64_t deliveries;
} moment;

typedef struct setup {
    double subscribe_s;
    double subscribe_others_s;
    uint64_t resident_before;
    uint64_t resident_ready;
} setup;

static double own_cpu_seconds(void) {
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
           (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1e-6;
}

static moment moment_now(const loop *l, const options *o) {
    return (moment){.at = clock_seconds(),
                    .daemon_cpu_s = process_cpu_seconds((pid_t)o->pid),
                    .other_cpu_s = o->other_pid != 0 ? process_cpu_seconds((pid_t)o->other_pid) : 0,
                    .own_cpu_s = own_cpu_seconds(),
                    .messages = l->slowest,
                    .deliveries = l->deliveries};
}

static connection *open_all(size_t count, const endpoint *to, uint32_t first_index) {
    connection *all = calloc(count + 1, sizeof *all);
    if (all == NULL) {
        fail("out of memory");
    }
    for (size_t i = 0; i < count; i++) {
        connection_open(&all[i], to, first_index + (uint32_t)i);
    }
    return all;
}

/* Each of the others gets its share of the filters; returns how long that took. */
static double subscribe_others(loop *l, const options *o) {
    double start = clock_seconds();
    if (l->other_count > 0) {
        records filters = records_read(o->other_filters);
        for (size_t i = 0; i < l->other_count; i++) {
            size_t first = filters.count * i / l->other_count;
            size_t end = filters.count * (i + 1) / l->other_count;
            connection_subscribe(&l->others[i], &filters, first, end - first);
        }
        records_free(&filters);
    }
    return clock_seconds() - start;
}

static double subscribe(loop *l, const options *o) {
    records filters = records_read(o->filters);
    double start = clock_seconds();
    for (size_t i = 0; i < l->subscriber_count; i++) {
        connection_subscribe(&l->subscribers[i], &filters, 0, filters.count);
    }
    double taken = clock_seconds() - start;
    records_free(&filters);
    return taken;
}

/* The connection that creates the store receives no messages until it consumes. */
static void count_confirmations(loop *l) {
    l->others = l->subscribers;
    l->other_count = l->subscriber_count;
    l->subscribers = &l->publisher.connection;
    l->subscriber_count = 1;
}

static setup set_up(loop *l, const options *o, const endpoint *to, const endpoint *publish_at) {
    setup s = {.resident_before = process_resident_bytes((pid_t)o->pid)};
    records messages = records_read(o->messages);
    l->others = open_all(o->others, to, 1);
    l->other_count = o->others;
    s.subscribe_others_s = subscribe_others(l, o);
    l->subscribers = open_all(o->subscribers, to, 1 + (uint32_t)o->others);
    l->subscriber_count = o->subscribers;
    s.subscribe_s = subscribe(l, o);
    s.resident_ready = process_resident_bytes((pid_t)o->pid);
    publisher_open(&l->publisher, publish_at, 0, &messages, o->message_bytes);
    records_free(&messages);
    if (o->kept != NULL) {
        count_confirmations(l);
    }
    return s;
}

static void print_result(const loop *l, const setup *s, const moment *a, const moment *b, pid_t pid) {
    printf("{\"subscribe_s\": %.6f, \"subscribe_others_s\": %.6f, ", s->subscribe_s, s->subscribe_others_s);
    printf("\"resident_before\": %llu, \"resident_ready\": %llu, \"resident_end\": %llu, ",
           (unsigned long long)s->resident_before, (unsigned long long)s->resident_ready,
           (unsigned long long)process_resident_bytes(pid));
    printf("\"seconds\": %.6f, \"messages\": %llu, \"deliveries\": %llu, ", b->at - a->at,
           (unsigned long long)(b->messages - a->messages), (unsigned long long)(b->deliveries - a->deliveries));
    printf("\"daemon_cpu_s\": %.3f, \"other_cpu_s\": %.3f, ", b->daemon_cpu_s - a->daemon_cpu_s,
           b->other_cpu_s - a->other_cpu_s);
    printf("\"load_cpu_s\": %.3f, \"frame_bytes\": %.1f", b->own_cpu_s - a->own_cpu_s,
           publisher_frame_bytes(&l->publisher));
    if (l->times != NULL) {
        printf(", \"samples\": %zu, \"p50_s\": %.9f, \"p99_s\": %.9f", latency_count(l->times),
               latency_quantile(l->times, 0.5), latency_quantile(l->times, 0.99));
    }
    printf("}\n");
}

static void publish_all(loop *l) {
    loop_run(l, PRELOAD_SECONDS);
    if (l->slowest < l->last) {
        fail("%llu of %llu messages were confirmed in %d s", (unsigned long long)l->slowest,
             (unsigned long long)l->last, PRELOAD_SECONDS);
    }
}

static bool is_consumed(const options *o) {
    return o->kept != NULL && strcmp(o->kept, "consumed") == 0;
}

static void run(const options *o, const endpoint *to, const endpoint *publish_at) {
    loop l = {.window = o->window, .rate = o->rate};
    setup s = set_up(&l, o, to, publish_at);
    if (o->rate > 0 || o->window == 1) {
        l.times = calloc(1, sizeof *l.times);
    }
    loop_start(&l);
    if (is_consumed(o)) {
        l.last = o->count;
        publish_all(&l);
        loop_consume(&l, l.others);
    } else {
        loop_run(&l, o->warm_s);
    }
    if (l.times != NULL) {
        latency_restart(l.times);
    }
    moment before = moment_now(&l, o);
    loop_run(&l, o->seconds);
    moment after = moment_now(&l, o);
    print_result(&l, &s, &before, &after, (pid_t)o->pid);
}

enum kind { TEXT, WHOLE, DECIMAL };

#define OPTION(name, kind, field) {{name, required_argument, NULL, kind}, offsetof(options, field)}

static const struct known {
    struct option option;
    size_t at; /* of its value in options */
} KNOWN[] = {
    OPTION("protocol", TEXT, protocol),
    OPTION("transport", TEXT, transport),
    OPTION("messages", TEXT, messages),
    OPTION("filters", TEXT, filters),
    OPTION("other-filters", TEXT, other_filters),
    OPTION("kept", TEXT, kept),
    OPTION("port", WHOLE, port),
    OPTION("publish-at", WHOLE, publish_at),
    OPTION("pid", WHOLE, pid),
    OPTION("other-pid", WHOLE, other_pid),
    OPTION("subscribers", WHOLE, subscribers),
    OPTION("others", WHOLE, others),
    OPTION("message-bytes", WHOLE, message_bytes),
    OPTION("window", WHOLE, window),
    OPTION("count", WHOLE, count),
    OPTION("rate", DECIMAL, rate),
    OPTION("warm", DECIMAL, warm_s),
    OPTION("seconds", DECIMAL, seconds),
};

#define KNOWN_COUNT (sizeof KNOWN / sizeof *KNOWN)

static void set_option(void *field, enum kind kind, const char *value) {
    if (kind == TEXT) {
        *(const char **)field = value;
    } else if (kind == WHOLE) {
        *(uint64_t *)field = strtoull(value, NULL, 10);
    } else {
        *(double *)field = atof(value);
    }
}

static options options_read(int argc, char **argv) {
    options o = {.subscribers = 1, .message_bytes = 150, .window = 4096, .warm_s = 0.5, .seconds = 2};
    struct option names[KNOWN_COUNT + 1] = {0};
    for (size_t i = 0; i < KNOWN_COUNT; i++) {
        names[i] = KNOWN[i].option;
    }
    int index = 0;
    for (int kind; (kind = getopt_long(argc, argv, "", names, &index)) != -1;) {
        if (kind == '?') {
            fail("see the top of load.c");
        }
        set_option((char *)&o + KNOWN[index].at, (enum kind)kind, optarg);
    }
    return o;
}

static void check(const options *o, const protocol *spoken) {
    if (spoken == NULL || o->port == 0 || o->pid == 0 || o->messages == NULL || o->filters == NULL) {
        fail("a known --protocol, --port, --pid, --messages and --filters are needed");
    }
    if (o->subscribers == 0 || o->window == 0 || (o->others > 0 && o->other_filters == NULL)) {
        fail("--subscribers and --window are at least 1, and others have --other-filters");
    }
    if (o->kept != NULL && (o->others > 0 || o->subscribers != 1 || spoken->consume == NULL)) {
        fail("--kept needs one subscriber, no others, and a protocol whose daemon stores messages");
    }
    if (is_consumed(o) != (o->count > 0)) {
        fail("--count needs --kept consumed");
    }
    if (o->rate > 0 && o->window > LATENCY_WINDOW_MAX) {
        fail("with a rate, --window is at most %d", LATENCY_WINDOW_MAX);
    }
}

int main(int argc, char **argv) {
    options o = options_read(argc, argv);
    endpoint to = {.protocol = o.protocol == NULL ? NULL : protocol_named(o.protocol), .port = (uint16_t)o.port};
    check(&o, to.protocol);
    signal(SIGPIPE, SIG_IGN); /* a write that fails says so itself; OpenSSL's does not ask for that */
    to.with_tls = o.transport != NULL && strcmp(o.transport, "tls") == 0;
    to.receive_bytes = o.subscribers + o.others > FEW ? RECEIVE_BYTES_OF_MANY : RECEIVE_BYTES_OF_FEW;
    endpoint publish_at = to;
    publish_at.port = o.publish_at != 0 ? (uint16_t)o.publish_at : to.port;
    run(&o, &to, &publish_at);
    return 0;
}
