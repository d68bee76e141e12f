/* test_worker_groups.c - groups come and go with their members, and choose one of those that are offered. */
#include "support.h"
#include "switch/subscribers/worker_groups.h"

#define MEMBERS 5U
#define MESSAGES 10000U

static uint32_t join(tm_worker_groups *groups, const char *name) {
    return tm_worker_groups_join(groups, (const uint8_t *)name, 1, 0);
}

static void names_are_kept_apart_and_rows_used_again(void) {
    tm_memory memory = {.key = tm_hash_key_of(7)};
    tm_worker_groups groups;
    tm_worker_groups_init(&groups, &memory);
    uint32_t a = join(&groups, "a");
    CHECK(a != WORKER_GROUP_NONE && join(&groups, "b") != a, "two names are one group");
    CHECK(join(&groups, "a") == a, "one name is two groups");
    tm_worker_groups_leave(&groups, a);
    CHECK(join(&groups, "a") == a, "a group ended before its last member");
    tm_worker_groups_leave(&groups, a);
    tm_worker_groups_leave(&groups, a);
    CHECK(join(&groups, "c") == a, "the row of an ended group is not reused");
    tm_worker_groups_clear(&groups);
    CHECK(memory.bytes == 0, "%llu bytes are left", (unsigned long long)memory.bytes);
}

/* Members are offered in turn, from another one for each message; the one with much waiting is never chosen. */
static void members_take_turns_but_for_one_that_is_behind(void) {
    tm_memory memory = {.key = tm_hash_key_of(7)};
    tm_worker_groups groups;
    uint32_t given[MEMBERS] = {0};
    tm_worker_groups_init(&groups, &memory);
    uint32_t group = join(&groups, "a");
    for (uint32_t message = 1; message <= MESSAGES; message++) {
        uint32_t chosen = 0;
        for (uint32_t pass = 0; pass < 2; pass++) {
            uint32_t stamp = 2 * message + pass;
            for (uint32_t i = 0; i < MEMBERS; i++) {
                uint32_t member = (i + message + pass) % MEMBERS;
                tm_worker_groups_offer(&groups, group, stamp, member, member == 0 ? 1U << 17 : 100 * member, message);
            }
            CHECK(pass == 0 || chosen == tm_worker_groups_chosen(&groups, group), "the order of offers decides");
            chosen = tm_worker_groups_chosen(&groups, group);
        }
        given[chosen]++;
    }
    CHECK(given[0] == 0, "a member that is behind got %u", given[0]);
    for (uint32_t member = 1; member < MEMBERS; member++) {
        CHECK(given[member] > MESSAGES / MEMBERS, "member %u got %u", member, given[member]);
    }
    tm_worker_groups_clear(&groups);
}

int main(void) {
    names_are_kept_apart_and_rows_used_again();
    members_take_turns_but_for_one_that_is_behind();
    puts("groups of workers");
    return 0;
}
