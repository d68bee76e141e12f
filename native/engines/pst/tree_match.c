/* tree_match.c - one message down the tree: the matching and the refinement of paper 002.
 *
 * Law: the search begins at the root of the message's key (factor.h). A mask of the undecided interfaces goes down with
 * it. A node below which there is none of them is skipped (all No); a filter that ends at a hub is Yes at once, for all
 * interfaces of its group, and for those of groups that reach nothing else; the match ends when nothing is undecided.
 * Below a key, where only interfaces are asked for, a hub is asked for those that it is sure of, in place of its
 * filters, and they are Yes without a way to a filter. papers/models/pst_hubs.py takes these steps one by one:
 *
 *     a space that the message is compared with                           1
 *     a test of a hub, searched or read                                   1
 *     a filter that ends at a hub, or an undecided interface in `sure`    1
 *     a state of hubs that are followed together (joint.h)                1
 *     a hub below a test that is no equality, and a search among bounds   1
 *     a label that is evaluated the first time                            tm_constraint_steps of its constraints
 *     the equality label of a text                                        1 for each WORK_BYTES of it
 */
#include "engines/pst/tree_match.h"

typedef struct search {
    pst_tree *tree;
    pst_joint *joint;
    tm_answer *answer;
    const tm_attribute *attributes; /* of the message, as are `names` and `values` */
    uint32_t names[TM_ATTRIBUTES_MAX];
    uint32_t values[TM_ATTRIBUTES_MAX]; /* labels; PST_NONE: no filter has the value */
    uint32_t known;                     /* attributes whose names some filter has: the entries of `names` */
    uint32_t message;
    const uint16_t *ring; /* NULL: each interface is its own group, or groups are unknown */
    uint32_t ring_count;
    uint32_t undecided; /* positions in `live`, without the last one */
    bool over;
    bool refines; /* an interface that has matched is decided */
    bool is_sure; /* the sets `sure` take the place of filters that end at a hub */
    uint64_t reached;
    uint64_t live[PST_POSITION_WORDS];
} search;

static void visit_hub(search *at, const pst_hub *hub);

static void spend(search *at, uint64_t steps) {
    at->over |= !tm_work_spend(&at->answer->work, steps);
}

/* true if an undecided interface may be below. */
static bool is_live(const search *at, const pst_trits *some) {
    return !at->tree->annotated || pst_trits_meet(some, at->live);
}

/* ---- filters that end at a hub ---- */

static void decide_one(search *at, uint32_t position) {
    if (position < PST_POSITIONS - 1 && tm_bit_at(at->live, position)) {
        tm_bit_clear(at->live, position);
        at->undecided--;
    }
}

/* Decide groups that reach nothing new. */
static void decide_reached(search *at) {
    const tm_answer *answer = at->answer;
    for (uint32_t word = 0; word < PST_POSITION_WORDS; word++) {
        for (uint64_t left = at->live[word]; left != 0; left &= left - 1) {
            uint32_t position = word * 64 + (uint32_t)__builtin_ctzll(left);
            uint64_t reaches = position < PST_POSITIONS - 1 ? answer->query->reaches[answer->grouping[position]] : 0;
            if (reaches != 0 && (reaches & ~at->reached) == 0) {
                decide_one(at, position);
            }
        }
    }
}

/* true if the answer omits groups that reach nothing new. */
static bool looks_at_reach(const search *at) {
    return at->answer->form == TM_ANSWER_GROUPS && at->answer->query->reaches != NULL;
}

/* Decide the group of an interface that has matched. */
static void decide(search *at, uint32_t interface) {
    if (at->ring == NULL || interface >= at->ring_count) {
        decide_one(at, pst_position(interface));
    } else {
        uint32_t other = interface;
        do {
            decide_one(at, other);
            other = at->ring[other];
        } while (other != interface);
    }
    if (looks_at_reach(at)) {
        at->reached |= at->answer->query->reaches[at->answer->grouping[interface]];
        decide_reached(at);
    }
    at->over |= at->undecided == 0 && !tm_bit_at(at->live, PST_POSITIONS - 1);
}

