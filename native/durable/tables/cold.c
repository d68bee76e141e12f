/* cold.c - see cold.h. */
#define _GNU_SOURCE
#include "durable/tables/cold.h"

#include <sys/eventfd.h>

static void read_now(const tm_cold *cold, tm_cold_read *read) {
    read->result = tm_log_read(cold->log, read->holder, 0, read->after, read->bytes, read->capacity, &read->size);
}

static void finish(tm_cold *cold, tm_cold_read *read) {
    read->next = cold->done;
    cold->done = read;
    eventfd_write(cold->wakes, 1);
}

static void *run(void *argument) {
    tm_cold *cold = argument;
    pthread_mutex_lock(&cold->mutex);
    for (;;) {
        while (cold->queue == NULL && !cold->is_ending) {
            pthread_cond_wait(&cold->asked, &cold->mutex);
        }
        tm_cold_read *read = cold->queue;
        if (read == NULL) {
            break;
        }
        cold->queue = read->next;
        cold->queue_end = cold->queue == NULL ? &cold->queue : cold->queue_end;
        if (!cold->is_ending) {
            pthread_mutex_unlock(&cold->mutex);
            read_now(cold, read);
            pthread_mutex_lock(&cold->mutex);
        }
        finish(cold, read);
    }
    pthread_mutex_unlock(&cold->mutex);
    return NULL;
}

bool tm_cold_start(tm_cold *cold, tm_log *log, int wakes, bool has_thread) {
    cold->log = log;
    cold->wakes = wakes;
    cold->queue_end = &cold->queue;
    pthread_mutex_init(&cold->mutex, NULL);
    pthread_cond_init(&cold->asked, NULL);
    cold->has_thread = has_thread && pthread_create(&cold->thread, NULL, run, cold) == 0;
    return cold->has_thread == has_thread;
}

void tm_cold_end(tm_cold *cold) {
    if (cold->has_thread) {
        pthread_mutex_lock(&cold->mutex);
        cold->is_ending = true;
        pthread_cond_signal(&cold->asked);
        pthread_mutex_unlock(&cold->mutex);
        pthread_join(cold->thread, NULL);
        cold->has_thread = false;
    }
    pthread_cond_destroy(&cold->asked);
    pthread_mutex_destroy(&cold->mutex);
}

void tm_cold_ask(tm_cold *cold, tm_cold_read *read) {
    read->is_asked = true;
    read->next = NULL;
    if (!cold->has_thread) {
        read_now(cold, read);
        finish(cold, read);
        return;
    }
    pthread_mutex_lock(&cold->mutex);
    *cold->queue_end = read;
    cold->queue_end = &read->next;
    pthread_cond_signal(&cold->asked);
    pthread_mutex_unlock(&cold->mutex);
}

tm_cold_read *tm_cold_done(tm_cold *cold) {
    if (cold->has_thread) {
        pthread_mutex_lock(&cold->mutex);
    }
    tm_cold_read *done = cold->done;
    cold->done = NULL;
    if (cold->has_thread) {
        pthread_mutex_unlock(&cold->mutex);
    }
    return done;
}
