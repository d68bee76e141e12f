/* lines.c - lines of records as columns: the other direction of record_lines.c.
 *
 * Law: accepted is what routers write: objects without spaces, integers of 64 bits, texts with the short escapes, flat
 * lists, null; fields in any order, none twice, unknown ones skipped. All else is malformed here, even if it is JSON,
 * and the caller has a slower reader for it. The last byte is a newline, which no loop passes: it is no digit, and it
 * ends a text as any control character does.
 */
#include "records/lines.h"

#include <string.h>

#include "base/grow.h"
#include "base/utf8.h"

#define DIGITS_MAX 19 /* of a 64-bit integer; that many fit into an unsigned one */

/* A field, its column, and the capacity of what grows there. */
typedef struct field {
    uint8_t *token; /* owned: the name in quotes, and a colon */
    uint32_t size;
    tm_field_type type;
    tm_column *column; /* of the same lines */
    uint32_t items_max;
    uint32_t bytes_max;
} field;

struct tm_lines {
    tm_memory memory;
    uint32_t rows;
    uint32_t count;
    field fields[TM_FIELDS_MAX];
    tm_column columns[TM_FIELDS_MAX];
    bool has_no_memory; /* why a function below returned NULL; false: the lines are malformed */
};

/* Functions below that read return what follows what they have read, or NULL. */

/* ---- columns ---- */

static bool is_list(const field *f) {
    return f->type == TM_FIELD_INTEGERS || f->type == TM_FIELD_TEXTS;
}

static bool grow(tm_lines *lines, void *array, size_t size, uint32_t *capacity, uint32_t wanted) {
    bool is_grown = tm_grow(&lines->memory, TM_COLD, array, size, capacity, wanted);
    lines->has_no_memory |= !is_grown;
    return is_grown;
}

static bool make_column(tm_lines *lines, field *f) {
    tm_column *column = f->column;
    column->valid = TM_NEW(&lines->memory, TM_COLD, uint8_t, lines->rows / 8 + 1);
    if (f->type == TM_FIELD_INTEGER) {
        column->items = lines->rows;
        return column->valid != NULL && grow(lines, &column->integers, sizeof(int64_t), &f->items_max, lines->rows);
    }
    column->starts = TM_NEW(&lines->memory, TM_COLD, int32_t, lines->rows + 1);
    bool is_made = column->valid != NULL && column->starts != NULL;
    bool has_items = f->type == TM_FIELD_TEXTS;
    return is_made && (!has_items || grow(lines, &column->item_starts, sizeof(int32_t), &f->items_max, 1));
}

/* ---- values ---- */

static const uint8_t *integer(const uint8_t *at, int64_t *value) {
    bool is_negative = *at == '-';
    at += is_negative;
    const uint8_t *first = at;
    uint64_t number = 0;
    for (; *at >= '0' && *at <= '9' && at - first < DIGITS_MAX; at++) {
        number = number * 10 + (*at - '0');
    }
    bool has_more = (*at >= '0' && *at <= '9') || (*first == '0' && at - first > 1);
    if (at == first || has_more || number > (uint64_t)INT64_MAX + is_negative) {
        return NULL;
    }
    *value = (int64_t)(is_negative ? 0 - number : number);
    return at;
}

/* Return the byte that a short escape means; 0: there is no such escape. */
static uint8_t escaped(uint8_t mark) {
    switch (mark) {
    case '"':
    case '\\':
    case '/':
        return mark;
    case 'b':
        return '\b';
    case 'f':
        return '\f';
    case 'n':
        return '\n';
    case 'r':
        return '\r';
    case 't':
        return '\t';
    default:
        return 0;
    }
}

/* Return the first byte from `at` on that is not of a text as it stands. */
static const uint8_t *plain(const uint8_t *at) {
    while (*at >= ' ' && *at != '"' && *at != '\\') {
        at++;
    }
    return at;
}

/* Append a text, from behind its first quote on. */
static const uint8_t *text(tm_lines *lines, field *f, const uint8_t *at) {
    tm_column *column = f->column;
    for (;;) {
        const uint8_t *stop = plain(at);
        uint32_t size = (uint32_t)(stop - at);
        if (!grow(lines, &column->bytes, 1, &f->bytes_max, column->bytes_size + size + 1)) {
            return NULL;
        }
        memcpy(column->bytes + column->bytes_size, at, size);
        column->bytes_size += size;
        if (*stop != '\\') {
            return *stop == '"' ? stop + 1 : NULL;
        }
        uint8_t byte = escaped(stop[1]);
        if (byte == 0) {
            return NULL;
        }
        column->bytes[column->bytes_size++] = byte;
        at = stop + 2;
    }
}

