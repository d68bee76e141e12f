/* labels.c - finds labels by content. Law: see labels.h. */
#include <string.h>

#include "base/grow.h"
#include "base/hash.h"
#include "engines/pst/labels.h"

/* ---- the order of constraints within a label ---- */

static int three_way(uint64_t a, uint64_t b) {
    return (a > b) - (a < b);
}

static uint64_t bits_of(uint8_t kind, int64_t integer, double real) {
    uint64_t bits = (uint64_t)integer;
    if (kind == TM_KIND_FLOAT) {
        memcpy(&bits, &real, sizeof bits);
    }
    return bits;
}

static int compare_bytes(const uint8_t *a, uint32_t a_length, const uint8_t *b, uint32_t b_length) {
    uint32_t shorter = a_length < b_length ? a_length : b_length;
    int order = shorter > 0 ? memcmp(a, b, shorter) : 0;
    return order != 0 ? order : three_way(a_length, b_length);
}

/* Compare values in an arbitrary total order of contents. */
static int compare_values(const tm_value *a, const tm_value *b) {
    if (a->kind != b->kind) {
        return three_way(a->kind, b->kind);
    }
    if (a->kind == TM_KIND_STRING) {
        return compare_bytes(a->string, a->length, b->string, b->length);
    }
    return three_way(bits_of(a->kind, a->integer, a->real), bits_of(b->kind, b->integer, b->real));
}

static int compare_constraints(const tm_constraint *a, const tm_constraint *b) {
    int order = three_way((uint64_t)a->op << 17 | (uint64_t)a->negated << 16 | a->operand_count,
                          (uint64_t)b->op << 17 | (uint64_t)b->negated << 16 | b->operand_count);
    for (uint16_t i = 0; order == 0 && i < a->operand_count; i++) {
        order = compare_values(&a->operands[i], &b->operands[i]);
    }
    return order;
}

static int compare_named(const tm_constraint *a, const tm_constraint *b) {
    int order = compare_bytes(a->name, a->name_length, b->name, b->name_length);
    return order != 0 ? order : compare_constraints(a, b);
}

static bool same_name(const tm_constraint *a, const tm_constraint *b) {
    return compare_bytes(a->name, a->name_length, b->name, b->name_length) == 0;
}

/* Sort and split the constraints by insertion, as there are at most sixteen. Drops duplicates. */
void pst_parts_of(const tm_filter *filter, pst_parts *parts) {
    uint32_t count = 0;
    tm_constraint *all = parts->constraints;
    for (size_t i = 0; i < filter->count; i++) {
        uint32_t at = count;
        while (at > 0 && compare_named(&all[at - 1], &filter->constraints[i]) > 0) {
            at--;
        }
        if (at > 0 && compare_named(&all[at - 1], &filter->constraints[i]) == 0) {
            continue;
        }
        memmove(&all[at + 1], &all[at], (count - at) * sizeof *all);
        all[at] = filter->constraints[i];
        count++;
    }
    parts->count = 0;
    for (uint32_t i = 0; i < count; i++) {
        parts->count += i == 0 || !same_name(&all[i - 1], &all[i]);
        parts->ends[parts->count - 1] = (uint8_t)(i + 1);
    }
}

/* ---- search by content ---- */

static uint64_t hash_value(const tm_hash_key *key, uint64_t hash, const tm_value *value) {
    uint64_t word = value->kind == TM_KIND_STRING ? tm_hash_text(value->string, value->length, key)
                                                  : bits_of(value->kind, value->integer, value->real);
    return tm_hash_words(word, hash, value->kind, key);
}

static uint64_t hash_content(const tm_hash_key *key, uint32_t name, const tm_constraint *constraints, uint32_t count) {
    uint64_t hash = tm_hash_words(name, count, 0, key);
    for (uint32_t i = 0; i < count; i++) {
        hash = tm_hash_words(hash, constraints[i].op, constraints[i].negated, key);
        for (uint16_t k = 0; k < constraints[i].operand_count; k++) {
            hash = hash_value(key, hash, &constraints[i].operands[k]);
        }
    }
    return hash;
}

static uint64_t hash_of(const void *owner, uint64_t id) {
    const pst_labels *labels = owner;
    const pst_label *label = &labels->rows[id];
    return hash_content(&labels->memory->key, label->name, label->constraints, label->count);
}

static bool is_equal(const pst_label *label, uint32_t name, const tm_constraint *constraints, uint32_t count) {
    if (label->name != name || label->count != count) {
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (compare_constraints(&label->constraints[i], &constraints[i]) != 0) {
            return false;
        }
    }
    return true;
}

static uint32_t find(const pst_labels *labels, uint32_t name, const tm_constraint *constraints, uint32_t count) {
    uint64_t hash = hash_content(&labels->memory->key, name, constraints, count);
    tm_idset_search at = tm_idset_start(&labels->ids, hash);
    for (uint32_t id; (id = tm_idset_next(&at)) != PST_NONE;) {
        if (is_equal(&labels->rows[id], name, constraints, count)) {
            return id;
        }
    }
    return PST_NONE;
}