/* Emit a filter of an interface, unless that adds nothing. */
static void say(search *at, uint32_t interface, uint32_t handle) {
    spend(at, 1);
    if (at->over || !tm_answer_open(at->answer, interface)) {
        return;
    }
    tm_answer_emit(at->answer, interface, handle);
    if (at->refines) {
        decide(at, interface);
    }
    at->over |= tm_answer_is_full(at->answer);
}

/* Emit the undecided interfaces that the hub is sure of; deciding one may decide others. */
static void say_sure(search *at, const pst_trits *sure) {
    for (uint32_t word = 0; word < PST_POSITION_WORDS; word++) {
        for (uint64_t left; (left = pst_trits_word(sure, word) & at->live[word]) != 0 && !at->over;) {
            uint32_t interface = word * 64 + (uint32_t)__builtin_ctzll(left);
            say(at, interface, 0); /* the answer has no handles */
            decide_one(at, interface);
        }
    }
}

static void visit_filters(search *at, const pst_hub *hub) {
    if (at->is_sure) {
        say_sure(at, &at->tree->sure_hubs[hub - at->tree->hubs]);
        return;
    }
    for (uint32_t seat = hub->here; seat != PST_NONE && !at->over; seat = at->tree->seats[seat].next) {
        uint32_t handle = at->tree->seats[seat].handle;
        say(at, tm_holders_interface(at->tree->holders, handle), handle);
    }
}

/* ---- tests ---- */

static void try_hub(search *at, uint32_t id) {
    const pst_hub *hub = &at->tree->hubs[id];
    if (is_live(at, &hub->some)) {
        visit_hub(at, hub);
    }
}

/* Visit a hub whose label has to be evaluated. */
static void ask_hub(search *at, uint32_t id, const tm_attribute *attribute) {
    uint64_t steps = 1;
    pst_label *label = &at->tree->labels.rows[at->tree->hubs[id].label];
    bool holds = pst_label_holds(label, attribute, at->message, &steps);
    spend(at, steps);
    if (holds && !at->over) {
        try_hub(at, id);
    }
}

static void ask_run(search *at, const tm_run *run, uint32_t begin, uint32_t end, const tm_attribute *attribute) {
    for (uint32_t i = begin; i < end && !at->over; i++) {
        ask_hub(at, run->entries[i].constraint, attribute);
    }
}

/* Visit the bounds that a number may satisfy: low ones before it, high ones after it. */
static void visit_bounds(search *at, const pst_bounds *bounds, const tm_attribute *attribute) {
    if (attribute->kind != TM_KIND_INTEGER && attribute->kind != TM_KIND_FLOAT) {
        return;
    }
    spend(at, 1);
    tm_probe probe =
        tm_probe_number(tm_number_key_of(attribute->integer, attribute->real, attribute->kind == TM_KIND_FLOAT));
    probe.tag = 1;
    tm_place low = tm_ordered_seek(&bounds->low, NULL, &probe);
    for (uint32_t run = 0; run <= low.run && run < bounds->low.count && !at->over; run++) {
        const tm_run *all = &bounds->low.runs[run];
        ask_run(at, all, 0, run < low.run ? all->count : low.index, attribute);
    }
    tm_place high = tm_ordered_seek(&bounds->high, NULL, &probe);
    for (uint32_t run = high.run; run < bounds->high.count && !at->over; run++) {
        const tm_run *all = &bounds->high.runs[run];
        ask_run(at, all, run == high.run ? high.index : 0, all->count, attribute);
    }
}

