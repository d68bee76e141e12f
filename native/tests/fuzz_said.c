/* fuzz_said.c - libFuzzer target: any bytes as the body of an ACK or a CREDIT. The first byte says which.
 *
 * Law: what is read is what a plain reading of the same msgpack says, item by item, and what that takes for unsound is
 * read by nobody. No byte behind the body is looked at.
 */
#include "durable/tables/said.h"
#include "model/wire.h"
#include "support.h"

#define ITEMS_MAX 64U
#define DEPTH_MAX 8U

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* What is left to read; `is_bad` stays. */
typedef struct plain {
    const uint8_t *at;
    size_t left;
    bool is_bad;
} plain;

typedef enum { ITEM_NUMBER, ITEM_ARRAY, ITEM_MAP, ITEM_TEXT, ITEM_BYTES, ITEM_OTHER } item_type;

typedef struct item {
    item_type type;
    uint64_t number; /* or how many are in it, or its size */
    const uint8_t *bytes;
} item;

static uint64_t big_endian(plain *of, unsigned width) {
    uint64_t number = 0;
    of->is_bad = of->is_bad || of->left < width;
    for (unsigned i = 0; i < width && !of->is_bad; i++) {
        number = number << 8 | *of->at++;
        of->left--;
    }
    return number;
}

static item with_bytes(plain *of, item_type type, uint64_t size) {
    item read = {type, size, of->at};
    of->is_bad = of->is_bad || size > of->left;
    if (!of->is_bad) {
        of->at += size;
        of->left -= size;
    }
    return read;
}

/* A number that is negative, or a float that is none of an integer's, is ITEM_OTHER. */
static item next(plain *of) {
    uint8_t head = (uint8_t)big_endian(of, 1);
    if (of->is_bad || head <= 0x7f) {
        return (item){ITEM_NUMBER, head, NULL};
    }
    if (head <= 0x8f) {
        return (item){ITEM_MAP, head & 15U, NULL};
    }
    if (head <= 0x9f) {
        return (item){ITEM_ARRAY, head & 15U, NULL};
    }
    if (head <= 0xbf) {
        return with_bytes(of, ITEM_TEXT, head & 31U);
    }
    switch (head) {
    case 0xc1:
        of->is_bad = true;
        return (item){ITEM_OTHER, 0, NULL};
    case 0xc4:
    case 0xc5:
    case 0xc6:
        return with_bytes(of, ITEM_BYTES, big_endian(of, 1U << (head - 0xc4)));
    case 0xc7:
    case 0xc8:
    case 0xc9:
        return with_bytes(of, ITEM_OTHER, big_endian(of, 1U << (head - 0xc7)) + 1);
    case 0xca:
    case 0xcb:
        return with_bytes(of, ITEM_OTHER, head == 0xca ? 4 : 8);
    case 0xcc:
    case 0xcd:
    case 0xce:
    case 0xcf:
        return (item){ITEM_NUMBER, big_endian(of, 1U << (head - 0xcc)), NULL};
    case 0xd0:
    case 0xd1:
    case 0xd2:
    case 0xd3: {
        unsigned width = 1U << (head - 0xd0);
        uint64_t number = big_endian(of, width);
        return (item){number >> (8 * width - 1) ? ITEM_OTHER : ITEM_NUMBER, number, NULL};
    }
    case 0xd4:
    case 0xd5:
    case 0xd6:
    case 0xd7:
    case 0xd8:
        return with_bytes(of, ITEM_OTHER, (1U << (head - 0xd4)) + 1);
    case 0xd9:
    case 0xda:
    case 0xdb:
        return with_bytes(of, ITEM_TEXT, big_endian(of, 1U << (head - 0xd9)));
    case 0xdc:
    case 0xdd:
        return (item){ITEM_ARRAY, big_endian(of, head == 0xdc ? 2 : 4), NULL};
    case 0xde:
    case 0xdf:
        return (item){ITEM_MAP, big_endian(of, head == 0xde ? 2 : 4), NULL};
    default: /* nil, booleans, negative numbers */
        return (item){ITEM_OTHER, 0, NULL};
    }
}

static void skip(plain *of, unsigned depth) {
    item one = next(of);
    bool is_nested = one.type == ITEM_ARRAY || one.type == ITEM_MAP;
    of->is_bad = of->is_bad || (is_nested && depth == 0);
    for (uint64_t i = 0; is_nested && i < one.number * (one.type == ITEM_MAP ? 2 : 1) && !of->is_bad; i++) {
        skip(of, depth - 1);
    }
}

static uint64_t number(plain *of, uint64_t most) {
    item one = next(of);
    of->is_bad = of->is_bad || one.type != ITEM_NUMBER || one.number > most;
    return one.number;
}

static uint64_t array(plain *of) {
    item one = next(of);
    of->is_bad = of->is_bad || one.type != ITEM_ARRAY;
    return of->is_bad ? 0 : one.number;
}

