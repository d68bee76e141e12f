/* used.c - the memory that the filters of a table use, estimated from what they are made of.
 *
 * Law: every filter that is added or removed changes the sum by what it needs, and nothing else does: shared arrays are
 * counted by their elements in use, with the average spare room. The filter that adds a name, a constant or a pattern
 * first is charged for it. The sum is within a factor of two of the memory that the table uses, once that is a
 * megabyte.
 */
#include "engines/onepath/used.h"

/* The elements in use and the average spare room of an array that grows by a quarter, an eighth, or by doubling. */
#define WITH_QUARTER(bytes) ((bytes) * 9 / 8)
#define WITH_EIGHTH(bytes) ((bytes) * 17 / 16)
#define WITH_DOUBLING(bytes) ((bytes) * 3)

#define ROW_BYTES 32U /* of a filter in a run, a list or an interval */

static uint64_t bytes_of_strings(const onepath_strings *strings) {
    uint64_t each = WITH_QUARTER(sizeof(onepath_string) + sizeof(int64_t)) + WITH_DOUBLING(sizeof(uint32_t));
    uint64_t ordered = strings->sorted.count * WITH_QUARTER(sizeof(uint64_t) + sizeof(uint32_t));
    return strings->live * each + ordered + strings->text_bytes;
}

static uint64_t bytes_of_names(const tm_engine *engine) {
    uint64_t each = WITH_QUARTER(sizeof(onepath_name) + sizeof(uint64_t)) + WITH_DOUBLING(sizeof(uint64_t));
    return engine->names.live * each + engine->names.text_bytes +
           engine->key_count * tm_memory_charge(sizeof(onepath_key));
}

static uint64_t bytes_of_patterns(const onepath_patterns *patterns) {
    uint64_t ends = patterns->count * WITH_QUARTER(sizeof(onepath_pattern_end) + sizeof(onepath_pattern_use));
    return patterns->node_live * WITH_QUARTER(sizeof(onepath_pattern_node)) + ends +
           patterns->edges.count * WITH_DOUBLING(sizeof(uint64_t)) +
           WITH_EIGHTH((uint64_t)patterns->texts.used * sizeof(uint64_t));
}

/* Digests double their room, which starts at half a digest for each constant. */
static uint64_t bytes_of_digests(const tm_engine *engine) {
    uint64_t constants = (uint64_t)engine->strings.live + engine->patterns.count;
    uint64_t digests = constants * 3 / 4 < ONEPATH_DIGESTS_MAX ? constants * 3 / 4 : ONEPATH_DIGESTS_MAX;
    return digests * (sizeof(onepath_digest) + sizeof(uint16_t));
}

static uint64_t bytes_of_buckets(const onepath_buckets *buckets) {
    return buckets->slot_count * (WITH_DOUBLING(sizeof(onepath_slot) + 1) / 2) +
           WITH_EIGHTH((uint64_t)buckets->arena.used * sizeof(uint64_t));
}

static uint64_t bytes_of_branches(const onepath_branches *branches) {
    return branches->live * WITH_QUARTER(sizeof(onepath_branch));
}

uint64_t onepath_used(const tm_engine *engine) {
    uint64_t filters = engine->holders->live * (WITH_QUARTER(sizeof(onepath_record) + sizeof(uint32_t)) + ROW_BYTES);
    uint64_t with_cells = engine->holders->live > engine->listed ? engine->holders->live - engine->listed : 0;
    filters += with_cells * WITH_QUARTER(sizeof(onepath_covering));
    uint64_t bodies = ((uint64_t)engine->bodies.used + engine->covered_bodies.used) * sizeof(uint64_t);
    uint64_t complexes = engine->complex_live * WITH_QUARTER(sizeof(onepath_complex)) + engine->complex_bytes;
    return filters + WITH_EIGHTH(bodies) + complexes + bytes_of_names(engine) + bytes_of_strings(&engine->strings) +
           bytes_of_strings(&engine->numbers) + bytes_of_patterns(&engine->patterns) + bytes_of_digests(engine) +
           bytes_of_buckets(&engine->buckets) + bytes_of_branches(&engine->branches) + engine->families.bytes +
           (uint64_t)engine->families.count * tm_memory_charge(sizeof(tm_family));
}
