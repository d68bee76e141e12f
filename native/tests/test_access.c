/* test_access.c - guards that change between random messages, with allocations that fail, against a dumb twin.
 *
 * Law: the twin keeps the bytes of each guard's filters and asks every constraint of a message that it decodes as a
 * whole. A call that fails for want of memory changes nothing.
 */
#include <string.h>

#include "frames.h"

#define PUBLISHER 8U
#define RECEIVERS 3U
#define GUARDS 6U
#define FILTERS 5U
#define ROUNDS 20000U
#define EVERYTHING ((const uint8_t *)"\x90") /* a filter without constraints */

typedef struct twin_guard {
    wire filters[FILTERS];
    size_t count;
    size_t allowed;
    uint32_t number; /* 0: there is none */
    uint32_t users;
} twin_guard;

static twin_guard guards[GUARDS];
static uint32_t hands[RECEIVERS]; /* index of a guard; GUARDS: none */
static uint32_t door;
static tm_table *table;
static tm_switch *sw;
static uint32_t connections[RECEIVERS + 1]; /* the last is the publisher's */
static uint64_t counter;
static dice d = {20261126};
static frame out;
static wire message;
static tm_filter parsed;
static uint64_t made, entered, refused, withheld, failed;

static void start(void) {
    tm_switch_options options = {.number = 99,
                                 .epoch = 1,
                                 .connections_max = 8,
                                 .frame_bytes_max = 1U << 20,
                                 .greeting_bytes_max = 4096,
                                 .publishers_max = 4};
    table = new_table(0);
    CHECK(tm_switch_new(&options, table, &sw) == TM_OK, "new");
    for (uint32_t i = 0; i <= RECEIVERS; i++) {
        tm_admission admission = {.number = i < RECEIVERS ? 20 + i : PUBLISHER,
                                  .queue_bytes_max = 1U << 20,
                                  .credit_bytes = 1U << 30,
                                  .credit_frames = 1U << 30,
                                  .frame_bytes_max = 1U << 20,
                                  .table_bytes_max = UINT64_MAX,
                                  .filters_max = 100};
        CHECK(tm_switch_open(sw, -1, &connections[i]) == TM_OK, "open");
        CHECK(tm_switch_admit(sw, connections[i], &admission) == TM_OK, "admit");
    }
    for (uint32_t i = 0; i < RECEIVERS; i++) {
        tm_subscribe job;
        tm_refusal refusal;
        uint32_t count;
        hands[i] = GUARDS;
        subscribe_frame(&out, 1, false, EVERYTHING, 1);
        CHECK(tm_subscribe_open(out.bytes, out.size, &job) == TM_OK, "a frame");
        CHECK(tm_subscribe_some(sw, tm_switch_subscriber_of(sw, connections[i]), &job, 1, &refusal, 1, &count) == TM_OK,
              "subscribe");
    }
    door = GUARDS;
}

static void drain(void) {
    for (uint32_t i = 0; i <= RECEIVERS; i++) {
        const uint8_t *bytes;
        size_t size;
        while (tm_switch_output(sw, connections[i], &bytes, &size) == TM_OK && size > 0) {
            CHECK(tm_switch_sent(sw, connections[i], size) == TM_OK, "sent");
        }
    }
}

/* ---- guards ---- */

static void draw_guard(uint32_t at) {
    twin_guard *twin = &guards[at];
    static wire all;
    uint64_t ends[FILTERS];
    twin->count = below(&d, FILTERS + 1);
    twin->allowed = below(&d, (uint32_t)twin->count + 1);
    all.size = 0;
    for (size_t i = 0; i < twin->count; i++) {
        twin->filters[i].size = 0;
        random_filter(&d, &twin->filters[i]);
        memcpy(all.bytes + all.size, twin->filters[i].bytes, twin->filters[i].size);
        all.size += twin->filters[i].size;
        ends[i] = all.size;
    }
    tm_guard_rules rules = {.bytes = all.bytes, .filter_ends = ends, .filters = twin->count, .allowed = twin->allowed};
    bool fails = below(&d, 3) == 0;
    if (fails) {
        tm_switch_fail_allocation(sw, 1 + below(&d, 8));
    }
    int result = tm_switch_guard_new(sw, &rules, &twin->number);
    tm_switch_fail_allocation(sw, 0);
    CHECK(result == TM_OK || (result == TM_NO_MEMORY && fails), "a guard: %d", result);
    twin->number = result == TM_OK ? twin->number : 0;
    failed += result != TM_OK;
    made += result == TM_OK;
}

