/* lines.c - a stream of messages in JSON, one a line. Law: see tm_relay_api.h.
 *
 * A line that lies in one piece of input is read in place. The begin of one that is cut is stored; when it is whole,
 * the rest is stored behind it. A line that becomes too long is refused at once, and skipped to its end.
 */
#include <string.h>

#include "base/memory.h"
#include "relay/codecs/json.h"
#include "relay/codecs/scan.h"

#define FIRST_BYTES 512U

struct tm_json_lines {
    tm_memory memory;
    tm_json_rules rules;
    uint8_t naming[TM_NAME_BYTES_MAX];
    uint8_t *cut; /* owned: the begin of a line; NULL: none yet */
    uint32_t cut_size;
    uint32_t cut_capacity;
    uint64_t line; /* number of the line that is read, from 1 */
    bool is_skipping;
};

int tm_json_lines_new(const tm_json_rules *rules, tm_json_lines **made) {
    if (!json_rules_are_sound(rules) || made == NULL) {
        return TM_MISUSED;
    }
    tm_memory memory = {.key = tm_hash_key_of(1)};
    tm_json_lines *lines = TM_NEW(&memory, TM_COLD, tm_json_lines, 1);
    if (lines == NULL) {
        return TM_NO_MEMORY;
    }
    lines->memory = memory;
    lines->rules = *rules;
    memcpy(lines->naming, rules->naming, rules->naming_size);
    lines->rules.naming = lines->naming;
    lines->line = 1;
    *made = lines;
    return TM_OK;
}

void tm_json_lines_free(tm_json_lines *lines) {
    if (lines == NULL) {
        return;
    }
    tm_memory memory = lines->memory;
    TM_DELETE(&memory, TM_COLD, lines->cut, uint8_t, lines->cut_capacity);
    TM_DELETE(&memory, TM_COLD, lines, tm_json_lines, 1);
}

uint64_t tm_json_lines_bytes(const tm_json_lines *lines) {
    return lines->memory.bytes;
}

void tm_json_lines_fail(tm_json_lines *lines, uint64_t fail_in) {
    lines->memory.fail_in = fail_in;
}

/* Store the next part of a line that is cut; false: no memory, and nothing has changed. It is not too long. */
static bool store(tm_json_lines *lines, const uint8_t *part, size_t size) {
    size_t wanted = lines->cut_size + size;
    uint32_t capacity = lines->cut_capacity > 0 ? lines->cut_capacity : FIRST_BYTES;
    while (capacity < wanted) {
        capacity *= 2; /* up to TM_JSON_LINE_BYTES_MAX, FIRST_BYTES times a power of two */
    }
    if (capacity > lines->cut_capacity) {
        uint8_t *cut = TM_RESIZE(&lines->memory, TM_COLD, lines->cut, uint8_t, lines->cut_capacity, capacity);
        if (cut == NULL) {
            return false;
        }
        lines->cut = cut;
        lines->cut_capacity = capacity;
    }
    memcpy(lines->cut + lines->cut_size, part, size);
    lines->cut_size = (uint32_t)wanted;
    return true;
}

/* A stored line has been read. A long one gives its memory back. */
static void forget(tm_json_lines *lines) {
    lines->cut_size = 0;
    if (lines->cut_capacity > 16 * FIRST_BYTES) {
        TM_DELETE(&lines->memory, TM_COLD, lines->cut, uint8_t, lines->cut_capacity);
        lines->cut = NULL;
        lines->cut_capacity = 0;
    }
}

static bool is_blank(const uint8_t *at, size_t size) {
    size_t i = 0;
    while (i < size && scan_is_white(at[i])) {
        i++;
    }
    return i == size;
}

/* One call. */
typedef struct feeding {
    tm_json_lines *lines;
    tm_json_numbering *numbering;
    tm_json_lines_credit *credit;
    const uint8_t *limit; /* of the input */
    uint8_t *out;
    size_t capacity;
    tm_json_refusal *refusals;
    uint32_t refusals_max;
    tm_json_lines_said *said;
} feeding;

static bool stop(feeding *f, uint32_t why) {
    f->said->stopped = why;
    return false;
}

/* Return the next refusal, of the line that is read. */
static tm_json_refusal *refusal_of(feeding *f) {
    return &f->refusals[f->said->refused];
}

static bool has_refusal(feeding *f) {
    return f->said->refused < f->refusals_max || stop(f, TM_JSON_LINES_REFUSED);
}

