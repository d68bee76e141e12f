/* log_model.h - a model of what a log must hold: every record that was appended, and the holders that are done with it.
 *
 * Law: shares no code with native/log. After a crash the log must hold, for every holder, exactly the records up to
 * some number that is not below the committed one, without those that acks up to that number name, byte for byte
 * and in order; and it never assigns a number twice (rules D1, D2, D7, D10 for a log).
 */
#ifndef TM_LOG_MODEL_H
#define TM_LOG_MODEL_H

#include "log/log.h"
#include "support.h"

#define MODEL_RECORDS 6000U
#define MODEL_HOLDERS 6U /* the last two are homes */
#define MODEL_HOMES 2U
#define MODEL_EVENTS 512U
#define MODEL_CHAINS 4U /* of two entries, and of the homes */
#define MODEL_CHAIN_EVENTS 2048U
#define MODEL_GIVEN_UP 40U /* numbers that one record gives up */
#define NEVER UINT64_MAX

typedef struct model_record {
    uint64_t n;
    uint64_t seed;   /* of the body, and its time */
    uint64_t digest; /* of the body */
    uint64_t from_router;
    uint64_t from_n;
    uint32_t body_size;
    uint32_t named;                  /* bits of holders */
    uint64_t done_at[MODEL_HOLDERS]; /* number of the ack; NEVER */
    uint64_t ids[MODEL_HOLDERS];
    uint16_t kind;
} model_record;

/* The policy of a durable subscription, or the end of a holder. */
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

/* What a record has made of a chain. */
typedef struct model_chain_event {
    uint64_t n;
    uint64_t stated_n;    /* of the last record of the chain itself */
    uint64_t stated_have; /* in that record */
    uint32_t chain;       /* entries come first */
    bool is_end;          /* the chain was deleted; it begins again with another router */
    tm_log_chain state;   /* after it */
} model_chain_event;

typedef struct model {
    model_record all[MODEL_RECORDS];
    uint32_t count;
    uint32_t body_bytes; /* of each record, which then has one holder; 0: by the dice */
    uint64_t highest;    /* number that was ever assigned */
    uint64_t ids[MODEL_HOLDERS];
    uint64_t last_id; /* highest id of any holder */
    bool is_plain;    /* nothing of custody is appended */
    model_chain_event chain_events[MODEL_CHAIN_EVENTS];
    uint32_t chain_event_count;
    uint64_t entries[MODEL_CHAINS - MODEL_HOMES]; /* routers that are entries, by chain */
    model_events policy;
    model_events ends; /* holders that were removed, in the order of their numbers */
} model;

void model_begin(model *m);
/* Make a random entry, whose parts are borrowed until the next one; `bodies` has room for it. */
void model_draw(model *m, dice *d, uint32_t body_max, tm_log_entry *entry, model_record *record);
/* Add the record that was made of an entry. */
void model_add(model *m, const model_record *record, const tm_log_entry *entry, uint64_t n);
/* Make a random ack of one number, a range, or everything up to one. false: no record is open. */
bool model_draw_ack(model *m, dice *d, tm_log_done *done, uint32_t *holder);
void model_ack(model *m, uint32_t holder, const tm_log_done *done, uint64_t n);
/* Make an entry with the policy of some durable subscription, borrowed until the next one. false: the model is full. */
bool model_draw_policy(model *m, dice *d, tm_log_entry *entry, model_event *policy);
void model_set_policy(model *m, const model_event *policy, uint64_t n);
/* Remove some holder; it begins again with another id. */
bool model_draw_end(model *m, dice *d, tm_log_done *done, uint32_t *holder);
void model_end(model *m, uint32_t holder, uint64_t n);
/* Make a record of some chain, whose parts are borrowed until the next one. false: the model is full, or is plain. */
bool model_draw_chain(model *m, dice *d, tm_log_entry *entry, model_chain_event *event);
void model_set_chain(model *m, const model_chain_event *event, uint64_t n);
/* Make a record that gives up the oldest open messages of some home. false: it has none. */
bool model_draw_given_up(model *m, dice *d, tm_log_entry *entry, model_record *record);
/* Remove the chain of some entry. */
bool model_draw_chain_end(model *m, dice *d, tm_log_done *done, model_chain_event *event);
void model_end_chain(model *m, const model_chain_event *event, uint64_t n);
/* Read everything from the log; numbers above `committed` are lost. `missing` ones may be absent, and with
 * `may_return` done records may be read again. `reason` is the first fault; NULL: none. */
const char *model_compare(const model *m, tm_log *log, uint64_t committed, bool may_return, uint64_t *n);
/* A crash: numbers above `committed` are lost. */
void model_lose(model *m, uint64_t committed);
/* Drop the records that all holders are done with. */
void model_cut(model *m, uint64_t committed);

#endif
