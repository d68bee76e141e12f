/* constraints.c - constraints by content, filters by constraint. Law: see constraints.h. */
#include <string.h>

#include "base/grow.h"
#include "base/hash.h"
#include "engines/papers/constraints.h"

/* ---- operands ---- */

tm_atom tm_constraints_operand(const tm_constraints *constraints, uint32_t id, uint16_t index) {
    const tm_constraint_key *key = &constraints->keys[id];
    if (key->operand_count > 1) {
        return key->several[index];
    }
    bool is_string = key->kind == TM_KIND_STRING;
    return (tm_atom){
        .bits = is_string ? 0 : key->bits, .string = is_string ? (uint32_t)key->bits : 0, .kind = key->kind};
}

tm_number_key tm_atom_key(const tm_atom *atom) {
    double real = 0;
    if (atom->kind == TM_KIND_FLOAT) {
        memcpy(&real, &atom->bits, sizeof real);
    }
    return tm_number_key_of((int64_t)atom->bits, real, atom->kind == TM_KIND_FLOAT);
}

static uint64_t hash_atom(const tm_hash_key *key, uint64_t hash, const tm_atom *atom) {
    return tm_hash_words(atom->bits ^ atom->string, hash, atom->kind, key);
}

static bool same_atom(const tm_atom *a, const tm_atom *b) {
    return a->kind == b->kind && a->bits == b->bits && a->string == b->string;
}

/* ---- search by content ---- */

static uint64_t hash_head(const tm_hash_key *key, uint32_t name, uint8_t op, uint16_t operand_count) {
    return tm_hash_words(name, op, operand_count, key);
}

static uint64_t hash_of(const void *owner, uint64_t id) {
    const tm_constraints *constraints = owner;
    const tm_constraint_key *key = &constraints->keys[id];
    const tm_hash_key *secret = &constraints->memory->key;
    uint64_t hash = hash_head(secret, key->name, key->op, key->operand_count);
    for (uint16_t i = 0; i < key->operand_count; i++) {
        tm_atom atom = tm_constraints_operand(constraints, id, i);
        hash = hash_atom(secret, hash, &atom);
    }
    return hash;
}

static bool is_equal(const tm_constraints *constraints, uint32_t id, uint32_t name, uint8_t op, uint16_t count) {
    const tm_constraint_key *key = &constraints->keys[id];
    if (key->name != name || key->op != op || key->operand_count != count) {
        return false;
    }
    for (uint16_t i = 0; i < count; i++) {
        tm_atom atom = tm_constraints_operand(constraints, id, i);
        if (!same_atom(&atom, &constraints->scratch[i])) {
            return false;
        }
    }
    return true;
}

/* Return the constraint of that name and operator whose `count` operands are in `scratch`, or 0. */
static uint32_t find(const tm_constraints *constraints, uint64_t hash, uint32_t name, uint8_t op, uint16_t count) {
    tm_idset_search at = tm_idset_start(&constraints->ids, hash);
    for (uint32_t id; (id = tm_idset_next(&at)) != 0;) {
        if (is_equal(constraints, id, name, op, count)) {
            return id;
        }
    }
    return 0;
}

/* ---- names and strings of the constraint in scratch ---- */

static void release_scratch(tm_constraints *constraints, uint16_t count) {
    for (uint16_t i = 0; i < count; i++) {
        if (constraints->scratch[i].kind == TM_KIND_STRING) {
            tm_intern_release(&constraints->strings, constraints->scratch[i].string);
        }
    }
}

static int hold_operand(tm_constraints *constraints, const tm_value *value, tm_atom *out) {
    *out = (tm_atom){.kind = value->kind};
    if (value->kind == TM_KIND_STRING) {
        return tm_intern_hold(&constraints->strings, value->string, value->length, &out->string);
    }
    if (value->kind == TM_KIND_FLOAT) {
        memcpy(&out->bits, &value->real, sizeof out->bits);
    } else {
        out->bits = (uint64_t)value->integer;
    }
    return TM_OK;
}

/* Fill `scratch` with the operands and add references to their strings. */
static int hold_operands(tm_constraints *constraints, const tm_constraint *constraint) {
    for (uint16_t i = 0; i < constraint->operand_count; i++) {
        int result = hold_operand(constraints, &constraint->operands[i], &constraints->scratch[i]);
        if (result != TM_OK) {
            release_scratch(constraints, i);
            return result;
        }
    }
    return TM_OK;
}

