/* tm_relay.h - tm_relay_api.h for the C files, which may include it more than once. */
#ifndef TM_RELAY_H
#define TM_RELAY_H

#include "tm.h"
#include "tm_relay_api.h"

#endif
