/* test_boxes.c - trees of boxes against a list of boxes.
 *
 * Law: after every few changes each tree validates, and a point finds the boxes that a look at each of them finds; an
 * insertion that fails changes nothing; a point in hostile boxes costs no more steps than all of them looked at.
 */
#include <math.h>

#include "engines/boxes/box.h"
#include "engines/boxes/tree.h"
#include "engines/boxes/tree_match.h"
#include "engines/boxes/tree_validate.h"
#include "model/number.h"
#include "support.h"

#define BOXES_MAX 2000U

typedef struct world {
    tm_memory memory;
    tm_boxes tree;
    tm_box boxes[BOXES_MAX];
    tm_box_node *leafs[BOXES_MAX]; /* NULL: the box is not in the tree */
    uint8_t found[BOXES_MAX];
} world;

static world w;

static void moved(void *owner, uint32_t id, tm_box_node *leaf) {
    ((world *)owner)->leafs[id] = leaf;
}

static bool is_at(const void *owner, uint32_t id, const tm_box_node *leaf) {
    return ((const world *)owner)->leafs[id] == leaf;
}

static void begin(uint32_t names) {
    w.memory = (tm_memory){.key = {1, 2, 3}};
    memset(w.leafs, 0, sizeof w.leafs);
    tm_boxes_init(&w.tree, &w.memory, names, moved, &w);
}

static void check_sound(void) {
    const char *reason = "";
    CHECK(tm_boxes_validate(&w.tree, is_at, &reason) == TM_OK, "%s", reason);
}

/* A number that is met again: integers, fractions, and integers that are no floats. */
static void random_number(dice *d, bool *is_real, int64_t *integer, double *real) {
    *is_real = below(d, 4) == 0;
    *integer = below(d, 8) == 0 ? (INT64_C(1) << 53) + (int64_t)below(d, 9) - 4 : (int64_t)below(d, 40) - 20;
    *real = ((double)below(d, 80) - 40) / 4 + 0.125;
}

typedef enum { ANY, EQUAL, NESTED, POINTS } shape;

static void random_box(dice *d, shape shape, uint32_t id, tm_box *box) {
    uint32_t names = w.tree.names;
    tm_box_open(box, names);
    for (uint32_t name = 0; name < names; name++) {
        for (uint32_t bounds = below(d, 3); shape == ANY && bounds > 0; bounds--) {
            bool is_real;
            int64_t integer;
            double real;
            random_number(d, &is_real, &integer, &real);
            tm_box_value bound = tm_box_value_of(is_real, integer, real);
            if (bound.below == bound.above) {
                bool is_low = below(d, 2);
                bool is_strict = below(d, 2);
                tm_box_narrow(box, names, name, is_low, is_strict, bound.below);
            }
        }
        if (shape != ANY) {
            double at = shape == NESTED ? id : shape == POINTS ? below(d, 1000) : 1;
            tm_box_narrow(box, names, name, true, false, shape == POINTS ? at : -at);
            tm_box_narrow(box, names, name, false, false, at);
        }
    }
    uint32_t interface = below(d, 400);
    box->id = id;
    box->payload = interface;
    box->track = interface < TM_BOX_TRACKED ? (uint16_t)interface : TM_BOX_UNTRACKED;
}

/* ---- asking ---- */

typedef struct point {
    bool is_real[TM_BOX_NAMES_MAX];
    int64_t integers[TM_BOX_NAMES_MAX];
    double reals[TM_BOX_NAMES_MAX];
} point;

static bool note_found(tm_box_query *query, const uint32_t *ids, const uint32_t *payloads, uint32_t rows,
                       uint32_t count) {
    world *all = query->owner;
    CHECK(count == (uint32_t)__builtin_popcount(rows), "%u rows are counted as %u", rows, count);
    for (; rows != 0; rows &= rows - 1) {
        uint32_t row = (uint32_t)__builtin_ctz(rows);
        CHECK(payloads[row] == all->boxes[ids[row]].payload, "box %u", ids[row]);
        all->found[ids[row]]++;
    }
    return true;
}

/* What the box says of one value, by comparing exactly: a strict bound stands one float inside of its constant. */
static bool holds(const tm_box *box, uint32_t names, uint32_t name, const point *at) {
    double low = box->ends[name];
    double high = box->ends[names + name];
    bool low_strict = box->strict >> name & 1;
    bool high_strict = box->strict >> (names + name) & 1;
    low = low_strict ? nextafter(low, -INFINITY) : low;
    high = high_strict ? nextafter(high, INFINITY) : high;
    int to_low = low == -INFINITY ? 1
                                  : tm_number_compare(at->integers[name], at->reals[name], at->is_real[name],
                                                      (int64_t)low, low, low != (double)(int64_t)low);
    int to_high = high == INFINITY ? -1
                                   : tm_number_compare(at->integers[name], at->reals[name], at->is_real[name],
                                                       (int64_t)high, high, high != (double)(int64_t)high);
    return (to_low > 0 || (to_low == 0 && !low_strict)) && (to_high < 0 || (to_high == 0 && !high_strict));
}

