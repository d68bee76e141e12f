/* tests.c - codes of numbers and their bytes. Law: as in tests.h. */
#include "engines/onepath/values/tests.h"

#include <string.h>

#include "base/load.h"
#include "model/number.h"

int32_t onepath_code_of_real(double real) {
    if (real >= (double)(ONEPATH_CODED_MAX + 1)) {
        return INT32_MAX;
    }
    if (real < (double)-ONEPATH_CODED_MAX) {
        return INT32_MIN;
    }
    int32_t whole =
        (int32_t)real; /* a real with an integral value has become an integer; exactness is not needed here */
    int32_t below = whole - (real < whole);
    return below * 2 + (real > below);
}

static void put_eight_bytes(uint64_t word, uint8_t *out) {
    word = __builtin_bswap64(word);
    memcpy(out, &word, sizeof word);
}

void onepath_number_bytes(bool is_real, int64_t integer, double real, uint8_t out[ONEPATH_NUMBER_BYTES]) {
    tm_number_key key = tm_number_key_of(integer, real, is_real);
    put_eight_bytes(key.high, out);
    put_eight_bytes(key.low, out + 8);
}

static uint64_t take_eight_bytes(const uint8_t *at) {
    return __builtin_bswap64(tm_load64(at));
}

bool onepath_number_of_bytes(const uint8_t bytes[ONEPATH_NUMBER_BYTES], int64_t *integer, double *real) {
    tm_number_key key = {take_eight_bytes(bytes), take_eight_bytes(bytes + 8)};
    return tm_number_of_key(key, integer, real);
}

bool onepath_is_bound(onepath_test test) {
    unsigned op = onepath_test_op(test);
    bool is_bound = onepath_op_is_wide(op) || op == ONEPATH_NUMBER_LE || op == ONEPATH_NUMBER_GE ||
                    (op >= ONEPATH_STRING_LT && op <= ONEPATH_STRING_GE);
    return is_bound && !onepath_test_negated(test);
}
