/* ask.h - what is asked of the reading thread, by who must not wait.
 *
 * Law: asking, taking an answer and giving back hold `lock` for moments, and nobody holds it while a disk is read. A
 * ticket is (how many were given before, place), so a late word of an earlier one is known. All of it is bounded:
 * TM_LOG_ASKED_MAX tickets, TM_LOG_ASKED_BYTES_MAX asked for, of which one alone may be longer.
 */
#ifndef TM_LOG_ASK_H
#define TM_LOG_ASK_H

#include <pthread.h>

#include "log/store.h"

typedef enum {
    ASK_FREE,
    ASK_WAITS,
    ASK_IS_READ,  /* by the reading thread, without the lock */
    ASK_IS_READY, /* and not told */
    ASK_IS_TOLD,
} tm_ask_state;

typedef struct tm_ask {
    uint64_t ticket;
    tm_claim of;
    uint64_t after;
    uint32_t bytes; /* asked for */
    tm_ask_state state;
    bool is_given_back; /* while it is read */
    int result;
    uint8_t *records; /* owned, `room` bytes */
    size_t room;
    size_t size;
} tm_ask;

/* Tickets in the order in which they came. */
typedef struct tm_ask_line {
    uint64_t tickets[TM_LOG_ASKED_MAX];
    uint32_t first;
    uint32_t count;
} tm_ask_line;

typedef struct tm_asks {
    tm_memory memory; /* of answers; under the lock */
    pthread_mutex_t lock;
    pthread_cond_t is_called; /* something waits, or it ends */
    tm_ask all[TM_LOG_ASKED_MAX];
    tm_ask_line waiting;
    tm_ask_line ready;
    uint64_t given; /* tickets, ever */
    uint64_t bytes; /* of tickets that are not given back */
    bool is_ending;
} tm_asks;

void tm_asks_begin(tm_asks *asks);
/* Nobody reads any more. */
void tm_asks_free(tm_asks *asks);

#endif
