/* joint.c - makes and caches states and steps. Law: see joint.h. */
#include "engines/pst/joint.h"

#include <string.h>

#include "base/hash.h"
#include "engines/pst/order.h"

#define SLOTS (PST_JOINT_BYTES / 8U / sizeof(uint64_t)) /* an eighth of the block */
#define WORDS ((uint32_t)((PST_JOINT_BYTES - SLOTS * sizeof(uint64_t)) / sizeof(uint32_t)))
#define SLOTS_LOOKED_AT 8U /* a step that would be farther away is not cached */

int pst_joint_init(pst_joint *joint, tm_memory *memory, uint32_t width) {
    *joint = (pst_joint){.memory = memory, .width = width, .version = 1};
    if (width == 0) {
        return TM_OK;
    }
    joint->words = TM_NEW(memory, TM_HOT, uint32_t, WORDS);
    joint->slots = TM_NEW(memory, TM_HOT, uint64_t, SLOTS);
    return joint->words != NULL && joint->slots != NULL ? TM_OK : TM_NO_MEMORY;
}

void pst_joint_free(pst_joint *joint) {
    TM_DELETE(joint->memory, TM_HOT, joint->words, uint32_t, WORDS);
    TM_DELETE(joint->memory, TM_HOT, joint->slots, uint64_t, SLOTS);
    *joint = (pst_joint){.memory = joint->memory};
}

/* Forget all steps; slots of an earlier version count as empty. */
void pst_joint_forget(pst_joint *joint) {
    joint->used = 0;
    if (++joint->version == 0) {
        joint->version = 1;
        if (joint->slots != NULL) {
            memset(joint->slots, 0, sizeof *joint->slots * SLOTS);
        }
    }
}

/* ---- states ---- */

static bool comes_before(const pst_tree *tree, uint32_t name, uint32_t other) {
    return name != PST_NONE && (other == PST_NONE || pst_order_before(&tree->labels, name, other));
}

/* true if the hub has tests and all are equalities of names after `last`. */
static bool joins(const pst_tree *tree, uint32_t id, uint32_t last) {
    const pst_hub *hub = &tree->hubs[id];
    bool fits = hub->tests > 0 && hub->tests <= PST_JOINT_TESTS_MAX && hub->first[1] == PST_NONE;
    for (uint32_t at = fits ? hub->first[0] : PST_NONE; at != PST_NONE && fits; at = tree->tests[at].next) {
        const pst_test *test = &tree->tests[at];
        fits = test->first[PST_LIST_BOUNDED] == PST_NONE && test->first[PST_LIST_OTHER] == PST_NONE &&
               (last == PST_NONE || comes_before(tree, last, test->name));
    }
    return fits;
}

/* Return the first name after `last` that the hub tests; PST_NONE if there is none. */
static uint32_t next_name(const pst_tree *tree, uint32_t hub, uint32_t last) {
    uint32_t next = PST_NONE;
    for (uint32_t at = tree->hubs[hub].first[0]; at != PST_NONE; at = tree->tests[at].next) {
        uint32_t name = tree->tests[at].name;
        if ((last == PST_NONE || comes_before(tree, last, name)) && comes_before(tree, name, next)) {
            next = name;
        }
    }
    return next;
}

/* Return the first name after `last` that any of the hubs tests. */
static uint32_t next_of(const pst_tree *tree, const uint32_t *hubs, uint32_t count, uint32_t last) {
    uint32_t next = PST_NONE;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t name = next_name(tree, hubs[i], last);
        next = comes_before(tree, name, next) ? name : next;
    }
    return next;
}

bool pst_joint_begin(pst_joint *joint, const pst_tree *tree, uint32_t hub, pst_state *state) {
    if (joint->width == 0 || !joins(tree, hub, PST_NONE)) {
        return false;
    }
    *state = (pst_state){.hubs = {hub}, .count = 1, .next = next_name(tree, hub, PST_NONE)};
    return true;
}

/* Return the number of hubs of one part. */
static uint32_t size_of(const pst_joint *joint, const pst_step *step, uint32_t part) {
    uint32_t before = part * joint->width;
    uint32_t left = step->waiting_count > before ? step->waiting_count - before : 0;
    return left < joint->width ? left : joint->width;
}

