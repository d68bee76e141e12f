/* number.h - integers and floats as one ordered domain.
 *
 * Law: keys are ordered like the numbers they stand for: a < b as numbers iff key(a) < key(b), comparing `high` first.
 */
#ifndef TM_NUMBER_H
#define TM_NUMBER_H

#include "tm.h"

typedef struct tm_number_key {
    uint64_t high; /* floor of the number, clamped to 64 bits, shifted to unsigned */
    uint64_t low;  /* of an integer: the middle; of a float: its rank among the floats of that floor */
} tm_number_key;

/* Return the key of a canonical number: a real is finite and no 64-bit integer. */
tm_number_key tm_number_key_of(int64_t integer, double real, bool is_real);

/* Set the number of a key and return whether it is a real; the other of the two is set to 0. */
bool tm_number_of_key(tm_number_key key, int64_t *integer, double *real);

/* Compare two numbers, integers or floats, exactly: -1, 0 or 1. */
int tm_number_compare(int64_t a_integer, double a_real, bool a_is_real, int64_t b_integer, double b_real,
                      bool b_is_real);

#endif
