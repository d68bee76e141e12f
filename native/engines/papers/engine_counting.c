/* engine_counting.c - the engine of paper 000: a constraint index made of sorted sets, then counting.
 *
 * Law: as in engine.h. Type, name and operator choose a sorted set; what it yields is counted per filter; filters of
 * links that have matched are skipped, and the match ends with the last candidate.
 */
#include "engines/papers/counting.h"
#include "engines/registry.h"

struct tm_engine {
    tm_counting core;
};

static void destroy(tm_engine *engine) {
    tm_memory *memory = engine->core.memory;
    tm_counting_free(&engine->core);
    TM_DELETE(memory, TM_HOT, engine, tm_engine, 1);
}

static int create(tm_memory *memory, const uint64_t *values, tm_engine **out) {
    (void)values;
    tm_engine *engine = TM_NEW(memory, TM_HOT, tm_engine, 1);
    if (engine == NULL) {
        return TM_NO_MEMORY;
    }
    tm_text_kind text = {.class = &tm_text_sets};
    int result = tm_counting_init(&engine->core, memory, text, (tm_name_hooks){0});
    if (result != TM_OK) {
        destroy(engine);
        return result;
    }
    *out = engine;
    return TM_OK;
}

static int set_interface(tm_engine *engine, uint32_t interface, int kind) {
    return tm_counting_set_interface(&engine->core, interface, kind);
}

static int add(tm_engine *engine, const tm_filter *filter, uint32_t interface, uint32_t *handle) {
    return tm_counting_add(&engine->core, filter, interface, handle);
}

static int remove_(tm_engine *engine, uint32_t handle) {
    return tm_counting_remove(&engine->core, handle);
}

/* A removal leaves nothing over. */
static int settle(tm_engine *engine, uint64_t steps, uint64_t *left) {
    (void)engine;
    (void)steps;
    *left = 0;
    return TM_OK;
}

static int match(tm_engine *engine, const tm_attribute *attributes, size_t count, const tm_query *query,
                 tm_hits *hits) {
    uint32_t names[TM_ATTRIBUTES_MAX];
    for (size_t i = 0; i < count; i++) {
        names[i] = tm_intern_find(&engine->core.constraints.names, attributes[i].name, attributes[i].name_length);
    }
    tm_named_message message = {attributes, names, count};
    return tm_counting_match(&engine->core, &message, NULL, NULL, query, hits);
}

static void stats(const tm_engine *engine, tm_stats *stats) {
    tm_counting_stats(&engine->core, stats);
}

static uint64_t used(const tm_engine *engine) {
    return tm_counting_used(&engine->core, 0);
}

static void probes(const tm_engine *engine, tm_probes *probes) {
    tm_constraints_probes(&engine->core.constraints, probes);
}

static int validate(const tm_engine *engine, const char **reason) {
    return tm_counting_validate(&engine->core, reason);
}

const tm_engine_class tm_engine_counting = {
    .name = "counting",
    .about = "Paper 000: a sorted set for each name, type and operator, then counting.",
    .create = create,
    .destroy = destroy,
    .set_interface = set_interface,
    .add = add,
    .remove = remove_,
    .settle = settle,
    .match = match,
    .stats = stats,
    .used = used,
    .probes = probes,
    .validate = validate,
};
