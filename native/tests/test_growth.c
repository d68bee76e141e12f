/* test_growth.c - hash sets that grow a few slots at a time, against a twin that knows what is in them.
 *
 * Law under test: at every moment of its growth a set finds exactly what it holds, no call moves more than a bounded
 * number of ids, and an allocation that fails leaves everything as it was.
 */
#include <string.h>

#include "base/idset.h"
#include "engines/onepath/values/names.h"
#include "engines/onepath/values/patterns.h"
#include "engines/onepath/values/patterns_validate.h"
#include "engines/onepath/values/strings.h"
#include "support.h"

#define KEYS 6000U
#define HASHES_MAX 200U /* slots that one call may pass: its own share, and the run of occupied slots behind */

/* ---- a set and its twin ---- */

/* Keys are 1 ... KEYS. */
typedef struct world {
    dice d;
    tm_memory memory;
    tm_idset set;
    uint64_t hash_mask; /* few bits make long runs, which wrap around the end of the slots */
    bool held[KEYS + 1];
    uint32_t count;
    uint64_t hashes; /* that the set has asked for */
} world;

static uint64_t mixed(uint64_t key) {
    dice d = {key};
    return roll(&d);
}

static uint64_t id_of(const world *w, uint32_t key) {
    return w->set.has_words ? (uint64_t)key << 32 | 7 : key;
}

static uint64_t hash_of_key(const world *w, uint32_t key) {
    return mixed(key) | ~w->hash_mask;
}

static uint64_t hash_of(const void *owner, uint64_t id) {
    world *w = (world *)(uintptr_t)owner;
    w->hashes++;
    return hash_of_key(w, (uint32_t)(w->set.has_words ? id >> 32 : id));
}

static bool finds(const world *w, uint32_t key) {
    tm_idset_search at = tm_idset_start(&w->set, hash_of_key(w, key));
    for (uint32_t steps = 0;; steps++) {
        uint64_t id = w->set.has_words ? tm_idset_next_word(&at) : tm_idset_next(&at);
        CHECK(steps <= 2 * KEYS, "a search does not end");
        if (id == 0 || id == id_of(w, key)) {
            return id != 0;
        }
    }
}

static void check(world *w) {
    for (uint32_t key = 1; key <= KEYS; key++) {
        CHECK(finds(w, key) == w->held[key], "key %u is held: %d", key, w->held[key]);
    }
    CHECK(w->set.count == w->count, "the set counts %u, its model %u", w->set.count, w->count);
    CHECK(tm_idset_is_sound(&w->set, hash_of, w), "the set is not sound");
}

static int reserve(world *w, uint32_t more) {
    uint64_t bytes = w->memory.bytes;
    int result = tm_idset_reserve_more(&w->set, &w->memory, TM_COLD, hash_of, w, more);
    CHECK(result == TM_OK || w->memory.bytes <= bytes, "a failed reserve keeps memory");
    return result;
}

static void put(world *w, uint32_t key) {
    tm_idset_insert(&w->set, hash_of_key(w, key), id_of(w, key));
    w->held[key] = true;
    w->count++;
}

static void take(world *w, uint32_t key) {
    tm_idset_remove(&w->set, hash_of_key(w, key), id_of(w, key), hash_of, w);
    w->held[key] = false;
    w->count--;
}

static bool is_growing(const world *w) {
    return w->set.old.slots != NULL;
}

/* Change one key: put it in where it is not held, take it out where it is; sometimes without memory. */
static void change(world *w, uint32_t key, bool without_memory) {
    if (w->held[key]) {
        take(w, key);
        return;
    }
    w->memory.fail_in = without_memory ? 1 : 0;
    if (reserve(w, 1) == TM_OK) {
        put(w, key);
    }
    w->memory.fail_in = 0;
}

static world *made(uint64_t seed, bool has_words, uint8_t percent_max, uint64_t hash_mask) {
    world *w = calloc(1, sizeof *w);
    w->d.state = seed;
    w->hash_mask = hash_mask;
    w->set = (tm_idset){.has_words = has_words, .percent_max = percent_max};
    return w;
}

static void done(world *w) {
    tm_idset_free(&w->set, &w->memory, TM_COLD);
    CHECK(w->memory.bytes == 0, "%lu bytes are left", (unsigned long)w->memory.bytes);
    CHECK(!finds(w, 1), "an empty set finds something");
    free(w);
}

/* Grow to thousands while some are taken out, and look at everything while the set grows. */
static void walk(uint64_t seed, bool has_words, uint8_t percent_max, uint64_t hash_mask) {
    world *w = made(seed, has_words, percent_max, hash_mask);
    uint32_t seen_growing = 0;
    for (uint32_t limit = 10; limit <= KEYS; limit += limit / 3) {
        for (uint32_t step = 0; step < limit; step++) {
            uint32_t key = 1 + below(&w->d, limit);
            if (!w->held[key] || below(&w->d, 3) == 0) {
                change(w, key, below(&w->d, 4) == 0);
            }
            if (is_growing(w) && below(&w->d, 16) == 0) {
                seen_growing++;
                check(w);
            }
        }
        check(w);
    }
    CHECK(seen_growing > 3, "the set was seen growing %u times", seen_growing);
    while (w->count > 0) {
        uint32_t key = 1 + below(&w->d, KEYS);
        if (w->held[key]) {
            take(w, key);
        }
    }
    check(w);
    done(w);
}