/* Visit the test of a name that is at `place` in the message. */
static void visit_present(search *at, uint32_t id, uint32_t place) {
    const pst_tree *tree = at->tree;
    const pst_test *test = &tree->tests[id];
    if (test->first[PST_LIST_EQUAL] != PST_NONE && at->values[place] != PST_NONE) {
        uint32_t hub = pst_tree_hub(tree, id, at->values[place]);
        if (hub != PST_NONE) {
            try_hub(at, hub);
        }
    }
    if (test->bounds != NULL && test->bounds->low.count + test->bounds->high.count > 0 && !at->over) {
        visit_bounds(at, test->bounds, &at->attributes[place]);
    }
    for (uint32_t hub = test->first[PST_LIST_OTHER]; hub != PST_NONE && !at->over; hub = tree->hubs[hub].next) {
        ask_hub(at, hub, &at->attributes[place]);
    }
}

/* Visit the test of a name that the message lacks. */
static void visit_absent(search *at, const pst_test *test) {
    const pst_tree *tree = at->tree;
    uint32_t left = test->lacking;
    for (uint32_t hub = test->first[PST_LIST_OTHER]; left > 0 && !at->over; hub = tree->hubs[hub].next) {
        bool lacks = tree->labels.rows[tree->hubs[hub].label].lacks;
        spend(at, 1);
        left -= lacks;
        if (lacks && !at->over) {
            try_hub(at, hub);
        }
    }
}

static void visit_test(search *at, uint32_t id) {
    const pst_test *test = &at->tree->tests[id];
    const pst_name *name = &at->tree->labels.of_names[test->name];
    if (!is_live(at, &test->some)) {
        return;
    }
    if (name->message == at->message) {
        visit_present(at, id, name->at);
    } else {
        visit_absent(at, test);
    }
}

/* ---- hubs ---- */

static void look_at_tests(search *at, uint32_t first) {
    for (uint32_t test = first; test != PST_NONE && !at->over; test = at->tree->tests[test].next) {
        spend(at, 1);
        if (!at->over) {
            visit_test(at, test);
        }
    }
}

/* Search for tests by the names of the message; tests that may hold without their name are not among them. */
static void look_for_tests(search *at, uint32_t hub) {
    for (uint32_t i = 0; i < at->known && !at->over; i++) {
        uint32_t test = pst_tree_test(at->tree, hub, at->names[i]);
        spend(at, 1);
        if (test != PST_NONE && !at->over && at->tree->tests[test].lacking == 0) {
            visit_test(at, test);
        }
    }
}

/* Visit the tests of a hub: a few are read one by one, of many those of the message's names are searched. */
static void visit_tests(search *at, const pst_hub *hub) {
    if (hub->tests <= at->known) {
        look_at_tests(at, hub->first[0]);
    } else {
        look_for_tests(at, (uint32_t)(hub - at->tree->hubs));
    }
    look_at_tests(at, hub->first[1]);
}

/* ---- hubs that are followed together ---- */

static void enter_all(search *at, const pst_step *step) {
    for (uint32_t i = 0; i < step->count && !at->over; i++) {
        const pst_hub *hub = &at->tree->hubs[step->entered[i]];
        if (!is_live(at, &hub->some)) {
            continue;
        }
        visit_filters(at, hub);
        if ((step->alone >> i & 1) != 0 && !at->over) {
            visit_tests(at, hub);
        }
    }
}

/* Follow a state to its end. Recursion happens only where the waiting hubs are two states, and so where a hub was
 * entered: once for each name of the message. */
static void visit_state(search *at, pst_state *state) {
    pst_step step;
    pst_state other;
    do {
        const pst_name *name = &at->tree->labels.of_names[state->next];
        spend(at, 1);
        if (at->over) {
            return;
        }
        uint32_t value = name->message == at->message ? at->values[name->at] : PST_NONE;
        pst_joint_step(at->joint, at->tree, state, value, &step);
        enter_all(at, &step);
        if (!at->over && pst_joint_next(at->joint, &step, 1, &other)) {
            visit_state(at, &other);
        }
    } while (!at->over && pst_joint_next(at->joint, &step, 0, state));
}

