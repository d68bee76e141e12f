/* test_remote.c - a client and the home of its durable subscription, with two switches and a bad path between them.
 *
 * Law: what one end says comes to the other once and in order, or the session ends at both; no limit is passed; a
 * session that nothing can reach is freed at both ends; each planted fault is found.
 */
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/tested.h"
#include "remote_world.h"

#define STEPS 300U
#define LIVES_WITH_FAULT 40U
#define SILENT_MS 10000U

static bool is_over(void) {
    return remotes.has_ended[NEAR];
}

static void path_is(uint32_t lost, uint32_t again, uint32_t swapped) {
    remotes.lost_of_8 = lost;
    remotes.again_of_8 = again;
    remotes.swapped_of_8 = swapped;
    remotes.is_cut = false;
}

/* Draw how the path is; of 8 frames less than `again` come twice. */
static void path_is_any(uint32_t again) {
    uint32_t lost = below(&remotes.dice, 5);
    again = below(&remotes.dice, again);
    path_is(lost, again, below(&remotes.dice, 5));
}

static void step(void) {
    switch (below(&remotes.dice, 10)) {
    case 0:
        remotes_pass(1 + below(&remotes.dice, 300));
        break;
    case 1:
        path_is_any(4);
        break;
    case 2:
        remotes.reads = below(&remotes.dice, 4) != 0;
        break;
    case 3:
        remotes_say_credit();
        break;
    case 4:
        for (uint32_t left = below(&remotes.dice, 20); left > 0 && !is_over() && remotes_say_up();) {
            left--;
        }
        break;
    case 5:
    case 6:
        for (uint32_t left = below(&remotes.dice, 20); left > 0; left--) {
            remotes_deliver(below(&remotes.dice, 8) == 0 ? REMOTE_CONSUMER + 1 : REMOTE_CONSUMER);
        }
        break;
    case 7:
        remotes_answer();
        break;
    default:
        remotes_carry(1 + below(&remotes.dice, 30));
    }
}

static void expect_none(void) {
    for (unsigned at = 0; at < SIDES; at++) {
        tm_remote_stats stats;
        CHECK(tm_remote_figures(remotes.sides[at].sw, &stats) == TM_OK, "figures");
        CHECK(stats.near_ends + stats.far_ends == 0, "side %u has an end", at);
    }
}

static void go_on(uint32_t ms) {
    for (uint32_t passed = 0; passed < ms; passed += REMOTE_TICK_MS) {
        remotes_pass(REMOTE_TICK_MS);
        remotes_carry(PATH_MAX_FRAMES);
    }
}

/* By a path that loses little, all comes in some time. */
static void settle(void) {
    path_is(1, 1, 1);
    remotes.reads = true;
    for (unsigned i = 0; i < 400 && !is_over() && !remote_judge_is_quiet(&remotes.judge); i++) {
        go_on(REMOTE_TICK_MS);
    }
    CHECK(is_over() || remote_judge_is_quiet(&remotes.judge), "something does not come");
}

/* Both ends say a word each second while they can. */
static void check_words(void) {
    path_is(0, 0, 0);
    go_on(2 * JUDGED_WORD_MS);
    for (unsigned at = 0; at < SIDES && !is_over(); at++) {
        CHECK(remotes.now_ms - remotes.judge.sides[at].said_ms <= JUDGED_WORD_MS + REMOTE_TICK_MS, "side %u is silent",
              at);
    }
}

/* A far end that closes in order sends all it has first. */
static void close_in_order(void) {
    remote_side *far = &remotes.sides[FAR];
    for (uint32_t left = below(&remotes.dice, 40); left > 0; left--) {
        remotes_deliver(REMOTE_CONSUMER);
    }
    CHECK(tm_switch_close(far->sw, far->client, false) == TM_OK, "close");
    remotes.is_closing = true;
    path_is(1, 1, 1);
    for (unsigned i = 0; i < 400 && !is_over(); i++) {
        go_on(REMOTE_TICK_MS);
    }
    remotes_pass(1);
    CHECK(is_over() && remotes.judge.deliveries.heard == remotes.judge.deliveries.size, "the end came before the rest");
}

static void end_near(void) {
    CHECK(tm_remote_end(remotes.sides[NEAR].sw, remotes.judge.session) == TM_OK, "end");
    remotes.has_ended[NEAR] = true;
}

/* One end ends where its word is lost: the other one learns it from the answer to its own next word. */
static void end_unheard(void) {
    remotes.is_cut = true;
    end_near();
    remotes_pass(1);
    path_is(0, 0, 0);
    go_on(2 * JUDGED_WORD_MS);
}

static void end_by_silence(void) {
    remotes.is_cut = true;
    remotes_drop_path();
    remotes_pass(SILENT_MS + JUDGED_WORD_MS);
    CHECK(is_over(), "the client is not told of a silent home");
}

static void end_some_way(void) {
    static void (*const ways[])(void) = {close_in_order, end_unheard, end_by_silence, end_near};
    if (!is_over()) {
        ways[below(&remotes.dice, 4)]();
    }
    path_is(0, 0, 0);
    go_on(2 * JUDGED_WORD_MS);
    expect_none();
}

/* Much may be said before the home has taken the first piece, and frames of the beginning may be lost. */
static void begin_session(void) {
    path_is_any(2);
    remotes_open();
    for (uint32_t left = below(&remotes.dice, 60); left > 0 && remotes_say_up();) {
        left--;
    }
    uint64_t began_ms = remotes.now_ms;
    for (unsigned i = 0; i < 30 && remotes.sides[FAR].client == TM_CONNECTION_NONE && !is_over(); i++) {
        go_on(JUDGED_WORD_MS / 2);
    }
    CHECK(remotes.sides[FAR].client != TM_CONNECTION_NONE || (is_over() && remotes.now_ms - began_ms >= SILENT_MS),
          "the session does not begin");
}

static void live(uint64_t seed) {
    remotes_begin(seed);
    for (unsigned session = 0; session < 2; session++) {
        begin_session();
        for (unsigned i = 0; i < STEPS && !is_over(); i++) {
            step();
        }
        settle();
        check_words();
        end_some_way();
    }
    remotes_end();
}

/* true if one of some lives with a planted fault, in a process of their own, finds something wrong. */
static bool is_found(tm_fault fault) {
    pid_t child = fork();
    CHECK(child >= 0, "no process");
    if (child == 0) {
        CHECK(freopen("/dev/null", "w", stderr) != NULL, "cannot redirect the output");
        tm_broken = fault;
        for (uint64_t seed = 1; seed <= LIVES_WITH_FAULT; seed++) {
            live(seed);
        }
        _exit(0);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child, "no process");
    return !WIFEXITED(status) || WEXITSTATUS(status) != 0;
}

int main(int argc, char **argv) {
    uint64_t lives = argc > 1 ? strtoull(argv[1], NULL, 10) : 100;
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    for (uint64_t i = 0; i < lives; i++) {
        printf("seed %lu\n", (unsigned long)(seed + i));
        fflush(stdout);
        live(seed + i);
    }
    printf("%lu lives, %lu bytes\n", (unsigned long)lives, (unsigned long)remotes.heard);
    fflush(stdout);
    for (int fault = TM_BREAKS_OF_DEPARTURES + 1; fault < TM_BREAK_END && argc == 1; fault++) {
        CHECK(is_found((tm_fault)fault), "planted fault %d is not found", fault - TM_BREAKS_OF_DEPARTURES);
    }
    return 0;
}
