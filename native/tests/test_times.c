/* test_times.c - a number that is looked up by its time was reached at that time, and not long before it. */
#include "durable/tables/times.h"
#include "support.h"

static uint64_t reached[100000]; /* by second */

int main(void) {
    static tm_times times;
    dice d = {.state = 11};
    uint64_t n = 1;
    uint64_t seconds = sizeof reached / sizeof *reached;
    CHECK(tm_times_at(&times, 5) == 0, "an empty list has a time");
    for (uint64_t second = 1; second < seconds; second++) {
        n += below(&d, 5);
        reached[second] = n;
        tm_times_note(&times, second * 1000, n);
        tm_times_note(&times, second * 1000 + 500, n + 1000); /* the first of a second holds */
        uint64_t ago = below(&d, (uint32_t)second);
        uint64_t asked = second - ago;
        uint64_t found = tm_times_at(&times, asked * 1000);
        CHECK(found <= reached[asked], "at %lu the number was %lu, not %lu", (unsigned long)asked,
              (unsigned long)reached[asked], (unsigned long)found);
        uint64_t back = ago < 15 ? 0 : ago + ago / 7 + 16; /* a period of the level that still has it */
        CHECK(back > asked || found >= reached[asked > back ? asked - back : 0], "%lu ago: %lu is too early",
              (unsigned long)ago, (unsigned long)found);
    }
    return 0;
}
