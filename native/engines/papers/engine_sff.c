/* engine_sff.c - the engine of paper 004: multi-operator indexes, counting over disjunctions, a selectivity table.
 *
 * Law: as in engine.h. Names are found in a trie and the type of the value selects an index: sorted sets for numbers,
 * one extended trie for strings. Before that, interfaces for which the message lacks a determinant name are excluded in
 * the set that later has those that have matched.
 */
#include "engines/papers/counting_match.h"
#include "engines/papers/counting_validate.h"
#include "engines/papers/selectivity.h"
#include "engines/papers/trie.h"
#include "engines/papers/trie_shape.h"
#include "engines/papers/trie_validate.h"
#include "engines/papers/trie_walk.h"
#include "engines/registry.h"

/* In the order of `values` in `create`. */
static const tm_option_kind options[] = {
    {.name = "rounds",
     .about = "Rows of the selectivity table that a match tries before it counts.",
     .most = TM_ROUNDS_MAX,
     .standard = 10},
    TM_CIRCUIT_OPTION,
    TM_COUNTERS_OPTION,
    {.name = "determinants",
     .about = "Key of a row of the selectivity table: a name, or a name and the type of its value.",
     .values = "name typed",
     .most = true},
    {0},
};

#define TRIE_BYTES 120U /* of a string: its constant, and its share of branches and blocks */

struct tm_engine {
    tm_counting core;      /* first: a test reads it */
    tm_holders *holders;   /* borrowed */
    tm_trie_store strings; /* shared by the tries of all attributes */
    tm_trie_store names;
    tm_text_index name_trie; /* name -> its id, stored as a constraint of `=` */
    tm_selectivity selectivity;
};

/* ---- names ---- */

static int add_name(void *owner, uint32_t name) {
    tm_engine *engine = owner;
    return tm_text_trie.add(&engine->name_trie, TM_OP_EQ, name, name);
}

static void remove_name(void *owner, uint32_t name) {
    tm_engine *engine = owner;
    tm_text_trie.remove(&engine->name_trie, TM_OP_EQ, name, name);
}

/* ---- creation and release ---- */

static void destroy(tm_engine *engine) {
    tm_memory *memory = engine->core.memory;
    tm_selectivity_free(&engine->selectivity);
    tm_counting_free(&engine->core);
    tm_trie_free_branches(&engine->name_trie);
    tm_trie_store_free(&engine->names);
    tm_trie_store_free(&engine->strings);
    TM_DELETE(memory, TM_HOT, engine, tm_engine, 1);
}

static int create(tm_memory *memory, tm_holders *holders, const uint64_t *values, tm_engine **out) {
    tm_engine *engine = TM_NEW(memory, TM_HOT, tm_engine, 1);
    if (engine == NULL) {
        return TM_NO_MEMORY;
    }
    engine->holders = holders;
    tm_constraints *constraints = &engine->core.constraints;
    tm_trie_store_init(&engine->strings, memory, &constraints->strings, constraints);
    tm_trie_store_init(&engine->names, memory, &constraints->names, NULL);
    engine->name_trie.store = &engine->names;
    tm_text_kind text = {.class = &tm_text_trie, .shared = &engine->strings};
    tm_name_hooks hooks = {.added = add_name, .removed = remove_name, .owner = engine};
    tm_counting_ways ways = {(tm_circuit)values[1], (tm_counter_kind)values[2]};
    int result = tm_counting_init(&engine->core, holders, text, hooks, ways);
    int prepared = tm_selectivity_init(&engine->selectivity, &engine->core, (uint32_t)values[0], values[3] != 0);
    if (result != TM_OK || prepared != TM_OK) {
        destroy(engine);
        return TM_NO_MEMORY;
    }
    *out = engine;
    return TM_OK;
}

/* ---- changes ---- */

static int add(tm_engine *engine, const tm_filter *filter, uint32_t interface, uint32_t handle) {
    int result = tm_counting_add(&engine->core, filter, interface, handle);
    if (result != TM_OK) {
        return result;
    }
    result = tm_selectivity_add(&engine->selectivity, handle);
    if (result != TM_OK) {
        tm_counting_remove(&engine->core, handle);
    }
    return result;
}

static void remove_(tm_engine *engine, uint32_t handle) {
    tm_selectivity_remove(&engine->selectivity, handle);
    tm_counting_remove(&engine->core, handle);
    tm_holders_release(engine->holders, handle);
}

/* ---- match ---- */

static void match(tm_engine *engine, const tm_attribute *attributes, size_t count, tm_answer *answer) {
    uint32_t names[TM_ATTRIBUTES_MAX];
    for (size_t i = 0; i < count; i++) {
        names[i] = tm_trie_equal(&engine->name_trie, attributes[i].name, attributes[i].name_length);
    }
    tm_named_message message = {attributes, names, count};
    tm_counting_match(&engine->core, &message, tm_selectivity_exclude(&engine->selectivity, &message), answer);
}

/* ---- statistics ---- */

static void stats(const tm_engine *engine, tm_stats *stats) {
    tm_counting_stats(&engine->core, stats);
    stats->excluded = tm_selectivity_excluded(&engine->selectivity);
}

static uint64_t used(const tm_engine *engine) {
    return tm_counting_used(&engine->core, TRIE_BYTES);
}

static void probes(const tm_engine *engine, tm_probes *probes) {
    tm_constraints_probes(&engine->core.constraints, probes);
}

static int validate(const tm_engine *engine, const char **reason) {
    int result = tm_counting_validate_all(&engine->core, reason);
    if (result == TM_OK) {
        result = tm_trie_validate(&engine->name_trie, reason);
    }
    if (result == TM_OK && engine->name_trie.operands != engine->core.constraints.names.ids.count) {
        *reason = "the trie of names has a wrong number of names";
        result = TM_MISUSED;
    }
    return result == TM_OK ? tm_selectivity_validate(&engine->selectivity, reason) : result;
}

const tm_engine_class tm_engine_sff = {
    .name = "sff",
    .about = "Paper 004: an index for each type, a trie for strings, a selectivity table, then counting.",
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