/* ---- creation and removal ---- */

static int reserve_id(tm_constraints *constraints) {
    uint32_t wanted = constraints->count + (constraints->free == 0);
    if (!tm_grow(constraints->memory, TM_HOT, &constraints->held, sizeof(tm_held), &constraints->held_capacity,
                 wanted) ||
        !tm_grow(constraints->memory, TM_COLD, &constraints->keys, sizeof(tm_constraint_key),
                 &constraints->keys_capacity, wanted)) {
        return TM_NO_MEMORY;
    }
    return tm_idset_reserve(&constraints->ids, constraints->memory, TM_COLD, hash_of, constraints);
}

static uint32_t take_id(tm_constraints *constraints) {
    uint32_t id = constraints->free;
    if (id == 0) {
        return constraints->count++;
    }
    constraints->free = constraints->held[id].count;
    return id;
}

/* Store the operands in `scratch` under `key`. */
static int keep_operands(tm_constraints *constraints, uint16_t count, tm_constraint_key *key) {
    const tm_atom *atoms = constraints->scratch;
    key->operand_count = count;
    if (count == 1) {
        key->kind = atoms[0].kind;
        key->bits = atoms[0].kind == TM_KIND_STRING ? atoms[0].string : atoms[0].bits;
    } else if (count > 1) {
        key->several = TM_NEW(constraints->memory, TM_COLD, tm_atom, count);
        if (key->several == NULL) {
            return TM_NO_MEMORY;
        }
        memcpy(key->several, atoms, count * sizeof *atoms);
    }
    return TM_OK;
}

static int make(tm_constraints *constraints, uint64_t hash, uint32_t name, uint8_t op, uint16_t count, uint32_t *id) {
    tm_constraint_key key = {.name = name, .op = op};
    if (reserve_id(constraints) != TM_OK || keep_operands(constraints, count, &key) != TM_OK) {
        return TM_NO_MEMORY;
    }
    *id = take_id(constraints);
    constraints->held[*id] = (tm_held){0};
    constraints->keys[*id] = key;
    tm_idset_insert(&constraints->ids, hash, *id);
    constraints->operands += count;
    return TM_OK;
}

/* Find or make a constraint; a made one takes over the references of `scratch` and `name`, otherwise they are
 * released. */
static int find_or_make(tm_constraints *constraints, uint32_t name, uint8_t op, uint16_t count, uint32_t *id,
                        bool *made) {
    const tm_hash_key *secret = &constraints->memory->key;
    uint64_t hash = hash_head(secret, name, op, count);
    for (uint16_t i = 0; i < count; i++) {
        hash = hash_atom(secret, hash, &constraints->scratch[i]);
    }
    *id = find(constraints, hash, name, op, count);
    int result = *id != 0 ? TM_OK : make(constraints, hash, name, op, count, id);
    *made = result == TM_OK && constraints->held[*id].count == 0;
    if (!*made) {
        release_scratch(constraints, count);
        tm_intern_release(&constraints->names, name);
    }
    return result;
}

int tm_constraints_hold(tm_constraints *constraints, const tm_constraint *constraint, uint32_t *id, bool *made) {
    uint32_t name = 0;
    uint8_t op = constraint->op | (constraint->negated ? TM_OP_NEGATED : 0);
    *made = false;
    int result = tm_intern_hold(&constraints->names, constraint->name, constraint->name_length, &name);
    if (result != TM_OK) {
        return result;
    }
    result = hold_operands(constraints, constraint);
    if (result != TM_OK) {
        tm_intern_release(&constraints->names, name);
        return result;
    }
    return find_or_make(constraints, name, op, constraint->operand_count, id, made);
}

/* Free the room of all other constraints when only TRUE is left. */
static void forget_ids(tm_constraints *constraints) {
    constraints->count = TM_TRUE_CONSTRAINT + 1;
    constraints->free = 0;
    tm_idset_free(&constraints->ids, constraints->memory, TM_COLD);
    tm_shrink(constraints->memory, TM_HOT, &constraints->held, sizeof(tm_held), &constraints->held_capacity,
              constraints->count);
    tm_shrink(constraints->memory, TM_COLD, &constraints->keys, sizeof(tm_constraint_key), &constraints->keys_capacity,
              constraints->count);
}