static bool contains(const tm_box *box, uint32_t names, const point *at) {
    for (uint32_t name = 0; name < names; name++) {
        if (!holds(box, names, name, at)) {
            return false;
        }
    }
    return true;
}

static uint64_t ask(dice *d, bool settle) {
    point at;
    tm_box_query query = {.work = {.steps_max = UINT64_MAX}, .found = note_found, .owner = &w};
    for (uint32_t name = 0; name < w.tree.names; name++) {
        random_number(d, &at.is_real[name], &at.integers[name], &at.reals[name]);
        query.values[name] = tm_box_value_of(at.is_real[name], at.integers[name], at.reals[name]);
    }
    for (uint32_t word = 0; word < TM_BOX_WORDS && settle; word++) {
        query.settled[word] = below(d, 3) == 0 ? UINT64_MAX : (uint64_t)below(d, UINT32_MAX) << 20;
    }
    memset(w.found, 0, sizeof w.found);
    tm_boxes_match(&w.tree, &query);
    for (uint32_t id = 0; id < BOXES_MAX; id++) {
        bool in = w.leafs[id] != NULL && contains(&w.boxes[id], w.tree.names, &at);
        uint16_t track = w.boxes[id].track;
        bool settled = track != TM_BOX_UNTRACKED && (query.settled[track / 64] >> (track % 64) & 1);
        CHECK(w.found[id] == in || (settled && w.found[id] == 0), "box %u: %u, not %u", id, w.found[id], in);
    }
    return query.work.steps;
}

/* ---- changing ---- */

static void add(dice *d, shape shape, uint32_t id, bool may_fail) {
    tm_box box = {0};
    random_box(d, shape, id, &box);
    w.boxes[id] = box;
    for (uint64_t n = 1;; n++) {
        uint32_t before = w.tree.count;
        w.memory.fail_in = may_fail ? n : 0;
        bool is_in = tm_boxes_insert(&w.tree, &box);
        w.memory.fail_in = 0;
        if (is_in) {
            return;
        }
        CHECK(w.tree.count == before && w.leafs[id] == NULL, "an insertion that failed changed the tree");
        check_sound();
    }
}

static void drop(uint32_t id) {
    tm_box_node *leaf = w.leafs[id];
    tm_box kept;
    tm_boxes_at(leaf, id, &kept);
    CHECK(kept.id == id && kept.payload == w.boxes[id].payload, "box %u", id);
    w.leafs[id] = NULL;
    tm_boxes_remove(leaf, id);
}

static void walk(uint64_t seed, uint32_t names, shape shape, uint32_t most) {
    dice d = {seed};
    begin(names);
    for (uint32_t step = 0; step < 5 * most; step++) {
        uint32_t id = below(&d, most);
        bool growing = step / most % 2 == 0;
        if (w.leafs[id] != NULL && (!growing || below(&d, 4) == 0)) {
            drop(id);
        } else if (w.leafs[id] == NULL && (growing || below(&d, 4) == 0)) {
            add(&d, shape, id, step % 7 == 0);
        }
        if (step % 40 == 0) {
            check_sound();
            ask(&d, step % 80 == 0);
        }
    }
    for (uint32_t id = 0; id < most; id++) {
        if (w.leafs[id] != NULL) {
            drop(id);
        }
    }
    CHECK(w.tree.root == NULL && w.memory.bytes == 0, "%lu bytes are left", (unsigned long)w.memory.bytes);
}

/* All equal, each around the last one, and all apart: in sorted order, as that is what trees fear. */
static void endure(shape shape, const char *name) {
    dice d = {5};
    uint64_t most = 0;
    begin(2);
    for (uint32_t id = 0; id < BOXES_MAX; id++) {
        add(&d, shape, id, false);
    }
    check_sound();
    for (int i = 0; i < 200; i++) {
        uint64_t steps = ask(&d, false);
        most = steps > most ? steps : most;
    }
    printf("%s: %u boxes, at most %lu steps a point, %lu bytes a box\n", name, BOXES_MAX, (unsigned long)most,
           (unsigned long)(w.memory.bytes / BOXES_MAX));
    CHECK(most < 3 * BOXES_MAX, "%lu steps", (unsigned long)most);
    tm_boxes_clear(&w.tree);
    CHECK(w.memory.bytes == 0, "%lu bytes are left", (unsigned long)w.memory.bytes);
}

int main(void) {
    for (uint32_t names = 1; names <= TM_BOX_NAMES_MAX; names++) {
        printf("%u names\n", names);
        fflush(stdout);
        walk(names, names, ANY, 60);
        walk(names + 100, names, ANY, 900);
        walk(names + 200, names, EQUAL, 300);
    }
    endure(EQUAL, "equal");
    endure(NESTED, "nested");
    endure(POINTS, "points");
    return 0;
}
