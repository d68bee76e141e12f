/* store.c - see store.h. */
#include "log/store.h"

#include "log/checkpoint.h"
#include "log/maintain.h"
#include "log/spares.h"
#include <errno.h>

static void close_files(tm_store *store) {
    for (uint32_t i = 0; i < store->segment_count; i++) {
        store->disk->port->close(store->disk, store->segments[i]->file);
        tm_segment_free(store->segments[i]);
    }
}

void tm_store_close(tm_store *store) {
    if (store == NULL) {
        return;
    }
    close_files(store);
    TM_DELETE(&store->memory, TM_COLD, store->segments, tm_segment *, store->segment_capacity);
    TM_DELETE(&store->memory, TM_COLD, store->spares, uint64_t, store->spare_capacity);
    tm_log_holders_free(&store->holders);
    tm_chains_free(&store->chains);
    tm_ranges_free(&store->missing, &store->memory);
    tm_ranges_free(&store->doubtful, &store->memory);
    pthread_mutex_destroy(&store->writing);
    pthread_mutex_destroy(&store->state);
    store->disk->port->free(store->disk);
    tm_memory memory = store->memory;
    TM_DELETE(&memory, TM_COLD, store, tm_store, 1);
}

void tm_store_finish(tm_store *store) {
    bool is_copied = store->is_failed || tm_store_end_copy(store);
    if (!store->is_failed && store->open != NULL) {
        tm_store_seal(store, store->open);
    }
    if (!store->is_failed && is_copied) {
        store->is_ending = true;
        tm_checkpoint_write(store, false);
    }
}

int tm_store_open(const tm_log_options *options, tm_disk *disk, tm_store **made) {
    tm_memory memory = {.bytes_max = options->memory_bytes_max, .key = tm_hash_key_of(options->hash_seed)};
    memory.fail_in = options->fail_in;
    tm_store *store = TM_NEW(&memory, TM_COLD, tm_store, 1);
    if (store == NULL) {
        disk->port->free(disk);
        return TM_NO_MEMORY;
    }
    store->memory = memory;
    store->holders.memory = &store->memory;
    store->chains.memory = &store->memory;
    store->version = VERSION_PLAIN;
    store->disk = disk;
    store->bytes_max = options->bytes_max;
    store->segment_bytes = options->segment_bytes;
    store->is_held = options->is_held != 0;
    store->copy_bytes = options->segment_bytes / 4 < COPY_BYTES_MAX ? options->segment_bytes / 4 : COPY_BYTES_MAX;
    pthread_mutex_init(&store->writing, NULL);
    pthread_mutex_init(&store->state, NULL);
    int result = tm_store_recover(store);
    bool is_idle = false;
    while (result == TM_OK && !is_idle) { /* create the reserved files before room is reported */
        is_idle = true;
        tm_store_prepare(store, &is_idle);
    }
    if (result != TM_OK) {
        tm_store_close(store);
        return result;
    }
    tm_store_judge_room(store);
    *made = store;
    return TM_OK;
}
