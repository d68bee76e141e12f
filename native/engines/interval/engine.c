/* engine.c - the engine of paper 003: adds and removes filters of sets of intervals. Law: see engine.h. */
#include "base/grow.h"
#include "engines/interval/covering.h"
#include "engines/interval/match.h"
#include "engines/registry.h"

/* ---- options ---- */

enum { FORM, DENSE_FROM, ORDER, PARTITION, GROW, SPARE, TREE_BYTES };

static const tm_option_kind options[] = {
    [FORM] = {.name = "form",
              .about =
                  "How the sets of all attributes are intersected: as lists, or as a tree that is built on demand or "
                  "completely by settling.",
              .values = "lists tree whole",
              .most = TM_FORM_WHOLE,
              .standard = TM_FORM_LISTS},
    [DENSE_FROM] = {.name = "dense_from",
                    .about = "Share of the filters from which on a set is a bitmap, in thousandths of a per "
                             "cent; 100001 is never.",
                    .most = TM_DENSE_WHOLE + 1,
                    .standard = TM_DENSE_WHOLE / 32},
    [ORDER] = {.name = "reorder",
               .about = "Order of the attributes: as received, or first those that leave the fewest "
                        "filters, estimated from the filters or from messages.",
               .values = "off filters messages",
               .most = TM_ORDER_MESSAGES,
               .standard = TM_ORDER_FILTERS},
    [PARTITION] = {.name = "partition",
                   .about = "One structure for all filters, or one for each string that their attribute `type` has to "
                            "be.",
                   .values = "off type",
                   .most = 1,
                   .standard = 1},
    [GROW] = {.name = "grow_percent", .about = "Per cent by which an array grows.", .most = 400, .standard = 25},
    [SPARE] = {.name = "spare_percent",
               .about = "Per cent of an array that may be empty before the array shrinks.",
               .most = 100,
               .standard = 25},
    [TREE_BYTES] = {.name = "tree_bytes",
                    .about = "Byte limit of the tree of one structure; at the limit the tree is cleared.",
                    .least = 1 << 16,
                    .most = UINT64_C(1) << 32,
                    .standard = 64 << 20},
    {0},
};

/* ---- creation and release ---- */

static void free_arrays(tm_engine *engine) {
    tm_memory *memory = engine->core.memory;
    TM_DELETE(memory, TM_HOT, engine->structures, tm_structure *, engine->structure_capacity);
    TM_DELETE(memory, TM_HOT, engine->places, tm_interval_place, engine->place_capacity);
    TM_DELETE(memory, TM_HOT, engine->present, uint8_t, engine->present_capacity);
    tm_survivor_room_free(&engine->room, memory);
    engine->structures = NULL;
    engine->places = NULL;
    engine->present = NULL;
    engine->structure_capacity = 0;
    engine->place_capacity = 0;
    engine->present_capacity = 0;
}

static void destroy(tm_engine *engine) {
    tm_memory *memory = engine->core.memory;
    tm_counting_free(&engine->core);
    for (uint32_t type = 0; type < engine->structure_capacity; type++) {
        if (engine->structures[type] != NULL) {
            tm_structure_free(engine->structures[type], &engine->store, &engine->names);
        }
    }
    free_arrays(engine);
    tm_intern_free(&engine->names);
    tm_intern_free(&engine->types);
    TM_DELETE(memory, TM_HOT, engine, tm_engine, 1);
}

