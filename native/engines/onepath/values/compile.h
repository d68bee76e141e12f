/* compile.h - a filter's constraints as tests of eight bytes. Law: as in compile.c. */
#ifndef TM_ONEPATH_COMPILE_H
#define TM_ONEPATH_COMPILE_H

#include "engines/onepath/state.h"

/* Compile and take references on names, constants and patterns. TM_OK or TM_NO_MEMORY with nothing taken. */
int onepath_compile(tm_engine *engine, const tm_filter *filter, onepath_tests *out);
/* Give back what the test refers to. */
void onepath_release_test(tm_engine *engine, onepath_test test);
/* The kind of value a test is about: ONEPATH_BOOLEAN ... ONEPATH_ANY. */
unsigned onepath_kind_of(const tm_engine *engine, onepath_test test);

#endif
