/* log_model.h - what a log must hold, kept apart from it: every record that was appended and who has done with it.
 *
 * Law: shares no code with native/log. After a crash the log must hold, for every holder, exactly the records up to
 * some number that is not below what was committed, without those that acks up to that number speak of, byte for byte
 * and in order; and it never gives a number twice (rules D1, D2, D7, D10 as far as a log goes).
 */
#ifndef TM_LOG_MODEL_H
#define TM_LOG_MODEL_H

#include "log/log.h"
#include "support.h"

#define MODEL_RECORDS 6000U
#define MODEL_HOLDERS 6U /* the last two are homes */
#define MODEL_HOMES 2U
#define MODEL_EVENTS 512U
#define NEVER UINT64_MAX

typedef struct model_record {
    uint64_t n;
    uint64_t seed; /* of the body */
    uint32_t body_size;
    uint32_t named;                  /* bits of holders */
    uint64_t done_at[MODEL_HOLDERS]; /* number of the ack; NEVER */
    uint64_t ids[MODEL_HOLDERS];
    uint16_t kind;
} model_record;

/* Terms of a keep, or the end of a holder. */
typedef struct model_event {
    uint64_t n;
    uint64_t id;
    uint64_t seed; /* of the body */
    uint32_t body_size;
    uint32_t holder;
} model_event;

typedef struct model_events {
    model_event all[MODEL_EVENTS];
    uint32_t count;
} model_events;

typedef struct model {
    model_record all[MODEL_RECORDS];
    uint32_t count;
    uint32_t body_bytes; /* of each record, for one holder then; 0: by the dice */
    uint64_t highest;    /* number that was ever given */
    uint64_t ids[MODEL_HOLDERS];
    uint64_t last_id; /* that any holder ever had */
    model_events policy;
    model_events ends; /* holders that were forgotten, in the order of their numbers */
} model;

void model_begin(model *m);
/* A random entry, whose parts are borrowed until the next one; `bodies` has room for it. */
void model_draw(model *m, dice *d, uint32_t body_max, tm_log_entry *entry, model_record *record);
void model_add(model *m, const model_record *record, uint64_t n);
/* A random ack: of one number, a range, or everything up to one. false: there is nothing to be done with. */
bool model_draw_ack(model *m, dice *d, tm_log_done *done, uint32_t *holder);
void model_ack(model *m, uint32_t holder, const tm_log_done *done, uint64_t n);
/* Terms of some keep as an entry, whose parts are borrowed until the next one. false: the model has no room. */
bool model_draw_policy(model *m, dice *d, tm_log_entry *entry, model_event *policy);
void model_set_policy(model *m, const model_event *policy, uint64_t n);
/* Some holder is to be forgotten, and comes again with another id. */
bool model_draw_end(model *m, dice *d, tm_log_done *done, uint32_t *holder);
void model_end(model *m, uint32_t holder, uint64_t n);
/* The log is asked for everything; numbers past `committed` are gone. `missing` ones may be absent, and with
 * `may_return` what was done with may come again. `reason` says what is wrong; NULL: nothing. */
const char *model_compare(const model *m, tm_log *log, uint64_t committed, bool may_return, uint64_t *n);
/* A crash: numbers past `committed` are gone. */
void model_lose(model *m, uint64_t committed);
/* Forget what everybody has done with. */
void model_cut(model *m, uint64_t committed);

#endif