void tm_constraints_drop(tm_constraints *constraints, uint32_t id) {
    tm_constraint_key *key = &constraints->keys[id];
    tm_idset_remove(&constraints->ids, hash_of(constraints, id), id, hash_of, constraints);
    constraints->operands -= key->operand_count;
    for (uint16_t i = 0; i < key->operand_count; i++) {
        tm_atom atom = tm_constraints_operand(constraints, id, i);
        if (atom.kind == TM_KIND_STRING) {
            tm_intern_release(&constraints->strings, atom.string);
        }
    }
    if (key->operand_count > 1) {
        TM_DELETE(constraints->memory, TM_COLD, key->several, tm_atom, key->operand_count);
    }
    tm_intern_release(&constraints->names, key->name);
    *key = (tm_constraint_key){0};
    constraints->held[id] = (tm_held){.count = constraints->free};
    constraints->free = id;
    if (constraints->ids.count == 0) {
        forget_ids(constraints);
    }
}

/* ---- the filters of a constraint ---- */

/* Return the next capacity, in sizes of the allocator: blocks of 24, 40, 56 and so on bytes, then a quarter more each
 * time. */
static uint32_t next_list_capacity(uint32_t capacity) {
    return capacity < 64 ? capacity + 4 : (capacity + capacity / 4 + 4) & ~UINT32_C(3);
}

#define LIST_CAPACITY_MIN 5 /* with the capacity itself: 24 bytes */

/* Make room for one more filter: move `in_place` to a list, or enlarge the list; false if out of memory. */
static bool reserve_filter(tm_memory *memory, tm_held *held) {
    if (held->count < TM_IN_PLACE) {
        return true;
    }
    if (held->count == TM_IN_PLACE) {
        uint32_t *list = TM_NEW(memory, TM_HOT, uint32_t, LIST_CAPACITY_MIN + 1);
        if (list == NULL) {
            return false;
        }
        list[0] = LIST_CAPACITY_MIN;
        memcpy(list + 1, held->in_place, sizeof held->in_place);
        held->list = list;
        return true;
    }
    uint32_t capacity = held->list[0];
    if (held->count < capacity) {
        return true;
    }
    uint32_t room = next_list_capacity(capacity);
    uint32_t *list = TM_RESIZE(memory, TM_HOT, held->list, uint32_t, capacity + 1, room + 1);
    if (list == NULL) {
        return false;
    }
    list[0] = room;
    held->list = list;
    return true;
}

int tm_constraints_attach(tm_constraints *constraints, uint32_t id, uint32_t filter, uint32_t *position) {
    tm_held *held = &constraints->held[id];
    if (!reserve_filter(constraints->memory, held)) {
        return TM_NO_MEMORY;
    }
    *position = held->count;
    if (held->count < TM_IN_PLACE) {
        held->in_place[held->count++] = filter;
    } else {
        held->list[1 + held->count++] = filter;
    }
    return TM_OK;
}

/* Shrink a list of which little is used; on failure it stays. */
static void shrink_list(tm_memory *memory, tm_held *held) {
    uint32_t capacity = held->list[0];
    if (held->count > TM_IN_PLACE && held->count < capacity / 4) {
        uint32_t room = capacity / 2;
        uint32_t *list = TM_RESIZE(memory, TM_HOT, held->list, uint32_t, capacity + 1, room + 1);
        if (list != NULL) {
            list[0] = room;
            held->list = list;
        }
    }
}

uint32_t tm_constraints_detach(tm_constraints *constraints, uint32_t id, uint32_t position) {
    tm_held *held = &constraints->held[id];
    uint32_t *filters = held->count > TM_IN_PLACE ? held->list + 1 : held->in_place;
    uint32_t moved = filters[--held->count];
    filters[position] = moved;
    if (held->count == TM_IN_PLACE) {
        uint32_t *list = held->list;
        memcpy(held->in_place, list + 1, sizeof held->in_place);
        TM_DELETE(constraints->memory, TM_HOT, list, uint32_t, list[0] + 1);
    } else if (held->count > TM_IN_PLACE) {
        shrink_list(constraints->memory, held);
    }
    return moved;
}

/* ---- the whole ---- */

