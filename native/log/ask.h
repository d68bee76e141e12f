/* ask.h - requests to the reading thread, from a thread that must not wait.
 *
 * Law: `lock` is held briefly and never while a disk is read. A ticket is (how many were given before, place), so a
 * late use of an earlier ticket is recognised. All requests are bounded: TM_LOG_ASKED_MAX tickets,
 * TM_LOG_ASKED_BYTES_MAX requested bytes, which a single request may exceed.
 */
#ifndef TM_LOG_ASK_H
#define TM_LOG_ASK_H

#include <pthread.h>

#include "log/store.h"

typedef enum {
    ASK_FREE,
    ASK_WAITS,
    ASK_IS_READ,  /* by the reading thread, without the lock */
    ASK_IS_READY, /* and not taken */
    ASK_IS_TOLD,
} tm_ask_state;

typedef struct tm_ask {
    uint64_t ticket;
    tm_claim of;
    uint64_t after;
    uint32_t bytes; /* requested */
    tm_ask_state state;
    bool is_of_summaries;
    bool is_given_back; /* returned while it is read */
    int result;
    uint8_t *records; /* owned, `room` bytes */
    size_t room;
    size_t size;
} tm_ask;

/* Tickets in order of arrival. */
typedef struct tm_ask_line {
    uint64_t tickets[TM_LOG_ASKED_MAX];
    uint32_t first;
    uint32_t count;
} tm_ask_line;

typedef struct tm_asks {
    tm_memory memory; /* of answers; under the lock */
    pthread_mutex_t lock;
    pthread_cond_t is_called; /* a request waits, or the threads end */
    tm_ask all[TM_LOG_ASKED_MAX];
    tm_ask_line waiting;
    tm_ask_line ready;
    uint64_t given; /* tickets so far */
    uint64_t bytes; /* requested by tickets that are not returned */
    bool is_ending;
} tm_asks;

/* Initialise the lock and the condition of zeroed requests. */
void tm_asks_begin(tm_asks *asks);
/* Free all requests after the reading thread has ended. */
void tm_asks_free(tm_asks *asks);

#endif
