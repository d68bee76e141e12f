/* test_records.c - the ring between the switch and the writing thread: what is noted is taken, in order and whole, or
 * lost and counted; by one thread that does both in a random walk, and by two at once.
 */
#include <pthread.h>
#include <string.h>

#include "records/names.h"
#include "records/records.h"
#include "support.h"

#define STEPS 20000
#define RING_BYTES (2U * TM_FRAME_BYTES_MAX)
#define LINES_BYTES (1U << 20)
#define BY_TWO 200000U
#define LIST_MAX 40U

static const char PREFIX[] = "{\"t_us\":";
static uint8_t lines[LINES_BYTES];

static tm_records *new_records(uint64_t share) {
    tm_records_options options = {.prefix = (const uint8_t *)PREFIX,
                                  .prefix_size = sizeof PREFIX - 1,
                                  .stored_prefix = (const uint8_t *)PREFIX,
                                  .stored_prefix_size = sizeof PREFIX - 1,
                                  .share = share,
                                  .ring_bytes = RING_BYTES};
    tm_records *records = NULL;
    CHECK(tm_records_new(&options, &records) == TM_OK, "no records");
    return records;
}

static void check_sound(const tm_records *records) {
    const char *reason = NULL;
    CHECK(tm_records_validate(records, &reason) == TM_OK, "%s", reason);
}

/* What is in it follows from its number, so that a line can be checked. */
static bool note(tm_records *records, uint64_t number, uint32_t links, uint32_t clients, uint32_t attribute_bytes) {
    tm_record shape = {.refused = RECORD_NOT_REFUSED,
                       .entered = attribute_bytes > 0,
                       .t_us = number,
                       .number = number,
                       .source = 7,
                       .transit = 1,
                       .links = links,
                       .clients = clients,
                       .attribute_bytes = attribute_bytes};
    tm_record *record = tm_records_begin(records, &shape);
    if (record == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < links; i++) {
        tm_record_links(record)[i] = i + 1;
    }
    for (uint32_t i = 0; i < clients; i++) {
        tm_record_clients(record)[i] = i;
    }
    if (attribute_bytes > 0) { /* a map of one name and a long text, as long as that takes */
        uint8_t *at = tm_record_attributes(record);
        memset(at, '"', attribute_bytes);
        uint32_t text = attribute_bytes - 6;
        const uint8_t head[] = {0x81, 0xa1, 'x', 0xda, (uint8_t)(text >> 8), (uint8_t)text};
        memcpy(at, head, sizeof head);
    }
    tm_records_commit(records, record);
    return true;
}

/* The same of a kept message, with a field more or less; false: it was lost. */
static bool note_stored(tm_records *records, uint64_t number, uint32_t what) {
    tm_stored_record shape = {.what = (uint8_t)(what % FATES),
                              .source = (uint8_t)(what % STORED_SOURCES),
                              .t_us = number,
                              .position = what % 2 ? UINT64_MAX : 0,
                              .number = UINT64_MAX,
                              .expires_ms = what % 3,
                              .total = what % 5,
                              .peer = UINT64_MAX,
                              .first = what % 2 ? UINT64_MAX : 0,
                              .connection = what % 7 ? UINT32_MAX : what,
                              .lost = FATE_DAMAGED};
    uint64_t lost = tm_records_lost(records);
    tm_records_note_stored(records, &shape);
    return tm_records_lost(records) == lost;
}

/* The number that a line begins with; `*at` moves behind the line. */
static uint64_t read_line(const uint8_t **at, const uint8_t *end) {
    CHECK((size_t)(end - *at) > sizeof PREFIX && memcmp(*at, PREFIX, sizeof PREFIX - 1) == 0,
          "a line with a wrong start");
    uint64_t number = strtoull((const char *)*at + sizeof PREFIX - 1, NULL, 10);
    const uint8_t *stop = memchr(*at, '\n', (size_t)(end - *at));
    CHECK(stop != NULL && stop[-1] == '}', "a line without an end");
    *at = stop + 1;
    return number;
}

/* ---- one thread ---- */

typedef struct walk {
    dice dice;
    tm_records *records;
    uint64_t noted[STEPS]; /* numbers, those that were lost left out */
    uint64_t noted_count;
    uint64_t taken;
    uint64_t lost;
    uint64_t next;
} walk;

