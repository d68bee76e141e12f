/* factor.c - spaces, their keys, and the share of a filter in each. Law: see factor.h. */
#include "engines/pst/factor.h"

#include <string.h>

#include "base/bits.h"
#include "base/grow.h"

void pst_factor_free(pst_factor *factor) {
    for (uint32_t i = 0; i < factor->count; i++) {
        tm_free_counted(factor->memory, TM_HOT, (void *)(uintptr_t)factor->spaces[i].constraints,
                        factor->spaces[i].size);
    }
    TM_DELETE(factor->memory, TM_HOT, factor->spaces, pst_space, factor->capacity);
    *factor = (pst_factor){.memory = factor->memory};
}

/* ---- domains ---- */

static bool is_domain(const tm_constraint *constraint) {
    return !constraint->negated && (constraint->op == TM_OP_EQ || constraint->op == TM_OP_IN);
}

/* Return the domain of a name: the first one; NULL if the space has none. */
static const tm_constraint *domain_of(const pst_space *space, const uint8_t *name, uint32_t length) {
    for (uint32_t i = 0; i < space->count; i++) {
        const tm_constraint *at = &space->constraints[i];
        if (is_domain(at) && at->name_length == length && memcmp(at->name, name, length) == 0) {
            return at;
        }
    }
    return NULL;
}

static const tm_constraint *domain_of_label(const pst_space *space, const pst_label *label) {
    return domain_of(space, label->constraints[0].name, label->constraints[0].name_length);
}

static const tm_constraint *factored_domain(const pst_space *space, uint32_t i) {
    return &space->constraints[space->places[i]];
}

/* ---- spaces ---- */

static void choose(pst_space *space, uint32_t names, uint32_t keys_max) {
    space->keys = 1;
    for (uint32_t i = 0; i < space->count && space->factored < names; i++) {
        const tm_constraint *at = &space->constraints[i];
        bool is_first = is_domain(at) && domain_of(space, at->name, at->name_length) == at;
        if (is_first && at->operand_count > 1 && space->keys * at->operand_count <= keys_max) {
            space->places[space->factored++] = (uint8_t)i;
            space->keys *= at->operand_count;
        }
    }
}

int pst_factor_add(pst_factor *factor, const tm_filter *filter) {
    pst_space space = {.constraints = filter->constraints, .count = (uint32_t)filter->count};
    choose(&space, factor->names, PST_KEYS_MAX - factor->keys);
    if (space.factored == 0) {
        return TM_OK;
    }
    space.size = tm_filter_copy_bytes(filter);
    space.first = PST_ROOT + 1 + factor->keys;
    void *block = TM_NEW(factor->memory, TM_HOT, uint8_t, space.size);
    if (block == NULL || !tm_grow(factor->memory, TM_HOT, &factor->spaces, sizeof *factor->spaces, &factor->capacity,
                                  factor->count + 1)) {
        tm_free_counted(factor->memory, TM_HOT, block, space.size);
        return TM_NO_MEMORY;
    }
    space.constraints = tm_filter_copy(filter, block);
    factor->spaces[factor->count++] = space;
    factor->keys += space.keys;
    return TM_OK;
}

uint32_t pst_factor_values(const pst_factor *factor, uint32_t root, const pst_label *label) {
    for (uint32_t i = 0; i < factor->count; i++) {
        const pst_space *space = &factor->spaces[i];
        if (root >= space->first && root - space->first < space->keys) {
            const tm_constraint *domain = domain_of_label(space, label);
            return domain != NULL ? domain->operand_count : 0;
        }
    }
    return 0;
}

/* ---- messages ---- */

static const tm_attribute *attribute_of(const tm_attribute *attributes, size_t count, const tm_constraint *constraint) {
    for (size_t i = 0; i < count; i++) {
        if (attributes[i].name_length == constraint->name_length &&
            memcmp(attributes[i].name, constraint->name, constraint->name_length) == 0) {
            return &attributes[i];
        }
    }
    return NULL;
}

