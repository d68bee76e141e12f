/* counting.c - adds and removes filters. Law: see counting.h; counting_match.c matches messages. */
#include "engines/papers/counting.h"
#include "base/grow.h"

int tm_counting_init(tm_counting *core, const tm_holders *holders, tm_text_kind text, tm_name_hooks hooks,
                     tm_counting_ways ways) {
    tm_memory *memory = holders->memory;
    core->memory = memory;
    core->holders = holders;
    core->text = text;
    core->hooks = hooks;
    core->ways = ways;
    tm_arena_init(&core->filters.arena, memory, TM_COLD);
    if (!tm_grow(memory, TM_HOT, &core->names, sizeof *core->names, &core->name_capacity, 1)) {
        return TM_NO_MEMORY; /* slot 0, of names that no filter has, always exists and is empty */
    }
    return tm_constraints_init(&core->constraints, memory);
}

/* ---- names ---- */

static bool is_negated(const tm_counting *core, uint32_t constraint) {
    return (core->constraints.keys[constraint].op & TM_OP_NEGATED) != 0;
}

static tm_name_index **index_of(const tm_counting *core, uint32_t constraint) {
    tm_name_slot *slot = &core->names[core->constraints.keys[constraint].name];
    return is_negated(core, constraint) ? &slot->veto : &slot->plain;
}

static void drop_index_if_empty(tm_counting *core, tm_name_index **index) {
    if (*index != NULL && (*index)->constraints == 0) {
        tm_name_index_free(*index, core->memory, core->text);
        TM_DELETE(core->memory, TM_HOT, *index, tm_name_index, 1);
        *index = NULL;
    }
}

static bool slot_is_empty(const tm_name_slot *slot) {
    return slot->plain == NULL && slot->veto == NULL;
}

static int add_name(const tm_counting *core, uint32_t name) {
    return core->hooks.added != NULL ? core->hooks.added(core->hooks.owner, name) : TM_OK;
}

static void remove_name_if_unused(const tm_counting *core, uint32_t name) {
    if (slot_is_empty(&core->names[name]) && core->hooks.removed != NULL) {
        core->hooks.removed(core->hooks.owner, name);
    }
}

/* Free the constraint's index, and its name, if no other constraint needs them. */
static void release_index(tm_counting *core, uint32_t constraint) {
    drop_index_if_empty(core, index_of(core, constraint));
    remove_name_if_unused(core, core->constraints.keys[constraint].name);
}

/* Make the constraint's index, if needed, and register its name with the engine. TM_NO_MEMORY: unchanged. */
static int reserve_index(tm_counting *core, uint32_t constraint) {
    uint32_t name = core->constraints.keys[constraint].name;
    if (!tm_grow(core->memory, TM_HOT, &core->names, sizeof *core->names, &core->name_capacity, name + 1) ||
        (slot_is_empty(&core->names[name]) && add_name(core, name) != TM_OK)) {
        return TM_NO_MEMORY;
    }
    tm_name_index **index = index_of(core, constraint);
    if (*index == NULL) {
        *index = TM_NEW(core->memory, TM_HOT, tm_name_index, 1);
    }
    if (*index == NULL) {
        remove_name_if_unused(core, name);
    }
    return *index != NULL ? TM_OK : TM_NO_MEMORY;
}

static int index_constraint(tm_counting *core, uint32_t constraint) {
    if (reserve_index(core, constraint) != TM_OK) {
        return TM_NO_MEMORY;
    }
    int result = tm_name_index_add(*index_of(core, constraint), &core->constraints, core->text, constraint);
    if (result == TM_OK) {
        core->negated += is_negated(core, constraint);
    } else {
        release_index(core, constraint);
    }
    return result;
}

static void unindex_constraint(tm_counting *core, uint32_t constraint) {
    tm_name_index_remove(*index_of(core, constraint), &core->constraints, core->text, constraint);
    core->negated -= is_negated(core, constraint);
    release_index(core, constraint);
}

/* ---- constraints of a filter ---- */

static int refer(tm_counting *core, const tm_constraint *constraint, uint32_t filter, tm_reference *out) {
    bool made = false;
    int result = tm_constraints_hold(&core->constraints, constraint, &out->constraint, &made);
    if (result != TM_OK) {
        return result;
    }
    result = made ? index_constraint(core, out->constraint) : TM_OK;
    if (result == TM_OK) {
        result = tm_constraints_attach(&core->constraints, out->constraint, filter, &out->position);
        if (result != TM_OK && made) {
            unindex_constraint(core, out->constraint);
        }
    }
    if (result != TM_OK && made) {
        tm_constraints_drop(&core->constraints, out->constraint);
    }
    return result;
}

