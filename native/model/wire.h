/* wire.h - the numbers of docs/reference/wire.md that the switch needs, and how they are read and written in place.
 *
 * Law: equal to protocol/wire (a test compares them). No function here checks a length, except for wire_expiry_ms; the
 * caller does.
 */
#ifndef TM_WIRE_H
#define TM_WIRE_H

#include <string.h>

#include "base/load.h"
#include "tm.h"

#define WIRE_PREFIX_BYTES 8U
#define WIRE_HEADER_BYTES 64U
#define WIRE_DATA_KINDS_END 0x10U
#define WIRE_SKIPPABLE 0x80U
#define WIRE_OFFER 0x2BU /* this reserved kind and the one behind it are skipped, too */
#define WIRE_WANTED 0x2CU

/* Offsets in a frame. */
#define WIRE_KIND 4U
#define WIRE_FLAGS 5U
#define WIRE_HOPS 6U
#define WIRE_RESERVED 7U
#define WIRE_TRANSIT 8U
#define WIRE_ORIGIN 32U
#define WIRE_COUNTER 40U
#define WIRE_PUBLISHED 48U
#define WIRE_EXTENSION_SIZE 56U
#define WIRE_RESERVED_16 58U
#define WIRE_ATTRIBUTE_SIZE 60U

typedef enum {
    WIRE_PUBLISH = 0x01,
    WIRE_DELIVER = 0x02,
    WIRE_DRY_RUN = 0x03,
    WIRE_DIRECTED = 0x04,
    WIRE_HELLO = 0x10,
    WIRE_ERROR = 0x14,
    WIRE_PING = 0x15,
    WIRE_PONG = 0x16,
    WIRE_DRAIN = 0x17,
    WIRE_REMOTE_HELLO = 0x18,
    WIRE_SUBSCRIBE = 0x20,
    WIRE_ACK = 0x22,
    WIRE_CREDIT = 0x23,
    WIRE_LOST = 0x24,
    WIRE_REPLAY_END = 0x2A,
    WIRE_LIST_DURABLES = 0x2D,
    WIRE_DURABLES_LISTED = 0x2E,
    WIRE_GET = 0x2F,
    WIRE_TRACE_RECORD = 0x30,
    WIRE_DRY_RUN_REPORT = 0x31,
    WIRE_LSA = 0x40,
    WIRE_HELD = 0x44,
    WIRE_CUSTODY_ACK = 0x50,
    WIRE_GAP = 0x52,
    WIRE_EPOCH_REFUSED = 0x80,
    WIRE_GO_AWAY = 0x81,
    WIRE_DURABLES = 0x90,
    WIRE_DURABLES_HELD = 0x91,
    WIRE_REMOTE = 0x92,
    WIRE_FINISHED = 0x93,
    WIRE_EA = 0xC5,
    WIRE_EH = 0xC6,
    WIRE_ER = 0xC7,
    WIRE_SPACE = 0xC9,
} wire_kind;

#define WIRE_FLAG_CONFIRM 0x01U
#define WIRE_FLAG_RETRY 0x02U
#define WIRE_FLAG_DURABLE 0x04U
#define WIRE_STORE_FLAGS (WIRE_FLAG_CONFIRM | WIRE_FLAG_DURABLE) /* confirm the message when it is on disk */
#define WIRE_FLAG_OWN 0x08U
#define WIRE_FLAG_TRACED 0x10U
#define WIRE_FLAG_EVERY_HOME 0x20U /* of a client's PUBLISH with both; it travels no further */
#define WIRE_FLAGS_KNOWN 0x1fU

typedef enum {
    WIRE_REUSE_KEYS = 1,
    WIRE_TRACE,
    WIRE_EXPIRY,
    WIRE_GROUP,
    WIRE_SATISFIED,
    WIRE_LOG_POSITION,
    WIRE_CUSTODY = 0x0008,
    WIRE_GROUP_CHOICE = 0x000a,
    WIRE_DELIVERIES,
    WIRE_MEMBERS_ONLY = 0x000c,
    WIRE_TELL_UNWANTED = 0x000d,
    WIRE_ROUTE = 0x8007,
} wire_extension;

/* One choice of a GROUP_CHOICE: the number of a group, then that of a router. */
#define WIRE_CHOICE_BYTES 12U
#define WIRE_CHOICES_MAX 256U

/* A ROUTE: a mode, then for WIRE_ROUTE_LIST numbers of routers, for WIRE_ROUTE_TREE that of a root; for WIRE_ROUTE_SET
 * a digest, and a bit for each router that it covers; for WIRE_ROUTE_KEYS whether the keys are complete, a digest, and
 * keys of filters that match. */
#define WIRE_ROUTE_ALL 1U
#define WIRE_ROUTE_LIST 2U
#define WIRE_ROUTE_TREE 3U
#define WIRE_ROUTE_SET 4U
#define WIRE_ROUTE_KEYS 5U
#define WIRE_DIGEST_BYTES 16U
#define WIRE_SET_BYTES_MAX 512U
#define WIRE_KEYS_MAX 240U
#define WIRE_KEYS_AT 18U /* mode, completeness and digest */
#define WIRE_ROUTE_ROUTERS_MAX 64U
#define WIRE_ROUTE_TREE_BYTES 13U /* a ROUTE of mode TREE, with its header */

