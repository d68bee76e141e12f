/* box_choice.c - whether a filter is better a box, and of which family.
 *
 * Law: as in boxes.h; nothing changes here.
 */
#include "engines/onepath/cost/box_choice.h"

#include "engines/onepath/cost/alike.h"
#include "engines/onepath/cost/odds.h"
#include "engines/onepath/paths/lines.h"

#define GUARDED_MIN 8U       /* filters that may share the guard of a family */
#define GUARDED_FAMILIES 64U /* so many guarded families, and one more filter has to */

bool tamis_boxes_may_take(const tm_engine *engine, const tamis_tests *tests) {
    tamis_family_names family;
    tamis_family_names_of(engine, tests, &family);
    return tamis_family_is_one(&family);
}

void tamis_family_choose_guard(const tm_engine *engine, const tamis_tests *tests, tamis_family_names *family) {
    uint32_t most = GUARDED_MIN + engine->families.guarded / GUARDED_FAMILIES;
    for (uint32_t i = 0; i < tests->count; i++) {
        if (family->bounds == 0 || tamis_has_bucket(engine, tests->tests[i])) {
            return;
        }
    }
    for (uint32_t i = 0; i < tests->count; i++) {
        uint32_t name;
        uint32_t users =
            tamis_family_name_of(engine, tests->tests[i], &name) ? 0 : tamis_users_of(engine, tests->tests[i]);
        if (users >= most) {
            most = users;
            family->guard = tests->tests[i];
        }
    }
}

void tamis_family_choose(const tm_engine *engine, const tamis_tests *tests, tamis_family_names *out) {
    tamis_family_names_of(engine, tests, out);
    tamis_family_choose_guard(engine, tests, out);
}

bool tamis_boxes_take(const tm_engine *engine, const tamis_tests *tests) {
    if (engine->scatters) {
        return false;
    }
    tamis_family_names family;
    tamis_family_choose(engine, tests, &family);
    return family.guard != TAMIS_NO_TEST || tamis_lines_take(engine, tests) ||
           (tamis_family_is_one(&family) && tamis_family_find(engine, &family) != NULL);
}

/* ---- beside a bucket ---- */

/* Do many filters that make the test stand elsewhere than under it? They have left its bucket, which need not fill up
 * again for those that come. */
static bool is_relieved(const tm_engine *engine, tamis_test access, uint64_t bucket) {
    tamis_crowd crowd = tamis_buckets_crowd(&engine->buckets, bucket);
    uint32_t here = crowd.entries + crowd.singles + tamis_filters_behind(&engine->buckets, crowd.opened);
    return tamis_users_of(engine, access) >= here + TAMIS_BUCKET_FULL;
}

bool tamis_boxes_relieve(const tm_engine *engine, const tamis_tests *tests, tamis_test access) {
    uint64_t bucket = tamis_bucket_of_test(access);
    if (bucket == 0 || engine->families.boxes == 0 || !tamis_boxes_take(engine, tests)) {
        return false;
    }
    if (is_relieved(engine, access, bucket)) {
        return true;
    }
    bucket = tamis_alike_end(engine, bucket, tests, 0, &(double){1});
    const tamis_slot *slot = tamis_buckets_find(&engine->buckets, bucket);
    return slot != NULL && slot->entry_count >= TAMIS_BOXES_MIN;
}
