/* selectivity.c - updates determinants as filters are added and removed. Law: see selectivity.h. */
#include "engines/papers/selectivity.h"

#include <string.h>

#include "base/grow.h"
#include "base/hash.h"

/* Up to this size the filters of an interface are walked; beyond, their names are counted. */
#define WALKED_MAX 64

/* Changes that are too few to sort the table again. */
#define CHANGES_MIN 64

typedef struct name_set {
    tm_need names[TM_CONSTRAINTS_MAX];
    uint32_t count;
} name_set;

static name_set names_of(const tm_selectivity *table, uint32_t filter) {
    name_set set;
    set.count = tm_counting_needs(table->core, filter, table->typed, set.names);
    return set;
}

static bool holds(const name_set *set, uint32_t name) {
    for (uint32_t i = 0; i < set->count; i++) {
        if (set->names[i] == name) {
            return true;
        }
    }
    return false;
}

int tm_selectivity_init(tm_selectivity *table, const tm_counting *core, uint32_t rounds, bool typed) {
    *table = (tm_selectivity){.core = core, .memory = core->memory, .occurrence_count = 1};
    table->typed = typed;
    table->wanted = rounds;
    if (table->wanted > 0) {
        table->rounds = TM_NEW(table->memory, TM_HOT, tm_round, table->wanted);
    }
    return table->wanted > 0 && table->rounds == NULL ? TM_NO_MEMORY : TM_OK;
}

/* Free everything except the rows of the table. */
static void forget(tm_selectivity *table) {
    tm_memory *memory = table->memory;
    for (uint32_t i = 0; i < table->wanted && table->rounds != NULL; i++) {
        TM_DELETE(memory, TM_HOT, table->rounds[i].interfaces, uint64_t, table->rounds[i].capacity);
        table->rounds[i] = (tm_round){0};
    }
    TM_DELETE(memory, TM_COLD, table->first, uint32_t, table->first_capacity);
    TM_DELETE(memory, TM_COLD, table->next, uint32_t, table->next_capacity);
    TM_DELETE(memory, TM_COLD, table->previous, uint32_t, table->previous_capacity);
    TM_DELETE(memory, TM_COLD, table->determined, uint32_t, table->determined_capacity);
    TM_DELETE(memory, TM_COLD, table->row, uint32_t, table->row_capacity);
    TM_DELETE(memory, TM_HOT, table->excluded, uint64_t, table->excluded_capacity);
    TM_DELETE(memory, TM_COLD, table->occurrences, tm_occurrence, table->occurrence_capacity);
    tm_idset_free(&table->occurrence_ids, memory, TM_COLD);
    *table = (tm_selectivity){.core = table->core,
                              .memory = memory,
                              .occurrence_count = 1,
                              .rounds = table->rounds,
                              .wanted = table->wanted,
                              .typed = table->typed};
}

void tm_selectivity_free(tm_selectivity *table) {
    forget(table);
    TM_DELETE(table->memory, TM_HOT, table->rounds, tm_round, table->wanted);
}

/* ---- the filters of an interface ---- */

static void link_filter(tm_selectivity *table, uint32_t interface, uint32_t filter) {
    uint32_t head = table->first[interface];
    table->next[filter] = head;
    table->previous[filter] = 0;
    table->first[interface] = filter + 1;
    if (head != 0) {
        table->previous[head - 1] = filter + 1;
    }
}

static void unlink_filter(tm_selectivity *table, uint32_t interface, uint32_t filter) {
    uint32_t next = table->next[filter];
    uint32_t previous = table->previous[filter];
    if (next != 0) {
        table->previous[next - 1] = previous;
    }
    if (previous != 0) {
        table->next[previous - 1] = next;
    } else {
        table->first[interface] = next;
    }
}

/* ---- counted names ---- */

static uint64_t hash_pair(const tm_selectivity *table, uint32_t interface, uint32_t name) {
    return tm_hash_words(interface, name, 0, &table->memory->key);
}

static uint64_t hash_of(const void *owner, uint64_t id) {
    const tm_selectivity *table = owner;
    return hash_pair(table, table->occurrences[id].interface, table->occurrences[id].name);
}

static uint32_t find_occurrence(const tm_selectivity *table, uint32_t interface, uint32_t name) {
    tm_idset_search at = tm_idset_start(&table->occurrence_ids, hash_pair(table, interface, name));
    for (uint32_t id; (id = tm_idset_next(&at)) != 0;) {
        if (table->occurrences[id].interface == interface && table->occurrences[id].name == name) {
            return id;
        }
    }
    return 0;
}