/* Update the position of a filter that a constraint has moved from `from` to `to`. */
static void note_move(tm_counting *core, uint32_t filter, uint32_t constraint, uint32_t from, uint32_t to) {
    tm_reference *references = tm_counting_references(core, filter);
    for (uint32_t i = 0; i < core->filters.reference_counts[filter]; i++) {
        if (references[i].constraint == constraint && references[i].position == from) {
            references[i].position = to;
            return;
        }
    }
}

static void unrefer(tm_counting *core, const tm_reference *reference) {
    uint32_t constraint = reference->constraint;
    uint32_t position = reference->position;
    uint32_t moved = tm_constraints_detach(&core->constraints, constraint, position);
    uint32_t left = core->constraints.held[constraint].count;
    if (position != left) {
        note_move(core, moved, constraint, left, position);
    }
    if (left == 0 && constraint != TM_TRUE_CONSTRAINT) {
        unindex_constraint(core, constraint);
        tm_constraints_drop(&core->constraints, constraint);
    }
}

/* Remove all references; the reverse order keeps the positions of a constraint right that is in one filter twice. */
static void unrefer_all(tm_counting *core, const tm_reference *references, uint32_t count) {
    while (count > 0) {
        unrefer(core, &references[--count]);
    }
}

/* ---- filters ---- */

static uint8_t count_plain(const tm_filter *filter) {
    uint8_t plain = 0;
    for (size_t i = 0; i < filter->count; i++) {
        plain += !filter->constraints[i].negated;
    }
    return plain;
}

static int reserve_filter(tm_counting *core, uint32_t handle) {
    tm_filters *all = &core->filters;
    uint32_t wanted = handle + 1;
    bool done =
        tm_grow(core->memory, TM_HOT, &all->seats, sizeof *all->seats, &all->seat_capacity, wanted) &&
        tm_grow(core->memory, TM_COLD, &all->references, sizeof *all->references, &all->reference_capacity, wanted) &&
        tm_grow(core->memory, TM_COLD, &all->reference_counts, sizeof *all->reference_counts,
                &all->reference_count_capacity, wanted);
    done = done && (core->ways.counters != TM_COUNTERS_HASH ||
                    tm_counters_reserve(&core->counters, core->memory, all->seat_capacity));
    done = done && (core->ways.counters != TM_COUNTERS_TREE ||
                    tm_counter_tree_reserve(&core->tree, core->memory, all->seat_capacity));
    return done ? TM_OK : TM_NO_MEMORY;
}

/* Refer to all constraints of `filter`, and to TRUE if none of them is plain. The block for `count` references must
 * exist: note_move finds the filter by it. */
static int refer_all(tm_counting *core, const tm_filter *filter, uint32_t handle, uint32_t count) {
    int result = TM_OK;
    uint32_t done = 0;
    tm_reference *references = tm_counting_references(core, handle);
    for (; done < filter->count && result == TM_OK; done += result == TM_OK) {
        result = refer(core, &filter->constraints[done], handle, &references[done]);
        core->filters.reference_counts[handle] = (uint8_t)(done + (result == TM_OK));
    }
    if (result == TM_OK && count > filter->count) {
        references[done].constraint = TM_TRUE_CONSTRAINT;
        result = tm_constraints_attach(&core->constraints, TM_TRUE_CONSTRAINT, handle, &references[done].position);
    }
    if (result != TM_OK) {
        unrefer_all(core, references, done);
    }
    core->filters.reference_counts[handle] = result == TM_OK ? (uint8_t)count : 0;
    return result;
}

int tm_counting_add(tm_counting *core, const tm_filter *filter, uint32_t interface, uint32_t handle) {
    tm_filters *all = &core->filters;
    uint8_t plain = count_plain(filter);
    uint32_t count = (uint32_t)filter->count + (plain == 0);
    if (reserve_filter(core, handle) != TM_OK) {
        return TM_NO_MEMORY;
    }
    all->references[handle] = tm_arena_take(&all->arena, tm_arena_class(count));
    if (all->references[handle] == 0) {
        return TM_NO_MEMORY;
    }
    int result = refer_all(core, filter, handle, count);
    if (result != TM_OK) {
        tm_arena_give(&all->arena, all->references[handle], tm_arena_class(count));
        all->references[handle] = 0;
        return result;
    }
    all->seats[handle] = (tm_seat){.interface = interface & 0xffffff, .required = plain > 0 ? plain : 1};
    core->live++;
    core->referenced += count;
    return TM_OK;
}

