/* selectivity_validate.c - checks the selectivity table against determinants found by a walk of all filters. */
#include "engines/papers/selectivity.h"

typedef struct name_set {
    tm_need names[TM_CONSTRAINTS_MAX];
    uint32_t count;
} name_set;

static int fails(const char **reason, const char *why) {
    *reason = why;
    return TM_MISUSED;
}

static bool holds(const name_set *set, uint32_t name) {
    for (uint32_t i = 0; i < set->count; i++) {
        if (set->names[i] == name) {
            return true;
        }
    }
    return false;
}

static name_set names_of(const tm_selectivity *table, uint32_t filter) {
    name_set set;
    set.count = tm_counting_needs(table->core, filter, table->typed, set.names);
    return set;
}

/* Return the names that all filters of the interface have, by a walk of all of them. */
static name_set walk_determinants(const tm_selectivity *table, uint32_t interface) {
    name_set set = {.count = 0};
    uint32_t head = table->first[interface];
    if (head != 0) {
        set = names_of(table, head - 1);
    }
    for (uint32_t at = head; at != 0; at = table->next[at - 1]) {
        name_set other = names_of(table, at - 1);
        name_set both = {.count = 0};
        for (uint32_t i = 0; i < set.count; i++) {
            if (holds(&other, set.names[i])) {
                both.names[both.count++] = set.names[i];
            }
        }
        set = both;
    }
    return set;
}

static uint32_t linked(const tm_selectivity *table, uint32_t interface) {
    uint32_t count = 0;
    for (uint32_t at = table->first[interface]; at != 0; at = table->next[at - 1]) {
        count++;
    }
    return count;
}

static int validate_interface(const tm_selectivity *table, uint32_t interface, uint32_t *determined,
                              const char **reason) {
    name_set set = walk_determinants(table, interface);
    const tm_holders *holders = table->core->holders;
    uint32_t size = interface < holders->interface_count ? tm_holders_filters(holders, interface) : 0;
    if (linked(table, interface) != size) {
        return fails(reason, "an interface links a wrong number of filters");
    }
    for (uint32_t i = 0; i < set.count; i++) {
        determined[set.names[i]]++;
    }
    for (uint32_t i = 0; i < table->count; i++) {
        const tm_round *round = &table->rounds[i];
        bool marked = interface / 64 < round->capacity && (round->interfaces[interface / 64] >> interface % 64 & 1);
        if (marked != holds(&set, round->name)) {
            return fails(reason, "the selectivity table excludes an interface it should not, or not one it should");
        }
    }
    return TM_OK;
}

static int validate_all(const tm_selectivity *table, uint32_t *determined, const char **reason) {
    uint64_t total = 0;
    for (uint32_t i = 0; i < table->first_capacity; i++) {
        int result = validate_interface(table, i, determined, reason);
        if (result != TM_OK) {
            return result;
        }
    }
    for (uint32_t name = 0; name < table->determined_capacity; name++) {
        total += determined[name];
        if (determined[name] != table->determined[name]) {
            return fails(reason, "a name counts its interfaces as a determinant wrongly");
        }
    }
    return total == table->total ? TM_OK : fails(reason, "the number of determinants is wrong");
}

int tm_selectivity_validate(const tm_selectivity *table, const char **reason) {
    if (table->determined_capacity == 0) {
        return TM_OK;
    }
    tm_memory own = {0}; /* not the table's: a full table must not make the check fail */
    uint32_t *determined = TM_NEW(&own, TM_COLD, uint32_t, table->determined_capacity);
    if (determined == NULL) {
        return TM_NO_MEMORY;
    }
    int result = validate_all(table, determined, reason);
    TM_DELETE(&own, TM_COLD, determined, uint32_t, table->determined_capacity);
    return result;
}
