/* test_waits.c - what waits for the disk, and the terms that keeps share, against arrays that do it plainly.
 *
 * Law under test: each confirmation comes out once, in order, when its record is on disk and not before, however they
 * were put together in runs; terms are shared where they are equal, and nowhere else.
 */
#include <string.h>

#include "durable/tables/policy.h"
#include "durable/tables/waits.h"
#include "support.h"

#define ROUNDS 20000U
#define PLAIN_MAX (3U * ROUNDS)

/* ---- waits ---- */

typedef struct plain {
    tm_wait rows[PLAIN_MAX]; /* one for each message */
    uint32_t first;
    uint32_t end;
} plain;

static void take_up_to(tm_waits *waits, plain *twin, uint64_t n) {
    tm_wait got;
    while (tm_waits_take(waits, n, &got)) {
        for (uint32_t i = 0; i < got.count; i++) {
            CHECK(twin->first < twin->end, "more waits end than began");
            const tm_wait *due = &twin->rows[twin->first++];
            CHECK(due->n == got.n + i && due->n <= n, "a wait that is not due");
            CHECK(due->number == got.number + i && due->kind == got.kind, "another message is confirmed");
            CHECK(due->stored == got.stored, "stored and unstored messages share a confirmation");
            CHECK(due->connection == got.connection && due->origin == got.origin && due->since_us == got.since_us,
                  "another publisher is confirmed");
        }
    }
    CHECK(twin->first == twin->end || twin->rows[twin->first].n > n, "a record on disk still waits");
}

static uint32_t walk_waits(uint64_t seed) {
    static plain twin;
    tm_memory memory = {.key = tm_hash_key_of(seed)};
    tm_waits waits = {.memory = &memory, .rows_max = PLAIN_MAX};
    dice d = {seed};
    uint64_t n = 1;
    uint64_t number = 1;
    uint32_t joined = 0;
    twin.first = twin.end = 0;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        n += below(&d, 8) == 0; /* a record of another, or with 0 below, none of its own */
        number += below(&d, 8) == 0 ? below(&d, 5) : 0;
        tm_wait wait = {.n = n, .since_us = round / 16, .number = number, .count = 1};
        wait.origin = below(&d, 64) == 0;
        wait.kind = below(&d, 16) == 0 ? WAIT_LOSS : WAIT_CONFIRMATION;
        wait.stored = below(&d, 16) == 0;
        wait.connection = below(&d, 32) == 0;
        twin.rows[twin.end++] = wait;
        if (wait.kind == WAIT_CONFIRMATION && tm_waits_join(&waits, &wait)) {
            joined++;
        } else {
            CHECK(tm_waits_reserve(&waits), "no room for a wait");
            tm_waits_add(&waits, &wait);
        }
        n += below(&d, 10) > 0;
        number++;
        CHECK(tm_waits_are_sound(&waits), "the waits are out of order");
        if (below(&d, 12) == 0) {
            take_up_to(&waits, &twin, n - 1 - (n > 20 ? below(&d, 20) : 0));
        }
    }
    take_up_to(&waits, &twin, UINT64_MAX);
    CHECK(twin.first == twin.end && tm_waits_count(&waits) == 0, "a wait never ends");
    tm_waits_clear(&waits);
    CHECK(memory.bytes == 0, "memory is left");
    return joined;
}

/* ---- terms ---- */

#define DURABLES 64U

static tm_durable_policy some_policy(dice *d, const uint8_t *name) {
    tm_durable_policy policy = {.ack_wait_ms = 1, .unacked_max = 1};
    policy.bytes_max = 1 + below(d, 2);
    policy.order_by = below(d, 2) == 0 ? name : NULL;
    policy.latest_by = name + below(d, 2);
    return policy;
}

static void walk_policy(uint64_t seed) {
    tm_memory memory = {.key = tm_hash_key_of(seed)};
    tm_all_policy all = {.memory = &memory};
    const tm_durable_policy *held[DURABLES] = {0};
    static const uint8_t names[2][4] = {"abab", "abab"}; /* equal names at two addresses */
    dice d = {seed};
    for (uint32_t round = 0; round < ROUNDS; round++) {
        uint32_t at = below(&d, DURABLES);
        tm_policy_drop(&all, held[at]);
        held[at] = NULL;
        if (below(&d, 4) == 0) {
            continue;
        }
        tm_durable_policy policy = some_policy(&d, names[below(&d, 2)]);
        policy.order_by_size = policy.order_by != NULL ? below(&d, 3) : 0;
        policy.latest_by_size = below(&d, 3);
        held[at] = tm_policy_take(&all, &policy);
        CHECK(held[at] != NULL && held[at]->bytes_max == policy.bytes_max, "another policy is returned");
        for (uint32_t i = 0; i < DURABLES; i++) {
            const tm_durable_policy *one = held[i];
            bool is_equal =
                one != NULL && one->bytes_max == policy.bytes_max && one->order_by_size == policy.order_by_size &&
                one->latest_by_size == policy.latest_by_size &&
                (policy.order_by_size == 0 || memcmp(one->order_by, policy.order_by, policy.order_by_size) == 0) &&
                (policy.latest_by_size == 0 || memcmp(one->latest_by, policy.latest_by, policy.latest_by_size) == 0);
            CHECK(one == NULL || is_equal == (one == held[at]), "different policies are shared, or equal ones are not");
        }
    }
    for (uint32_t i = 0; i < DURABLES; i++) {
        tm_policy_drop(&all, held[i]);
    }
    CHECK(memory.bytes == 0, "policies are left");
}

int main(void) {
    uint32_t joined = 0;
    for (uint64_t seed = 1; seed <= 4; seed++) {
        printf("seed %llu\n", (unsigned long long)seed);
        joined += walk_waits(seed);
        walk_policy(seed);
    }
    CHECK(joined > ROUNDS, "few confirmations continued a run");
    return 0;
}
