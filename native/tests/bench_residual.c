/* bench_residual.c - what a residual program costs: nanoseconds a run, on a message of twelve attributes.
 *
 *     cd native/tests && gcc -O3 -flto -std=c11 -I.. bench_residual.c ../residual/[a-z]*.c ../model/number.c \
 *         ../base/utf8.c -lm -o build/bench_residual && build/bench_residual [ROUNDS]
 *
 * The least of ten runs is printed. Programs are written as constants and instructions, in the form of form.h.
 */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "residual/form.h"

#define RUNS 10
#define COUNT(array) (uint32_t)(sizeof(array) / sizeof(array)[0])

typedef struct constant {
    residual_constant_kind kind;
    const char *bytes;
} constant;

typedef struct program {
    const char *name;
    const constant *constants;
    const residual_instruction *code;
    uint32_t constant_count;
    uint32_t code_count;
} program;

static const constant TWO[] = {{RESIDUAL_IS_TEXT, "price"}, {RESIDUAL_IS_TEXT, "limit"}};
static const residual_instruction LESS[] = {
    {RESIDUAL_ATTRIBUTE, 0, 0},
    {RESIDUAL_ATTRIBUTE, 1, 0},
    {RESIDUAL_LT, 0, 0},
};

/* price + volume < limit and not (lots > weight) or late */
static const constant SIX[] = {{RESIDUAL_IS_TEXT, "price"}, {RESIDUAL_IS_TEXT, "volume"}, {RESIDUAL_IS_TEXT, "limit"},
                               {RESIDUAL_IS_TEXT, "lots"},  {RESIDUAL_IS_TEXT, "weight"}, {RESIDUAL_IS_TEXT, "late"}};
static const residual_instruction TWELVE[] = {
    {RESIDUAL_ATTRIBUTE, 0, 0}, {RESIDUAL_ATTRIBUTE, 1, 0}, {RESIDUAL_ADD, 0, 0},       {RESIDUAL_ATTRIBUTE, 2, 0},
    {RESIDUAL_LT, 0, 0},        {RESIDUAL_ATTRIBUTE, 3, 0}, {RESIDUAL_ATTRIBUTE, 4, 0}, {RESIDUAL_GT, 0, 0},
    {RESIDUAL_NOT, 0, 0},       {RESIDUAL_AND, 0, 0},       {RESIDUAL_ATTRIBUTE, 5, 0}, {RESIDUAL_OR, 0, 0},
};

static const constant PATTERN[] = {{RESIDUAL_IS_TEXT, "path"},
                                   {RESIDUAL_IS_GLOB, "/var/\xff/web\xff.log\xff"
                                                      "gz"}};
static const residual_instruction MATCHES[] = {{RESIDUAL_ATTRIBUTE, 0, 0}, {RESIDUAL_GLOB, 1, 0}};

static const program PROGRAMS[] = {
    {"a < b", TWO, LESS, COUNT(TWO), COUNT(LESS)},
    {"twelve instructions", SIX, TWELVE, COUNT(SIX), COUNT(TWELVE)},
    {"a glob of three wildcards over 42 bytes", PATTERN, MATCHES, COUNT(PATTERN), COUNT(MATCHES)},
};

#define PATH "/var/log/long-lived/services/web3.log.1.gz"
_Static_assert(sizeof PATH == 43, "42 bytes");

static const char *const NAMES[] = {"type", "venue",  "side", "class",  "price", "limit",
                                    "path", "volume", "lots", "weight", "issue", "late"};

static void put_message(tm_attribute *out) {
    for (uint32_t i = 0; i < COUNT(NAMES); i++) {
        out[i] = (tm_attribute){.name = (const uint8_t *)NAMES[i],
                                .name_length = (uint16_t)strlen(NAMES[i]),
                                .integer = 17 + i,
                                .kind = TM_KIND_INTEGER};
    }
    out[6].kind = TM_KIND_STRING;
    out[6].string = (const uint8_t *)PATH;
    out[6].length = sizeof PATH - 1;
    out[11] = (tm_attribute){.name = out[11].name, .name_length = 4, .integer = 1, .kind = TM_KIND_BOOLEAN};
}

static size_t assemble(const program *from, uint8_t *out) {
    uint8_t *at = out + RESIDUAL_HEAD_BYTES;
    uint8_t *data = at + (size_t)from->constant_count * RESIDUAL_ENTRY_BYTES +
                    (size_t)from->code_count * RESIDUAL_INSTRUCTION_BYTES;
    uint16_t used = 0;
    out[0] = RESIDUAL_VERSION;
    out[1] = (uint8_t)from->constant_count;
    memcpy(out + 2, &(uint16_t){(uint16_t)from->code_count}, 2);
    for (uint32_t i = 0; i < from->constant_count; i++, at += RESIDUAL_ENTRY_BYTES) {
        uint16_t length = (uint16_t)strlen(from->constants[i].bytes);
        at[0] = (uint8_t)from->constants[i].kind;
        at[1] = 0;
        memcpy(at + 2, &length, 2);
        memcpy(at + 4, &used, 2);
        memcpy(data + used, from->constants[i].bytes, length);
        used = (uint16_t)(used + length);
    }
    for (uint32_t i = 0; i < from->code_count; i++, at += RESIDUAL_INSTRUCTION_BYTES) {
        at[0] = (uint8_t)from->code[i].op;
        at[1] = (uint8_t)from->code[i].a;
        memcpy(at + 2, &(uint16_t){(uint16_t)from->code[i].b}, 2);
    }
    return (size_t)(data - out) + used;
}

static double now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

int main(int argc, char **argv) {
    static uint8_t packed[TM_RESIDUAL_BYTES_MAX];
    tm_attribute message[COUNT(NAMES)];
    uint64_t rounds = argc > 1 ? strtoull(argv[1], NULL, 10) : 2000000;
    put_message(message);
    for (uint32_t i = 0; i < COUNT(PROGRAMS); i++) {
        const char *reason = NULL;
        uint32_t place = 0;
        uint64_t steps = 0;
        int verdict = 0;
        double least = 1e18;
        if (tm_residual_verify(packed, assemble(&PROGRAMS[i], packed), &reason, &place) != TM_OK) {
            fprintf(stderr, "%s: %s at %u\n", PROGRAMS[i].name, reason, place);
            return 1;
        }
        for (unsigned run = 0; run < RUNS; run++) {
            double start = now_ns();
            for (uint64_t round = 0; round < rounds; round++) {
                __asm__ volatile("" : : "r"(message), "r"(packed) : "memory"); /* each time again */
                verdict = tm_residual_run(packed, message, COUNT(NAMES), 1000, &steps);
            }
            double each = (now_ns() - start) / (double)rounds;
            least = each < least ? each : least;
        }
        printf("%5.1f ns, %llu steps, verdict %d: %s\n", least, (unsigned long long)steps, verdict, PROGRAMS[i].name);
    }
    return 0;
}
