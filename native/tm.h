/* tm.h - the C side of tm_api.h and of what stands on it for the switch: includes, compile-time checks, and what the .c
 * files share. */
#ifndef TM_H
#define TM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tm_api.h"
#include "tm_switch_api.h"

#include "tm_access_api.h"
#include "tm_figures_api.h"
#include "tm_forward_api.h"

#include "tm_records_api.h"

_Static_assert(sizeof(double) == 8 && sizeof(size_t) == 8, "a 64-bit machine with IEEE doubles");
_Static_assert(sizeof(tm_attribute) == 40, "five words: one fetch of a cache line reaches any field");

#endif
