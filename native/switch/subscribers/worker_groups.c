/* worker_groups.c - see worker_groups.h. */
#include "switch/subscribers/worker_groups.h"

#define ROWS_MIN 8U
#define WAITING_STEP_LOG2 16U

void tm_worker_groups_init(tm_worker_groups *groups, tm_memory *memory) {
    *groups = (tm_worker_groups){.memory = memory};
}

void tm_worker_groups_clear(tm_worker_groups *groups) {
    tm_memory *memory = groups->memory;
    TM_DELETE(memory, TM_COLD, groups->rows, tm_worker_group, groups->row_capacity);
    tm_idset_free(&groups->set, memory, TM_COLD);
    tm_worker_groups_init(groups, memory);
}

/* ---- the set of names ---- */

static uint64_t hash_of(const void *owner, uint64_t row) {
    return ((const tm_worker_groups *)owner)->rows[row].name;
}

static uint32_t find(const tm_worker_groups *groups, uint64_t name) {
    tm_idset_search at = tm_idset_start(&groups->set, name);
    for (uint32_t row; (row = tm_idset_next(&at)) != 0;) {
        if (groups->rows[row].name == name) {
            return row;
        }
    }
    return WORKER_GROUP_NONE;
}

static bool reserve_row(tm_worker_groups *groups) {
    if (groups->free != 0 || groups->row_count < groups->row_capacity) {
        return true;
    }
    uint32_t capacity = groups->row_capacity + groups->row_capacity / 2 + ROWS_MIN;
    tm_worker_group *rows =
        TM_RESIZE(groups->memory, TM_COLD, groups->rows, tm_worker_group, groups->row_capacity, capacity);
    if (rows == NULL) {
        return false;
    }
    groups->rows = rows;
    groups->row_capacity = capacity;
    if (groups->row_count == 0) {
        rows[groups->row_count++] = (tm_worker_group){0};
    }
    return true;
}

uint32_t tm_worker_groups_join(tm_worker_groups *groups, const uint8_t *name, uint32_t size, uint32_t number) {
    uint64_t hash = tm_hash_text(name, size, &groups->memory->key) | 1; /* 0 marks a free row */
    uint32_t row = find(groups, hash);
    if (row == WORKER_GROUP_NONE) {
        if (!reserve_row(groups) || tm_idset_reserve(&groups->set, groups->memory, TM_COLD, hash_of, groups) != TM_OK) {
            return WORKER_GROUP_NONE;
        }
        row = groups->free;
        if (row != 0) {
            groups->free = groups->rows[row].members;
        } else {
            row = groups->row_count++;
        }
        groups->rows[row] = (tm_worker_group){.name = hash, .number = number};
        groups->live++;
        tm_idset_insert(&groups->set, hash, row);
    }
    groups->rows[row].members++;
    return row;
}

void tm_worker_groups_leave(tm_worker_groups *groups, uint32_t group) {
    tm_worker_group *at = &groups->rows[group];
    if (--at->members > 0) {
        return;
    }
    tm_idset_remove(&groups->set, at->name, group, hash_of, groups);
    *at = (tm_worker_group){.members = groups->free};
    groups->live--;
    groups->free = group;
}

/* ---- choosing ---- */

void tm_worker_groups_offer(tm_worker_groups *groups, uint32_t group, uint32_t stamp, uint32_t subscriber,
                            uint64_t waiting_bytes, uint64_t message) {
    tm_worker_group *at = &groups->rows[group];
    uint64_t waiting = waiting_bytes >> WAITING_STEP_LOG2;
    uint64_t turn = tm_hash_words(message, subscriber, 0, &groups->memory->key);
    bool is_first = at->stamp != stamp;
    if (is_first || waiting < at->waiting || (waiting == at->waiting && turn < at->turn)) {
        at->stamp = stamp;
        at->chosen = subscriber;
        at->waiting = waiting;
        at->turn = turn;
    }
}

void tm_worker_groups_forget_stamps(tm_worker_groups *groups) {
    for (uint32_t row = 0; row < groups->row_count; row++) {
        groups->rows[row].stamp = 0;
    }
}
