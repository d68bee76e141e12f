/* compile.h - a filter's constraints as tests of eight bytes. Law: as in compile.c. */
#ifndef TM_ONEPATH_COMPILE_H
#define TM_ONEPATH_COMPILE_H

#include "engines/onepath/state.h"

/* Compile a filter and acquire its names, constants and patterns. TM_OK, or TM_NO_MEMORY with nothing acquired. */
int onepath_compile(tm_engine *engine, const tm_filter *filter, onepath_tests *out);
/* Release what the test refers to. */
void onepath_release_test(tm_engine *engine, onepath_test test);
/* Return the kind of value that a test is about: ONEPATH_BOOLEAN, ONEPATH_NUMBER, ONEPATH_STRING or ONEPATH_ANY. */
unsigned onepath_kind_of(const tm_engine *engine, onepath_test test);

#endif