int tm_constraints_init(tm_constraints *constraints, tm_memory *memory) {
    constraints->memory = memory;
    tm_intern_init(&constraints->names, memory, TM_HOT);
    tm_intern_init(&constraints->strings, memory, TM_HOT);
    constraints->count = TM_TRUE_CONSTRAINT;
    if (reserve_id(constraints) != TM_OK) {
        return TM_NO_MEMORY;
    }
    constraints->count = TM_TRUE_CONSTRAINT + 1;
    return TM_OK;
}

static bool is_free(const tm_constraints *constraints, uint32_t id) {
    return constraints->keys[id].name == 0;
}

void tm_constraints_free(tm_constraints *constraints) {
    for (uint32_t id = TM_TRUE_CONSTRAINT; id < constraints->count; id++) {
        tm_constraint_key *key = &constraints->keys[id];
        tm_held *held = &constraints->held[id];
        if (key->operand_count > 1) {
            TM_DELETE(constraints->memory, TM_COLD, key->several, tm_atom, key->operand_count);
        }
        if ((id == TM_TRUE_CONSTRAINT || !is_free(constraints, id)) && held->count > TM_IN_PLACE) {
            TM_DELETE(constraints->memory, TM_HOT, held->list, uint32_t, held->list[0] + 1);
        }
    }
    TM_DELETE(constraints->memory, TM_HOT, constraints->held, tm_held, constraints->held_capacity);
    TM_DELETE(constraints->memory, TM_COLD, constraints->keys, tm_constraint_key, constraints->keys_capacity);
    tm_idset_free(&constraints->ids, constraints->memory, TM_COLD);
    tm_intern_free(&constraints->names);
    tm_intern_free(&constraints->strings);
}

static int validate_holders(const tm_constraints *constraints, uint32_t *names, uint32_t *strings,
                            const char **reason) {
    for (uint32_t id = TM_TRUE_CONSTRAINT + 1; id < constraints->count; id++) {
        const tm_constraint_key *key = &constraints->keys[id];
        if (is_free(constraints, id)) {
            continue;
        }
        names[key->name]++;
        for (uint16_t i = 0; i < key->operand_count; i++) {
            strings[tm_constraints_operand(constraints, id, i).string]++;
        }
    }
    int result = tm_intern_validate(&constraints->names, names, reason);
    return result == TM_OK ? tm_intern_validate(&constraints->strings, strings, reason) : result;
}

static int validate_found(const tm_constraints *constraints, const char **reason) {
    uint32_t used = 0;
    for (uint32_t id = TM_TRUE_CONSTRAINT + 1; id < constraints->count; id++) {
        if (is_free(constraints, id)) {
            continue;
        }
        used++;
        bool found = false;
        tm_idset_search at = tm_idset_start(&constraints->ids, hash_of(constraints, id));
        for (uint32_t other; !found && (other = tm_idset_next(&at)) != 0;) {
            found = other == id;
        }
        if (!found || constraints->held[id].count == 0) {
            *reason = found ? "a constraint has no filters" : "a constraint is not found under its content";
            return TM_MISUSED;
        }
    }
    if (used != constraints->ids.count) {
        *reason = "the constraint hash has a wrong number of ids";
        return TM_MISUSED;
    }
    return TM_OK;
}

int tm_constraints_validate(const tm_constraints *constraints, const char **reason) {
    int result = validate_found(constraints, reason);
    if (result != TM_OK) {
        return result;
    }
    tm_memory own = {0}; /* not the table's: a full table must not make the check fail */
    uint32_t *names = TM_NEW(&own, TM_COLD, uint32_t, constraints->names.count);
    uint32_t *strings = TM_NEW(&own, TM_COLD, uint32_t, constraints->strings.count);
    if (names == NULL || strings == NULL) {
        result = TM_NO_MEMORY;
    } else {
        result = validate_holders(constraints, names, strings, reason);
    }
    TM_DELETE(&own, TM_COLD, names, uint32_t, constraints->names.count);
    TM_DELETE(&own, TM_COLD, strings, uint32_t, constraints->strings.count);
    return result;
}

void tm_constraints_probes(const tm_constraints *constraints, tm_probes *probes) {
    tm_idset_probes(&constraints->ids, hash_of, constraints, probes);
    tm_intern_probes(&constraints->names, probes);
    tm_intern_probes(&constraints->strings, probes);
}
