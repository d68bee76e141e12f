/* tm_relay_api.h - the codecs of gateways, as C and Python share them: JSON to frames, frames to text. It builds on
 * tm_api.h, and cffi reads it unchanged.
 *
 * Law: that of tm_api.h. No function reads or writes outside of the bytes it is given, whatever they are, or works more
 * than a constant a byte. Inputs and outputs are borrowed during the call and do not overlap. A message that is not
 * whole on return has left nothing behind: no output, no number, no credit.
 */

/* ---- refusals of a message in JSON ---- */

#define TM_JSON_ENDS 1         /* the text ends inside of the object */
#define TM_JSON_NOT_OBJECT 2   /* it is no object */
#define TM_JSON_NO_KEY 3       /* expected a key in quotes */
#define TM_JSON_NO_COLON 4     /* expected `:` */
#define TM_JSON_NO_COMMA 5     /* expected `,` or `}` */
#define TM_JSON_NO_VALUE 6     /* expected a value */
#define TM_JSON_TRAILING 7     /* something follows the object */
#define TM_JSON_NUMBER 8       /* no number of JSON */
#define TM_JSON_CONTROL 9      /* a control character in a string, not escaped */
#define TM_JSON_ESCAPE 10      /* no escape of JSON */
#define TM_JSON_SURROGATE 11   /* half of a surrogate pair */
#define TM_JSON_UTF8 12        /* not UTF-8 */
#define TM_JSON_NUMBER_LONG 13 /* a number of more than TM_JSON_NUMBER_BYTES_MAX */
#define TM_JSON_KEY_TWICE 20   /* a key of the object */
#define TM_JSON_NAME_TWICE 21  /* an attribute */
#define TM_JSON_UNKNOWN_KEY 22
#define TM_JSON_NULL 23 /* an attribute is null */
#define TM_JSON_ARRAY 24
#define TM_JSON_OBJECT 25        /* and not {"integer": "..."} */
#define TM_JSON_NAME_SIZE 26     /* a name has 1 to TM_NAME_BYTES_MAX bytes */
#define TM_JSON_STRING_SIZE 27   /* a string has at most TM_STRING_BYTES_MAX bytes */
#define TM_JSON_TOO_MANY 28      /* more than TM_ATTRIBUTES_MAX */
#define TM_JSON_INTEGER_RANGE 29 /* outside of 64 bits */
#define TM_JSON_FLOAT_RANGE 30   /* beyond the largest float */
#define TM_JSON_INTEGER_TEXT 31  /* {"integer": ...} is not an integer as text */
#define TM_JSON_NO_ATTRIBUTES 32
#define TM_JSON_KEY_KIND 33 /* the value of a key is of another kind */
#define TM_JSON_TWO_PAYLOADS 34
#define TM_JSON_BASE64 35
#define TM_JSON_TTL 36           /* not from 0.001 to TM_JSON_TTL_S_MAX */
#define TM_JSON_SPACE_SIZE 37    /* a space has 1 to 64 bytes */
#define TM_JSON_SPACE_DIFFERS 38 /* from the one that the attributes name */
#define TM_JSON_TOO_LARGE 39     /* the frame is longer than the rules allow */
#define TM_JSON_CONFIRM 40       /* `confirm` is no level */
#define TM_JSON_OTHER_OP 41      /* `op` is not "publish" */
#define TM_JSON_LINE_LONG 42     /* a line of more than TM_JSON_LINE_BYTES_MAX */

#define TM_JSON_NUMBER_BYTES_MAX 1024
#define TM_JSON_NAME_SHOWN 64
#define TM_JSON_TTL_S_MAX 3153600000
#define TM_JSON_SLACK 1280 /* a frame, and what is written meanwhile, is at most so much longer than its JSON */
#define TM_JSON_LINE_BYTES_MAX 2097152

