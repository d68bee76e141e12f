/* tm_api.h - what C and Python share. No #include, no #if, no expressions in #define: cffi reads this text as it is.
 *
 * Law: every function returns a tm_result or cannot fail; every pointer says who owns it; inputs are const and come
 * with a length. Nothing here is global.
 */

/* ---- results: native/__init__.py turns each into an exception ------------------------------------------------ */

#define TM_OK 0
#define TM_MALFORMED 1 /* the peer's bytes break the rules of a message or a filter */
#define TM_NO_MEMORY 2 /* an allocation failed, or the configured memory is used up; nothing has changed */
#define TM_TOO_MANY 3  /* a limit of limits.py was passed */
#define TM_ABSENT 4    /* what was to be removed is not there */
#define TM_MISUSED 5   /* the caller broke the contract of the call */

/* ---- limits, equal to those of protocol/limits.py (a test compares them) -------------------------------------- */

#define TM_NAME_BYTES_MAX 256
#define TM_STRING_BYTES_MAX 65536
#define TM_ATTRIBUTES_MAX 64
#define TM_OPERAND_BYTES_MAX 1024
#define TM_PATTERN_BYTES_MAX 128
#define TM_IN_VALUES_MAX 256
#define TM_CONSTRAINTS_MAX 16

/* ---- values ----------------------------------------------------------------------------------------------------- */

#define TM_KIND_BOOLEAN 0
#define TM_KIND_INTEGER 1
#define TM_KIND_FLOAT 2
#define TM_KIND_STRING 3

/* One attribute of a message. `name` and `string` are borrowed from the bytes it was decoded from. */
typedef struct tm_attribute {
    const uint8_t *name;
    const uint8_t *string; /* TM_KIND_STRING: `length` bytes of UTF-8; otherwise NULL */
    int64_t integer;       /* TM_KIND_INTEGER; 0 or 1 for TM_KIND_BOOLEAN */
    double real;           /* TM_KIND_FLOAT: finite, and no 64-bit integer (1.0 arrives as the integer 1) */
    uint32_t length;
    uint16_t name_length;
    uint8_t kind;
} tm_attribute;

/* Decode the msgpack map of a message's attributes, at most `size` bytes, into `out` (room for TM_ATTRIBUTES_MAX).
 * On TM_OK `*count` attributes were written and `*used` bytes read. TM_MALFORMED: cut short, a name twice or out of
 * bounds, invalid UTF-8, an integer outside 64 bits, NaN or infinity, or another msgpack type. TM_TOO_MANY: more than
 * TM_ATTRIBUTES_MAX. `out` borrows from `bytes`. */
int tm_attributes_decode(const uint8_t *bytes, size_t size, tm_attribute *out, size_t *count, size_t *used);