static const uint8_t *list_item(tm_lines *lines, field *f, const uint8_t *at) {
    tm_column *column = f->column;
    uint32_t item = column->items;
    if (f->type == TM_FIELD_INTEGERS) {
        bool has_room = grow(lines, &column->integers, sizeof *column->integers, &f->items_max, item + 1);
        at = has_room ? integer(at, &column->integers[item]) : NULL;
    } else {
        bool has_room = grow(lines, &column->item_starts, sizeof *column->item_starts, &f->items_max, item + 2);
        at = has_room && *at == '"' ? text(lines, f, at + 1) : NULL;
        if (at != NULL) {
            column->item_starts[item + 1] = (int32_t)column->bytes_size;
        }
    }
    column->items += at != NULL;
    return at;
}

/* Append the items of a list, from behind its bracket on. */
static const uint8_t *list(tm_lines *lines, field *f, const uint8_t *at) {
    if (*at == ']') {
        return at + 1;
    }
    while ((at = list_item(lines, f, at)) != NULL && *at == ',') {
        at++;
    }
    return at != NULL && *at == ']' ? at + 1 : NULL;
}

/* ---- what is skipped ---- */

static bool follows(const uint8_t *at, const uint8_t *end, const void *bytes, size_t size) {
    return (size_t)(end - at) >= size && memcmp(at, bytes, size) == 0;
}

#define FOLLOWS(at, end, literal) follows((at), (end), (literal), sizeof(literal) - 1)

/* Skip a text, from behind its first quote on. */
static const uint8_t *skip_text(const uint8_t *at) {
    while (*(at = plain(at)) == '\\' && escaped(at[1]) != 0) {
        at += 2;
    }
    return *at == '"' ? at + 1 : NULL;
}

/* Skip a number without a point, a text or a word. */
static const uint8_t *skip_one(const uint8_t *at, const uint8_t *end) {
    int64_t number;
    if (*at == '"') {
        return skip_text(at + 1);
    }
    if (FOLLOWS(at, end, "true") || FOLLOWS(at, end, "null")) {
        return at + 4;
    }
    return FOLLOWS(at, end, "false") ? at + 5 : integer(at, &number);
}

static const uint8_t *skip_value(const uint8_t *at, const uint8_t *end) {
    if (*at != '[') {
        return skip_one(at, end);
    }
    if (at[1] == ']') {
        return at + 2;
    }
    do {
        at = skip_one(at + 1, end);
    } while (at != NULL && *at == ',');
    return at != NULL && *at == ']' ? at + 1 : NULL;
}

/* Skip a field that is not stored, from its name on. */
static const uint8_t *skip_field(const uint8_t *at, const uint8_t *end) {
    if (*at != '"') {
        return NULL;
    }
    at = plain(at + 1); /* a name with an escape may be that of a field */
    return at[0] == '"' && at[1] == ':' ? skip_value(at + 2, end) : NULL;
}

/* ---- lines ---- */

/* Return the number of the field whose token is at `at`, which is `expected` or, most often, soon behind it; `count`:
 * there is none. */
static uint32_t find_field(const tm_lines *lines, uint32_t expected, const uint8_t *at, const uint8_t *end) {
    for (uint32_t passed = 0; passed < lines->count; passed++) {
        uint32_t number = expected + passed < lines->count ? expected + passed : expected + passed - lines->count;
        if (follows(at, end, lines->fields[number].token, lines->fields[number].size)) {
            return number;
        }
    }
    return lines->count;
}

/* Append the value of a field in a row. */
static const uint8_t *value(tm_lines *lines, field *f, uint32_t row, const uint8_t *at, const uint8_t *end) {
    if (FOLLOWS(at, end, "null")) {
        return at + 4;
    }
    if (f->type == TM_FIELD_INTEGER) {
        at = integer(at, &f->column->integers[row]);
    } else if (*at != (is_list(f) ? '[' : '"')) {
        return NULL;
    } else {
        at = is_list(f) ? list(lines, f, at + 1) : text(lines, f, at + 1);
    }
    f->column->valid[row / 8] |= (uint8_t)(1U << row % 8);
    f->column->present++;
    return at;
}

