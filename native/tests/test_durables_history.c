/* test_durables_history.c - prints the history of durable subscriptions, one line per event, for a judge with other
 * code.
 *
 *     run_test_durables_history                    the names of the faults that can be planted
 *     run_test_durables_history SEED [FAULT]       a life; with an odd seed the disk is behind
 *     run_test_durables_history FILE [FAULT]       a life that the bytes of a file choose
 *
 * Law: tests/native/durables_history.py reads it. Time is simulated, so that a seed or a file gives one history.
 */
#include "durables_world.h"

#include <string.h>

#include "base/tested.h"

#define STEPS 400
#define START_NS UINT64_C(1700000000000000000)
#define BYTES_MAX 8192

#define NAME(name) #name,
static const char *const FAULTS[] = {TM_FAULTS_OF_DURABLES(NAME)};
#define FAULT_COUNT (sizeof FAULTS / sizeof *FAULTS)

static tm_fault fault_of(const char *name) {
    size_t i = 0;
    while (i < FAULT_COUNT && strcmp(name, FAULTS[i]) != 0) {
        i++;
    }
    CHECK(i < FAULT_COUNT, "no fault of durable subscriptions is %s", name);
    return (tm_fault)(TM_BREAKS_OF_LOG + 1 + i);
}

static void live(uint64_t seed, const uint8_t *bytes, size_t size) {
    static durables_world w;
    w.kinds = DURABLES_ALL_KINDS;
    w.history = stdout;
    w.is_busy = true;
    w.is_slow = seed % 2 == 1;
    w.choices = bytes;
    w.choices_end = bytes == NULL ? NULL : bytes + size;
    durables_begin(&w, seed);
    for (int i = 0; i < STEPS && durables_goes_on(&w); i++) {
        durables_step(&w);
    }
    durables_settle(&w);
    durables_end(&w);
}

int main(int count, char **values) {
    static uint8_t bytes[BYTES_MAX];
    for (size_t i = 0; i < FAULT_COUNT && count < 2; i++) {
        puts(FAULTS[i]);
    }
    tm_broken = count > 2 ? fault_of(values[2]) : TM_BREAK_NOTHING;
    tm_tested_ns = START_NS;
    FILE *file = count > 1 ? fopen(values[1], "rb") : NULL;
    if (file != NULL) {
        size_t size = fread(bytes, 1, sizeof bytes, file);
        fclose(file);
        live(1, bytes, size);
    } else if (count > 1) {
        live(strtoull(values[1], NULL, 10), NULL, 0);
    }
    return 0;
}
