/* test_rates.c - buckets of rates and borders of links that change at random, with allocations that fail, against
 * counts of who has them.
 *
 * Law: a call that fails for want of memory changes nothing; a bucket and a guard cannot be freed while a connection
 * has them.
 */
#include "frames.h"

#define CLIENTS 4U
#define LINKS 3U
#define THINGS 5U
#define ROUNDS 20000U
#define BURST 50U
#define WINDOW 400U

static tm_table *local, *network;
static tm_switch *sw;
static uint32_t clients[CLIENTS];
static uint32_t links[LINKS];
static uint32_t buckets[THINGS]; /* numbers; 0: there is none */
static uint32_t guards[THINGS];
static uint32_t paced[CLIENTS];           /* index of a bucket; THINGS: none */
static uint32_t came[LINKS], gone[LINKS]; /* index of a guard; THINGS: none */
static dice d = {20261127};
static wire message;
static uint64_t failed, made;

static void starve(uint32_t one_of) {
    tm_switch_fail_allocation(sw, below(&d, one_of) == 0 ? 1 + below(&d, 2) : 0);
}

/* true if the call changed something; it may only fail for want of memory */
static bool is_done(int result) {
    tm_switch_fail_allocation(sw, 0);
    CHECK(result == TM_OK || result == TM_NO_MEMORY, "result %d", result);
    failed += result != TM_OK;
    made += result == TM_OK;
    return result == TM_OK;
}

static uint32_t users(const uint32_t *of, uint32_t count, uint32_t at) {
    uint32_t found = 0;
    for (uint32_t i = 0; i < count; i++) {
        found += of[i] == at;
    }
    return found;
}

static void start(void) {
    tm_switch_options options = {.number = 99,
                                 .epoch = 1,
                                 .connections_max = CLIENTS + LINKS,
                                 .frame_bytes_max = 1U << 16,
                                 .greeting_bytes_max = 4096,
                                 .publishers_max = 8,
                                 .hop_limit = 8};
    local = new_table(0);
    network = new_table(0);
    CHECK(tm_switch_new(&options, local, &sw) == TM_OK, "new");
    CHECK(tm_switch_join(sw, network, 8, 0) == TM_OK, "join");
    for (uint32_t i = 0; i < CLIENTS + LINKS; i++) {
        bool is_link = i >= CLIENTS;
        uint32_t *to = is_link ? &links[i - CLIENTS] : &clients[i];
        tm_admission admission = {.number = 20 + i,
                                  .queue_bytes_max = 1U << 20,
                                  .credit_bytes = is_link ? 0 : 1U << 20,
                                  .credit_frames = is_link ? 0 : WINDOW,
                                  .frame_bytes_max = 1U << 16,
                                  .table_bytes_max = UINT64_MAX,
                                  .is_link = is_link};
        CHECK(tm_switch_open(sw, -1, to) == TM_OK && tm_switch_admit(sw, *to, &admission) == TM_OK, "open %u", i);
    }
    for (uint32_t i = 0; i < THINGS; i++) {
        paced[i % CLIENTS] = came[i % LINKS] = gone[i % LINKS] = THINGS;
    }
}

/* ---- what changes ---- */

static void change_bucket(void) {
    uint32_t at = below(&d, THINGS);
    tm_rate rate = {.messages_s = 1 + below(&d, 1000)};
    rate.burst = 1 + below(&d, BURST);
    if (buckets[at] == 0) {
        starve(2);
        uint32_t number = 0;
        buckets[at] = is_done(tm_switch_bucket_new(sw, &rate, &number)) ? number : 0;
    } else if (below(&d, 3) > 0) {
        CHECK(tm_switch_bucket_set(sw, buckets[at], &rate) == TM_OK, "set");
    } else {
        int result = tm_switch_bucket_free(sw, buckets[at]);
        CHECK(result == (users(paced, CLIENTS, at) > 0 ? TM_MISUSED : TM_OK), "free a bucket: %d", result);
        buckets[at] = result == TM_OK ? 0 : buckets[at];
    }
}

static void change_pace(void) {
    uint32_t who = below(&d, CLIENTS);
    uint32_t at = below(&d, THINGS + 1);
    if (at == THINGS || buckets[at] != 0) {
        CHECK(tm_switch_pace(sw, clients[who], at < THINGS ? buckets[at] : TM_BUCKET_NONE) == TM_OK, "pace");
        paced[who] = at;
    }
}

static void change_guard(void) {
    uint32_t at = below(&d, THINGS);
    if (guards[at] == 0) {
        uint64_t end;
        message.size = 0;
        random_filter(&d, &message);
        end = message.size;
        tm_guard_rules rules = {.bytes = message.bytes, .filter_ends = &end, .filters = 1, .allowed = 1};
        starve(2);
        uint32_t number = 0;
        guards[at] = is_done(tm_switch_guard_new(sw, &rules, &number)) ? number : 0;
    } else {
        bool is_used = users(came, LINKS, at) + users(gone, LINKS, at) > 0;
        int result = tm_switch_guard_free(sw, guards[at]);
        CHECK(result == (is_used ? TM_MISUSED : TM_OK), "free a guard: %d", result);
        guards[at] = result == TM_OK ? 0 : guards[at];
    }
}

static uint32_t some_guard(void) {
    uint32_t at = below(&d, THINGS + 1);
    return at < THINGS && guards[at] != 0 ? at : THINGS;
}

static void change_border(void) {
    static const uint64_t BEHIND[] = {3, 5, 8, 13};
    uint32_t link = below(&d, LINKS);
    uint32_t in = some_guard();
    uint32_t leaves = some_guard();
    tm_border_terms terms = {.in = in < THINGS ? guards[in] : TM_GUARD_NONE,
                             .out = leaves < THINGS ? guards[leaves] : TM_GUARD_NONE,
                             .behind = below(&d, 2) == 0 ? BEHIND : NULL};
    terms.behind_count = terms.behind != NULL ? below(&d, 5) : 0;
    starve(3);
    if (is_done(tm_switch_border(sw, links[link], &terms))) {
        came[link] = in;
        gone[link] = leaves;
    }
}

int main(void) {
    start();
    for (uint32_t round = 0; round < ROUNDS; round++) {
        void (*const deeds[])(void) = {change_bucket, change_pace, change_guard, change_border};
        deeds[below(&d, 4)]();
        const char *reason = "";
        CHECK(round % 64 != 0 || tm_switch_validate(sw, &reason) == TM_OK, "%s", reason);
    }
    CHECK(made > 1000 && failed > 1000, "%llu made, %llu failed", (unsigned long long)made, (unsigned long long)failed);
    tm_switch_free(sw);
    tm_table_free(local);
    tm_table_free(network);
    printf("%llu buckets, guards and borders, %llu more failed\n", (unsigned long long)made,
           (unsigned long long)failed);
    return 0;
}