static int make_occurrence(tm_selectivity *table, uint32_t interface, uint32_t name) {
    uint32_t wanted = table->occurrence_count + (table->occurrence_free == 0);
    if (!tm_grow(table->memory, TM_COLD, &table->occurrences, sizeof *table->occurrences, &table->occurrence_capacity,
                 wanted) ||
        tm_idset_reserve(&table->occurrence_ids, table->memory, TM_COLD, hash_of, table) != TM_OK) {
        return TM_NO_MEMORY;
    }
    uint32_t id = table->occurrence_free;
    if (id != 0) {
        table->occurrence_free = table->occurrences[id].count;
    } else {
        id = table->occurrence_count++;
    }
    table->occurrences[id] = (tm_occurrence){.interface = interface, .name = name, .count = 1};
    tm_idset_insert(&table->occurrence_ids, hash_pair(table, interface, name), id);
    return TM_OK;
}

static void uncount(tm_selectivity *table, uint32_t interface, const uint32_t *names, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        uint32_t id = find_occurrence(table, interface, names[i]);
        if (--table->occurrences[id].count == 0) {
            tm_idset_remove(&table->occurrence_ids, hash_of(table, id), id, hash_of, table);
            table->occurrences[id] = (tm_occurrence){.count = table->occurrence_free};
            table->occurrence_free = id;
        }
    }
}

static void uncount_filter(tm_selectivity *table, uint32_t interface, uint32_t filter) {
    name_set set = names_of(table, filter);
    uncount(table, interface, set.names, set.count);
}

static int count_filter(tm_selectivity *table, uint32_t interface, uint32_t filter) {
    name_set set = names_of(table, filter);
    for (uint32_t i = 0; i < set.count; i++) {
        uint32_t id = find_occurrence(table, interface, set.names[i]);
        if (id != 0) {
            table->occurrences[id].count++;
        } else if (make_occurrence(table, interface, set.names[i]) != TM_OK) {
            uncount(table, interface, set.names, i);
            return TM_NO_MEMORY;
        }
    }
    return TM_OK;
}

/* Count the names of all linked filters, which have become too many to be walked; TM_NO_MEMORY: unchanged. */
static int count_all(tm_selectivity *table, uint32_t interface) {
    for (uint32_t at = table->first[interface]; at != 0; at = table->next[at - 1]) {
        if (count_filter(table, interface, at - 1) != TM_OK) {
            for (uint32_t done = table->first[interface]; done != at; done = table->next[done - 1]) {
                uncount_filter(table, interface, done - 1);
            }
            return TM_NO_MEMORY;
        }
    }
    return TM_OK;
}

static void uncount_all(tm_selectivity *table, uint32_t interface) {
    for (uint32_t at = table->first[interface]; at != 0; at = table->next[at - 1]) {
        uncount_filter(table, interface, at - 1);
    }
}

/* ---- determinants ---- */

/* Keep in `set` the names that every filter from `at` on has. */
static void intersect(const tm_selectivity *table, uint32_t at, name_set *set) {
    for (; at != 0 && set->count > 0; at = table->next[at - 1]) {
        name_set other = names_of(table, at - 1);
        uint32_t kept = 0;
        for (uint32_t i = 0; i < set->count; i++) {
            if (holds(&other, set->names[i])) {
                set->names[kept++] = set->names[i];
            }
        }
        set->count = kept;
    }
}

/* Keep in `set` the names that were counted in all `size` filters. */
static void keep_counted(const tm_selectivity *table, uint32_t interface, uint32_t size, name_set *set) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < set->count; i++) {
        if (table->occurrences[find_occurrence(table, interface, set->names[i])].count == size) {
            set->names[kept++] = set->names[i];
        }
    }
    set->count = kept;
}

/* Return the determinants of an interface that has `size` filters linked. */
static name_set determinants(const tm_selectivity *table, uint32_t interface, uint32_t size) {
    name_set set = {.count = 0};
    uint32_t head = table->first[interface];
    if (size == 0) {
        return set;
    }
    set = names_of(table, head - 1);
    if (size > WALKED_MAX) {
        keep_counted(table, interface, size, &set);
    } else {
        intersect(table, table->next[head - 1], &set);
    }
    return set;
}

static void mark(tm_round *round, uint32_t interface, bool determined) {
    uint64_t bit = (uint64_t)1 << interface % 64;
    uint64_t *word = &round->interfaces[interface / 64];
    *word = determined ? *word | bit : *word & ~bit;
}

