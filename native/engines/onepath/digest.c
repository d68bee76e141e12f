/* digest.c - see digest.h. */
#include "engines/onepath/digest.h"

#define WAYS 4U
#define DIGESTS_MIN 64U
#define DIGESTS_MAX 16384U /* 1 MiB: as much of a second-level cache as a matcher should take */
#define CREDIT_MAX 3U
#define EMPTY UINT32_MAX
#define LABEL_STEPS 16U /* of a search among the ordered constants */

void tamis_digests_init(tamis_digests *digests, tm_memory *memory) {
    *digests = (tamis_digests){.memory = memory};
}

void tamis_digests_clear(tamis_digests *digests) {
    TM_DELETE(digests->memory, TM_HOT, digests->sets, tamis_digest, digests->capacity);
    tamis_digests_init(digests, digests->memory);
}

bool tamis_digests_reserve(tamis_digests *digests, uint32_t constants) {
    uint32_t capacity = digests->capacity == 0 ? DIGESTS_MIN : digests->capacity;
    while (capacity < DIGESTS_MAX && capacity < constants / 2) { /* a word is two to four constants: =, prefix, ... */
        capacity *= 2;
    }
    if (capacity == digests->capacity) {
        return true;
    }
    tamis_digest *sets = TM_NEW(digests->memory, TM_HOT, tamis_digest, capacity);
    if (sets == NULL) {
        return false;
    }
    for (uint32_t at = 0; at < capacity; at++) {
        sets[at].length = EMPTY;
    }
    TM_DELETE(digests->memory, TM_HOT, digests->sets, tamis_digest, digests->capacity);
    digests->sets = sets;
    digests->capacity = capacity;
    return true;
}

static uint32_t version_of(const tamis_strings *strings, const tamis_patterns *patterns) {
    return strings->version * 0x9e3779b1U + strings->order_version * 0x85ebca6bU + patterns->version;
}

/* The digest to overwrite, or NULL while those of the set are still in use. */
static tamis_digest *victim_of(tamis_digest *set) {
    tamis_digest *victim = set;
    for (tamis_digest *digest = set; digest < set + WAYS; digest++) {
        if (digest->length == EMPTY) {
            return digest;
        }
        if (digest->credit < victim->credit) {
            victim = digest;
        }
    }
    if (victim->credit > 0) {
        for (tamis_digest *digest = set; digest < set + WAYS; digest++) {
            digest->credit--;
        }
        return NULL;
    }
    return victim;
}

static void view_digest(const tamis_digest *digest, uint32_t *scratch, size_t capacity, tamis_view *view) {
    view->pattern_count = digest->pattern_count;
    view->constant = digest->constant;
    view->label = digest->label;
    if (capacity >= TAMIS_DIGEST_PATTERNS) { /* all of them, whatever the count: no loop */
        view->patterns = scratch;
        memcpy(scratch, digest->patterns, sizeof digest->patterns);
        return;
    }
    view->patterns = digest->pattern_count <= capacity ? scratch : NULL;
    if (view->patterns != NULL) {
        memcpy(scratch, digest->patterns, sizeof *scratch * digest->pattern_count);
    }
}

/* The digest of the value, good or stale, or the one to overwrite, or NULL. */
static tamis_digest *find_digest(tamis_digests *digests, tm_head head, uint32_t length, const tm_hash_key *key) {
    if (length > TM_INLINE_BYTES || digests->capacity == 0) {
        return NULL;
    }
    uint32_t hash = (uint32_t)tm_hash_head(head, length, key);
    tamis_digest *set = digests->sets + (hash & (digests->capacity - 1) & ~(WAYS - 1));
    for (tamis_digest *digest = set; digest < set + WAYS; digest++) {
        if (digest->head.low == head.low && digest->head.high == head.high && digest->length == length) {
            return digest;
        }
    }
    tamis_digest *victim = victim_of(set);
    if (victim != NULL) {
        victim->length = EMPTY;
    }
    return victim;
}

void tamis_digests_view(tamis_digests *digests, const tamis_strings *strings, tamis_patterns *patterns,
                        const uint8_t *bytes, uint32_t length, uint32_t *scratch, size_t capacity, tamis_view *view,
                        tm_work *work) {
    tm_head head = tm_head_of(bytes, length);
    uint32_t version = version_of(strings, patterns);
    tamis_digest *digest = find_digest(digests, head, length, &strings->key);
    if (digest != NULL && digest->length == length && digest->version == version) {
        digest->credit = CREDIT_MAX;
        view_digest(digest, scratch, capacity, view);
        return;
    }
    view->constant = tamis_strings_find(strings, bytes, length);
    view->label = tamis_strings_label(strings, bytes, length);
    work->steps += LABEL_STEPS + tm_work_of_text(length);
    size_t count = tamis_patterns_find(patterns, bytes, length, scratch, capacity, work);
    view->pattern_count = (uint32_t)count;
    view->patterns = count <= capacity ? scratch : NULL;
    if (digest == NULL || count > TAMIS_DIGEST_PATTERNS || count > capacity || tm_work_is_over(work)) {
        return;
    }
    *digest = (tamis_digest){.head = head,
                             .label = view->label,
                             .length = length,
                             .constant = view->constant,
                             .version = version,
                             .pattern_count = (uint16_t)count};
    memcpy(digest->patterns, scratch, sizeof *scratch * count);
}