/* Return the attribute that has an operand of a domain as its value. */
static tm_attribute attribute_with(const tm_value *value) {
    return (tm_attribute){.kind = value->kind,
                          .integer = value->integer,
                          .real = value->real,
                          .string = value->string,
                          .length = value->length};
}

/* Return the place of the attribute's value in a domain that has it. */
static uint32_t place_of(const tm_constraint *domain, const tm_attribute *attribute) {
    tm_constraint equal = {.name = domain->name, .name_length = domain->name_length, .op = TM_OP_EQ};
    equal.operand_count = 1;
    uint32_t place = 0;
    for (; place + 1U < domain->operand_count; place++) {
        equal.operands = &domain->operands[place];
        if (tm_constraint_holds(&equal, attribute)) {
            break;
        }
    }
    return place;
}

static bool fits(const pst_space *space, const tm_attribute *attributes, size_t count) {
    for (uint32_t i = 0; i < space->count; i++) {
        const tm_constraint *at = &space->constraints[i];
        if (!tm_constraint_holds(at, attribute_of(attributes, count, at))) {
            return false;
        }
    }
    return true;
}

uint32_t pst_factor_root(const pst_factor *factor, const tm_attribute *attributes, size_t count, uint64_t *steps) {
    for (uint32_t i = 0; i < factor->count; i++) {
        const pst_space *space = &factor->spaces[i];
        *steps += 1;
        if (!fits(space, attributes, count)) {
            continue;
        }
        uint32_t key = 0;
        for (uint32_t k = 0; k < space->factored; k++) {
            const tm_constraint *domain = factored_domain(space, k);
            key = key * domain->operand_count + place_of(domain, attribute_of(attributes, count, domain));
        }
        return space->first + key;
    }
    return PST_ROOT;
}

/* ---- filters ---- */

static bool label_holds(const pst_label *label, const tm_value *value) {
    tm_attribute attribute = attribute_with(value);
    for (uint32_t i = 0; i < label->count; i++) {
        if (!tm_constraint_holds(&label->constraints[i], &attribute)) {
            return false;
        }
    }
    return true;
}

/* Set the bits of the values that satisfy the label, and return their number. */
static uint32_t allow(const tm_constraint *domain, const pst_label *label, uint64_t *allowed) {
    uint32_t holding = 0;
    memset(allowed, 0, sizeof *allowed * tm_bit_words(domain->operand_count));
    for (uint32_t i = 0; i < domain->operand_count; i++) {
        if (label_holds(label, &domain->operands[i])) {
            tm_bit_set(allowed, i);
            holding++;
        }
    }
    return holding;
}

/* Return the place among the factored names; `factored` if it is none of them. */
static uint32_t factored_place(const pst_space *space, const tm_constraint *domain) {
    uint32_t place = 0;
    while (place < space->factored && factored_domain(space, place) != domain) {
        place++;
    }
    return place;
}

bool pst_factor_share(const pst_space *space, const pst_labels *labels, const uint32_t *ids, uint32_t count,
                      pst_share *share) {
    share->count = 0;
    memset(share->allowed, 0xFF, sizeof share->allowed);
    for (uint32_t i = 0; i < count; i++) {
        const pst_label *label = &labels->rows[ids[i]];
        const tm_constraint *domain = domain_of_label(space, label);
        uint64_t allowed[TM_IN_VALUES_MAX / 64];
        uint32_t holding = domain != NULL ? allow(domain, label, allowed) : 0;
        if (domain != NULL && holding == 0) {
            return false;
        }
        uint32_t place = domain != NULL ? factored_place(space, domain) : space->factored;
        if (place < space->factored) {
            memcpy(share->allowed[place], allowed, sizeof *allowed * tm_bit_words(domain->operand_count));
        } else if (domain == NULL || holding < domain->operand_count) {
            share->labels[share->count++] = ids[i];
        }
    }
    return true;
}

bool pst_share_allows(const pst_share *share, const pst_space *space, uint32_t key) {
    for (uint32_t i = space->factored; i-- > 0;) {
        uint32_t values = factored_domain(space, i)->operand_count;
        if (!tm_bit_at(share->allowed[i], key % values)) {
            return false;
        }
        key /= values;
    }
    return true;
}
