/* factor.h - factoring, as in paper 002: names of few values are an index of subtrees, in place of tests.
 *
 * Law: a space is a filter that all its messages satisfy; a name with `=` or `in` in it has a finite domain. A few of
 * these names are factored: each combination of their values is the key of a root of its own. A filter is entered under
 * every key that it allows, without its labels on the factored names; the whole tree (PST_ROOT) has it as well, with
 * all its labels, for messages that fit no space. So a space changes what a match costs, and never what it finds.
 *
 *     space     a in {1, 2} and b in {1, 2, 3}, `a` being factored
 *     filter    a = 1 and b = 2   under a:1, behind b = 2       b >= 2    under a:1 and a:2, behind b >= 2
 *               b >= 1            under a:1 and a:2, without a test: each value of `b` satisfies it
 */
#ifndef TM_PST_FACTOR_H
#define TM_PST_FACTOR_H

#include "engines/pst/labels.h"

#define PST_ROOT 1U         /* of the whole tree */
#define PST_FACTORED_MAX 3U /* names of a space */
#define PST_KEYS_MAX 128U   /* of all spaces: as often may a filter be entered */

typedef struct pst_space {
    const tm_constraint *constraints; /* owned: a block of `size` bytes */
    size_t size;
    uint32_t count;
    uint32_t first; /* its roots are those from here on, one for each key */
    uint32_t keys;
    uint32_t factored;                /* number of factored names */
    uint8_t places[PST_FACTORED_MAX]; /* of their domains among the constraints; the last one changes fastest */
} pst_space;

typedef struct pst_factor {
    tm_memory *memory; /* borrowed */
    uint32_t names;    /* that are factored in a space, at most */
    pst_space *spaces; /* owned */
    uint32_t count;
    uint32_t capacity;
    uint32_t keys; /* of all spaces */
} pst_factor;

void pst_factor_free(pst_factor *factor);

/* Add a space, whose first names of finite domain are factored, as far as there are keys. A space without any is left
 * out. TM_NO_MEMORY: nothing has changed. */
int pst_factor_add(pst_factor *factor, const tm_filter *filter);

/* Return the root for a message; adds to `*steps` one for each space that is looked at. */
uint32_t pst_factor_root(const pst_factor *factor, const tm_attribute *attributes, size_t count, uint64_t *steps);
/* Return how many values the name of a label may have below a root; 0: it may have any, or be absent. */
uint32_t pst_factor_values(const pst_factor *factor, uint32_t root, const pst_label *label);

/* What a space leaves of a filter. */
typedef struct pst_share {
    uint32_t labels[TM_CONSTRAINTS_MAX]; /* those that are tested, in the order of the filter */
    uint32_t count;
    uint64_t allowed[PST_FACTORED_MAX][PST_KEYS_MAX / 64]; /* of each factored name: the places of its values */
} pst_share;

/* Set the share of a filter with these labels; false: no message of the space satisfies it. */
bool pst_factor_share(const pst_space *space, const pst_labels *labels, const uint32_t *ids, uint32_t count,
                      pst_share *share);
/* true if the filter allows the key */
bool pst_share_allows(const pst_share *share, const pst_space *space, uint32_t key);

#endif