static void set_guard(uint32_t who, uint32_t *now, uint32_t guard) {
    bool is_door = who == RECEIVERS;
    uint32_t number = guard < GUARDS ? guards[guard].number : 0;
    tm_guarding guarding = {
        .door = is_door ? number : 0, .hand = is_door ? 0 : number, .name = (const uint8_t *)"name", .name_size = 4};
    bool fails = below(&d, 5) == 0;
    tm_switch_fail_allocation(sw, fails ? 1 : 0);
    int result = tm_switch_guard(sw, tm_switch_subscriber_of(sw, connections[who]),
                                 guard < GUARDS || below(&d, 2) == 0 ? &guarding : NULL);
    tm_switch_fail_allocation(sw, 0);
    CHECK(result == TM_OK || (result == TM_NO_MEMORY && fails), "guarding: %d", result);
    if (result == TM_OK) {
        guards[*now < GUARDS ? *now : guard % GUARDS].users -= *now < GUARDS;
        guards[guard % GUARDS].users += guard < GUARDS;
        *now = guard;
    }
}

static void change(void) {
    uint32_t at = below(&d, GUARDS);
    if (guards[at].number == 0) {
        draw_guard(at);
    } else if (below(&d, 3) == 0) {
        int result = tm_switch_guard_free(sw, guards[at].number);
        CHECK(result == (guards[at].users > 0 ? TM_MISUSED : TM_OK), "free: %d", result);
        guards[at].number = result == TM_OK ? 0 : guards[at].number;
    } else {
        uint32_t who = below(&d, RECEIVERS + 1);
        set_guard(who, who == RECEIVERS ? &door : &hands[who], below(&d, 4) == 0 ? GUARDS : at);
    }
}

/* ---- messages ---- */

static bool satisfies(const wire *filter, const tm_attribute *attributes, size_t count) {
    CHECK(tm_filter_parse(filter->bytes, filter->size, &parsed) == TM_OK, "a filter");
    for (size_t i = 0; i < parsed.count; i++) {
        const tm_constraint *constraint = &parsed.constraints[i];
        const tm_attribute *found = NULL;
        for (size_t j = 0; j < count; j++) {
            bool is_named = attributes[j].name_length == constraint->name_length &&
                            memcmp(attributes[j].name, constraint->name, constraint->name_length) == 0;
            found = is_named ? &attributes[j] : found;
        }
        if (!tm_constraint_holds(constraint, found)) {
            return false;
        }
    }
    return true;
}

static bool passes(uint32_t at, const tm_attribute *attributes, size_t count) {
    bool is_allowed = at == GUARDS;
    for (size_t i = 0; at < GUARDS && i < guards[at].count; i++) {
        if (satisfies(&guards[at].filters[i], attributes, count)) {
            if (i >= guards[at].allowed) {
                return false;
            }
            is_allowed = true;
        }
    }
    return is_allowed;
}

static void publish(void) {
    static tm_attribute attributes[TM_ATTRIBUTES_MAX];
    const tm_event *events;
    size_t told;
    size_t count;
    size_t used;
    tm_switch_stats before;
    tm_switch_stats after;
    message.size = 0;
    random_message(&d, &message);
    CHECK(tm_attributes_decode(message.bytes, message.size, attributes, &count, &used) == TM_OK, "a message");
    bool enters = passes(door, attributes, count);
    uint64_t due = 0;
    for (uint32_t i = 0; i < RECEIVERS; i++) {
        due += enters && passes(hands[i], attributes, count);
    }
    publish_frame(&out, PUBLISHER, ++counter, false, &message, 10);
    tm_switch_figures(sw, &before);
    CHECK(tm_switch_feed(sw, connections[RECEIVERS], out.bytes, out.size, &events, &told) == TM_OK, "feed");
    tm_switch_figures(sw, &after);
    CHECK(after.deliveries - before.deliveries == due, "message %llu", (unsigned long long)counter);
    CHECK(after.dropped[TM_DROP_NOT_ALLOWED] - before.dropped[TM_DROP_NOT_ALLOWED] == !enters, "refused");
    entered += enters;
    refused += !enters;
    withheld += enters ? RECEIVERS - due : 0;
    drain();
}

int main(void) {
    start();
    for (uint32_t round = 0; round < ROUNDS; round++) {
        if (below(&d, 3) == 0) {
            change();
        }
        publish();
        const char *reason = "";
        CHECK(round % 64 != 0 || tm_switch_validate(sw, &reason) == TM_OK, "%s", reason);
    }
    CHECK(made > 100 && failed > 20 && entered > 1000 && refused > 1000 && withheld > 1000,
          "%llu guards, %llu failed, %llu entered, %llu refused, %llu withheld", (unsigned long long)made,
          (unsigned long long)failed, (unsigned long long)entered, (unsigned long long)refused,
          (unsigned long long)withheld);
    tm_switch_free(sw);
    tm_table_free(table);
    printf("%llu messages entered, %llu were refused, %llu copies withheld\n", (unsigned long long)entered,
           (unsigned long long)refused, (unsigned long long)withheld);
    return 0;
}
