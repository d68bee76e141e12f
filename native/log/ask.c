/* ask.c - see ask.h. */
#include "log/ask.h"

#include <sys/eventfd.h>

#include "log/log.h"
#include "log/read.h"

/* ---- queues ---- */

static void join(tm_ask_line *line, uint64_t ticket) {
    line->tickets[(line->first + line->count++) % TM_LOG_ASKED_MAX] = ticket;
}

static tm_ask *find(tm_asks *asks, uint64_t ticket) {
    tm_ask *ask = &asks->all[ticket % TM_LOG_ASKED_MAX];
    return ask->ticket == ticket && ask->state != ASK_FREE ? ask : NULL;
}

/* Remove the first ticket of a queue and return its request; NULL: the queue is empty. */
static tm_ask *leave(tm_asks *asks, tm_ask_line *line) {
    if (line->count == 0) {
        return NULL;
    }
    tm_ask *ask = find(asks, line->tickets[line->first]);
    line->first = (line->first + 1) % TM_LOG_ASKED_MAX;
    line->count--;
    return ask;
}

/* Remove a ticket from any place of a queue. */
static void strike(tm_ask_line *line, uint64_t ticket) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < line->count; i++) {
        uint64_t other = line->tickets[(line->first + i) % TM_LOG_ASKED_MAX];
        if (other != ticket) {
            line->tickets[(line->first + kept++) % TM_LOG_ASKED_MAX] = other;
        }
    }
    line->count = kept;
}

/* ---- life ---- */

void tm_asks_begin(tm_asks *asks) {
    pthread_mutex_init(&asks->lock, NULL);
    pthread_cond_init(&asks->is_called, NULL);
}

static void free_ask(tm_asks *asks, tm_ask *ask) {
    TM_DELETE(&asks->memory, TM_COLD, ask->records, uint8_t, ask->room);
    asks->bytes -= ask->bytes;
    *ask = (tm_ask){0};
}

void tm_asks_free(tm_asks *asks) {
    for (uint32_t i = 0; i < TM_LOG_ASKED_MAX; i++) {
        if (asks->all[i].state != ASK_FREE) {
            free_ask(asks, &asks->all[i]);
        }
    }
    pthread_cond_destroy(&asks->is_called);
    pthread_mutex_destroy(&asks->lock);
}

/* ---- the requesting side ---- */

static int ask_for(tm_log *log, tm_ask what, uint64_t *ticket) {
    tm_asks *asks = &log->asks;
    pthread_mutex_lock(&asks->lock);
    uint32_t place = 0;
    while (place < TM_LOG_ASKED_MAX && asks->all[place].state != ASK_FREE) {
        place++;
    }
    bool has_room =
        place < TM_LOG_ASKED_MAX && (asks->bytes == 0 || asks->bytes + what.bytes <= TM_LOG_ASKED_BYTES_MAX);
    if (has_room) {
        *ticket = ++asks->given * TM_LOG_ASKED_MAX + place;
        what.ticket = *ticket;
        what.state = ASK_WAITS;
        asks->all[place] = what;
        asks->bytes += what.bytes;
        join(&asks->waiting, *ticket);
        pthread_cond_signal(&asks->is_called);
    }
    pthread_mutex_unlock(&asks->lock);
    return has_room ? TM_OK : TM_LOG_BUSY;
}

int tm_log_ask(tm_log *log, uint64_t holder, uint32_t is_home, uint64_t after, uint32_t bytes, uint64_t *ticket) {
    tm_ask what = {.of = tm_claim_of(holder, is_home), .after = after, .bytes = bytes};
    return ask_for(log, what, ticket);
}

int tm_log_ask_summaries(tm_log *log, uint64_t holder, uint32_t is_home, uint64_t after, uint32_t count,
                         uint64_t *ticket) {
    tm_ask what = {.of = tm_claim_of(holder, is_home),
                   .after = after,
                   .bytes = count * (uint32_t)sizeof(tm_log_summary),
                   .is_of_summaries = true};
    bool fits = count > 0 && count <= TM_LOG_ASKED_BYTES_MAX / sizeof(tm_log_summary);
    return fits ? ask_for(log, what, ticket) : TM_MISUSED;
}

