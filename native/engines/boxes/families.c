/* families.c - makes and removes families. Law: see families.h. */
#include <string.h>

#include "base/grow.h"
#include "engines/boxes/families.h"
#include "engines/boxes/node.h"
#include "engines/boxes/tree_validate.h"

#define HOMES_FIRST 16U

void tm_families_init(tm_families *families, tm_memory *memory, tm_box_moved moved, void *owner) {
    *families = (tm_families){.memory = memory, .moved = moved, .owner = owner};
}

static void free_arrays(tm_families *families) {
    TM_DELETE(families->memory, TM_HOT, families->all, tm_family *, families->capacity);
    TM_DELETE(families->memory, TM_HOT, families->homes, tm_family_home, families->home_capacity);
    tm_idset_free(&families->set, families->memory, TM_HOT);
    const int64_t *const *labels = families->labels;
    tm_guard_fails fails_with = families->fails_with;
    tm_families_init(families, families->memory, families->moved, families->owner);
    families->labels = labels;
    families->fails_with = fails_with;
}

void tm_families_clear(tm_families *families) {
    for (uint32_t place = 1; place <= families->count; place++) {
        tm_boxes_clear(&families->all[place]->tree);
        TM_DELETE(families->memory, TM_HOT, families->all[place], tm_family, 1);
    }
    free_arrays(families);
}

/* ---- by names ---- */

static uint64_t hash_names(const tm_families *families, const uint32_t *names, uint32_t count, uint64_t guard) {
    uint64_t hash = tm_hash_words(count, guard, TM_BOX_NAMES_MAX, &families->memory->key);
    for (uint32_t i = 0; i < count; i++) {
        hash = tm_hash_words(hash, names[i], i, &families->memory->key);
    }
    return hash;
}

static uint64_t hash_of(const void *owner, uint64_t place) {
    const tm_families *families = owner;
    const tm_family *family = families->all[place];
    return hash_names(families, family->names, family->tree.names, family->guard);
}

tm_family *tm_families_find(const tm_families *families, const uint32_t *names, uint32_t count, uint64_t guard) {
    if (families->count == 0) {
        return NULL;
    }
    tm_idset_search search = tm_idset_start(&families->set, hash_names(families, names, count, guard));
    uint32_t place;
    while ((place = tm_idset_next(&search)) != 0) {
        tm_family *family = families->all[place];
        if (family->tree.names == count && family->guard == guard &&
            memcmp(family->names, names, sizeof *names * count) == 0) {
            return family;
        }
    }
    return NULL;
}

/* ---- insertion and removal ---- */

static bool reserve(tm_families *families, uint32_t greatest_name) {
    return tm_grow(families->memory, TM_HOT, &families->all, sizeof *families->all, &families->capacity,
                   families->count + 2) &&
           tm_grow(families->memory, TM_HOT, &families->homes, sizeof *families->homes, &families->home_capacity,
                   greatest_name < HOMES_FIRST ? HOMES_FIRST : greatest_name + 1) &&
           tm_idset_reserve(&families->set, families->memory, TM_HOT, hash_of, families) == TM_OK;
}

static bool fails_with(const tm_families *families, const tm_family *first, const tm_family *other) {
    return families->fails_with != NULL && first->guard != TM_FAMILY_UNGUARDED && other->guard != TM_FAMILY_UNGUARDED &&
           families->fails_with(families->owner, first->guard, other->guard);
}

/* Return the link of a row, of which this is the first, where the family may be inserted; NULL if it is not of this
 * row. */
static tm_family **link_in_row(const tm_families *families, tm_family **first, const tm_family *family) {
    tm_family **link = first;
    while (*link != NULL && fails_with(families, *link, family)) {
        link = &(*link)->stricter;
    }
    bool is_last = *link == NULL;
    return is_last || fails_with(families, family, *link) ? link : NULL;
}

static void put_in_row(tm_family **link, bool is_first, tm_family *family) {
    family->stricter = *link;
    family->next = NULL;
    if (is_first) {
        family->next = (*link)->next;
        (*link)->next = NULL;
    }
    *link = family;
}

/* Insert the family into a row of the home that has a place for it; false if there is none. */
static bool join_row(const tm_families *families, uint32_t home, tm_family *family) {
    for (tm_family **first = &families->homes[home].first; *first != NULL; first = &(*first)->next) {
        tm_family **link = link_in_row(families, first, family);
        if (link != NULL) {
            put_in_row(link, link == first, family);
            return true;
        }
    }
    return false;
}

/* Insert the family into a row of one of its names, or else as a row of its own at the name with the fewest
 * families. */
static void hang_up(tm_families *families, tm_family *family) {
    bool joined = false;
    for (uint32_t i = 0; i < family->tree.names && family->guard != TM_FAMILY_UNGUARDED && !joined; i++) {
        family->home = family->names[i] >> 2;
        joined = join_row(families, family->home, family);
    }
    if (!joined) {
        family->home = family->names[0] >> 2;
        for (uint32_t i = 1; i < family->tree.names; i++) {
            uint32_t name = family->names[i] >> 2;
            family->home = families->homes[name].count < families->homes[family->home].count ? name : family->home;
        }
        family->next = families->homes[family->home].first;
        families->homes[family->home].first = family;
    }
    families->homes[family->home].count++;
}

