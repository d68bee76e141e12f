/* remote_judge.c - see remote_judge.h. */
#include "remote_judge.h"

#include <string.h>

#define HEAD 70U

/* The fields of a REMOTE as the page of the wire lists them. */
typedef struct told {
    uint64_t session;
    uint64_t at;
    uint64_t taken;
    uint64_t room;
    uint64_t marks;
    const uint8_t *piece; /* borrowed */
    uint64_t size;
} told;

static uint64_t big_endian(const uint8_t *at, unsigned bytes) {
    uint64_t number = 0;
    for (unsigned i = 0; i < bytes; i++) {
        number = number << 8 | at[i];
    }
    return number;
}

static told read_told(const uint8_t *frame, size_t size) {
    uint64_t length = frame[0] | (uint64_t)frame[1] << 8 | (uint64_t)frame[2] << 16 | (uint64_t)frame[3] << 24;
    CHECK(size >= HEAD && length == size && frame[4] == 0x92, "%zu bytes of kind %x", size, frame[4]);
    CHECK(frame[8] == 0x99 && frame[9] <= 127, "the beginning of a REMOTE");
    static const unsigned places[] = {10, 19, 28, 37, 46};
    for (unsigned i = 0; i < 5; i++) {
        CHECK(frame[places[i]] == 0xcf, "field %u", i + 1);
    }
    CHECK(frame[55] == 0xce && frame[60] == 0xce && frame[65] == 0xc6, "the last fields");
    told said = {.session = big_endian(frame + 29, 8),
                 .at = big_endian(frame + 38, 8),
                 .taken = big_endian(frame + 47, 8),
                 .room = big_endian(frame + 56, 4),
                 .marks = big_endian(frame + 61, 4),
                 .piece = frame + HEAD,
                 .size = big_endian(frame + 66, 4)};
    CHECK(said.size == size - HEAD && said.size <= JUDGED_PIECE, "a piece of %lu bytes", (unsigned long)said.size);
    CHECK(said.room <= JUDGED_WINDOW && said.marks <= 7, "room %lu, marks %lu", (unsigned long)said.room,
          (unsigned long)said.marks);
    return said;
}

uint64_t remote_judge_session_of(const uint8_t *frame, uint32_t *marks) {
    *marks = (uint32_t)big_endian(frame + 61, 4);
    return big_endian(frame + 29, 8);
}

void remote_judge_begin(remote_judge *judge, uint64_t session, uint64_t now_ms) {
    *judge = (remote_judge){.session = session};
    for (unsigned i = 0; i < SIDES; i++) {
        judge->sides[i] = (judged_side){.allowed = JUDGED_WINDOW, .said_ms = now_ms};
    }
}

static void forget(judged_bytes *said) {
    free(said->bytes);
    *said = (judged_bytes){0};
}

void remote_judge_end(remote_judge *judge) {
    forget(&judge->sides[NEAR].stream);
    forget(&judge->sides[FAR].stream);
    forget(&judge->deliveries);
    forget(&judge->answers);
    judge->session = 0;
}

void remote_judge_say(judged_bytes *said, const uint8_t *bytes, size_t size) {
    if (said->size + size > said->capacity) {
        said->capacity = 2 * (said->size + size);
        said->bytes = realloc(said->bytes, said->capacity);
        CHECK(said->bytes != NULL, "memory");
    }
    memcpy(said->bytes + said->size, bytes, size);
    said->size += size;
}

void remote_judge_hear(judged_bytes *said, const uint8_t *bytes, size_t size, const char *who) {
    CHECK(said->heard + size <= said->size, "%s: more has come than was said", who);
    CHECK(memcmp(said->bytes + said->heard, bytes, size) == 0, "%s: other bytes have come than were said", who);
    said->heard += size;
}

bool remote_judge_is_quiet(const remote_judge *judge) {
    return judge->sides[NEAR].stream.heard == judge->sides[NEAR].stream.size &&
           judge->deliveries.heard == judge->deliveries.size && judge->answers.heard == judge->answers.size;
}

bool remote_judge_leaves(remote_judge *judge, const uint8_t *frame, size_t size, uint64_t now_ms) {
    told said = read_told(frame, size);
    if (said.session != judge->session || (said.marks & 2) != 0) {
        return false;
    }
    judged_side *me = &judge->sides[said.marks & 1];
    const judged_side *other = &judge->sides[1 - (said.marks & 1)];
    CHECK(said.at + said.size <= me->allowed, "byte %lu leaves, %lu are allowed", (unsigned long)(said.at + said.size),
          (unsigned long)me->allowed);
    CHECK(said.at + said.size <= me->taken + JUDGED_WINDOW, "more than a window is on the way");
    CHECK(said.at + said.size <= me->stream.size, "bytes leave that were not said");
    CHECK(said.size == 0 || memcmp(me->stream.bytes + said.at, said.piece, said.size) == 0,
          "other bytes leave than were said");
    CHECK(said.taken >= me->told && said.taken <= other->sent, "%lu taken, after %lu, of %lu",
          (unsigned long)said.taken, (unsigned long)me->told, (unsigned long)other->sent);
    CHECK((said.marks & 1) != 0 || me->taken > 0 || said.at == 0 || said.size == 0,
          "a piece follows before the first one is taken");
    me->told = said.taken;
    me->said_ms = now_ms;
    return true;
}

void remote_judge_comes(remote_judge *judge, const uint8_t *frame, size_t size) {
    told said = read_told(frame, size);
    judged_side *from = &judge->sides[said.marks & 1];
    judged_side *to = &judge->sides[1 - (said.marks & 1)];
    if (said.session == judge->session && (said.marks & 2) == 0) {
        from->sent = said.at + said.size > from->sent ? said.at + said.size : from->sent;
        to->taken = said.taken > to->taken ? said.taken : to->taken;
        to->allowed = said.taken + said.room > to->allowed ? said.taken + said.room : to->allowed;
    }
}