uint32_t tm_log_answered(tm_log *log, tm_log_answer *answer) {
    tm_asks *asks = &log->asks;
    pthread_mutex_lock(&asks->lock);
    tm_ask *ask = leave(asks, &asks->ready);
    if (ask != NULL) {
        ask->state = ASK_IS_TOLD;
        *answer = (tm_log_answer){.ticket = ask->ticket,
                                  .holder = ask->of.holder,
                                  .is_home = ask->of.role == TM_HOME,
                                  .result = ask->result,
                                  .records = ask->records,
                                  .size = ask->size};
    }
    pthread_mutex_unlock(&asks->lock);
    return ask != NULL;
}

void tm_log_give_back(tm_log *log, uint64_t ticket) {
    tm_asks *asks = &log->asks;
    pthread_mutex_lock(&asks->lock);
    tm_ask *ask = find(asks, ticket);
    if (ask != NULL && ask->state == ASK_IS_READ) {
        ask->is_given_back = true;
    } else if (ask != NULL) {
        strike(ask->state == ASK_WAITS ? &asks->waiting : &asks->ready, ticket);
        free_ask(asks, ask);
    }
    pthread_mutex_unlock(&asks->lock);
}

/* ---- the reading side ---- */

/* Allocate room for an answer; false: no memory. The caller does not hold the lock. */
static bool has_room(tm_asks *asks, tm_ask *ask, size_t size) {
    pthread_mutex_lock(&asks->lock);
    TM_DELETE(&asks->memory, TM_COLD, ask->records, uint8_t, ask->room);
    ask->records = TM_NEW(&asks->memory, TM_COLD, uint8_t, size);
    ask->room = ask->records != NULL ? size : 0;
    pthread_mutex_unlock(&asks->lock);
    return ask->records != NULL;
}

static void read_for(tm_log *log, tm_ask *ask) {
    size_t wanted = ask->bytes > sizeof(tm_log_record) ? ask->bytes : sizeof(tm_log_record);
    ask->result = TM_TOO_MANY;
    while (ask->result == TM_TOO_MANY) {
        ask->size = 0;
        ask->result = has_room(&log->asks, ask, wanted)
                          ? tm_store_read(log->store, ask->of, ask->after, ask->records, wanted, &ask->size)
                          : TM_NO_MEMORY;
        wanted = ask->size;
    }
}

static void summarise_for(tm_log *log, tm_ask *ask) {
    size_t count = 0;
    ask->result = has_room(&log->asks, ask, ask->bytes)
                      ? tm_store_summaries(log->store, ask->of, ask->after, (tm_log_summary *)(void *)ask->records,
                                           ask->bytes / sizeof(tm_log_summary), &count)
                      : TM_NO_MEMORY;
    ask->size = count * sizeof(tm_log_summary);
}

uint32_t tm_log_serve(tm_log *log) {
    tm_asks *asks = &log->asks;
    pthread_mutex_lock(&asks->lock);
    tm_ask *ask = leave(asks, &asks->waiting);
    if (ask != NULL) {
        ask->state = ASK_IS_READ;
    }
    pthread_mutex_unlock(&asks->lock);
    if (ask == NULL) {
        return 0;
    }
    if (ask->is_of_summaries) {
        summarise_for(log, ask);
    } else {
        read_for(log, ask);
    }
    pthread_mutex_lock(&asks->lock);
    if (ask->is_given_back) {
        free_ask(asks, ask);
    } else {
        ask->state = ASK_IS_READY;
        join(&asks->ready, ask->ticket);
    }
    pthread_mutex_unlock(&asks->lock);
    eventfd_write(log->descriptor, 1);
    return 1;
}
