/* names.h - the names of routers in lines of records. */
#ifndef TM_RECORD_NAMES_H
#define TM_RECORD_NAMES_H

#include "records/records.h"

/* Return the name of a router; NULL: it has none yet. */
const tm_record_name *tm_records_named(const tm_records *records, uint64_t number);

#endif
