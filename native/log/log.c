/* log.c - opening and closing a log: its store, its ring and its threads. */
#include "log/log.h"

#include <errno.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/tested.h"
#include "log/threads.h"

static bool options_are_sound(const tm_log_options *options) {
    return options != NULL && options->segment_bytes >= SEGMENT_BYTES_MIN &&
           options->segment_bytes % SECTOR_BYTES == 0 && options->ring_bytes >= SEGMENT_HEAD_BYTES &&
           (options->ring_bytes & (options->ring_bytes - 1)) == 0 && options->ring_bytes <= 1U << 30 &&
           options->bytes_max / options->segment_bytes >= SEGMENTS_RESERVED + 2;
}

static uint32_t least(uint32_t one, uint32_t other) {
    return one < other ? one : other;
}

static int begin(tm_log *log, const tm_log_options *options) {
    log->ring = TM_NEW(&log->memory, TM_COLD, uint8_t, options->ring_bytes);
    log->descriptor = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    log->wakes[0] = eventfd(0, EFD_CLOEXEC);
    log->wakes[1] = eventfd(0, EFD_CLOEXEC);
    if (log->ring == NULL || log->descriptor < 0 || log->wakes[0] < 0 || log->wakes[1] < 0) {
        return TM_NO_MEMORY;
    }
    log->ring_bytes = options->ring_bytes;
    log->checkpoint_ms = options->checkpoint_ms;
    log->scrub_bytes_per_s = options->scrub_bytes_per_s;
    log->record_bytes_max =
        least(RECORD_BYTES_MAX, least(options->ring_bytes / 2, (options->segment_bytes - SEGMENT_HEAD_BYTES) / 4));
    log->next_n = (log->store->life << COUNTER_BITS) + log->store->first_counter + 1;
    if (TM_BREAKS(LIFE_LATE) && log->store->last_n >> COUNTER_BITS == log->store->life) {
        log->next_n = log->store->last_n + 1;
    }
    atomic_store(&log->committed_n, log->store->last_n);
    tm_log_tell_room(log);
    log->has_threads = options->has_no_threads == 0;
    return log->has_threads && !tm_log_start_threads(log) ? TM_NO_MEMORY : TM_OK;
}

int tm_log_open_on(const tm_log_options *options, tm_disk *disk, tm_log **made) {
    if (!options_are_sound(options)) {
        disk->port->free(disk);
        return TM_MISUSED;
    }
    tm_memory memory = {0};
    tm_log *log = TM_NEW(&memory, TM_COLD, tm_log, 1);
    if (log == NULL) {
        disk->port->free(disk);
        return TM_NO_MEMORY;
    }
    log->memory = memory;
    tm_asks_begin(&log->asks);
    log->descriptor = log->wakes[0] = log->wakes[1] = -1;
    int result = tm_store_open(options, disk, &log->store);
    result = result == TM_OK ? begin(log, options) : result;
    if (result != TM_OK) {
        log->has_threads = false;
        tm_log_close(log);
        return result;
    }
    *made = log;
    return TM_OK;
}

int tm_log_open(const tm_log_options *options, tm_log **made) {
    if (!options_are_sound(options) || options->folder == NULL || made == NULL) {
        return TM_MISUSED;
    }
    tm_disk *disk;
    int result = tm_disk_new(options->folder, &disk);
    if (result != 0) {
        return result == -ENOMEM ? TM_NO_MEMORY : tm_disk_is_full(result) ? TM_LOG_FULL : TM_LOG_DISK;
    }
    return tm_log_open_on(options, disk, made);
}

void tm_log_close(tm_log *log) {
    if (log == NULL) {
        return;
    }
    if (log->has_threads) {
        tm_log_end_threads(log);
        while (tm_log_commit(log) == TM_OK) {
        }
        tm_store_finish(log->store);
    }
    tm_asks_free(&log->asks);
    tm_store_close(log->store);
    for (unsigned i = 0; i < 2; i++) {
        if (log->wakes[i] >= 0) {
            close(log->wakes[i]);
        }
    }
    if (log->descriptor >= 0) {
        close(log->descriptor);
    }
    tm_memory memory = log->memory;
    TM_DELETE(&memory, TM_COLD, log->ring, uint8_t, log->ring != NULL ? log->ring_bytes : 0);
    TM_DELETE(&memory, TM_COLD, log, tm_log, 1);
}