typedef struct tm_json_refusal {
    uint64_t line;                    /* from 1: of the stream of lines, or of the text */
    uint32_t position;                /* in bytes, from 0: in its line of a stream, or in the text */
    uint32_t column;                  /* in characters, from 1: in its line */
    uint32_t code;                    /* TM_JSON_... */
    uint32_t name_size;               /* of the name or key that the code is about; 0: about none */
    uint8_t name[TM_JSON_NAME_SHOWN]; /* its first bytes, whole characters; a shorter one ends with 0 */
} tm_json_refusal;

/* ---- a message in JSON ---- */

/* `{"attributes": {...}, "payload": "..." or "payload_base64": "...", "ttl_s": 5, "space": "..."}`, keys in any order,
 * and with `is_socket` also "op": "publish", "n": 1, "confirm": "accepted", "stored" or "none", "binary": true. */
typedef struct tm_json_rules {
    const uint8_t *naming;    /* borrowed: the attribute that names a message's space, in UTF-8 */
    uint32_t naming_size;     /* 1 to TM_NAME_BYTES_MAX */
    uint32_t frame_bytes_max; /* at most TM_FRAME_BYTES_MAX */
    uint8_t flags;            /* of the frames, unless "confirm" says others */
    uint8_t is_socket;
} tm_json_rules;

/* The numbers of the next message. */
typedef struct tm_json_numbering {
    uint64_t origin;
    uint64_t counter;
    uint64_t now_ns;
} tm_json_numbering;

typedef struct tm_json_made {
    uint64_t n;    /* "n" */
    uint32_t size; /* of the frame */
    uint8_t has_n;
    uint8_t flags;  /* of the frame */
    uint8_t binary; /* the payload comes in a frame of its own */
} tm_json_made;

/* Write the PUBLISH frame that a client would send for one message in JSON; `numbering` is only read. TM_MALFORMED:
 * refused, see `*refusal`. TM_TOO_MANY: `out` has less than `size` + TM_JSON_SLACK bytes. TM_MISUSED: the rules are not
 * sound, or `size` is above TM_JSON_LINE_BYTES_MAX. */
int tm_json_publish(const tm_json_rules *rules, const tm_json_numbering *numbering, const uint8_t *text, size_t size,
                    uint8_t *out, size_t capacity, tm_json_made *made, tm_json_refusal *refusal);

/* ---- a stream of messages, one a line ---- */

#define TM_JSON_LINES_ALL 0     /* all input is consumed */
#define TM_JSON_LINES_CREDIT 1  /* the next message needs credit: a frame, or `needed` bytes where that is not 0 */
#define TM_JSON_LINES_ROOM 2    /* the next message needs more room in `out`: `needed` bytes are enough for it alone */
#define TM_JSON_LINES_REFUSED 3 /* there is no room for a further refusal */

typedef struct tm_json_lines tm_json_lines;

/* What may be sent; tm_json_lines_feed counts it down. */
typedef struct tm_json_lines_credit {
    uint64_t frames;
    uint64_t bytes;
} tm_json_lines_credit;

typedef struct tm_json_lines_said {
    uint64_t consumed; /* bytes of the input */
    uint64_t written;  /* bytes of frames */
    uint64_t needed;
    uint32_t frames;
    uint32_t refused; /* refusals written */
    uint32_t stopped; /* TM_JSON_LINES_... */
} tm_json_lines_said;

/* `rules` is copied, `naming` with it. The stream holds at most TM_JSON_LINE_BYTES_MAX of a line that is not whole. */
int tm_json_lines_new(const tm_json_rules *rules, tm_json_lines **made);
void tm_json_lines_free(tm_json_lines *lines); /* NULL is allowed */

/* Turn lines into frames, with consecutive counters. A refused line costs a number of no message; the stream goes on
 * behind it. Lines of white space alone are skipped. `is_last`: the input ends here, with or without a newline; call it
 * so until everything is consumed. TM_NO_MEMORY: what `said` tells is done; the line that was cut is not taken. */
