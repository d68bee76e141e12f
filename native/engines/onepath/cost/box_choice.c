/* box_choice.c - decides whether a filter is better a box, and of which family.
 *
 * Law: as in boxes.h; nothing changes here.
 */
#include "engines/onepath/cost/box_choice.h"

#include "engines/onepath/cost/selectivity.h"
#include "engines/onepath/cost/similar.h"
#include "engines/onepath/paths/lines.h"

#define GUARDED_MIN 8U       /* filters that may share the guard of a family */
#define GUARDED_FAMILIES 64U /* guarded families from which on one more filter is required */

bool onepath_boxes_may_take(const tm_engine *engine, const onepath_tests *tests) {
    onepath_family_names family;
    onepath_family_names_of(engine, tests, &family);
    return onepath_family_is_one(&family);
}

void onepath_family_choose_guard(const tm_engine *engine, const onepath_tests *tests, onepath_family_names *family) {
    uint32_t most = GUARDED_MIN + engine->families.guarded / GUARDED_FAMILIES;
    for (uint32_t i = 0; i < tests->count; i++) {
        if (family->bounds == 0 || onepath_has_bucket(engine, tests->tests[i])) {
            return;
        }
    }
    for (uint32_t i = 0; i < tests->count; i++) {
        uint32_t name;
        uint32_t users =
            onepath_family_name_of(engine, tests->tests[i], &name) ? 0 : onepath_users_of(engine, tests->tests[i]);
        if (users >= most) {
            most = users;
            family->guard = tests->tests[i];
        }
    }
}

void onepath_family_choose(const tm_engine *engine, const onepath_tests *tests, onepath_family_names *out) {
    onepath_family_names_of(engine, tests, out);
    onepath_family_choose_guard(engine, tests, out);
}

bool onepath_boxes_take(const tm_engine *engine, const onepath_tests *tests) {
    if (engine->scatters) {
        return false;
    }
    onepath_family_names family;
    onepath_family_choose(engine, tests, &family);
    return family.guard != ONEPATH_NO_TEST || onepath_lines_take(engine, tests) ||
           (onepath_family_is_one(&family) && onepath_family_find(engine, &family) != NULL);
}

/* ---- beside a bucket ---- */

/* true if many filters with the test are elsewhere than under it. They have left its bucket, which need not fill up
 * again for those that are added. */
static bool is_split(const tm_engine *engine, onepath_test access, uint64_t bucket) {
    onepath_full_bucket full_bucket = onepath_bucket_is_full(&engine->buckets, bucket);
    uint32_t here =
        full_bucket.entries + full_bucket.singles + onepath_filters_behind(&engine->buckets, full_bucket.opened);
    return onepath_users_of(engine, access) >= here + ONEPATH_BUCKET_FULL;
}

bool onepath_boxes_split_full(const tm_engine *engine, const onepath_tests *tests, onepath_test access) {
    uint64_t bucket = onepath_bucket_of_test(access);
    if (bucket == 0 || engine->families.boxes == 0 || !onepath_boxes_take(engine, tests)) {
        return false;
    }
    if (is_split(engine, access, bucket)) {
        return true;
    }
    bucket = onepath_similar_end(engine, bucket, tests, 0, &(double){1});
    const onepath_slot *slot = onepath_buckets_find(&engine->buckets, bucket);
    return slot != NULL && slot->entry_count >= ONEPATH_BOXES_MIN;
}