static void change(tm_selectivity *table, uint32_t interface, uint32_t name, bool determined) {
    table->determined[name] += determined ? 1u : -1u;
    table->total += determined ? 1u : (uint64_t)-1;
    table->changes++;
    if (table->row[name] != 0) {
        mark(&table->rounds[table->row[name] - 1], interface, determined);
    }
}

static void change_all(tm_selectivity *table, uint32_t interface, const name_set *before, const name_set *after) {
    for (uint32_t i = 0; i < before->count; i++) {
        if (!holds(after, before->names[i])) {
            change(table, interface, before->names[i], false);
        }
    }
    for (uint32_t i = 0; i < after->count; i++) {
        if (!holds(before, after->names[i])) {
            change(table, interface, after->names[i], true);
        }
    }
}

/* ---- the table ---- */

/* Find the names with the most interfaces, best first; returns their number. */
static uint32_t choose(const tm_selectivity *table, uint32_t best[TM_ROUNDS_MAX]) {
    uint32_t count = 0;
    for (uint32_t name = 1; name < table->determined_capacity; name++) {
        uint32_t determined = table->determined[name];
        if (determined == 0 || (count == table->wanted && determined <= table->determined[best[count - 1]])) {
            continue;
        }
        uint32_t at = count < table->wanted ? count++ : count - 1;
        for (; at > 0 && table->determined[best[at - 1]] < determined; at--) {
            best[at] = best[at - 1];
        }
        best[at] = name;
    }
    return count;
}

static void fill_round(tm_selectivity *table, tm_round *round) {
    for (uint32_t i = 0; i < table->first_capacity; i++) {
        if (table->first[i] != 0) {
            name_set set = determinants(table, i, tm_holders_filters(table->core->holders, i));
            mark(round, i, holds(&set, round->name));
        }
    }
}

static uint32_t words_needed(const tm_selectivity *table) {
    return table->first_capacity / 64 + 1;
}

static bool is_chosen(const uint32_t *best, uint32_t count, uint32_t name) {
    for (uint32_t i = 0; i < count; i++) {
        if (best[i] == name) {
            return true;
        }
    }
    return false;
}

/* Empty the rounds of names that are no longer among the best, for reuse. */
static void drop_rounds(tm_selectivity *table, const uint32_t *best, uint32_t count) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < table->count; i++) {
        tm_round round = table->rounds[i];
        table->row[round.name] = 0;
        if (is_chosen(best, count, round.name)) {
            table->rounds[i] = table->rounds[kept];
            table->rounds[kept++] = round;
            continue;
        }
        for (uint32_t word = 0; word < round.capacity; word++) {
            round.interfaces[word] = 0;
        }
    }
    table->count = kept;
}

static void swap_rounds(tm_selectivity *table, uint32_t a, uint32_t b) {
    tm_round round = table->rounds[a];
    table->rounds[a] = table->rounds[b];
    table->rounds[b] = round;
}

/* Make the first free round that of `name`; false if out of memory. */
static bool open_round(tm_selectivity *table, uint32_t name) {
    tm_round *round = &table->rounds[table->count];
    if (!tm_grow(table->memory, TM_HOT, &round->interfaces, sizeof *round->interfaces, &round->capacity,
                 words_needed(table))) {
        return false;
    }
    table->count++;
    round->name = name;
    fill_round(table, round);
    return true;
}

/* Move the round of `name` to place `at`, and make it if it has none; false if out of memory. */
static bool place_round(tm_selectivity *table, uint32_t at, uint32_t name) {
    uint32_t from = at;
    while (from < table->count && table->rounds[from].name != name) {
        from++;
    }
    if (from == table->count && !open_round(table, name)) {
        return false;
    }
    swap_rounds(table, at, from);
    return true;
}

/* Sort the table. Out of memory it has fewer rounds until it is sorted again. */
static void sort_table(tm_selectivity *table) {
    uint32_t best[TM_ROUNDS_MAX];
    uint32_t count = choose(table, best);
    drop_rounds(table, best, count);
    for (uint32_t i = 0; i < count && place_round(table, i, best[i]); i++) {
    }
    for (uint32_t i = 0; i < table->count; i++) {
        table->row[table->rounds[i].name] = i + 1;
    }
    table->changes = 0;
}

static void sort_if_due(tm_selectivity *table) {
    if (table->wanted > 0 && table->changes > CHANGES_MIN + table->total / 2) {
        sort_table(table);
    }
}

/* ---- changes ---- */

