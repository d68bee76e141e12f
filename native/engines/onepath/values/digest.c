/* digest.c - digests of values in sets of four. Law: as in digest.h. */
#include "engines/onepath/values/digest.h"

#include "engines/onepath/values/patterns_pass.h"

#define WAYS 4U
#define DIGESTS_MIN 64U
#define CREDIT_MAX 3U /* misses that a digest survives after a hit */

/* A mark: 0 where there is no digest; otherwise the highest bit, 13 bits of the value's hash, and two of credit. */
#define MARK_BITS 16U
#define MARK_LOW UINT64_C(0x0001000100010001) /* the lowest bit of each mark of a set */
#define CREDIT_BITS (CREDIT_MAX * MARK_LOW)
#define MARK_USED 0x8000U
#define MARK_TAG 0x7ffcU

/* Where a value's digest is, or is to be written. */
typedef struct seat {
    onepath_digest *digest; /* NULL: no room, as all digests of the set are still in use */
    uint64_t *marks;        /* of its set */
    unsigned shift;         /* of its mark among them */
    uint64_t mark;          /* of the value, without credit */
    bool is_found;          /* the digest is that of the value, valid or stale */
} seat;

void onepath_digests_init(onepath_digests *digests, tm_memory *memory) {
    *digests = (onepath_digests){.memory = memory};
}

void onepath_digests_clear(onepath_digests *digests) {
    TM_DELETE(digests->memory, TM_HOT, digests->sets, onepath_digest, digests->capacity);
    TM_DELETE(digests->memory, TM_HOT, digests->marks, uint64_t, digests->capacity / WAYS);
    onepath_digests_init(digests, digests->memory);
}

bool onepath_digests_reserve(onepath_digests *digests, uint32_t constants) {
    uint32_t capacity = digests->capacity == 0 ? DIGESTS_MIN : digests->capacity;
    while (capacity < ONEPATH_DIGESTS_MAX &&
           capacity < constants / 2) { /* a word is two to four constants: an equality, a prefix and so on */
        capacity *= 2;
    }
    if (capacity == digests->capacity) {
        return true;
    }
    onepath_digests fresh = {.memory = digests->memory, .capacity = capacity};
    fresh.sets = TM_NEW(fresh.memory, TM_HOT, onepath_digest, capacity);
    fresh.marks = TM_NEW(fresh.memory, TM_HOT, uint64_t, capacity / WAYS);
    if (fresh.sets == NULL || fresh.marks == NULL) {
        onepath_digests_clear(&fresh);
        return false;
    }
    onepath_digests_clear(digests);
    *digests = fresh;
    return true;
}

static uint32_t version_of(const onepath_strings *strings, const onepath_patterns *patterns) {
    return strings->version * 0x9e3779b1U + strings->order_version * 0x85ebca6bU + patterns->version;
}

/* Choose the digest with the least credit as the one to replace; if all have some, take one from each instead. */
static void find_victim(seat *at, onepath_digest *set) {
    uint64_t marks = *at->marks;
    uint64_t least = CREDIT_MAX + 1;
    unsigned victim = 0;
    for (unsigned way = 0; way < WAYS; way++) { /* an empty mark counts as less than no credit */
        uint64_t mark = marks >> way * MARK_BITS & 0xffff;
        uint64_t credit = mark == 0 ? 0 : (mark & CREDIT_MAX) + 1;
        victim = credit < least ? way : victim;
        least = credit < least ? credit : least;
    }
    if (least > 1) {
        *at->marks = marks - MARK_LOW;
        return;
    }
    at->digest = set + victim;
    at->shift = victim * MARK_BITS;
}

static void view_digest(const onepath_digest *digest, uint32_t *scratch, size_t capacity, onepath_view *view) {
    view->pattern_count = digest->pattern_count;
    view->constant = digest->constant;
    view->label = digest->label;
    if (capacity >= ONEPATH_DIGEST_PATTERNS) { /* a constant number of patterns: no loop */
        view->patterns = scratch;
        memcpy(scratch, digest->patterns, sizeof digest->patterns);
        return;
    }
    view->patterns = digest->pattern_count <= capacity ? scratch : NULL;
    if (view->patterns != NULL) {
        memcpy(scratch, digest->patterns, sizeof *scratch * digest->pattern_count);
    }
}

/* Return the marks of a set that may equal `mark`: bit 15 of each. A mark above an equal one may be a false match. */
static inline uint64_t marks_like(uint64_t marks, uint64_t mark) {
    uint64_t differ = (marks & ~CREDIT_BITS) ^ mark * MARK_LOW;
    return (differ - MARK_LOW) & ~differ & MARK_USED * MARK_LOW;
}

static seat find_seat(const onepath_digests *digests, tm_head head, uint32_t length, const tm_hash_key *key) {
    seat at = {0};
    if (length > TM_INLINE_BYTES || digests->capacity == 0) {
        return at;
    }
    uint64_t hash = tm_hash_head(head, length, key);
    uint32_t set = (uint32_t)hash & (digests->capacity / WAYS - 1);
    at.marks = &digests->marks[set];
    at.mark = MARK_USED | (hash >> 32 & MARK_TAG);
    onepath_digest *digest = digests->sets + (size_t)set * WAYS;
    for (uint64_t like = marks_like(*at.marks, at.mark); like != 0; like &= like - 1) {
        unsigned way = (unsigned)__builtin_ctzll(like) / MARK_BITS;
        if (digest[way].head.low == head.low && digest[way].head.high == head.high && digest[way].length == length) {
            at.digest = digest + way;
            at.shift = way * MARK_BITS;
            at.is_found = true;
            return at;
        }
    }
    find_victim(&at, digest);
    return at;
}

static inline void set_mark(const seat *at, uint64_t mark) {
    *at->marks = (*at->marks & ~(UINT64_C(0xffff) << at->shift)) | mark << at->shift;
}

void onepath_digests_view(onepath_digests *digests, const onepath_strings *strings, onepath_patterns *patterns,
                          const uint8_t *bytes, uint32_t length, uint32_t *scratch, size_t capacity, onepath_view *view,
                          tm_work *work) {
    tm_head head = tm_head_of(bytes, length);
    uint32_t version = version_of(strings, patterns);
    seat at = find_seat(digests, head, length, &strings->key);
    if (at.is_found && at.digest->version == version) {
        *at.marks |= (uint64_t)CREDIT_MAX << at.shift;
        view_digest(at.digest, scratch, capacity, view);
        return;
    }
    view->constant = onepath_strings_find(strings, bytes, length);
    view->label = onepath_strings_label(strings, view->constant, bytes, length);
    work->steps += LABEL_STEPS + tm_work_of_text(length);
    size_t count = onepath_patterns_find(patterns, bytes, length, scratch, capacity, work);
    view->pattern_count = (uint32_t)count;
    view->patterns = count <= capacity ? scratch : NULL;
    if (at.digest == NULL) {
        return;
    }
    if (count > ONEPATH_DIGEST_PATTERNS || count > capacity || tm_work_is_over(work)) {
        set_mark(&at, 0); /* the digest there was to be replaced anyway */
        return;
    }
    set_mark(&at, at.mark);
    *at.digest = (onepath_digest){.head = head,
                                  .label = view->label,
                                  .length = length,
                                  .constant = view->constant,
                                  .version = version,
                                  .pattern_count = (uint32_t)count};
    memcpy(at.digest->patterns, scratch, sizeof *scratch * count);
}
