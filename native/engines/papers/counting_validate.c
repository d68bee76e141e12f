/* counting_validate.c - checks the invariants of counting.h one by one. Law: see counting_validate.h. */
#include "engines/papers/counting_validate.h"

static int fails(const char **reason, const char *why) {
    *reason = why;
    return TM_MISUSED;
}

static int validate_references(const tm_counting *core, uint32_t filter, const char **reason) {
    uint32_t plain = 0;
    const tm_filters *all = &core->filters;
    for (uint32_t i = 0; i < all->reference_counts[filter]; i++) {
        tm_reference reference = tm_counting_references(core, filter)[i];
        const tm_held *held = &core->constraints.held[reference.constraint];
        if (reference.position >= held->count || tm_held_filters(held)[reference.position] != filter) {
            return fails(reason, "a filter does not stand where its constraint should have it");
        }
        plain += (core->constraints.keys[reference.constraint].op & TM_OP_NEGATED) == 0;
    }
    return plain == all->seats[filter].required ? TM_OK : fails(reason, "a filter requires a wrong number");
}

static int validate_filters(const tm_counting *core, uint64_t *references, const char **reason) {
    uint64_t live = 0;
    for (uint32_t i = 0; i < core->holders->count; i++) {
        if (i >= core->filters.reference_capacity || core->filters.references[i] == 0) {
            continue;
        }
        live++;
        if (!tm_holders_is_live(core->holders, i)) {
            return fails(reason, "a filter has no handle");
        }
        if (core->filters.seats[i].interface != tm_holders_interface(core->holders, i)) {
            return fails(reason, "a filter has another interface than its handle");
        }
        *references += core->filters.reference_counts[i];
        int result = validate_references(core, i, reason);
        if (result != TM_OK) {
            return result;
        }
    }
    return live == core->live && *references == core->referenced ? TM_OK : fails(reason, "a count of filters is wrong");
}

static int validate_lists(const tm_counting *core, uint64_t references, const char **reason) {
    uint64_t listed = core->constraints.held[TM_TRUE_CONSTRAINT].count;
    uint32_t negated = 0;
    for (uint32_t i = TM_TRUE_CONSTRAINT + 1; i < core->constraints.count; i++) {
        if (core->constraints.keys[i].name != 0) {
            listed += core->constraints.held[i].count;
            negated += (core->constraints.keys[i].op & TM_OP_NEGATED) != 0;
        }
    }
    if (negated != core->negated) {
        return fails(reason, "the number of negated constraints is wrong");
    }
    return listed == references ? TM_OK : fails(reason, "constraints list filters that do not refer to them");
}

/* Return how many operands of the constraints on `name` should be indexed. */
static uint64_t operands_of(const tm_counting *core, uint32_t name, bool negated) {
    uint64_t total = 0;
    for (uint32_t i = TM_TRUE_CONSTRAINT + 1; i < core->constraints.count; i++) {
        const tm_constraint_key *key = &core->constraints.keys[i];
        if (key->name == name && ((key->op & TM_OP_NEGATED) != 0) == negated) {
            uint8_t op = (uint8_t)(key->op & ~TM_OP_NEGATED);
            total += op == TM_OP_EXISTS || op == TM_OP_BETWEEN ? 1 : key->operand_count;
        }
    }
    return total;
}

static int validate_index(const tm_counting *core, uint32_t name, bool negated, const char **reason) {
    const tm_name_index *index = negated ? core->names[name].veto : core->names[name].plain;
    uint64_t expected = operands_of(core, name, negated);
    if (index == NULL) {
        return expected == 0 ? TM_OK : fails(reason, "a name with constraints has no index");
    }
    uint64_t operands = 0;
    int result = tm_name_index_validate(index, core->text, &operands, reason);
    if (result != TM_OK) {
        return result;
    }
    return operands == expected && expected > 0 ? TM_OK : fails(reason, "an index holds a wrong number of operands");
}

/* Names whose operands are counted, each by a walk over all constraints: all names of a small table. */
#define NAMES_COUNTED_MAX 256

static int validate_names(const tm_counting *core, const char **reason) {
    int result = TM_OK;
    for (uint32_t i = 1; result == TM_OK && i < core->name_capacity && i < NAMES_COUNTED_MAX; i++) {
        result = validate_index(core, i, false, reason);
        if (result == TM_OK) {
            result = validate_index(core, i, true, reason);
        }
    }
    return result;
}

int tm_counting_validate(const tm_counting *core, const char **reason) {
    uint64_t references = 0;
    int result = validate_filters(core, &references, reason);
    if (result == TM_OK) {
        result = validate_lists(core, references, reason);
    }
    if (result == TM_OK) {
        result = validate_names(core, reason);
    }
    return result == TM_OK ? tm_constraints_validate(&core->constraints, reason) : result;
}

int tm_counting_validate_all(const tm_counting *core, const char **reason) {
    if (core->live != core->holders->live) {
        return fails(reason, "a filter is missing, or has no handle");
    }
    return tm_counting_validate(core, reason);
}