uint32_t pst_labels_of_value(const pst_labels *labels, uint32_t name, const tm_attribute *attribute) {
    if (attribute->kind == TM_KIND_STRING && attribute->length > TM_OPERAND_BYTES_MAX) {
        return PST_NONE;
    }
    tm_value value = {attribute->string, attribute->integer, attribute->real, attribute->length, attribute->kind};
    tm_constraint constraint = {.operands = &value, .operand_count = 1, .op = TM_OP_EQ};
    return find(labels, name, &constraint, 1);
}

/* ---- the kind of a label ---- */

static bool is_number(const tm_value *value) {
    return value->kind == TM_KIND_INTEGER || value->kind == TM_KIND_FLOAT;
}

static bool is_bound(const tm_constraint *constraint, bool low) {
    uint8_t op = constraint->op;
    bool fits = low ? op == TM_OP_GT || op == TM_OP_GE || op == TM_OP_BETWEEN : op == TM_OP_LT || op == TM_OP_LE;
    return fits && !constraint->negated && is_number(&constraint->operands[0]);
}

/* Return the first constraint that is a bound of this side; NULL if there is none. */
static const tm_constraint *bound_of(const pst_label *label, bool low) {
    for (uint32_t i = 0; i < label->count; i++) {
        if (is_bound(&label->constraints[i], low)) {
            return &label->constraints[i];
        }
    }
    return NULL;
}

static void set_bound(pst_label *label, const tm_constraint *bound, pst_label_kind kind) {
    const tm_value *operand = &bound->operands[0];
    label->kind = (uint8_t)kind;
    label->bound = tm_number_key_of(operand->integer, operand->real, operand->kind == TM_KIND_FLOAT);
    label->is_strict = bound->op == TM_OP_GT || bound->op == TM_OP_LT;
}

static void classify(pst_label *label) {
    const tm_constraint *first = &label->constraints[0];
    label->kind = label->count == 1 && first->op == TM_OP_EQ && !first->negated ? PST_EQUAL : PST_OTHER;
    const tm_constraint *low = bound_of(label, true);
    const tm_constraint *high = bound_of(label, false);
    if (low != NULL) {
        set_bound(label, low, PST_LOW);
    } else if (high != NULL) {
        set_bound(label, high, PST_HIGH);
    }
    label->lacks = true;
    for (uint32_t i = 0; i < label->count; i++) {
        label->lacks &= label->constraints[i].negated;
    }
}

bool pst_label_holds(pst_label *label, const tm_attribute *attribute, uint32_t message, uint64_t *steps) {
    if (label->message != message) {
        bool holds = true;
        for (uint32_t i = 0; i < label->count && holds; i++) {
            *steps += tm_constraint_steps(&label->constraints[i], attribute);
            holds = tm_constraint_holds(&label->constraints[i], attribute);
        }
        label->message = message;
        label->holds = holds;
    }
    return label->holds;
}

/* ---- references ---- */

static int reserve_row(pst_labels *labels) {
    uint32_t wanted = labels->count + (labels->free == PST_NONE);
    if (!tm_grow(labels->memory, TM_HOT, &labels->rows, sizeof *labels->rows, &labels->capacity, wanted)) {
        return TM_NO_MEMORY;
    }
    return tm_idset_reserve(&labels->ids, labels->memory, TM_HOT, hash_of, labels);
}

/* Make a label, with one reference, of a name that is referenced. */
static int make(pst_labels *labels, uint32_t name, const tm_constraint *constraints, uint32_t count, uint32_t *id) {
    size_t size = tm_constraints_copy_bytes(constraints, count);
    void *block = reserve_row(labels) == TM_OK ? TM_NEW(labels->memory, TM_HOT, uint8_t, size) : NULL;
    if (block == NULL) {
        return TM_NO_MEMORY;
    }
    *id = labels->free != PST_NONE ? labels->free : labels->count++;
    pst_label *label = &labels->rows[*id];
    labels->free = *id == labels->free ? label->holders : labels->free;
    *label = (pst_label){.constraints = tm_constraints_copy(constraints, count, block),
                         .size = size,
                         .name = name,
                         .holders = 1,
                         .count = (uint8_t)count};
    classify(label);
    labels->block_bytes += tm_memory_charge(size);
    labels->of_names[name].labels++;
    tm_idset_insert(&labels->ids, hash_of(labels, *id), *id);
    return TM_OK;
}

/* Add a reference to a name, with room for its row: ids of names are at most their count. */
static int hold_name(pst_labels *labels, const tm_constraint *constraint, uint32_t *name) {
    bool has_row = tm_grow(labels->memory, TM_HOT, &labels->of_names, sizeof *labels->of_names, &labels->name_capacity,
                           labels->names.count + 1);
    return has_row ? tm_intern_hold(&labels->names, constraint->name, constraint->name_length, name) : TM_NO_MEMORY;
}

