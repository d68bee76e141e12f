/* cold.h - records that have left the memory of the log are read by a thread, so that the switch waits for no disk.
 *
 * Law: a read belongs to the thread from tm_cold_ask until tm_cold_done hands it back, and to the asker otherwise. The
 * thread allocates nothing.
 */
#ifndef TM_KEEPS_COLD_H
#define TM_KEEPS_COLD_H

#include <pthread.h>

#include "base/memory.h"
#include "tm_log.h"

typedef struct tm_cold_read {
    struct tm_cold_read *next; /* in the queue that it is in */
    uint8_t *bytes;            /* owned */
    size_t capacity;
    size_t size;    /* of whole records, after it was done; with TM_TOO_MANY what the next one needs */
    uint64_t after; /* what is asked for: open records of the holder past this number */
    uint32_t holder;
    int result;
    bool is_asked;
    bool is_orphan; /* nobody wants it any more */
} tm_cold_read;

typedef struct tm_cold {
    tm_log *log; /* borrowed */
    int wakes;   /* borrowed: an eventfd that is raised when a read is done */
    pthread_t thread;
    bool has_thread;
    pthread_mutex_t mutex;
    pthread_cond_t asked;
    tm_cold_read *queue; /* guarded by the mutex, as what follows */
    tm_cold_read **queue_end;
    tm_cold_read *done;
    bool is_ending;
} tm_cold;

/* false: no thread could be started. Without one (`has_thread` false) tm_cold_ask reads at once. */
bool tm_cold_start(tm_cold *cold, tm_log *log, int wakes, bool has_thread);
/* End the thread; reads that were asked for are handed back by tm_cold_done. */
void tm_cold_end(tm_cold *cold);
void tm_cold_ask(tm_cold *cold, tm_cold_read *read);
/* All reads that are done, as a list; NULL: none. */
tm_cold_read *tm_cold_done(tm_cold *cold);

#endif
