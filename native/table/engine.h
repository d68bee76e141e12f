/* engine.h - what an engine is: a table of functions over its own state.
 *
 * Law: table.c parses filters, hands out nothing itself, and calls one engine; an engine never sees wire bytes and
 * never trusts `handle` (it may name nothing). Every function keeps the contract of its tm_table_ namesake.
 */
#ifndef TM_ENGINE_H
#define TM_ENGINE_H

#include "base/memory.h"
#include "base/work.h"
#include "model/filter.h"

typedef struct tm_engine tm_engine; /* each engine's own struct, behind this name */

typedef struct tm_engine_class {
    const char *name;
    const char *about;             /* one sentence */
    const tm_option_kind *options; /* at most TM_ENGINE_OPTIONS_MAX, behind them one without a name; NULL: none */
    /* `memory` is borrowed for the engine's life; `values` for the call: one for each option, in their order. */
    int (*create)(tm_memory *memory, const uint64_t *values, tm_engine **out);
    void (*destroy)(tm_engine *engine);
    int (*set_interface)(tm_engine *engine, uint32_t interface, int kind);
    int (*add)(tm_engine *engine, const tm_filter *filter, uint32_t interface, uint32_t *handle);
    int (*remove)(tm_engine *engine, uint32_t handle);
    int (*settle)(tm_engine *engine, uint64_t steps, uint64_t *left);
    /* `hits->steps` says how many steps it may take, and then how many it took, whatever the result. */
    int (*match)(tm_engine *engine, const tm_attribute *attributes, size_t count, const tm_query *query, tm_hits *hits);
    uint64_t (*unknown)(const tm_engine *engine);               /* NULL: memos are not used */
    void (*stats)(const tm_engine *engine, tm_stats *stats);    /* all but the memory figures */
    uint64_t (*used)(const tm_engine *engine);                  /* bytes that its filters take: see used.c */
    void (*probes)(const tm_engine *engine, tm_probes *probes); /* added to what is there */
    int (*validate)(const tm_engine *engine, const char **reason);
} tm_engine_class;

/* The engine of this number; NULL: there is none. Defined in engines/registry.c. */
const tm_engine_class *tm_engine_class_of(uint32_t engine);

/* One value for each option of the class in `values`: of those named, and of the others the standard. TM_MISUSED: a
 * name is none of its options, or a value lies outside the bounds of one. */
int tm_engine_values(const tm_engine_class *class, const tm_option *named, size_t count,
                     uint64_t values[TM_ENGINE_OPTIONS_MAX]);

#endif