static void free_filter_arrays(tm_counting *core) {
    tm_filters *all = &core->filters;
    TM_DELETE(core->memory, TM_HOT, all->seats, tm_seat, all->seat_capacity);
    TM_DELETE(core->memory, TM_COLD, all->references, uint32_t, all->reference_capacity);
    TM_DELETE(core->memory, TM_COLD, all->reference_counts, uint8_t, all->reference_count_capacity);
    tm_arena_clear(&all->arena);
    tm_counters_free(&core->counters, core->memory);
    tm_counter_tree_free(&core->tree, core->memory);
    *all = (tm_filters){.arena = all->arena};
}

/* Free the arrays after the last filter, except for the slot of unknown names. */
static void forget_filters(tm_counting *core) {
    free_filter_arrays(core);
    tm_shrink(core->memory, TM_HOT, &core->names, sizeof *core->names, &core->name_capacity, 1);
}

void tm_counting_remove(tm_counting *core, uint32_t handle) {
    tm_filters *all = &core->filters;
    uint32_t count = all->reference_counts[handle];
    unrefer_all(core, tm_counting_references(core, handle), count);
    tm_arena_give(&all->arena, all->references[handle], tm_arena_class(count));
    all->references[handle] = 0;
    all->reference_counts[handle] = 0;
    all->seats[handle] = (tm_seat){0};
    core->referenced -= count;
    if (--core->live == 0) {
        forget_filters(core);
    }
}

/* Return the one type of value that satisfies the constraint, or any. */
static uint32_t type_needed(const tm_counting *core, uint32_t constraint) {
    uint32_t type = TM_TYPE_ANY;
    for (uint16_t i = 0; i < core->constraints.keys[constraint].operand_count; i++) {
        uint32_t other = tm_type_of(tm_constraints_operand(&core->constraints, constraint, i).kind);
        if (i > 0 && other != type) {
            return TM_TYPE_ANY;
        }
        type = other;
    }
    return type;
}

static bool holds_need(const tm_need *needs, uint32_t count, tm_need need) {
    while (count > 0) {
        if (needs[--count] == need) {
            return true;
        }
    }
    return false;
}

uint32_t tm_counting_needs(const tm_counting *core, uint32_t handle, bool typed, tm_need needs[TM_CONSTRAINTS_MAX]) {
    uint32_t count = 0;
    const tm_reference *references = tm_counting_references(core, handle);
    for (uint32_t i = 0; i < core->filters.reference_counts[handle]; i++) {
        uint32_t constraint = references[i].constraint;
        if (constraint == TM_TRUE_CONSTRAINT || is_negated(core, constraint)) {
            continue;
        }
        uint32_t name = core->constraints.keys[constraint].name;
        tm_need need = typed ? name * TM_TYPES + type_needed(core, constraint) : name;
        if (!holds_need(needs, count, need)) {
            needs[count++] = need;
        }
    }
    return count;
}

/* ---- the whole ---- */

static void free_index(tm_counting *core, tm_name_index *index) {
    if (index != NULL) {
        tm_name_index_free(index, core->memory, core->text);
        TM_DELETE(core->memory, TM_HOT, index, tm_name_index, 1);
    }
}

void tm_counting_free(tm_counting *core) {
    for (uint32_t i = 0; i < core->name_capacity; i++) {
        free_index(core, core->names[i].plain);
        free_index(core, core->names[i].veto);
    }
    TM_DELETE(core->memory, TM_HOT, core->names, tm_name_slot, core->name_capacity);
    free_filter_arrays(core);
    tm_constraints_free(&core->constraints);
}

void tm_counting_stats(const tm_counting *core, tm_stats *stats) {
    stats->active = core->holders->live;
    stats->names = core->constraints.names.ids.count;
    stats->updates = core->updates;
    stats->skipped = core->skipped;
}

/* Estimates: a filter's seat, its references and lists; a constraint, its operand in an index; a string or name. */
#define FILTER_BYTES 48U
#define REFERENCE_BYTES 20U
#define CONSTRAINT_BYTES 60U
#define OPERAND_BYTES 36U
#define STRING_BYTES 40U
#define COUNTER_BYTES 24U /* of a filter, in a hash that is between a quarter and half full, or in a tree */
#define NAME_BYTES 400U

uint64_t tm_counting_used(const tm_counting *core, uint64_t text_bytes) {
    const tm_constraints *constraints = &core->constraints;
    uint64_t filter_bytes = FILTER_BYTES + (core->ways.counters == TM_COUNTERS_FLAT ? 0 : COUNTER_BYTES);
    return core->live * filter_bytes + core->referenced * REFERENCE_BYTES + constraints->ids.count * CONSTRAINT_BYTES +
           constraints->operands * OPERAND_BYTES + constraints->names.ids.count * NAME_BYTES +
           constraints->names.text_bytes + constraints->strings.ids.count * (STRING_BYTES + text_bytes) +
           constraints->strings.text_bytes;
}