/* In the middle of growing: many at once, and all out again. */
static void test_room_for_many(void) {
    world *w = made(5, true, 75, ~UINT64_C(0));
    uint32_t key = 1;
    while (!(is_growing(w) && w->set.now.capacity >= 2048)) {
        CHECK(reserve(w, 1) == TM_OK, "reserve");
        put(w, key++);
    }
    CHECK(reserve(w, 3000) == TM_OK, "reserve many");
    for (uint32_t i = 0; i < 3000; i++) {
        put(w, key++);
    }
    check(w);
    w->memory.fail_in = 1;
    CHECK(reserve(w, 100000) == TM_NO_MEMORY, "a reserve beyond the memory succeeds");
    check(w);
    CHECK(reserve(w, UINT32_MAX) == TM_NO_MEMORY, "more than a set can hold");
    check(w);
    done(w);
}

/* What one more id may cost, however many there are. */
static void test_no_call_moves_many(void) {
    world *w = made(9, false, 50, ~UINT64_C(0));
    uint64_t worst = 0;
    for (uint32_t key = 1; key <= KEYS; key++) {
        w->hashes = 0;
        CHECK(reserve(w, 1) == TM_OK, "reserve");
        worst = w->hashes > worst ? w->hashes : worst;
        put(w, key);
    }
    CHECK(worst > 0 && worst <= HASHES_MAX, "one reserve moved %lu ids", (unsigned long)worst);
    done(w);
}

/* ---- the tables that stand on it ---- */

static uint32_t text_of(uint32_t i, uint8_t *out) {
    return (uint32_t)sprintf((char *)out, i % 3 == 0 ? "%u" : "n.%u.of.a.longer.name", i);
}

/* Strings, names and patterns come and go; every so often an allocation fails, wherever in a growth that is. */
static void test_tables(void) {
    enum { TEXTS = 3000 };
    static uint32_t strings_held[TEXTS];
    static uint32_t names_held[TEXTS];
    static uint32_t patterns_held[TEXTS];
    tm_memory memory = {.key = tm_hash_key_of(3)};
    onepath_strings strings;
    onepath_names names;
    onepath_patterns patterns;
    onepath_strings_init(&strings, &memory, false);
    onepath_names_init(&names, &memory);
    onepath_patterns_init(&patterns, &memory);
    dice d = {12};
    const char *reason = "";
    uint32_t failures = 0;
    for (uint32_t step = 0; step < 40000; step++) {
        uint8_t text[64];
        bool filling = step % 20000 < 12000;
        uint32_t i = below(&d, TEXTS);
        uint32_t length = text_of(i, text);
        if (filling) {
            memory.fail_in = below(&d, 8) == 0 ? 1 + below(&d, 4) : 0;
            bool string = onepath_strings_acquire(&strings, text, length, i % 5 == 0) != TM_NO_STRING;
            bool name = onepath_names_acquire(&names, text, length) != TM_NO_NAME;
            bool pattern = onepath_patterns_acquire(&patterns, text, length, i % 3) != TM_NO_PATTERN;
            memory.fail_in = 0;
            strings_held[i] += string;
            names_held[i] += name;
            patterns_held[i] += pattern;
            failures += !string + !name + !pattern;
        } else {
            if (strings_held[i] > 0) {
                onepath_strings_release(&strings, onepath_strings_find(&strings, text, length), i % 5 == 0);
                strings_held[i]--;
            }
            if (names_held[i] > 0) {
                onepath_names_release(&names, onepath_names_find(&names, text, length));
                names_held[i]--;
            }
        }
        CHECK((onepath_strings_find(&strings, text, length) != TM_NO_STRING) == (strings_held[i] > 0), "string %u", i);
        CHECK((onepath_names_find(&names, text, length) != TM_NO_NAME) == (names_held[i] > 0), "name %u", i);
        if (step % 500 == 0) {
            CHECK(onepath_strings_validate(&strings, &reason) == TM_OK, "%s", reason);
            CHECK(onepath_names_validate(&names, &reason) == TM_OK, "%s", reason);
            CHECK(onepath_patterns_validate(&patterns, &reason) == TM_OK, "%s", reason);
        }
    }
    CHECK(failures > 10, "%u allocations failed", failures);
    onepath_strings_clear(&strings);
    onepath_names_clear(&names);
    onepath_patterns_clear(&patterns);
    CHECK(memory.bytes == 0, "%lu bytes are left", (unsigned long)memory.bytes);
}

int main(void) {
    for (uint64_t seed = 1; seed <= 6; seed++) {
        bool has_words = seed % 2 == 0;
        walk(seed, has_words, 0, ~UINT64_C(0));
        walk(seed, has_words, 50, ~UINT64_C(0));
        walk(seed, has_words, 75, ~UINT64_C(0x18)); /* homes in runs, the last of which wraps around */
    }
    test_room_for_many();
    test_no_call_moves_many();
    test_tables();
    return 0;
}