static int hold_one(pst_labels *labels, const tm_constraint *constraints, uint32_t count, uint32_t *id) {
    uint32_t name = 0;
    int result = hold_name(labels, constraints, &name);
    if (result != TM_OK) {
        return result;
    }
    *id = find(labels, name, constraints, count);
    if (*id == PST_NONE) {
        result = make(labels, name, constraints, count, id);
        if (result != TM_OK) {
            tm_intern_release(&labels->names, name);
        }
        return result;
    }
    tm_intern_release(&labels->names, name); /* the label has a reference */
    labels->rows[*id].holders++;
    return TM_OK;
}

int pst_labels_hold_all(pst_labels *labels, const pst_parts *parts, uint32_t *ids) {
    uint32_t begin = 0;
    for (uint32_t i = 0; i < parts->count; begin = parts->ends[i++]) {
        int result = hold_one(labels, &parts->constraints[begin], parts->ends[i] - begin, &ids[i]);
        if (result != TM_OK) {
            while (i > 0) {
                pst_labels_release(labels, ids[--i]);
            }
            return result;
        }
    }
    return TM_OK;
}

void pst_labels_hold(pst_labels *labels, uint32_t id) {
    labels->rows[id].holders++;
}

static void forget_name(pst_labels *labels, uint32_t name) {
    if (--labels->of_names[name].labels == 0) {
        labels->of_names[name] = (pst_name){0};
    }
    tm_intern_release(&labels->names, name);
}

void pst_labels_release(pst_labels *labels, uint32_t id) {
    pst_label *label = &labels->rows[id];
    if (--label->holders > 0) {
        return;
    }
    tm_idset_remove(&labels->ids, hash_of(labels, id), id, hash_of, labels);
    tm_free_counted(labels->memory, TM_HOT, (void *)(uintptr_t)label->constraints, label->size);
    labels->block_bytes -= tm_memory_charge(label->size);
    forget_name(labels, label->name);
    *label = (pst_label){.holders = labels->free};
    labels->free = id;
}

/* ---- the whole ---- */

int pst_labels_init(pst_labels *labels, tm_memory *memory) {
    *labels = (pst_labels){.memory = memory, .count = 1};
    tm_intern_init(&labels->names, memory, TM_HOT);
    bool done = tm_grow(memory, TM_HOT, &labels->rows, sizeof *labels->rows, &labels->capacity, 1) &&
                tm_grow(memory, TM_HOT, &labels->of_names, sizeof *labels->of_names, &labels->name_capacity, 1);
    return done ? TM_OK : TM_NO_MEMORY;
}

void pst_labels_forget(pst_labels *labels) {
    labels->count = 1;
    labels->free = PST_NONE;
    tm_shrink(labels->memory, TM_HOT, &labels->rows, sizeof *labels->rows, &labels->capacity, 1);
    tm_shrink(labels->memory, TM_HOT, &labels->of_names, sizeof *labels->of_names, &labels->name_capacity, 1);
    tm_idset_free(&labels->ids, labels->memory, TM_HOT);
}

void pst_labels_free(pst_labels *labels) {
    for (uint32_t id = 1; id < labels->count; id++) {
        pst_label *label = &labels->rows[id];
        if (label->count > 0) {
            tm_free_counted(labels->memory, TM_HOT, (void *)(uintptr_t)label->constraints, label->size);
        }
    }
    TM_DELETE(labels->memory, TM_HOT, labels->rows, pst_label, labels->capacity);
    TM_DELETE(labels->memory, TM_HOT, labels->of_names, pst_name, labels->name_capacity);
    tm_idset_free(&labels->ids, labels->memory, TM_HOT);
    tm_intern_free(&labels->names);
}

void pst_labels_probes(const pst_labels *labels, tm_probes *probes) {
    tm_idset_probes(&labels->ids, hash_of, labels, probes);
    tm_intern_probes(&labels->names, probes);
}

static int validate_rows(const pst_labels *labels, const uint32_t *holders, uint32_t *of_names, const char **reason) {
    uint32_t used = 0;
    for (uint32_t id = 1; id < labels->count; id++) {
        const pst_label *label = &labels->rows[id];
        if (label->count == 0) {
            continue;
        }
        used++;
        of_names[label->name]++;
        if (label->holders != holders[id]) {
            *reason = "a label counts its hubs wrongly";
            return TM_MISUSED;
        }
    }
    for (uint32_t name = 1; name < pst_labels_names(labels); name++) {
        if (of_names[name] != labels->of_names[name].labels) {
            *reason = "a name counts its labels wrongly";
            return TM_MISUSED;
        }
    }
    if (used != labels->ids.count || !tm_idset_is_sound(&labels->ids, hash_of, labels)) {
        *reason = "a label is not found under its content";
        return TM_MISUSED;
    }
    return tm_intern_validate(&labels->names, of_names, reason);
}

int pst_labels_validate(const pst_labels *labels, const uint32_t *holders, const char **reason) {
    tm_memory own = {0}; /* not the table's: a full table must not make the check fail */
    uint32_t *of_names = TM_NEW(&own, TM_COLD, uint32_t, labels->names.count + 1);
    int result = of_names != NULL ? validate_rows(labels, holders, of_names, reason) : TM_NO_MEMORY;
    TM_DELETE(&own, TM_COLD, of_names, uint32_t, labels->names.count + 1);
    return result;
}