bool pst_joint_next(const pst_joint *joint, const pst_step *step, uint32_t part, pst_state *state) {
    state->count = part < PST_PARTS ? size_of(joint, step, part) : 0;
    if (state->count > 0) {
        state->next = step->next[part];
        memcpy(state->hubs, step->waiting + part * joint->width, sizeof *state->hubs * state->count);
    }
    return state->count > 0;
}

/* ---- steps ---- */

static void make_step(const pst_joint *joint, const pst_tree *tree, const pst_state *state, uint32_t value,
                      pst_step *step) {
    *step = (pst_step){0};
    for (uint32_t i = 0; i < state->count; i++) {
        uint32_t test = pst_tree_test(tree, state->hubs[i], state->next);
        uint32_t hub = test != PST_NONE && value != PST_NONE ? pst_tree_hub(tree, test, value) : PST_NONE;
        if (hub == PST_NONE) {
            continue;
        }
        bool follows = joins(tree, hub, state->next);
        step->alone |= tree->hubs[hub].tests > 0 && !follows ? UINT32_C(1) << step->count : 0;
        step->entered[step->count++] = hub;
        if (follows) {
            step->waiting[step->waiting_count++] = hub;
        }
    }
    for (uint32_t i = 0; i < state->count; i++) {
        if (next_name(tree, state->hubs[i], state->next) != PST_NONE) {
            step->waiting[step->waiting_count++] = state->hubs[i];
        }
    }
    for (uint32_t part = 0; part < PST_PARTS; part++) {
        const uint32_t *hubs = step->waiting + part * joint->width;
        step->next[part] = next_of(tree, hubs, size_of(joint, step, part), state->next);
    }
}

/* A cached step: value, name, counts, the next names, then hubs: of the state, entered, waiting. */
#define HEAD_WORDS 8U

static uint64_t hash_of(const pst_joint *joint, const pst_state *state, uint32_t value) {
    uint64_t hash = tm_hash_words(value, state->next, state->count, &joint->memory->key);
    for (uint32_t i = 0; i < state->count; i++) {
        hash = tm_hash_words(hash, state->hubs[i], i, &joint->memory->key);
    }
    return hash;
}

static bool is_of(const uint32_t *words, const pst_state *state, uint32_t value) {
    return words[0] == value && words[1] == state->next && words[2] == state->count &&
           memcmp(words + HEAD_WORDS, state->hubs, sizeof *words * state->count) == 0;
}

static void recall(const uint32_t *words, pst_step *step) {
    const uint32_t *hubs = words + HEAD_WORDS + words[2];
    step->count = words[3];
    step->waiting_count = words[4];
    step->alone = words[5];
    step->next[0] = words[6];
    step->next[1] = words[7];
    memcpy(step->entered, hubs, sizeof *hubs * step->count);
    memcpy(step->waiting, hubs + step->count, sizeof *hubs * step->waiting_count);
}

static void remember(pst_joint *joint, const pst_state *state, uint32_t value, const pst_step *step) {
    uint32_t *words = joint->words + joint->used;
    uint32_t head[HEAD_WORDS] = {value,       state->next,   state->count, step->count, step->waiting_count,
                                 step->alone, step->next[0], step->next[1]};
    memcpy(words, head, sizeof head);
    words += HEAD_WORDS;
    memcpy(words, state->hubs, sizeof *words * state->count);
    words += state->count;
    memcpy(words, step->entered, sizeof *words * step->count);
    words += step->count;
    memcpy(words, step->waiting, sizeof *words * step->waiting_count);
    joint->used += HEAD_WORDS + state->count + step->count + step->waiting_count;
}

void pst_joint_step(pst_joint *joint, const pst_tree *tree, const pst_state *state, uint32_t value, pst_step *step) {
    uint64_t first = hash_of(joint, state, value);
    uint64_t *empty = NULL;
    for (uint32_t i = 0; i < SLOTS_LOOKED_AT && empty == NULL; i++) {
        uint64_t *slot = &joint->slots[(first + i) % SLOTS];
        if (*slot >> 32 != joint->version) {
            empty = slot;
        } else if (is_of(joint->words + (uint32_t)*slot, state, value)) {
            recall(joint->words + (uint32_t)*slot, step);
            return;
        }
    }
    make_step(joint, tree, state, value, step);
    uint32_t words = HEAD_WORDS + state->count + step->count + step->waiting_count;
    if (empty != NULL && joint->used + words <= WORDS) {
        *empty = (uint64_t)joint->version << 32 | joint->used;
        remember(joint, state, value, step);
    }
}
