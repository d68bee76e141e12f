/* branches.c - allocates branches. Law: as in branches.h. */
#include "engines/onepath/paths/branches.h"

#include <string.h>

#define ROWS_MIN 16U

void onepath_branches_init(onepath_branches *branches, tm_memory *memory) {
    memset(branches, 0, sizeof *branches);
    branches->memory = memory;
    branches->count = 1;
}

void onepath_branches_clear(onepath_branches *branches) {
    TM_DELETE(branches->memory, TM_HOT, branches->rows, onepath_branch, branches->capacity);
    onepath_branches_init(branches, branches->memory);
}

static bool reserve(onepath_branches *branches) {
    if (branches->free != 0 || branches->count < branches->capacity) {
        return true;
    }
    uint32_t capacity = branches->capacity + branches->capacity / 4 + ROWS_MIN;
    if (capacity > ONEPATH_BRANCHES_MAX) {
        return false;
    }
    onepath_branch *rows =
        TM_RESIZE(branches->memory, TM_HOT, branches->rows, onepath_branch, branches->capacity, capacity);
    if (rows == NULL) {
        return false;
    }
    branches->rows = rows;
    branches->capacity = capacity;
    return true;
}

uint32_t onepath_branches_take(onepath_branches *branches, uint64_t parent, uint32_t what, uint64_t guard) {
    if (!reserve(branches)) {
        return 0;
    }
    uint32_t branch = branches->free;
    if (branch != 0) {
        branches->free = branches->rows[branch].filters;
    } else {
        branch = branches->count++;
    }
    branches->rows[branch] = (onepath_branch){.parent = parent, .what = what, .guard = guard, .other = guard};
    branches->live++;
    return branch;
}

void onepath_branches_give(onepath_branches *branches, uint32_t branch) {
    branches->rows[branch] = (onepath_branch){.filters = branches->free};
    branches->free = branch;
    branches->live--;
}