/* Append the fields of a line; what follows is its newline. */
static const uint8_t *line(tm_lines *lines, uint32_t row, const uint8_t *at, const uint8_t *end) {
    uint64_t found = 0;
    uint32_t expected = 0;
    if (*at != '{') {
        return NULL;
    }
    do {
        at++;
        uint32_t number = find_field(lines, expected, at, end);
        if (number == lines->count) {
            at = skip_field(at, end);
            continue;
        }
        if (found >> number & 1) {
            return NULL;
        }
        found |= UINT64_C(1) << number;
        at = value(lines, &lines->fields[number], row, at + lines->fields[number].size, end);
        expected = number + 1;
    } while (at != NULL && *at == ',');
    return at != NULL && at[0] == '}' && at[1] == '\n' ? at + 1 : NULL;
}

static bool parse(tm_lines *lines, const uint8_t *at, const uint8_t *end) {
    for (uint32_t row = 0; row < lines->rows; row++) {
        at = line(lines, row, at, end);
        if (at == NULL) {
            return false;
        }
        at++;
        for (field *f = lines->fields; f < lines->fields + lines->count; f++) {
            if (f->type != TM_FIELD_INTEGER) {
                f->column->starts[row + 1] = (int32_t)(is_list(f) ? f->column->items : f->column->bytes_size);
            }
        }
    }
    return true;
}

/* ---- all lines ---- */

static bool make_field(tm_lines *lines, const tm_field *given, field *made) {
    made->size = given->size + 3;
    made->type = (tm_field_type)given->type;
    made->token = TM_NEW(&lines->memory, TM_COLD, uint8_t, made->size);
    if (made->token == NULL) {
        return false;
    }
    made->token[0] = '"';
    memcpy(made->token + 1, given->name, given->size);
    memcpy(made->token + 1 + given->size, "\":", 2);
    return true;
}

static uint32_t newlines(const uint8_t *bytes, size_t size) {
    uint32_t count = 0;
    for (size_t i = 0; i < size; i++) {
        count += bytes[i] == '\n';
    }
    return count;
}

static bool is_misused(size_t size, const tm_field *fields, uint32_t count) {
    bool is_right = count <= TM_FIELDS_MAX && size <= INT32_MAX;
    for (uint32_t i = 0; is_right && i < count; i++) {
        is_right = fields[i].type <= TM_FIELD_TEXTS;
    }
    return !is_right;
}

int tm_lines_parse_in(tm_memory memory, const uint8_t *bytes, size_t size, const tm_field *fields, uint32_t count,
                      tm_lines **made) {
    if (is_misused(size, fields, count)) {
        return TM_MISUSED;
    }
    if ((size > 0 && bytes[size - 1] != '\n') || !tm_utf8_valid(bytes, size)) {
        return TM_MALFORMED;
    }
    tm_lines *lines = TM_NEW(&memory, TM_COLD, tm_lines, 1);
    if (lines == NULL) {
        return TM_NO_MEMORY;
    }
    lines->memory = memory;
    lines->rows = newlines(bytes, size);
    bool is_made = true;
    for (; is_made && lines->count < count; lines->count++) {
        field *f = &lines->fields[lines->count];
        f->column = &lines->columns[lines->count];
        is_made = make_field(lines, &fields[lines->count], f) && make_column(lines, f);
    }
    if (!is_made || !parse(lines, bytes, bytes + size)) {
        int result = !is_made || lines->has_no_memory ? TM_NO_MEMORY : TM_MALFORMED;
        tm_lines_free(lines);
        return result;
    }
    *made = lines;
    return TM_OK;
}

int tm_lines_parse(const uint8_t *bytes, size_t size, const tm_field *fields, uint32_t count, tm_lines **made) {
    return tm_lines_parse_in((tm_memory){0}, bytes, size, fields, count, made);
}

void tm_lines_free(tm_lines *lines) {
    if (lines == NULL) {
        return;
    }
    tm_memory memory = lines->memory;
    for (field *f = lines->fields; f < lines->fields + lines->count; f++) {
        tm_column *column = f->column;
        TM_DELETE(&memory, TM_COLD, f->token, uint8_t, f->size);
        TM_DELETE(&memory, TM_COLD, column->valid, uint8_t, lines->rows / 8 + 1);
        TM_DELETE(&memory, TM_COLD, column->starts, int32_t, lines->rows + 1);
        TM_DELETE(&memory, TM_COLD, column->integers, int64_t, f->items_max);
        TM_DELETE(&memory, TM_COLD, column->item_starts, int32_t, f->items_max);
        TM_DELETE(&memory, TM_COLD, column->bytes, uint8_t, f->bytes_max);
    }
    TM_DELETE(&memory, TM_COLD, lines, tm_lines, 1);
}

uint64_t tm_lines_count(const tm_lines *lines) {
    return lines->rows;
}

const tm_column *tm_lines_columns(const tm_lines *lines) {
    return lines->columns;
}