static int create(tm_memory *memory, tm_holders *holders, const uint64_t *values, tm_engine **out) {
    tm_engine *engine = TM_NEW(memory, TM_HOT, tm_engine, 1);
    if (engine == NULL) {
        return TM_NO_MEMORY;
    }
    engine->holders = holders;
    engine->store =
        (tm_interval_store){.memory = memory, .grow = (uint32_t)values[GROW], .spare = (uint32_t)values[SPARE]};
    engine->ways = (tm_interval_ways){.form = (tm_interval_form)values[FORM],
                                      .dense_from = (uint32_t)values[DENSE_FROM],
                                      .order = (tm_interval_order)values[ORDER],
                                      .by_type = values[PARTITION] != 0,
                                      .tree_bytes_max = values[TREE_BYTES]};
    tm_intern_init(&engine->names, memory, TM_HOT);
    tm_intern_init(&engine->types, memory, TM_HOT);
    tm_text_kind text = {.class = &tm_text_sets};
    tm_counting_ways ways = {TM_CIRCUIT_AT_FULL, TM_COUNTERS_FLAT};
    int result = tm_counting_init(&engine->core, holders, text, (tm_name_hooks){0}, ways);
    if (result != TM_OK) {
        destroy(engine);
        return result;
    }
    *out = engine;
    return TM_OK;
}

/* ---- structures ---- */

static void drop_structure_if_empty(tm_engine *engine, tm_structure *structure) {
    if (structure->filters > 0) {
        return;
    }
    uint32_t type = structure->type;
    tm_structure_free(structure, &engine->store, &engine->names);
    engine->structures[type] = NULL;
    if (type != 0) {
        tm_intern_release(&engine->types, type);
    }
    if (engine->seated == 0) {
        free_arrays(engine);
    }
}

/* Return the structure for filters of this type (NULL: without one), made if there is none; NULL if out of memory. */
static tm_structure *need_structure(tm_engine *engine, const tm_value *type) {
    uint32_t id = 0;
    if (type != NULL && tm_intern_hold(&engine->types, type->string, type->length, &id) != TM_OK) {
        return NULL;
    }
    tm_structure *structure = NULL;
    bool is_new = false; /* a new one has the reference to its type from here on */
    if (tm_grow(engine->core.memory, TM_HOT, &engine->structures, sizeof(tm_structure *), &engine->structure_capacity,
                id + 1)) {
        structure = engine->structures[id];
        is_new = structure == NULL;
    }
    if (is_new) {
        structure = tm_structure_new(&engine->store, id);
        engine->structures[id] = structure;
    }
    if (id != 0 && (!is_new || structure == NULL)) {
        tm_intern_release(&engine->types, id);
    }
    return structure;
}

/* ---- changes ---- */

/* Reserve what a match needs for this filter, and its place; false if out of memory. */
static bool reserve(tm_engine *engine, const tm_structure *structure, uint32_t handle) {
    tm_memory *memory = engine->core.memory;
    return tm_grow(memory, TM_HOT, &engine->places, sizeof *engine->places, &engine->place_capacity, handle + 1) &&
           tm_grow(memory, TM_HOT, &engine->present, sizeof *engine->present, &engine->present_capacity,
                   engine->names.count + TM_CONSTRAINTS_MAX + 1) &&
           tm_survivor_room_reserve(&engine->room, memory, structure->seat_count + 1) == TM_OK;
}

static int add_to_structure(tm_engine *engine, tm_structure *structure, const tm_interval_draft *draft,
                            uint32_t handle) {
    uint32_t seat;
    if (!reserve(engine, structure, handle) ||
        tm_structure_add(structure, &engine->store, &engine->ways, &engine->names, draft, handle, &seat) != TM_OK) {
        return TM_NO_MEMORY;
    }
    engine->places[handle] = (tm_interval_place){structure, seat};
    engine->seated++;
    return TM_OK;
}

static int add(tm_engine *engine, const tm_filter *filter, uint32_t interface, uint32_t handle) {
    tm_interval_draft draft;
    if (!tm_interval_draft_of(filter, engine->ways.by_type, &draft)) {
        return tm_counting_add(&engine->core, filter, interface, handle);
    }
    tm_structure *structure = need_structure(engine, draft.type);
    if (structure == NULL) {
        return TM_NO_MEMORY;
    }
    bool is_taken = tm_structure_takes(structure, &engine->ways, &engine->names, &draft);
    int result = is_taken ? add_to_structure(engine, structure, &draft, handle)
                          : tm_counting_add(&engine->core, filter, interface, handle);
    drop_structure_if_empty(engine, structure);
    return result;
}

