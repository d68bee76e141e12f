/* bench_space.c - what it costs to check a message of ten attributes against its space: nanoseconds a message.
 *
 *     cd native/tests && gcc -O3 -flto -std=c11 -I.. bench_space.c support.c frames.c \
 *         $(find .. -name '*.c' ! -path '*tests*' ! -name _tm.c) -lm -o build/bench_space && build/bench_space [ROUNDS]
 *
 * The least of ten runs is printed. Two strings, two enumerations of four, two fixed-point numbers, two integers, a
 * number and a boolean, and the attribute that names the space.
 */
#define _POSIX_C_SOURCE 200809L
#include <time.h>

#include "frames.h"
#include "switch/matching/validate.h"
#include "switch/message.h"

#define RUNS 10

static const char *const NAMES[] = {"issue", "venue",  "side", "class",  "price",
                                    "limit", "volume", "lots", "weight", "late"};
static const uint8_t KINDS[] = {DOMAIN_TEXT,  DOMAIN_TEXT,    DOMAIN_CHOICE,  DOMAIN_CHOICE, DOMAIN_FIXED,
                                DOMAIN_FIXED, DOMAIN_INTEGER, DOMAIN_INTEGER, DOMAIN_NUMBER, DOMAIN_TRUTH};
#define COUNT (sizeof KINDS)

static void put_text(wire *out, const char *text) {
    put_string(out, text, (uint32_t)strlen(text));
}

static void put_attribute(wire *out, unsigned i) {
    static const char *const VALUES[] = {"buy", "sell", "auction", "cross"};
    put_array(out, 8);
    put_text(out, NAMES[i]);
    put_integer(out, 0);
    put_text(out, "what is allowed");
    put_integer(out, KINDS[i]);
    put_integer(out, 0);
    put_integer(out, 100000000);
    put_integer(out, 2);
    put_array(out, KINDS[i] == DOMAIN_CHOICE ? 4 : 0);
    for (unsigned value = 0; KINDS[i] == DOMAIN_CHOICE && value < 4; value++) {
        put_text(out, VALUES[value]);
    }
}

static void put_spaces(wire *out) {
    put_array(out, 5);
    put_text(out, "type");
    put_integer(out, 0);
    put_text(out, "trades");
    put_array(out, 1);
    put_text(out, "trades");
    put_array(out, 1);
    put_array(out, 3);
    put_integer(out, 0);
    put_text(out, "its attributes");
    put_array(out, COUNT);
    for (unsigned i = 0; i < COUNT; i++) {
        put_attribute(out, i);
    }
}

static void put_value(wire *out, unsigned i) {
    switch (KINDS[i]) {
    case DOMAIN_TEXT:
        put_text(out, "ACME-17");
        break;
    case DOMAIN_CHOICE:
        put_text(out, i % 2 == 0 ? "auction" : "sell");
        break;
    case DOMAIN_FIXED:
        put_real(out, 1234.56 + i);
        break;
    case DOMAIN_TRUTH:
        put_boolean(out, true);
        break;
    default:
        put_integer(out, 17 + i);
    }
}

static double now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

int main(int argc, char **argv) {
    static wire packed;
    static wire message;
    uint64_t rounds = argc > 1 ? strtoull(argv[1], NULL, 10) : 2000000;
    put_spaces(&packed);
    put_map(&message, COUNT + 1);
    put_text(&message, "type");
    put_text(&message, "trades");
    for (unsigned i = 0; i < COUNT; i++) {
        put_text(&message, NAMES[i]);
        put_value(&message, i);
    }
    memset(message.bytes + message.size, 0, TM_SHAPE_SLACK);

    tm_table *table = new_table(0);
    tm_switch *sw = NULL;
    tm_switch_options options = {.connections_max = 1, .frame_bytes_max = 1 << 20, .publishers_max = 1, .number = 1};
    CHECK(tm_switch_new(&options, table, &sw) == TM_OK, "switch");
    CHECK(tm_switch_spaces(sw, packed.bytes, packed.size) == TM_OK, "spaces");
    tm_message one = {.form = &sw->forms[0]};
    CHECK(tm_shape_decode(&one.form->shape, message.bytes, message.size, sw->attributes, &one.attribute_count) == TM_OK,
          "message");
    tm_violation violation;
    CHECK(switch_fits(sw, &one, &violation), "the message violates its space: %u", violation.why);
    double least = 1e18;
    for (unsigned run = 0; run < RUNS; run++) {
        double start = now_ns();
        for (uint64_t i = 0; i < rounds; i++) {
            __asm__ volatile("" : : "r"(&one) : "memory"); /* each time again */
            CHECK(switch_fits(sw, &one, &violation), "the message violates its space");
        }
        double each = (now_ns() - start) / (double)rounds;
        least = each < least ? each : least;
    }
    printf("%.1f ns for a message of %zu attributes\n", least, COUNT);
    tm_switch_free(sw);
    tm_table_free(table);
    return 0;
}
