/* labels.h - the constraints of filters on one name: the edges of the search tree.
 *
 * Law: all constraints of a filter on one name are one label, a conjunction; equal labels are one id as long as a hub
 * has a reference. A label's constraints are sorted and distinct, so that filters with equal constraints in another
 * order share it. A label is evaluated at most once a message.
 */
#ifndef TM_PST_LABELS_H
#define TM_PST_LABELS_H

#include "engines/papers/intern.h"
#include "model/filter.h"
#include "model/number.h"

#define PST_NONE 0U /* no label, name, hub or test: ids begin at 1 */

/* How the hubs behind a label are found. */
typedef enum {
    PST_EQUAL, /* one equality: by the label of the message's value */
    PST_LOW,   /* no value below a number satisfies it: `>`, `>=`, `between` */
    PST_HIGH,  /* no value above a number satisfies it: `<`, `<=` */
    PST_OTHER, /* each is evaluated */
} pst_label_kind;

typedef struct pst_label {
    const tm_constraint *constraints; /* owned: a block of `size` bytes */
    size_t size;
    tm_number_key bound; /* of PST_LOW and PST_HIGH */
    uint32_t name;       /* referenced */
    uint32_t holders;    /* of a free id: the next free one */
    uint32_t message;    /* for which `holds` is valid */
    uint8_t count;       /* of constraints; 0: the id is free */
    uint8_t kind;
    bool is_strict; /* of a bound that the number itself does not satisfy */
    bool lacks;     /* it holds for a message without the name: all its constraints are negated */
    bool holds;
} pst_label;

/* The data of a name: as many rows as there are ids in `names`. */
typedef struct pst_name {
    uint32_t filters; /* that have a constraint on it */
    uint32_t rank;    /* `filters` when ranks were last taken */
    uint32_t labels;  /* number of its labels */
    uint32_t at;      /* index of its attribute in the message; valid if `message` is the current one */
    uint32_t message;
} pst_name;

typedef struct pst_labels {
    tm_memory *memory; /* borrowed */
    tm_intern names;
    pst_name *of_names; /* owned; by id of `names` */
    pst_label *rows;    /* owned; [0] unused */
    uint32_t name_capacity;
    uint32_t capacity;
    uint32_t count; /* rows ever used, [0] included */
    uint32_t free;
    uint64_t block_bytes; /* of all constraints */
    tm_idset ids;
} pst_labels;

/* The parts of a filter: its constraints by name. */
typedef struct pst_parts {
    tm_constraint constraints[TM_CONSTRAINTS_MAX]; /* those of a label are adjacent, sorted */
    uint8_t ends[TM_CONSTRAINTS_MAX];              /* of each label, after its last constraint */
    uint32_t count;                                /* of labels */
} pst_parts;

/* Return an upper bound of the names with a row: all that are referenced. */
static inline uint32_t pst_labels_names(const pst_labels *labels) {
    return labels->names.count < labels->name_capacity ? labels->names.count : labels->name_capacity;
}

int pst_labels_init(pst_labels *labels, tm_memory *memory);
void pst_labels_free(pst_labels *labels);
/* Free the room of all labels; there must be neither filter nor label. */
void pst_labels_forget(pst_labels *labels);

/* Sort the constraints of a filter into labels; `parts` borrows from the filter. */
void pst_parts_of(const tm_filter *filter, pst_parts *parts);

/* Write the ids of the labels of a filter, `parts->count` of them, and add a reference to each. TM_NO_MEMORY: nothing
 * has changed. */
int pst_labels_hold_all(pst_labels *labels, const pst_parts *parts, uint32_t *ids);
void pst_labels_hold(pst_labels *labels, uint32_t id);
/* Release a reference; the last one frees the label. */
void pst_labels_release(pst_labels *labels, uint32_t id);

/* Return the label `= value` of the attribute, of that name; PST_NONE if no filter has it. */
uint32_t pst_labels_of_value(const pst_labels *labels, uint32_t name, const tm_attribute *attribute);

/* true if the label holds for the attribute. It is evaluated the first time in `message`; the cost is added to
 * `*steps`. */
bool pst_label_holds(pst_label *label, const tm_attribute *attribute, uint32_t message, uint64_t *steps);

void pst_labels_probes(const pst_labels *labels, tm_probes *probes);
/* `holders[id]` is the number of references that the caller has on the label `id`. */
int pst_labels_validate(const pst_labels *labels, const uint32_t *holders, const char **reason);

#endif