/* Make a frame of a line; false: it stops, and the line is not taken. */
static bool take_line(feeding *f, const uint8_t *line, size_t size, const uint8_t *limit) {
    tm_json_made made;
    tm_json_refusal refusal;
    if (is_blank(line, size)) {
        return true;
    }
    if (f->credit->frames == 0) {
        return stop(f, TM_JSON_LINES_CREDIT);
    }
    if (f->capacity - f->said->written < size + TM_JSON_SLACK) {
        f->said->needed = size + TM_JSON_SLACK;
        return stop(f, TM_JSON_LINES_ROOM);
    }
    if (!json_publish(&f->lines->rules, f->numbering, (json_text){line, size, limit}, f->out + f->said->written, &made,
                      &refusal)) {
        if (!has_refusal(f)) {
            return false;
        }
        refusal.line = f->lines->line;
        f->refusals[f->said->refused++] = refusal;
        return true;
    }
    if (made.size > f->credit->bytes) {
        f->said->needed = made.size;
        return stop(f, TM_JSON_LINES_CREDIT);
    }
    f->credit->bytes -= made.size;
    f->credit->frames--;
    f->numbering->counter++;
    f->said->written += made.size;
    f->said->frames++;
    return true;
}

/* Refuse the line that is read, which is too long, and skip what comes of it. */
static bool refuse_long(feeding *f) {
    if (!has_refusal(f)) {
        return false;
    }
    *refusal_of(f) = (tm_json_refusal){.line = f->lines->line, .column = 1, .code = TM_JSON_LINE_LONG};
    f->said->refused++;
    f->lines->is_skipping = true;
    forget(f->lines);
    return true;
}

/* Take a line whose last part is `part`; TM_NO_MEMORY, or `*goes_on`. */
static int take_whole(feeding *f, const uint8_t *part, size_t size, bool *goes_on) {
    tm_json_lines *lines = f->lines;
    if (lines->is_skipping) {
        lines->is_skipping = false;
        *goes_on = true;
        return TM_OK;
    }
    if (lines->cut_size + size > TM_JSON_LINE_BYTES_MAX) {
        *goes_on = refuse_long(f);
        lines->is_skipping = false;
        return TM_OK;
    }
    if (lines->cut_size == 0) {
        *goes_on = take_line(f, part, size, f->limit);
        return TM_OK;
    }
    uint32_t before = lines->cut_size;
    if (!store(lines, part, size)) {
        return TM_NO_MEMORY;
    }
    *goes_on = take_line(f, lines->cut, lines->cut_size, lines->cut + lines->cut_capacity);
    if (*goes_on) {
        forget(lines);
    } else {
        lines->cut_size = before;
    }
    return TM_OK;
}

/* Take the begin of a line whose end is not there; TM_NO_MEMORY, or `*goes_on`. */
static int take_cut(feeding *f, const uint8_t *part, size_t size, bool *goes_on) {
    tm_json_lines *lines = f->lines;
    *goes_on = true;
    if (!lines->is_skipping && lines->cut_size + size > TM_JSON_LINE_BYTES_MAX) {
        *goes_on = refuse_long(f);
    } else if (!lines->is_skipping && !store(lines, part, size)) {
        return TM_NO_MEMORY;
    }
    return TM_OK;
}

/* At the end of the stream what is stored is a line, too. */
static int take_last(feeding *f, bool *goes_on) {
    *goes_on = true;
    if (f->lines->cut_size == 0 && !f->lines->is_skipping) {
        return TM_OK;
    }
    return take_whole(f, f->limit, 0, goes_on);
}

int tm_json_lines_feed(tm_json_lines *lines, tm_json_numbering *numbering, tm_json_lines_credit *credit,
                       const uint8_t *in, size_t size, int is_last, uint8_t *out, size_t capacity,
                       tm_json_refusal *refusals, uint32_t refusals_max, tm_json_lines_said *said) {
    feeding f = {lines, numbering, credit, in + size, out, capacity, refusals, refusals_max, said};
    bool goes_on = true;
    *said = (tm_json_lines_said){0};
    while (said->consumed < size) {
        const uint8_t *part = in + said->consumed;
        size_t left = size - said->consumed;
        const uint8_t *newline = memchr(part, '\n', left);
        size_t length = newline != NULL ? (size_t)(newline - part) : left;
        bool is_whole = newline != NULL || is_last;
        int result = is_whole ? take_whole(&f, part, length, &goes_on) : take_cut(&f, part, length, &goes_on);
        if (result != TM_OK || !goes_on) {
            return result;
        }
        said->consumed += length + (newline != NULL);
        lines->line += newline != NULL;
    }
    return is_last ? take_last(&f, &goes_on) : TM_OK;
}
