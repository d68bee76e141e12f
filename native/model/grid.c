/* grid.c - the places of numbers and strings. Law: see grid.h. */
#include <math.h>
#include <string.h>

#include "model/filter.h"
#include "model/grid.h"
#include "model/number.h"

#define EVEN_BITS 31 /* of the whole part, and of the fraction */
#define EVEN_MAX 0x1p31

static int64_t bits_of(double real) {
    int64_t bits;
    memcpy(&bits, &real, sizeof bits);
    return bits;
}

/* Behind place 2^31 * 2^31 the floats from 2^31 on are counted; likewise on the negative side. */
static int64_t place_of_large(double real) {
    int64_t steps = bits_of(fabs(real)) - bits_of(EVEN_MAX);
    int64_t place = (INT64_C(1) << 2 * EVEN_BITS) + steps;
    return real < 0 ? -place : place;
}

bool tm_grid_of_number(int64_t integer, double real, bool is_real, int64_t *place) {
    double near = is_real ? real : (double)integer;
    if (fabs(near) < EVEN_MAX) {
        double scaled = near * EVEN_MAX; /* exact: a power of two */
        double below = floor(scaled);
        *place = (int64_t)below;
        return scaled == below;
    }
    int order = is_real ? 0 : tm_number_compare(integer, 0, false, 0, near, true);
    *place = place_of_large(order < 0 ? nextafter(near, -INFINITY) : near);
    return order == 0;
}

int64_t tm_grid_of_text(const uint8_t *bytes, size_t size) {
    uint64_t word = 0;
    for (size_t i = 0; i < 8; i++) {
        word = word << 8 | (i < size ? bytes[i] : 0);
    }
    return (int64_t)(word >> 1);
}
