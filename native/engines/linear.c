/* linear.c - the plain engine: each filter is evaluated, one after the other.
 *
 * Law: model/filter.h alone defines what a filter means; there is no index that could be wrong. The other engines are
 * compared with this one, and a new one may start from it.
 */
#include <string.h>

#include "base/grow.h"
#include "engines/registry.h"

typedef struct linear_filter {
    const tm_constraint *constraints; /* owned: a block of `size` bytes; NULL: no filter, or one without constraints */
    size_t size;
} linear_filter;

struct tm_engine {
    tm_memory *memory;      /* borrowed */
    tm_holders *holders;    /* borrowed */
    linear_filter *filters; /* owned; by handle */
    uint32_t capacity;
    uint64_t copied; /* bytes of the copies */
};

/* ---- creation and release ---- */

static int create(tm_memory *memory, tm_holders *holders, const uint64_t *values, tm_engine **out) {
    (void)values; /* there are no options */
    tm_engine *engine = TM_NEW(memory, TM_HOT, tm_engine, 1);
    if (engine == NULL) {
        return TM_NO_MEMORY;
    }
    *engine = (tm_engine){.memory = memory, .holders = holders};
    *out = engine;
    return TM_OK;
}

static void forget(tm_engine *engine, uint32_t handle) {
    linear_filter *filter = &engine->filters[handle];
    if (filter->constraints != NULL) {
        engine->copied -= tm_memory_charge(filter->size);
        tm_free_counted(engine->memory, TM_HOT, (void *)(uintptr_t)filter->constraints, filter->size);
    }
    *filter = (linear_filter){0};
}

static void destroy(tm_engine *engine) {
    for (uint32_t handle = 0; handle < engine->capacity; handle++) {
        forget(engine, handle);
    }
    TM_DELETE(engine->memory, TM_HOT, engine->filters, linear_filter, engine->capacity);
    TM_DELETE(engine->memory, TM_HOT, engine, tm_engine, 1);
}

/* ---- changes ---- */

static int add(tm_engine *engine, const tm_filter *filter, uint32_t interface, uint32_t handle) {
    (void)interface; /* read from the table */
    if (!tm_grow(engine->memory, TM_HOT, &engine->filters, sizeof *engine->filters, &engine->capacity, handle + 1)) {
        return TM_NO_MEMORY;
    }
    size_t size = tm_filter_copy_bytes(filter);
    if (size == 0) {
        return TM_OK; /* without constraints: it matches every message */
    }
    void *block = TM_NEW(engine->memory, TM_HOT, uint8_t, size);
    if (block == NULL) {
        return TM_NO_MEMORY;
    }
    engine->filters[handle] = (linear_filter){tm_filter_copy(filter, block), size};
    engine->copied += tm_memory_charge(size);
    return TM_OK;
}

static void remove_(tm_engine *engine, uint32_t handle) {
    forget(engine, handle);
    tm_holders_release(engine->holders, handle);
}

/* ---- match ---- */

static const tm_attribute *find(const tm_attribute *attributes, size_t count, const tm_constraint *constraint) {
    for (size_t i = 0; i < count; i++) {
        if (attributes[i].name_length == constraint->name_length &&
            memcmp(attributes[i].name, constraint->name, constraint->name_length) == 0) {
            return &attributes[i];
        }
    }
    return NULL;
}

/* true if the filter holds; false, too, if its evaluation takes more steps than are left. */
static bool holds(const tm_engine *engine, uint32_t handle, const tm_attribute *attributes, size_t count,
                  tm_work *work) {
    for (uint32_t i = 0; i < tm_holders_constraints(engine->holders, handle); i++) {
        const tm_constraint *constraint = &engine->filters[handle].constraints[i];
        const tm_attribute *value = find(attributes, count, constraint);
        if (!tm_work_spend(work, count + (value != NULL ? tm_constraint_steps(constraint, value) : 0)) ||
            !tm_constraint_holds(constraint, value)) {
            return false;
        }
    }
    return true;
}

static void match(tm_engine *engine, const tm_attribute *attributes, size_t count, tm_answer *answer) {
    const tm_holders *holders = engine->holders;
    for (uint32_t handle = 0; handle < holders->count && !tm_answer_is_full(answer); handle++) {
        if (!tm_work_spend(&answer->work, 1)) {
            return;
        }
        if (tm_holders_is_live(holders, handle) && tm_answer_open(answer, tm_holders_interface(holders, handle)) &&
            holds(engine, handle, attributes, count, &answer->work)) {
            tm_answer_emit(answer, tm_holders_interface(holders, handle), handle);
        }
    }
}

/* ---- statistics ---- */

static uint64_t used(const tm_engine *engine) {
    return engine->copied + engine->holders->live * (sizeof(linear_filter) + sizeof *engine->holders->rows);
}

static int validate(const tm_engine *engine, const char **reason) {
    for (uint32_t handle = 0; handle < engine->capacity; handle++) {
        bool has_some =
            tm_holders_is_live(engine->holders, handle) && tm_holders_constraints(engine->holders, handle) > 0;
        if (has_some != (engine->filters[handle].constraints != NULL)) {
            *reason = "a filter is missing, or has no handle";
            return TM_MISUSED;
        }
    }
    return TM_OK;
}

const tm_engine_class tm_engine_linear = {
    .name = "linear",
    .about = "Evaluate the filters one after the other: the reference for the other engines.",
    .limits = true,
    .create = create,
    .destroy = destroy,
    .add = add,
    .remove = remove_,
    .match = match,
    .validate = validate,
    .used = used,
};
