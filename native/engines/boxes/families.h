/* families.h - trees of boxes by the names that their boxes are ranges of.
 *
 * A *family* is all boxes over one set of names. It is listed under one of them, its home, which is one with a row that
 * takes it (see below), or else the one with the fewest families when it is made. A match reads the families of the
 * message's names, and skips those of which a name is missing. A family may have a *guard*, a word that only the owner
 * interprets: a test that all its boxes have besides. Families of equal names and different guards are different
 * families. Where the owner knows that one guard fails with another, such families are in a *row*, `stricter` by
 * `stricter`: when a guard fails, a match skips the rest of its row.
 *
 * Law: a family exists as long as it has a box. A name is a number of the owner's with a kind below 4 (`name << 2 |
 * kind`), the names of a family are sorted and distinct; of the kinds only TM_BOX_LABELLED has a meaning here.
 */
#ifndef TM_BOX_FAMILIES_H
#define TM_BOX_FAMILIES_H

#include <stddef.h>

#include "base/idset.h"
#include "engines/boxes/tree.h"

#define TM_BOX_LABELLED 2U /* the kind of names whose ends are constants */

#define TM_FAMILY_UNGUARDED UINT64_MAX
#define TM_FAMILY_NOT_SOLE UINT32_MAX /* no name */

/* true if failing the first guard implies failing the other. Never called for TM_FAMILY_UNGUARDED. */
typedef bool (*tm_guard_fails)(const void *owner, uint64_t first, uint64_t other);

/* What a match of a line reads comes first, and is contiguous. */
typedef struct tm_family {
    struct tm_family *next; /* of the first family of a row: the first one of the home's next row; borrowed */
    uint32_t sole;          /* the name of a family that has one and no guard; TM_FAMILY_NOT_SOLE for any other */
    uint32_t home;          /* without the kind */
    tm_boxes tree;
    uint64_t guard; /* TM_FAMILY_UNGUARDED: none */
    uint32_t names[TM_BOX_NAMES_MAX];
    struct tm_family *stricter; /* the next in the row: its guard fails where this one's does; borrowed */
    uint32_t place;             /* in `all` */
    uint32_t limits;            /* for the owner: boxes that are bounded on one side of one name */
    bool is_leaving;            /* for the owner: no box is added any more */
} tm_family;

typedef struct tm_family_home {
    tm_family *first; /* borrowed */
    uint32_t count;
} tm_family_home;

typedef struct tm_families {
    tm_memory *memory; /* borrowed */
    tm_box_moved moved;
    void *owner;                  /* borrowed; of `moved` and `fails_with` */
    tm_guard_fails fails_with;    /* NULL: nothing is known of guards, each is a row of its own */
    const int64_t *const *labels; /* borrowed; of names of kind TM_BOX_LABELLED: see tree.h. NULL: there are none */
    tm_family **all;              /* owned, and what they point at; [0] is not used */
    tm_family_home *homes;        /* owned; by name */
    tm_idset set;                 /* of places in `all`, by their names */
    uint32_t count;
    uint32_t guarded; /* of these, those that have a guard */
    uint32_t capacity;
    uint32_t home_capacity;
    uint32_t boxes; /* in all families */
    uint64_t bytes; /* approximate memory of the boxes */
} tm_families;

void tm_families_init(tm_families *families, tm_memory *memory, tm_box_moved moved, void *owner);
void tm_families_clear(tm_families *families);

/* Return the family, or NULL if there is none. */
tm_family *tm_families_find(const tm_families *families, const uint32_t *names, uint32_t count, uint64_t guard);
/* Insert the box in the family of these names and this guard, made if needed; false if out of memory, then nothing
 * changed. */
bool tm_families_insert(tm_families *families, const uint32_t *names, uint32_t count, uint64_t guard,
                        const tm_box *box);
/* Remove a box; the family is removed with its last box. */
void tm_families_remove(tm_families *families, tm_box_node *leaf, uint32_t id);

static inline tm_family *tm_family_of(const tm_box_node *leaf) {
    return (tm_family *)(void *)((uint8_t *)tm_boxes_of(leaf) - offsetof(tm_family, tree));
}

/* Return the first row of families whose home is the name, without its kind; the others follow by `next`. */
static inline const tm_family *tm_families_at(const tm_families *families, uint32_t name) {
    return name < families->home_capacity ? families->homes[name].first : NULL;
}

int tm_families_validate(const tm_families *families,
                         bool (*is_at)(const void *owner, uint32_t id, const tm_box_node *leaf), const char **reason);
/* Note one search for each family. */
void tm_families_probes(const tm_families *families, tm_probes *probes);

#endif