/* The CUSTODY of a DIRECTED, with its header; offsets in the frame, as it comes first. */
#define WIRE_CUSTODY_BYTES 52U
#define WIRE_CUSTODY_HOME 68U
#define WIRE_CUSTODY_HOME_LOG 76U
#define WIRE_CUSTODY_LOG 84U
#define WIRE_CUSTODY_LIFE 92U
#define WIRE_CUSTODY_BEFORE 96U
#define WIRE_CUSTODY_NUMBER 100U
#define WIRE_CUSTODY_PREVIOUS 108U

#define WIRE_MUST_UNDERSTAND 0x8000U
#define WIRE_EXTENSIONS_MAX 65535U
#define WIRE_SATISFIED_BYTES_MIN 8U /* the extension with one id, by which a DELIVER exceeds its PUBLISH */
#define WIRE_EXTENSION_COUNT_MAX 64U

typedef enum {
    WIRE_TOO_LONG = 1,
    WIRE_TOO_SHORT,
    WIRE_RESERVED_SET,
    WIRE_UNKNOWN_KIND,
    WIRE_UNEXPECTED_KIND,
    WIRE_MALFORMED,
    WIRE_TRAILING_BYTES,
    WIRE_OVER_LIMIT,
    WIRE_BAD_ATTRIBUTES,
    WIRE_BAD_EXTENSION,
    WIRE_UNKNOWN_EXTENSION,
    WIRE_UNAUTHENTICATED = 14,
    WIRE_WRONG_SENDER = 17,
} wire_error;

typedef enum {
    WIRE_REFUSED_BAD_FILTER = 1,
    WIRE_REFUSED_TOO_MANY_FILTERS = 3,
    WIRE_REFUSED_NOT_ALLOWED = 4,
    WIRE_REFUSED_ID_IN_USE = 5,
    WIRE_REFUSED_OVERLOADED = 7,
    WIRE_REFUSED_LOG_FAILED = 8,
    WIRE_REFUSED_EXPIRED = 9,
    WIRE_REFUSED_TOO_LARGE = 10,
    WIRE_REFUSED_DRAINING = 11,
    WIRE_REFUSED_UNKNOWN_EXTENSION = 12,
    WIRE_REFUSED_OUT_OF_MEMORY = 13,
    WIRE_REFUSED_DUPLICATE = 14,
    WIRE_REFUSED_TOO_OLD = 15,
    WIRE_REFUSED_TOO_FAR_AHEAD = 16,
    WIRE_REFUSED_NOT_IN_STEP = 17,
    WIRE_REFUSED_TOO_COSTLY = 18,
    WIRE_REFUSED_OVER_QUOTA = 19,
    WIRE_REFUSED_NOT_IN_SPACE = 20,
    WIRE_REFUSED_LOG_FULL = 23,
    WIRE_REFUSED_NO_LOG = 25,
    WIRE_REFUSED_UNWANTED = 26,
    WIRE_REFUSED_NOT_HELD = 28,
} wire_refusal;

typedef enum {
    WIRE_LOST_QUEUE_FULL = 1,
    WIRE_LOST_EXPIRED,
    WIRE_LOST_TOO_LARGE,
    WIRE_LOST_LOG_FULL,
    WIRE_LOST_ROUTE_CHANGED = 6,
    WIRE_LOST_TOO_COSTLY,
    WIRE_LOST_UNDELIVERABLE,
    WIRE_LOST_LOG_DAMAGED,
    WIRE_LOST_CUSTODY_FULL,
    WIRE_LOST_ENTRY_LOST,
    WIRE_LOST_SKIPPED = 13,
} wire_loss;

#define WIRE_ACK_OF_PUBLISH 3U
#define WIRE_ACK_OF_DELIVER 4U
/* Bits of DELIVERIES. */
#define WIRE_REPLAYED 1U
#define WIRE_MAYBE_DUPLICATE 2U
#define WIRE_DEAD_LETTER 4U
#define WIRE_VERSION_CUSTODY 3U /* first version with DIRECTED */
#define WIRE_VERSION_NEWEST 2U  /* first version in which a refusal may carry the newest known counter */

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the header is read in place");

static inline void wire_store16(uint8_t *at, uint16_t word) {
    memcpy(at, &word, sizeof word);
}
static inline void wire_store32(uint8_t *at, uint32_t word) {
    memcpy(at, &word, sizeof word);
}
static inline void wire_store64(uint8_t *at, uint64_t word) {
    memcpy(at, &word, sizeof word);
}

/* Return when a data frame of `size` bytes, at least a header, expires by its EXPIRY, in milliseconds since 1970; 0:
 * never. false: its extensions are malformed. */
bool wire_expiry_ms(const uint8_t *frame, uint32_t size, uint64_t *ms);

/* ---- control frames that the switch writes itself: a prefix and one msgpack array ---- */

#define WIRE_CONTROL_BYTES_MAX 4096U /* of one control frame */

typedef struct wire_writer {
    uint32_t size;
    uint8_t bytes[WIRE_CONTROL_BYTES_MAX];
} wire_writer;

void wire_begin(wire_writer *writer, wire_kind kind);
void wire_array(wire_writer *writer, uint32_t count);
void wire_unsigned(wire_writer *writer, uint64_t number);
void wire_boolean(wire_writer *writer, bool boolean);
void wire_text(wire_writer *writer, const char *text); /* at most 255 bytes */
void wire_end(wire_writer *writer);                    /* writes the length into the prefix */

#endif
