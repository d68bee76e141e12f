/* records.h - reads of a record, its body and its interface.
 *
 * Law: nothing is searched for, and nothing changes.
 */
#ifndef TM_ONEPATH_RECORDS_H
#define TM_ONEPATH_RECORDS_H

#include "engines/onepath/state.h"

static inline bool onepath_uses_cells(const tm_engine *engine, uint32_t interface) {
    return interface < ONEPATH_CELL_INTERFACES && !tm_holders_is_client(engine->holders, interface);
}

static inline uint32_t onepath_interface_of(const tm_engine *engine, uint32_t handle) {
    return tm_holders_interface(engine->holders, handle);
}
/* true if the filter was removed while it still covers others. */
static inline bool onepath_is_tombstone(const tm_engine *engine, uint32_t handle) {
    return !tm_holders_is_live(engine->holders, handle);
}

static inline bool onepath_is_active(const onepath_record *record) {
    return record->place > ONEPATH_COVERED;
}
/* true if the numbers without a code of a filter of the interface in this place must have labels. A box stores its ends
 * itself, and coverers are searched for only where cells are used. */
static inline bool onepath_needs_order(const tm_engine *engine, uint32_t interface, unsigned place) {
    return place != ONEPATH_IN_BOXES || onepath_uses_cells(engine, interface);
}
/* Return the first of the filters that a filter covers, or ONEPATH_NONE. */
static inline uint32_t onepath_covers_of(const tm_engine *engine, uint32_t handle) {
    return onepath_uses_cells(engine, onepath_interface_of(engine, handle))
               ? onepath_covering_at(&engine->coverings, handle)->covers
               : ONEPATH_NONE;
}

static inline onepath_body *onepath_body_at(const tm_engine *engine, uint32_t body) {
    return (onepath_body *)tm_arena_at(&engine->bodies, body);
}
/* true if a match never reads the bodies of the place. */
static inline bool onepath_is_cold(unsigned place) {
    return place == ONEPATH_COVERED || place == ONEPATH_IN_CELLS || place == ONEPATH_IN_INTERVALS;
}
/* Return the `rest` of a record's entry, which no other entry has. */
static inline uint32_t onepath_rest_of(const tm_engine *engine, uint32_t handle) {
    uint32_t body = engine->records[handle].body;
    return body & ONEPATH_LAST ? ONEPATH_LAST | handle : body;
}
/* Return the note of a filter with an entry: under a pair, onepath_partner_of its second test; elsewhere the entry's
 * row. */
static inline uint32_t onepath_note_of(const tm_engine *engine, const onepath_record *record) {
    return record->body & ONEPATH_LAST ? record->body & ~ONEPATH_LAST : onepath_body_at(engine, record->body)->note;
}
/* Return the row of its entry in its slot or list; ONEPATH_ROW_UNKNOWN if it has to be searched for. */
static inline uint32_t onepath_row_of(const tm_engine *engine, const onepath_record *record) {
    return record->place == ONEPATH_IN_PAIR ? record->branch : onepath_note_of(engine, record);
}
/* Return the branch of a record's bucket; 0: none. */
static inline uint32_t onepath_branch_of(const onepath_record *record) {
    return record->place == ONEPATH_IN_PAIR ? 0 : record->branch;
}

#endif