static void visit_hub(search *at, const pst_hub *hub) {
    pst_state state;
    visit_filters(at, hub);
    if (hub->tests == 0 || at->over) {
        return;
    }
    if (pst_joint_begin(at->joint, at->tree, (uint32_t)(hub - at->tree->hubs), &state)) {
        visit_state(at, &state);
    } else {
        visit_tests(at, hub);
    }
}

/* ---- the message and the mask ---- */

static void read_message(search *at, const tm_attribute *attributes, size_t count) {
    pst_labels *labels = &at->tree->labels;
    at->known = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t name = tm_intern_find(&labels->names, attributes[i].name, attributes[i].name_length);
        if (name == PST_NONE) {
            continue;
        }
        labels->of_names[name].message = at->message;
        labels->of_names[name].at = (uint32_t)i;
        at->names[at->known++] = name;
        at->values[i] = pst_labels_of_value(labels, name, &attributes[i]);
        if (attributes[i].kind == TM_KIND_STRING && attributes[i].length <= TM_OPERAND_BYTES_MAX) {
            spend(at, attributes[i].length / WORK_BYTES);
        }
    }
}

/* Initialise the mask of undecided interfaces: the initialization mask of the paper. */
static void begin_mask(search *at) {
    const tm_answer *answer = at->answer;
    const tm_holders *holders = at->tree->holders;
    uint32_t interfaces = holders->interface_count;
    at->undecided = 0;
    for (uint32_t word = 0; word < PST_POSITION_WORDS; word++) {
        uint64_t open = 0;
        if (word * 64 < interfaces && answer->grouping == NULL) {
            open = word < tm_bit_words(answer->group_count) ? tm_answer_open_word(answer, word) : 0;
        } else if (word * 64 < interfaces) {
            for (uint64_t left = holders->occupied[word]; left != 0; left &= left - 1) {
                uint32_t interface = word * 64 + (uint32_t)__builtin_ctzll(left);
                open |= tm_answer_open(answer, interface) ? left & -left : 0;
            }
        }
        at->live[word] = open;
        at->undecided += tm_bit_count(open);
    }
    if (tm_bit_at(at->live, PST_POSITIONS - 1)) {
        at->undecided--;
    }
    if (interfaces >= PST_POSITIONS) {
        tm_bit_set(at->live, PST_POSITIONS - 1); /* it stands for other interfaces, which the mask does not have */
    }
}

static uint32_t choose_root(search *at, const tm_attribute *attributes, size_t count) {
    uint64_t steps = 0;
    uint32_t root = pst_factor_root(&at->tree->factor, attributes, count, &steps);
    spend(at, steps);
    return root;
}

void pst_tree_match(pst_tree *tree, pst_joint *joint, uint32_t message, const pst_rings *rings,
                    const tm_attribute *attributes, size_t count, tm_answer *answer) {
    search at; /* not cleared: its arrays are written before they are read */
    at.tree = tree;
    at.joint = joint;
    at.answer = answer;
    at.attributes = attributes;
    at.message = message;
    at.ring = rings != NULL ? rings->next : NULL;
    at.ring_count = rings != NULL ? rings->count : 0;
    at.over = tm_answer_is_full(answer);
    at.refines = tree->annotated && answer->form < TM_ANSWER_ALL; /* one match decides an interface */
    uint32_t root = PST_ROOT;
    if (!at.over) {
        root = choose_root(&at, attributes, count);
    }
    at.is_sure = at.refines && answer->form != TM_ANSWER_WHICH && root != PST_ROOT &&
                 tree->holders->interface_count < PST_POSITIONS; /* the last position is no interface */
    if (tree->annotated && !at.over) {
        begin_mask(&at);
        at.reached = answer->query->reached;
        if (at.reached != 0 && looks_at_reach(&at)) {
            decide_reached(&at);
        }
        at.over |= !pst_trits_meet(&tree->hubs[root].some, at.live);
    }
    if (!at.over) {
        read_message(&at, attributes, count);
    }
    if (!at.over) {
        visit_hub(&at, &tree->hubs[root]);
    }
}
