/* engine.h - the interface of an engine: a table of functions over its own state.
 *
 * Law: the table parses filters, assigns their handles (holders.h) and opens and closes answers (answer.h); an engine
 * finds what matches. It never reads wire bytes, a handle that is not in use, or the form of an answer.
 */
#ifndef TM_ENGINE_H
#define TM_ENGINE_H

#include "base/memory.h"
#include "model/filter.h"
#include "table/answer.h"
#include "table/holders.h"
#include "table/views.h"

typedef struct tm_engine tm_engine; /* each engine's own struct behind this name */

/* Handles that a query finds: room for `capacity`, of the caller, and their number. */
typedef struct tm_handles {
    uint32_t *handles;
    size_t capacity;
    size_t count;
} tm_handles;

typedef struct tm_engine_class {
    const char *name;
    const char *about;             /* one sentence */
    bool limits;                   /* TM_MATCH_LIMITED: it emits every matching filter of a group that stays open */
    const tm_option_kind *options; /* at most TM_ENGINE_OPTIONS_MAX, ended by one without a name; NULL: none */
    /* Make an engine. `memory` and `holders` are borrowed for its life; `values` for the call: one for each option, in
     * their order. */
    int (*create)(tm_memory *memory, tm_holders *holders, const uint64_t *values, tm_engine **out);
    void (*destroy)(tm_engine *engine);
    /* Add a filter, borrowed for the call. The handle is live; on any result but TM_OK nothing else has changed, and it
     * becomes free again. */
    int (*add)(tm_engine *engine, const tm_filter *filter, uint32_t interface, uint32_t handle);
    /* Remove a filter whose handle is no longer live. The engine releases the handle (tm_holders_release) at once or,
     * if it has `settle`, once it no longer needs the filter, which until then may go on matching, for links alone.
     * Cannot fail. */
    void (*remove)(tm_engine *engine, uint32_t handle);
    /* Emit the matches of a message; `answer->work` has the allowed steps. Changes only scratch memory. */
    void (*match)(tm_engine *engine, const tm_attribute *attributes, size_t count, tm_answer *answer);
    int (*validate)(const tm_engine *engine, const char **reason);
    /* The following functions may be NULL. */
    /* Note that messages may satisfy this filter, borrowed for the call, while the engine has none. On TM_NO_MEMORY
     * nothing has changed. */
    int (*space)(tm_engine *engine, const tm_filter *filter);
    /* Note a new view, for use in matches; on any result but TM_OK nothing is noted and the view is dropped. drop_view
     * is called for each noted view before its id is reused. */
    int (*view)(tm_engine *engine, uint32_t id, const tm_view *view);
    void (*drop_view)(tm_engine *engine, uint32_t id);
    void (*settle)(tm_engine *engine, uint64_t steps);       /* does at most `steps` of the work that removals left */
    uint64_t (*unknown)(const tm_engine *engine);            /* NULL: memos are not used */
    void (*stats)(const tm_engine *engine, tm_stats *stats); /* sets `active` and `names`; NULL: all, and none */
    uint64_t (*used)(const tm_engine *engine); /* bytes that its filters take: see onepath/used.c; NULL: all that the
                                                  table has allocated since it was made */
    void (*probes)(const tm_engine *engine, tm_probes *probes); /* adds to `*probes` */
    /* tm_table_compares, for a live handle; tm_table_covering and tm_table_covered, with `filter` borrowed for the
     * call. They change only scratch memory. An engine has all three or none. */
    bool (*compares)(const tm_engine *engine, uint32_t handle);
    void (*covering)(tm_engine *engine, const tm_filter *filter, tm_handles *found);
    void (*covered)(tm_engine *engine, const tm_filter *filter, tm_handles *found);
} tm_engine_class;

/* tm_table_new (engines/registry.c) for an engine's class; NULL: TM_MISUSED. */
int tm_table_make(const tm_engine_class *class, const tm_options *options, tm_table **table);

/* Return option `i` of a class; NULL: it has fewer. */
const tm_option_kind *tm_engine_kind(const tm_engine_class *class, uint32_t i);

/* Set one value for each option of the class: the named ones, and the standard for others. TM_MISUSED: a name is none
 * of its options, or a value is out of bounds. */
int tm_engine_values(const tm_engine_class *class, const tm_option *named, size_t count,
                     uint64_t values[TM_ENGINE_OPTIONS_MAX]);

#endif
