/* cold.h - a thread that reads records which have left the memory of the log, so that the switch waits for no disk.
 *
 * Law: a read belongs to the thread from tm_cold_ask until tm_cold_done returns it, and to the caller otherwise. The
 * thread allocates nothing.
 */
#ifndef TM_DURABLES_COLD_H
#define TM_DURABLES_COLD_H

#include <pthread.h>

#include "base/memory.h"
#include "tm_log.h"

typedef struct tm_cold_read {
    struct tm_cold_read *next; /* in its queue */
    uint8_t *bytes;            /* owned */
    size_t capacity;
    size_t size;    /* of whole records, after the read; with TM_TOO_MANY, the bytes that the next record needs */
    uint64_t after; /* the read returns open records of the holder past this number */
    uint32_t holder;
    int result;
    bool is_asked;
    bool is_orphan; /* its subscription no longer needs it */
} tm_cold_read;

typedef struct tm_cold {
    tm_log *log; /* borrowed */
    int wakes;   /* borrowed: an eventfd that is raised when a read is done */
    pthread_t thread;
    bool has_thread;
    pthread_mutex_t mutex;
    pthread_cond_t asked;
    tm_cold_read *queue; /* guarded by the mutex, with the fields below */
    tm_cold_read **queue_end;
    tm_cold_read *done;
    bool is_ending;
} tm_cold;

/* Start the thread; false: it could not be started. Without a thread (`has_thread` false) tm_cold_ask reads at once. */
bool tm_cold_start(tm_cold *cold, tm_log *log, int wakes, bool has_thread);
/* End the thread; tm_cold_done returns the requested reads, finished or not. */
void tm_cold_end(tm_cold *cold);
/* Queue a read, which belongs to the thread until tm_cold_done returns it. */
void tm_cold_ask(tm_cold *cold, tm_cold_read *read);
/* Return all finished reads as a list; NULL: there are none. */
tm_cold_read *tm_cold_done(tm_cold *cold);

#endif
