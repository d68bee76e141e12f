/* engine_counting.c - the engine of paper 000: a constraint index made of sorted sets, then counting.
 *
 * Law: as in engine.h. Type, name and operator select a sorted set; the constraints found are counted per filter;
 * filters of links that have matched are skipped, and the match ends with the last candidate.
 */
#include "engines/papers/counting.h"
#include "engines/papers/counting_match.h"
#include "engines/papers/counting_validate.h"
#include "engines/registry.h"

/* In the order of `values` in `create`. */
static const tm_option_kind options[] = {TM_CIRCUIT_OPTION, TM_COUNTERS_OPTION, {0}};

struct tm_engine {
    tm_counting core;    /* first: a test reads it */
    tm_holders *holders; /* borrowed */
};

static void destroy(tm_engine *engine) {
    tm_memory *memory = engine->core.memory;
    tm_counting_free(&engine->core);
    TM_DELETE(memory, TM_HOT, engine, tm_engine, 1);
}

static int create(tm_memory *memory, tm_holders *holders, const uint64_t *values, tm_engine **out) {
    tm_engine *engine = TM_NEW(memory, TM_HOT, tm_engine, 1);
    if (engine == NULL) {
        return TM_NO_MEMORY;
    }
    engine->holders = holders;
    tm_text_kind text = {.class = &tm_text_sets};
    tm_counting_ways ways = {(tm_circuit)values[0], (tm_counter_kind)values[1]};
    int result = tm_counting_init(&engine->core, holders, text, (tm_name_hooks){0}, ways);
    if (result != TM_OK) {
        destroy(engine);
        return result;
    }
    *out = engine;
    return TM_OK;
}

static int add(tm_engine *engine, const tm_filter *filter, uint32_t interface, uint32_t handle) {
    return tm_counting_add(&engine->core, filter, interface, handle);
}

static void remove_(tm_engine *engine, uint32_t handle) {
    tm_counting_remove(&engine->core, handle);
    tm_holders_release(engine->holders, handle);
}

static void match(tm_engine *engine, const tm_attribute *attributes, size_t count, tm_answer *answer) {
    uint32_t names[TM_ATTRIBUTES_MAX];
    for (size_t i = 0; i < count; i++) {
        names[i] = tm_intern_find(&engine->core.constraints.names, attributes[i].name, attributes[i].name_length);
    }
    tm_named_message message = {attributes, names, count};
    tm_counting_match(&engine->core, &message, (tm_excluded){0}, answer);
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
    return tm_counting_validate_all(&engine->core, reason);
}

const tm_engine_class tm_engine_counting = {
    .name = "counting",
    .about = "Paper 000: a sorted set for each name, type and operator, then counting.",
    .limits = true,
    .options = options,
    .create = create,
    .destroy = destroy,
    .add = add,
    .remove = remove_,
    .match = match,
    .stats = stats,
    .used = used,
    .probes = probes,
    .validate = validate,
};