static bool is_text(const uint8_t *bytes, uint64_t size) {
    static const uint32_t least[] = {0, 0x80, 0x800, 0x10000};
    for (uint64_t i = 0; i < size; i++) {
        unsigned more = bytes[i] < 0x80       ? 0
                        : bytes[i] >> 5 == 6  ? 1
                        : bytes[i] >> 4 == 14 ? 2
                        : bytes[i] >> 3 == 30 ? 3
                                              : 4;
        if (more > 3 || i + more >= size) {
            return false;
        }
        uint32_t sign = more == 0 ? bytes[i] : bytes[i] & (0x3fU >> more);
        for (unsigned k = 0; k < more; k++) {
            i++;
            if (bytes[i] >> 6 != 2) {
                return false;
            }
            sign = sign << 6 | (bytes[i] & 0x3fU);
        }
        if (sign < least[more] || sign > 0x10ffff || (sign >= 0xd800 && sign < 0xe000)) {
            return false;
        }
    }
    return true;
}

/* `said`: what was read, if something was: its ranges are compared on the way. */
static bool plain_ack(plain of, const tm_said_ack *said, bool was_read) {
    tm_cursor ranges = was_read ? tm_said_ranges(said) : (tm_cursor){0};
    uint64_t fields = array(&of);
    of.is_bad = of.is_bad || fields < 6 || fields > ITEMS_MAX;
    of.is_bad = number(&of, UINT8_MAX) != WIRE_ACK_OF_DELIVER || of.is_bad;
    uint64_t request = number(&of, UINT32_MAX);
    uint64_t count = array(&of);
    of.is_bad = of.is_bad || count > SAID_RANGES_MAX;
    uint64_t below = 0;
    for (uint64_t i = 0; i < count && !of.is_bad; i++) {
        of.is_bad = array(&of) != 2 || of.is_bad;
        uint64_t first = number(&of, UINT64_MAX);
        uint64_t last = number(&of, UINT64_MAX);
        of.is_bad = of.is_bad || first > last || (i > 0 && (first <= below || first == below + 1));
        below = last;
        if (was_read && !of.is_bad) {
            uint64_t its_first;
            uint64_t its_last;
            tm_said_next(&ranges, &its_first, &its_last);
            CHECK(its_first == first && its_last == last, "range %u differs", (unsigned)i);
        }
    }
    of.is_bad = array(&of) != 0 || of.is_bad;
    uint64_t verdict = number(&of, VERDICT_REJECT);
    uint64_t subscription = number(&of, UINT32_MAX);
    uint64_t delay = fields > 6 ? number(&of, UINT32_MAX) : 0;
    item reason = fields > 7 ? next(&of) : (item){ITEM_TEXT, 0, NULL};
    of.is_bad = of.is_bad || reason.type != ITEM_TEXT || reason.number > SAID_REASON_BYTES_MAX ||
                (reason.number > 0 && !is_text(reason.bytes, reason.number));
    for (uint64_t i = 8; i < fields && !of.is_bad; i++) {
        skip(&of, DEPTH_MAX);
    }
    bool is_sound = !of.is_bad && of.left == 0;
    if (is_sound && was_read) {
        CHECK(said->request == request && said->range_count == count && said->verdict == verdict, "another ACK");
        CHECK(said->subscription == subscription && said->delay_ms == delay, "another subscription or delay");
        CHECK(said->reason_size == reason.number && (reason.number == 0 || said->reason == reason.bytes),
              "another reason");
    }
    return is_sound;
}

static bool plain_credit(plain of, const tm_said_credit *said, bool was_read) {
    of.is_bad = array(&of) != 3;
    uint64_t deliveries = number(&of, UINT64_MAX);
    of.is_bad = number(&of, UINT64_MAX) != 0 || of.is_bad;
    uint64_t subscription = number(&of, UINT32_MAX);
    bool is_sound = !of.is_bad && of.left == 0;
    CHECK(!is_sound || !was_read || (said->deliveries == deliveries && said->subscription == subscription),
          "another credit");
    return is_sound;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    if (size == 0) {
        return 0;
    }
    uint8_t *body = malloc(size); /* ours until the end: a byte read behind it is found */
    CHECK(body != NULL, "memory");
    memcpy(body, bytes + 1, size - 1);
    plain whole = {body, size - 1, false};
    bool was_read;
    bool is_sound;
    if (bytes[0] & 1) {
        tm_said_ack said;
        was_read = tm_said_read_ack(body, size - 1, &said);
        is_sound = plain_ack(whole, &said, was_read);
    } else {
        tm_said_credit said;
        was_read = tm_said_read_credit(body, size - 1, &said);
        is_sound = plain_credit(whole, &said, was_read);
    }
    CHECK(was_read == is_sound, "read: %d, sound: %d", was_read, is_sound);
    free(body);
    return 0;
}