int tm_json_lines_feed(tm_json_lines *lines, tm_json_numbering *numbering, tm_json_lines_credit *credit,
                       const uint8_t *in, size_t size, int is_last, uint8_t *out, size_t capacity,
                       tm_json_refusal *refusals, uint32_t refusals_max, tm_json_lines_said *said);

/* The bytes that a stream takes in memory, and the allocation, counted from now, that fails (0: none), for tests. */
uint64_t tm_json_lines_bytes(const tm_json_lines *lines);
void tm_json_lines_fail(tm_json_lines *lines, uint64_t fail_in);

/* ---- deliveries as text ---- */

#define TM_EVENTS_SSE 0    /* an event a message */
#define TM_EVENTS_NDJSON 1 /* a line a message */
#define TM_EVENTS_SOCKET 2 /* text frames of a WebSocket's server, of one or more lines: {"message": {}, "for": []} */

/* What stands in a message besides attributes and payload. */
#define TM_EVENTS_ID 1           /* "id"; an SSE event has it in any case, outside of the object */
#define TM_EVENTS_TIME 2         /* "time", where the message has one */
#define TM_EVENTS_MATCHED 4      /* "matched": ids of subscriptions */
#define TM_EVENTS_STORED 8       /* of a durable subscription's: position, deliveries, replayed, ... */
#define TM_EVENTS_INTEGERS 16    /* integers beyond 2^53 as {"integer": "..."} */
#define TM_EVENTS_BY_POSITION 32 /* the id of an SSE event is the position, where the message has one */

#define TM_EVENTS_NAMES_MAX 10000
#define TM_EVENTS_NAME_BYTES_MAX 256
#define TM_EVENTS_ONE_BYTES_MAX 6300000 /* takes any message of subscriptions without names */

#define TM_EVENTS_ALL 0     /* all input is consumed */
#define TM_EVENTS_PARTIAL 1 /* the rest is the begin of a frame */
#define TM_EVENTS_OTHER 2   /* the next frame is no DELIVER; its first 8 bytes are there */
#define TM_EVENTS_ROOM 3    /* the next message needs more room in `out`: `needed` bytes are enough for it alone */

typedef struct tm_events tm_events;

typedef struct tm_events_options {
    uint32_t form;             /* TM_EVENTS_SSE, ... */
    uint32_t fields;           /* TM_EVENTS_ID | ... */
    uint32_t joined_bytes_max; /* SOCKET: of a frame of several lines, at most 65,535; 0: each has one */
} tm_events_options;

typedef struct tm_events_said {
    uint64_t consumed; /* bytes of the input: whole frames */
    uint64_t written;  /* bytes of text */
    uint64_t needed;
    uint64_t origin; /* of the last message, if there is one */
    uint64_t counter;
    uint64_t position; /* 0: of no durable subscription */
    uint32_t messages;
    uint32_t stopped; /* TM_EVENTS_... */
} tm_events_said;

int tm_events_new(const tm_events_options *options, tm_events **made);
void tm_events_free(tm_events *events); /* NULL is allowed */

/* Name a subscription in "for"; one without a name stands there as its number. Size 0 takes the name away.
 * TM_MALFORMED: not UTF-8, or longer than TM_EVENTS_NAME_BYTES_MAX. TM_TOO_MANY: more than TM_EVENTS_NAMES_MAX. */
int tm_events_name(tm_events *events, uint32_t id, const uint8_t *name, size_t size);

/* Write the DELIVER frames at the begin of `in`. TM_MALFORMED: behind what `said` tells stands no sound frame. */
int tm_events_write(const tm_events *events, const uint8_t *in, size_t size, uint8_t *out, size_t capacity,
                    tm_events_said *said);

uint64_t tm_events_bytes(const tm_events *events);
void tm_events_fail(tm_events *events, uint64_t fail_in); /* for tests */