static void note_some(walk *w) {
    uint32_t attribute_bytes = below(&w->dice, 3) == 0 ? 6 + below(&w->dice, 1000) : 0;
    attribute_bytes = below(&w->dice, 50) == 0 ? 60000 : attribute_bytes;
    attribute_bytes =
        attribute_bytes > 0 && attribute_bytes < 300 ? 300 : attribute_bytes; /* str 16 is for long ones */
    uint64_t number = w->next++;
    bool is_stored = below(&w->dice, 3) == 0;
    uint32_t links = is_stored ? 0 : below(&w->dice, LIST_MAX);
    if (is_stored ? note_stored(w->records, number, below(&w->dice, 1000))
                  : note(w->records, number, links, below(&w->dice, LIST_MAX), attribute_bytes)) {
        w->noted[w->noted_count++] = number;
    } else {
        w->lost++;
    }
    CHECK(tm_records_lost(w->records) == w->lost, "the count of losses differs");
}

static void take_some(walk *w) {
    size_t capacity = below(&w->dice, 4) == 0 ? 4000 + below(&w->dice, 20000) : LINES_BYTES;
    size_t size;
    uint64_t count;
    int result = tm_records_take(w->records, tm_records_end(w->records), lines, capacity, &size, &count);
    if (result == TM_TOO_MANY) {
        CHECK(count == 0 && size > capacity, "a line is left out although it fits");
        return;
    }
    const uint8_t *at = lines;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t number = read_line(&at, lines + size);
        CHECK(w->taken < w->noted_count && number == w->noted[w->taken], "line %lu differs", (unsigned long)number);
        w->taken++;
    }
    CHECK(at == lines + size, "more than whole lines");
    CHECK(count > 0 || w->taken == w->noted_count, "no line is read, but some are left");
}

static void walk_at_random(uint64_t seed) {
    static walk w;
    w = (walk){.dice = {seed}, .records = new_records(UINT64_MAX)};
    for (unsigned step = 0; step < STEPS; step++) {
        bool is_busy = step / 2000 % 2 == 0; /* now and then nobody takes for a while, so that the ring is full */
        if (below(&w.dice, 100) < (is_busy ? 100U : 30U)) {
            note_some(&w);
        } else {
            take_some(&w);
        }
        if (step % 64 == 0) {
            check_sound(w.records);
        }
    }
    while (w.taken < w.noted_count) {
        take_some(&w);
    }
    CHECK(w.lost > 0, "the ring was never full");
    check_sound(w.records);
    tm_records_free(w.records);
}

/* ---- two threads ---- */

static void *note_all(void *given) {
    for (uint64_t number = 0; number < BY_TWO; number++) {
        note(given, number, number % 3, number % 5, 0);
    }
    return NULL;
}

static void take_while_another_notes(void) {
    tm_records *records = new_records(UINT64_MAX);
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, note_all, records) == 0, "no thread");
    uint64_t seen = 0;
    uint64_t expected = 0;
    while (seen + tm_records_lost(records) < BY_TWO) {
        size_t size;
        uint64_t count;
        tm_records_wait(records, 1);
        CHECK(tm_records_take(records, tm_records_end(records), lines, LINES_BYTES, &size, &count) == TM_OK, "taking");
        const uint8_t *at = lines;
        for (uint64_t i = 0; i < count; i++) {
            uint64_t number = read_line(&at, lines + size);
            CHECK(number >= expected, "out of order");
            expected = number + 1;
        }
        seen += count;
    }
    pthread_join(thread, NULL);
    check_sound(records);
    tm_records_free(records);
}

/* ---- the rest ---- */

static void name_routers(void) {
    tm_records *records = new_records(0);
    for (uint64_t number = 1; number <= 1000; number++) {
        char name[32];
        int size = snprintf(name, sizeof name, "\"r%lu\"", (unsigned long)number % 700);
        CHECK(tm_records_name(records, number % 700, (const uint8_t *)name, (size_t)size, 3) == TM_OK, "naming");
    }
    check_sound(records);
    CHECK(tm_records_named(records, 42)->hops == 3 && tm_records_named(records, 4242) == NULL, "another name");
    CHECK(!tm_records_sample(records, 1, 1), "a sample of no messages has messages");
    tm_records_free(records);
}

static void refuse_misuse(void) {
    tm_records *records = NULL;
    tm_records_options options = {.prefix = (const uint8_t *)PREFIX, .prefix_size = 1, .ring_bytes = 3 << 20};
    CHECK(tm_records_new(&options, &records) == TM_MISUSED, "a ring of any size");
    CHECK(tm_records_new(NULL, &records) == TM_MISUSED, "no options");
    tm_records_free(NULL);
}

int main(void) {
    for (uint64_t seed = 1; seed <= 3; seed++) {
        printf("seed %lu\n", (unsigned long)seed);
        walk_at_random(seed);
    }
    take_while_another_notes();
    name_routers();
    refuse_misuse();
    return 0;
}
