/* records.h - what a record, its body and its interface say of a filter.
 *
 * Law: nothing is searched for, and nothing changes.
 */
#ifndef TM_ONEPATH_RECORDS_H
#define TM_ONEPATH_RECORDS_H

#include "engines/onepath/state.h"

static inline bool tamis_uses_cells(const tm_engine *engine, uint32_t interface) {
    return interface < TAMIS_CELL_INTERFACES && !tm_holders_is_client(engine->holders, interface);
}

static inline uint32_t tamis_interface_of(const tm_engine *engine, uint32_t handle) {
    return tm_holders_interface(engine->holders, handle);
}
/* Removed, while others are still covered by it. */
static inline bool tamis_is_ghost(const tm_engine *engine, uint32_t handle) {
    return !tm_holders_is_live(engine->holders, handle);
}

static inline bool tamis_is_active(const tamis_record *record) {
    return record->place > TAMIS_COVERED;
}
/* Must numbers without a code have labels in a filter of the interface that stands in this place? A box has its ends
 * itself, and whether a filter is covered is asked only where cells are used. */
static inline bool tamis_needs_order(const tm_engine *engine, uint32_t interface, unsigned place) {
    return place != TAMIS_IN_BOXES || tamis_uses_cells(engine, interface);
}
/* Head of the list of those that a filter covers, or TAMIS_NONE. */
static inline uint32_t tamis_covers_of(const tm_engine *engine, uint32_t handle) {
    return tamis_uses_cells(engine, tamis_interface_of(engine, handle))
               ? tamis_covering_at(&engine->coverings, handle)->covers
               : TAMIS_NONE;
}

static inline tamis_body *tamis_body_at(const tm_engine *engine, uint32_t body) {
    return (tamis_body *)tm_arena_at(&engine->bodies, body);
}
/* Is the place's body out of a match's sight? */
static inline bool tamis_is_cold(unsigned place) {
    return place == TAMIS_COVERED || place == TAMIS_IN_CELLS || place == TAMIS_IN_INTERVALS;
}
/* What the entry of a record says in `rest`; no other entry does. */
static inline uint32_t tamis_rest_of(const tm_engine *engine, uint32_t handle) {
    uint32_t body = engine->records[handle].body;
    return body & TAMIS_LAST ? TAMIS_LAST | handle : body;
}
/* Of a filter with an entry: under a pair, tamis_partner_of its second test; elsewhere its row, as below. */
static inline uint32_t tamis_note_of(const tm_engine *engine, const tamis_record *record) {
    return record->body & TAMIS_LAST ? record->body & ~TAMIS_LAST : tamis_body_at(engine, record->body)->note;
}
/* The row of its entry in its slot or list; TAMIS_ROW_UNKNOWN: it has to be searched for. */
static inline uint32_t tamis_row_of(const tm_engine *engine, const tamis_record *record) {
    return record->place == TAMIS_IN_PAIR ? record->branch : tamis_note_of(engine, record);
}
/* The branch that the bucket of a record stands in; 0: none. */
static inline uint32_t tamis_branch_of(const tamis_record *record) {
    return record->place == TAMIS_IN_PAIR ? 0 : record->branch;
}

#endif
