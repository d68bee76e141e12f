/* tests.c - see tests.h. */
#include "engines/onepath/values/tests.h"

#include <string.h>

#include "base/load.h"
#include "model/number.h"

int32_t tamis_code_of_real(double real) {
    if (real >= (double)(TAMIS_CODED_MAX + 1)) {
        return INT32_MAX;
    }
    if (real < (double)-TAMIS_CODED_MAX) {
        return INT32_MIN;
    }
    int32_t whole = (int32_t)real; /* reals with an integral value arrive as integers; exactness is not needed here */
    int32_t below = whole - (real < whole);
    return below * 2 + (real > below);
}

static void put_eight_bytes(uint64_t word, uint8_t *out) {
    word = __builtin_bswap64(word);
    memcpy(out, &word, sizeof word);
}

void tamis_number_bytes(bool is_real, int64_t integer, double real, uint8_t out[TAMIS_NUMBER_BYTES]) {
    tm_number_key key = tm_number_key_of(integer, real, is_real);
    put_eight_bytes(key.high, out);
    put_eight_bytes(key.low, out + 8);
}

static uint64_t take_eight_bytes(const uint8_t *at) {
    return __builtin_bswap64(tm_load64(at));
}

bool tamis_number_of_bytes(const uint8_t bytes[TAMIS_NUMBER_BYTES], int64_t *integer, double *real) {
    tm_number_key key = {take_eight_bytes(bytes), take_eight_bytes(bytes + 8)};
    return tm_number_of_key(key, integer, real);
}

bool tamis_is_bound(tamis_test test) {
    unsigned op = tamis_test_op(test);
    bool is_bound = tamis_op_is_wide(op) || op == TAMIS_NUMBER_LE || op == TAMIS_NUMBER_GE ||
                    (op >= TAMIS_STRING_LT && op <= TAMIS_STRING_GE);
    return is_bound && !tamis_test_negated(test);
}
