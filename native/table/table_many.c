/* table_many.c - adds and removals by the thousand in one call, each of them timed on request.
 *
 * Law: time that other processes took on the processor is not counted: a time is the smaller one of the steady clock's
 * and the thread's own clock's. The latter costs a system call, so it is read outside the timed span.
 */
#include "base/clock.h"
#include "tm.h"

typedef struct stopwatch {
    uint64_t thread_ns;
    uint64_t wall_ns;
} stopwatch;

static stopwatch started(void) {
    uint64_t thread_ns = tm_clock_thread_ns();
    return (stopwatch){.thread_ns = thread_ns, .wall_ns = tm_clock_ns()};
}

static uint32_t elapsed_ns(stopwatch since) {
    uint64_t wall_ns = tm_clock_ns() - since.wall_ns;
    uint64_t thread_ns = tm_clock_thread_ns() - since.thread_ns;
    uint64_t elapsed = wall_ns < thread_ns ? wall_ns : thread_ns;
    return elapsed < UINT32_MAX ? (uint32_t)elapsed : UINT32_MAX;
}

int tm_table_add_many(tm_table *table, const uint8_t *bytes, const uint64_t *offsets, const uint32_t *interfaces,
                      size_t count, uint32_t *handles, uint32_t *nanoseconds, size_t *done) {
    for (*done = 0; *done < count; ++*done) {
        size_t i = *done;
        size_t size = (size_t)(offsets[i + 1] - offsets[i]);
        stopwatch watch = nanoseconds != NULL ? started() : (stopwatch){0};
        int result = tm_table_add(table, bytes + offsets[i], size, interfaces[i], &handles[i]);
        if (nanoseconds != NULL) {
            nanoseconds[i] = elapsed_ns(watch);
        }
        if (result != TM_OK) {
            return result;
        }
    }
    return TM_OK;
}

int tm_table_remove_many(tm_table *table, const uint32_t *handles, size_t count, uint32_t *nanoseconds, size_t *done) {
    for (*done = 0; *done < count; ++*done) {
        stopwatch watch = nanoseconds != NULL ? started() : (stopwatch){0};
        int result = tm_table_remove(table, handles[*done]);
        if (nanoseconds != NULL) {
            nanoseconds[*done] = elapsed_ns(watch);
        }
        if (result != TM_OK) {
            return result;
        }
    }
    return TM_OK;
}
