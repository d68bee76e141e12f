/* engine.h - what an engine is: a table of functions over its own state.
 *
 * Law: the table parses filters, gives out their handles (holders.h) and opens and closes answers (answer.h); an engine
 * finds what matches. It never sees wire bytes, a handle that is not there, or the form of an answer.
 */
#ifndef TM_ENGINE_H
#define TM_ENGINE_H

#include "base/memory.h"
#include "model/filter.h"
#include "table/answer.h"
#include "table/holders.h"
#include "table/views.h"

typedef struct tm_engine tm_engine; /* each engine's own struct, behind this name */

typedef struct tm_engine_class {
    const char *name;
    const char *about;             /* one sentence */
    const tm_option_kind *options; /* at most TM_ENGINE_OPTIONS_MAX, behind them one without a name; NULL: none */
    /* `memory` and `holders` are borrowed for the engine's life; `values` for the call: one for each option, in their
     * order. */
    int (*create)(tm_memory *memory, tm_holders *holders, const uint64_t *values, tm_engine **out);
    void (*destroy)(tm_engine *engine);
    /* `filter` is borrowed for the call. The handle is live already; on any result but TM_OK nothing else has changed,
     * and it is free again. */
    int (*add)(tm_engine *engine, const tm_filter *filter, uint32_t interface, uint32_t handle);
    /* The handle is no longer live. The engine releases it (tm_holders_release), now or, where it still needs the
     * filter and has `settle`, once it does not; until then the filter may go on matching, for links alone. Cannot
     * fail. */
    void (*remove)(tm_engine *engine, uint32_t handle);
    /* Tell the answer what matches the message; its `work` says how many steps that may take. Changes nothing but
     * scratch. */
    void (*match)(tm_engine *engine, const tm_attribute *attributes, size_t count, tm_answer *answer);
    int (*validate)(const tm_engine *engine, const char **reason);
    /* What follows may be NULL. */
    /* A view was registered: the engine may note something for it. Not TM_OK: it notes nothing, and there is no such
     * view. drop_view is called for each view that was noted, before its id is given out again. */
    int (*view)(tm_engine *engine, uint32_t id, const tm_view *view);
    void (*drop_view)(tm_engine *engine, uint32_t id);
    void (*settle)(tm_engine *engine, uint64_t steps);       /* do some of what removals left over */
    uint64_t (*unknown)(const tm_engine *engine);            /* NULL: memos are not used */
    void (*stats)(const tm_engine *engine, tm_stats *stats); /* `active` and `names`; NULL: all, and none */
    uint64_t (*used)(const tm_engine *engine);               /* bytes that its filters take: see onepath/used.c; NULL:
                                                                whatever the table has allocated since it was new */
    void (*probes)(const tm_engine *engine, tm_probes *probes); /* added to what is there */
    /* As tm_table_covered, of a handle that is live. */
    int (*covered)(tm_engine *engine, uint32_t handle, uint32_t *handles, size_t capacity, size_t *count);
} tm_engine_class;

/* As tm_table_new (engines/registry.c), of an engine's class; NULL: TM_MISUSED. */
int tm_table_make(const tm_engine_class *class, const tm_options *options, tm_table **table);

/* Option `i` of a class; NULL: it has no more. */
const tm_option_kind *tm_engine_kind(const tm_engine_class *class, uint32_t i);

/* One value for each option of the class in `values`: of those named, and of the others the standard. TM_MISUSED: a
 * name is none of its options, or a value lies outside the bounds of one. */
int tm_engine_values(const tm_engine_class *class, const tm_option *named, size_t count,
                     uint64_t values[TM_ENGINE_OPTIONS_MAX]);

#endif
