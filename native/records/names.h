/* names.h - the names of routers, by which lines of records call them. */
#ifndef TM_RECORD_NAMES_H
#define TM_RECORD_NAMES_H

#include "records/records.h"

/* NULL: not named yet. */
const tm_record_name *tm_records_named(const tm_records *records, uint64_t number);

#endif
