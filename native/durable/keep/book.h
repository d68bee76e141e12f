/* book.h - a record is appended to the book, which holds what is known of all keeps. */
#ifndef TM_DURABLE_KEEP_BOOK_H
#define TM_DURABLE_KEEP_BOOK_H

#include "durable/state.h"

/* Append a record for the book; `done` may be in its body. */
int keep_append_book(tm_switch *sw, uint32_t kind, const void *body, uint32_t size, uint64_t *n);

#endif