static int reserve(tm_selectivity *table, uint32_t interface, uint32_t filter) {
    tm_memory *memory = table->memory;
    uint32_t names = table->core->constraints.names.count * (table->typed ? TM_TYPES : 1);
    bool done =
        tm_grow(memory, TM_COLD, &table->first, sizeof *table->first, &table->first_capacity, interface + 1) &&
        tm_grow(memory, TM_COLD, &table->next, sizeof *table->next, &table->next_capacity, filter + 1) &&
        tm_grow(memory, TM_COLD, &table->previous, sizeof *table->previous, &table->previous_capacity, filter + 1) &&
        tm_grow(memory, TM_COLD, &table->determined, sizeof *table->determined, &table->determined_capacity, names) &&
        tm_grow(memory, TM_COLD, &table->row, sizeof *table->row, &table->row_capacity, names) &&
        tm_grow(memory, TM_HOT, &table->excluded, sizeof *table->excluded, &table->excluded_capacity,
                words_needed(table));
    for (uint32_t i = 0; done && i < table->count; i++) {
        tm_round *round = &table->rounds[i];
        done = tm_grow(memory, TM_HOT, &round->interfaces, sizeof *round->interfaces, &round->capacity,
                       words_needed(table));
    }
    return done ? TM_OK : TM_NO_MEMORY;
}

int tm_selectivity_add(tm_selectivity *table, uint32_t filter) {
    uint32_t interface = tm_holders_interface(table->core->holders, filter);
    uint32_t size = tm_holders_filters(table->core->holders, interface);
    if (reserve(table, interface, filter) != TM_OK) {
        return TM_NO_MEMORY;
    }
    name_set before = determinants(table, interface, size - 1);
    link_filter(table, interface, filter);
    int result = size > WALKED_MAX + 1    ? count_filter(table, interface, filter)
                 : size == WALKED_MAX + 1 ? count_all(table, interface)
                                          : TM_OK;
    if (result != TM_OK) {
        unlink_filter(table, interface, filter);
        return result;
    }
    name_set after = determinants(table, interface, size);
    change_all(table, interface, &before, &after);
    sort_if_due(table);
    return TM_OK;
}

void tm_selectivity_remove(tm_selectivity *table, uint32_t filter) {
    uint32_t interface = tm_holders_interface(table->core->holders, filter);
    uint32_t size = tm_holders_filters(table->core->holders, interface);
    name_set before = determinants(table, interface, size);
    if (size == WALKED_MAX + 1) {
        uncount_all(table, interface);
    } else if (size > WALKED_MAX + 1) {
        uncount_filter(table, interface, filter);
    }
    unlink_filter(table, interface, filter);
    name_set after = determinants(table, interface, size - 1);
    change_all(table, interface, &before, &after);
    if (tm_holders_used(table->core->holders) == 1) {
        forget(table); /* it was the last filter */
    }
}

/* ---- match ---- */

static bool has_name(const tm_named_message *message, uint32_t name) {
    for (size_t i = 0; i < message->count; i++) {
        if (message->names[i] == name) {
            return true;
        }
    }
    return false;
}

static bool has_typed(const tm_named_message *message, tm_need need) {
    uint32_t type = need % TM_TYPES;
    for (size_t i = 0; i < message->count; i++) {
        if (message->names[i] == need / TM_TYPES) {
            return type == TM_TYPE_ANY || type == tm_type_of(message->attributes[i].kind);
        }
    }
    return false;
}

tm_excluded tm_selectivity_exclude(tm_selectivity *table, const tm_named_message *message) {
    uint32_t words = table->excluded_capacity;
    if (table->count == 0 || words == 0) {
        return (tm_excluded){0};
    }
    memset(table->excluded, 0, sizeof *table->excluded * words);
    for (uint32_t i = 0; i < table->count; i++) {
        const tm_round *round = &table->rounds[i];
        if (table->typed ? has_typed(message, round->name) : has_name(message, round->name)) {
            continue;
        }
        uint32_t shared = round->capacity < words ? round->capacity : words;
        for (uint32_t word = 0; word < shared; word++) {
            table->excluded[word] |= round->interfaces[word];
        }
    }
    return (tm_excluded){table->excluded, words};
}

uint64_t tm_selectivity_excluded(const tm_selectivity *table) {
    uint64_t count = 0;
    for (uint32_t word = 0; word < table->excluded_capacity && table->count > 0; word++) {
        count += (uint64_t)__builtin_popcountll(table->excluded[word]);
    }
    return count;
}
