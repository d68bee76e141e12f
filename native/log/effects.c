/* effects.c - what a record that is on disk does to holders, to missing numbers and to chains.
 *
 * Law: sets of done numbers only grow, and the last record about a chain counts, so a record may be applied twice.
 */
#include "log/effects.h"

#include <string.h>

#include "base/tested.h"

#define FORGOTTEN (UINT64_C(1) << 40) /* counts as this many done numbers, so that every segment is judged again */

static void forget(tm_store *store, uint64_t id, tm_role role) {
    tm_log_holder *holder = tm_log_holders_find(&store->holders, id, role);
    if (holder != NULL) {
        tm_log_holders_forget(&store->holders, holder);
        store->done += FORGOTTEN;
    }
}

/* Forget a durable subscription, a home, or the chain of an entry, with what is recorded of each. */
static void forget_all(tm_store *store, const tm_log_done *done) {
    if (done->is_home != TM_LOG_ENTRY) {
        forget(store, done->holder, done->is_home != 0 ? TM_HOME : TM_DURABLE);
    }
    forget(store, done->holder,
           done->is_home == 0              ? TM_POLICY
           : done->is_home == TM_LOG_ENTRY ? TM_CHAIN_OF_ENTRY
                                           : TM_CHAIN_OF_HOME);
    if (done->is_home != 0) {
        tm_chains_remove(&store->chains, done->holder, done->is_home != TM_LOG_ENTRY);
    }
}

static void acknowledge(tm_store *store, tm_log_holder *holder, uint64_t first, uint64_t last) {
    uint64_t from = first > holder->done ? first : holder->done + 1;
    store->done += last >= from ? last - from + 1 : 0;
    tm_log_holders_done(&store->holders, holder, first, last);
}

static void apply_done(tm_store *store, const tm_log_record *record, bool is_forgotten) {
    uint32_t count = record->kind == TM_LOG_DEAD_LETTER ? 1 : record->body_size / (uint32_t)sizeof(tm_log_done);
    const tm_log_done *done = (const tm_log_done *)tm_record_body(record);
    for (uint32_t i = 0; i < count && record->body_size >= sizeof *done; i++) {
        tm_role role = done[i].is_home != 0 ? TM_HOME : TM_DURABLE;
        tm_log_holder *holder = tm_log_holders_find(&store->holders, done[i].holder, role);
        if (is_forgotten) {
            forget_all(store, &done[i]);
        } else if (holder != NULL) {
            tm_log_holder *policy = tm_log_holders_find(&store->holders, done[i].holder, TM_POLICY);
            if (TM_BREAKS(POLICY_ARE_ACKED) && policy != NULL) {
                acknowledge(store, policy, done[i].first, done[i].last);
            }
            acknowledge(store, holder, done[i].first, done[i].last < record->n ? done[i].last : record->n);
        }
    }
}

/* Drop the records of the same kind that were committed before for the holders of one: policies, or chains. */
static void replace_earlier(tm_store *store, const tm_log_record *record) {
    for (uint32_t i = 0; i < tm_record_claims(record); i++) {
        tm_claim claim = tm_record_claim(record, i);
        tm_log_holder *holder = tm_log_holders_find(&store->holders, claim.holder, claim.role);
        if (holder != NULL && record->n > 0) {
            acknowledge(store, holder, 0, record->n - (TM_BREAKS(CHAINS_ARE_DROPPED) && record->homes > 0 ? 0 : 1));
        }
    }
}

/* ---- custody ---- */

/* Return the home or the entry that a record of custody is about; NULL: none, which is never written. */
static const tm_log_home *peer_of(const tm_log_record *record) {
    return record->homes == 1 ? tm_record_homes(record) : NULL;
}

static void set_chain(tm_store *store, const tm_log_record *record) {
    const tm_log_home *peer = peer_of(record);
    tm_log_chain said;
    if (peer == NULL || record->body_size < sizeof said) {
        return;
    }
    memcpy(&said, tm_record_body(record), sizeof said);
    said.router = peer->router;
    said.is_home = record->kind == TM_LOG_HOME_HAS;
    tm_chains_set(&store->chains, &said, record->n);
    tm_log_holder *home = tm_log_holders_find(&store->holders, said.router, TM_HOME);
    if (said.is_home && home != NULL && !TM_BREAKS(HOMES_ACK_NOTHING)) {
        acknowledge(store, home, 0, said.have < record->n ? said.have : record->n);
    }
    replace_earlier(store, record);
}

static void give_up(tm_store *store, const tm_log_record *record) {
    const tm_log_home *peer = peer_of(record);
    const tm_log_given_up *given_up = (const tm_log_given_up *)tm_record_body(record);
    tm_log_holder *home = peer != NULL ? tm_log_holders_find(&store->holders, peer->router, TM_HOME) : NULL;
    if (home == NULL || record->n == 0 || record->body_size < sizeof *given_up || TM_BREAKS(GIVEN_UP_STAYS)) {
        return;
    }
    uint64_t most = (record->body_size - sizeof *given_up) / sizeof(tm_log_range);
    const tm_log_range *ranges = (const tm_log_range *)(given_up + 1);
    for (uint64_t i = 0; i < given_up->ranges && i < most; i++) {
        uint64_t last = ranges[i].last < record->n ? ranges[i].last : record->n - 1; /* not this record */
        acknowledge(store, home, TM_BREAKS(GIVEN_UP_TO_THE_LAST) ? 0 : ranges[i].first, last);
    }
}

void tm_store_apply(tm_store *store, const tm_log_record *record) {
    switch (record->kind) {
    case TM_LOG_ACK:
    case TM_LOG_DEAD_LETTER:
        apply_done(store, record, false);
        break;
    case TM_LOG_FORGET:
        apply_done(store, record, true);
        break;
    case TM_LOG_GAP:
        for (uint32_t i = 0; i < record->body_size / sizeof(tm_log_range); i++) {
            const tm_log_range *range = (const tm_log_range *)tm_record_body(record) + i;
            tm_ranges_cut(&store->missing, &store->memory, range->first, range->last);
        }
        break;
    case TM_LOG_DURABLE:
        replace_earlier(store, record);
        break;
    case TM_LOG_CHAIN:
    case TM_LOG_HOME_HAS:
        set_chain(store, record);
        break;
    case TM_LOG_GIVEN_UP:
        give_up(store, record);
        break;
    case TM_LOG_MESSAGE:
        if (record->from_router != 0) {
            tm_chains_move(&store->chains, record->from_router, record->from_n, record->n);
        }
        break;
    default:
        break;
    }
}

bool tm_store_take_holders(tm_store *store, const tm_log_record *record, uint64_t first) {
    for (uint32_t i = 0; i < tm_record_claims(record); i++) {
        tm_claim claim = tm_record_claim(record, i);
        if (tm_log_holders_take(&store->holders, claim.holder, claim.role, first) == NULL) {
            return false;
        }
        bool is_chain = claim.role == TM_CHAIN_OF_ENTRY || claim.role == TM_CHAIN_OF_HOME;
        if (is_chain && !tm_chains_reserve(&store->chains, claim.holder, claim.role == TM_CHAIN_OF_HOME)) {
            return false;
        }
    }
    const tm_log_done *left = (const tm_log_done *)tm_record_body(record);
    bool is_dead_letter = record->kind == TM_LOG_DEAD_LETTER && record->body_size >= sizeof *left;
    tm_role role = is_dead_letter && left->is_home != 0 ? TM_HOME : TM_DURABLE;
    return !is_dead_letter || tm_log_holders_take(&store->holders, left->holder, role, first) != NULL;
}