static void release(tm_engine *engine, uint32_t handle) {
    engine->places[handle] = (tm_interval_place){0};
    engine->seated--;
    tm_holders_release(engine->holders, handle);
}

/* Remove removed filters from at most `steps` edges. */
static void sweep(tm_engine *engine, uint64_t steps) {
    while (engine->pending != NULL) {
        tm_structure *structure = engine->pending;
        uint32_t handle = tm_structure_sweep(structure, &engine->store, &engine->ways, &engine->names, &steps);
        if (handle != TM_SEAT_NONE) {
            release(engine, handle);
        }
        if (structure->removed == TM_SEAT_NONE) {
            engine->pending = structure->pending;
            structure->is_pending = false;
            drop_structure_if_empty(engine, structure);
        } else if (handle == TM_SEAT_NONE) {
            return;
        }
    }
}

static void remove_(tm_engine *engine, uint32_t handle) {
    if (!tm_interval_compares(engine, handle)) {
        tm_counting_remove(&engine->core, handle);
        tm_holders_release(engine->holders, handle);
        return;
    }
    tm_structure *structure = engine->places[handle].structure;
    tm_structure_remove(structure, engine->places[handle].seat);
    if (!structure->is_pending) {
        structure->is_pending = true;
        structure->pending = engine->pending;
        engine->pending = structure;
    }
    sweep(engine, TM_SLICE_EDGES);
}

static void settle(tm_engine *engine, uint64_t steps) {
    sweep(engine, steps);
    for (uint32_t type = 0; type < engine->structure_capacity; type++) {
        if (engine->structures[type] != NULL) {
            tm_interval_settle(engine, engine->structures[type], &steps);
        }
    }
}

/* ---- statistics ---- */

static uint32_t own_names(const tm_intern *names, const tm_intern *others) {
    uint32_t count = 0;
    for (uint32_t id = 1; id < names->count; id++) {
        const tm_interned *name = &names->entries[id];
        count += name->bytes != NULL && tm_intern_find(others, name->bytes, name->length) == 0;
    }
    return count;
}

static void stats(const tm_engine *engine, tm_stats *stats) {
    tm_counting_stats(&engine->core, stats);
    stats->names += own_names(&engine->names, &engine->core.constraints.names);
    bool has_types = engine->types.ids.count > 0;
    const uint8_t *type = (const uint8_t *)TM_TYPE_NAME;
    stats->names += has_types && tm_intern_find(&engine->names, type, TM_TYPE_NAME_LENGTH) == 0 &&
                    tm_intern_find(&engine->core.constraints.names, type, TM_TYPE_NAME_LENGTH) == 0;
}

#define NAME_BYTES 96U /* of a name, or a type */

static uint64_t used(const tm_engine *engine) {
    uint64_t names = (uint64_t)engine->names.ids.count + engine->types.ids.count;
    return tm_counting_used(&engine->core, 0) + engine->store.bytes + engine->seated * sizeof(tm_interval_place) +
           names * NAME_BYTES + engine->names.text_bytes + engine->types.text_bytes;
}

static void probes(const tm_engine *engine, tm_probes *probes) {
    tm_constraints_probes(&engine->core.constraints, probes);
    tm_intern_probes(&engine->names, probes);
    tm_intern_probes(&engine->types, probes);
}

const tm_engine_class tm_engine_interval = {
    .name = "interval",
    .about = "Paper 003: the sets of filters of each attribute's elementary intervals, intersected; others counted.",
    .limits = true,
    .options = options,
    .create = create,
    .destroy = destroy,
    .add = add,
    .remove = remove_,
    .match = tm_interval_match,
    .validate = tm_interval_validate,
    .settle = settle,
    .stats = stats,
    .used = used,
    .probes = probes,
    .compares = tm_interval_compares,
    .covering = tm_interval_covering,
    .covered = tm_interval_covered,
};