static void label_names(const tm_families *families, tm_family *family) {
    tm_boxes *tree = &family->tree;
    tree->labels = families->labels;
    for (uint32_t i = 0; families->labels != NULL && i < tree->names; i++) {
        bool is_labelled = (family->names[i] & 3) == TM_BOX_LABELLED;
        tree->labelled |= is_labelled ? 1U << i | 1U << (tree->names + i) : 0;
    }
}

static tm_family *add_family(tm_families *families, const uint32_t *names, uint32_t count, uint64_t guard) {
    tm_family *family =
        reserve(families, names[count - 1] >> 2) ? TM_NEW(families->memory, TM_HOT, tm_family, 1) : NULL;
    if (family == NULL) {
        return NULL;
    }
    tm_boxes_init(&family->tree, families->memory, count, families->moved, families->owner);
    memcpy(family->names, names, sizeof *names * count);
    label_names(families, family);
    family->guard = guard;
    family->sole = count == 1 && guard == TM_FAMILY_UNGUARDED ? names[0] : TM_FAMILY_NOT_SOLE;
    families->guarded += guard != TM_FAMILY_UNGUARDED;
    families->bytes += tm_memory_charge(sizeof *family);
    family->place = ++families->count;
    families->all[family->place] = family;
    hang_up(families, family);
    tm_idset_insert(&families->set, hash_of(families, family->place), family->place);
    return family;
}

static void take_down(tm_families *families, tm_family *family) {
    tm_family_home *home = &families->homes[family->home];
    tm_family **first = &home->first;
    tm_family **link = first;
    while (*link != family) {
        link = &(*link)->stricter;
        if (*link == NULL) {
            first = &(*first)->next;
            link = first;
        }
    }
    *link = family->stricter;
    if (link == first && *link != NULL) {
        (*link)->next = family->next;
    } else if (link == first) {
        *link = family->next;
    }
    home->count--;
}

static void drop_if_empty(tm_families *families, tm_family *family) {
    if (family->tree.count > 0) {
        return;
    }
    take_down(families, family);
    tm_idset_remove(&families->set, hash_of(families, family->place), family->place, hash_of, families);
    families->guarded -= family->guard != TM_FAMILY_UNGUARDED;
    families->bytes -= tm_memory_charge(sizeof *family);
    tm_family *last = families->all[families->count];
    if (last != family) { /* the last family moves to the free place, and the set is updated */
        uint64_t hash = hash_of(families, last->place);
        tm_idset_remove(&families->set, hash, last->place, hash_of, families);
        last->place = family->place;
        families->all[last->place] = last;
        tm_idset_insert(&families->set, hash, last->place);
    }
    families->count--;
    TM_DELETE(families->memory, TM_HOT, family, tm_family, 1);
    if (families->count == 0) {
        free_arrays(families);
    }
}

bool tm_families_insert(tm_families *families, const uint32_t *names, uint32_t count, uint64_t guard,
                        const tm_box *box) {
    tm_family *family = tm_families_find(families, names, count, guard);
    if (family == NULL) {
        family = add_family(families, names, count, guard);
    }
    if (family == NULL) {
        return false;
    }
    if (!tm_boxes_insert(&family->tree, box)) {
        drop_if_empty(families, family);
        return false;
    }
    families->boxes++;
    families->bytes += tm_boxes_bytes(count);
    return true;
}

void tm_families_remove(tm_families *families, tm_box_node *leaf, uint32_t id) {
    tm_family *family = tm_family_of(leaf);
    families->boxes--;
    families->bytes -= tm_boxes_bytes(family->tree.names);
    tm_boxes_remove(leaf, id);
    drop_if_empty(families, family);
}

/* ---- validation ---- */

static int validate_homes(const tm_families *families, const char **reason) {
    uint32_t hung = 0;
    for (uint32_t name = 0; name < families->home_capacity; name++) {
        uint32_t count = 0;
        for (const tm_family *first = families->homes[name].first; first != NULL; first = first->next) {
            for (const tm_family *family = first; family != NULL; family = family->stricter) {
                count += family->home == name && (family == first || family->next == NULL) &&
                         (family->stricter == NULL || fails_with(families, family, family->stricter));
            }
        }
        if (count != families->homes[name].count) {
            *reason = "a name has a wrong number of families";
            return TM_MISUSED;
        }
        hung += count;
    }
    if (hung != families->count) {
        *reason = "a family hangs on no name";
        return TM_MISUSED;
    }
    return TM_OK;
}

int tm_families_validate(const tm_families *families,
                         bool (*is_at)(const void *owner, uint32_t id, const tm_box_node *leaf), const char **reason) {
    uint32_t boxes = 0;
    int result = validate_homes(families, reason);
    for (uint32_t place = 1; place <= families->count && result == TM_OK; place++) {
        const tm_family *family = families->all[place];
        boxes += family->tree.count;
        result = tm_boxes_validate(&family->tree, is_at, reason);
        if (result == TM_OK &&
            (family->place != place || family->tree.count == 0 ||
             tm_families_find(families, family->names, family->tree.names, family->guard) != family)) {
            *reason = "a family of boxes is not found, or has no use";
            return TM_MISUSED;
        }
    }
    if (result == TM_OK && (boxes != families->boxes || !tm_idset_is_sound(&families->set, hash_of, families))) {
        *reason = "the count of all boxes or the set of their families is wrong";
        return TM_MISUSED;
    }
    return result;
}

void tm_families_probes(const tm_families *families, tm_probes *probes) {
    tm_idset_probes(&families->set, hash_of, families, probes);
}
