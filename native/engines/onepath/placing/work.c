/* work.c - adds tasks to the list of work. Law: as in work.h. */
#include "engines/onepath/placing/work.h"

void onepath_work_add(tm_engine *engine, onepath_task task, uint32_t handle) {
    onepath_work *work = &engine->work;
    if (work->count < ONEPATH_WORK_MAX) {
        work->items[work->count].task = task;
        work->items[work->count++].handle = handle;
    }
}
