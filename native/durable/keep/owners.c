/* owners.c - see owners.h.
 *
 * Law: an owner is charged for each message of each of its subscriptions, from its row on until it leaves,
 * KEEP_ROW_CHARGE and the bytes of its frame: a message that three of its subscriptions store is charged three times. A
 * share binds only while the log is tight, and then affects only the subscriptions of its owner: those that refuse
 * store nothing more, and those that drop do so, the larger before the smaller. The dropping ones divide what the
 * refusing ones leave of the share, so if an owner is past its share and has subscriptions that drop, one of them has
 * more than its part and drops.
 */
#include "durable/keep/owners.h"

#include "base/grow.h"
#include "durable/keep/table.h"

static bool drops(const tm_keep *keep) {
    return keep->terms != NULL && keep->terms->overflow == TM_KEEP_DROP_OLDEST;
}

uint64_t keep_charge_of(const tm_keep *keep) {
    return keep->bytes + ((uint64_t)keep->open + keep->past) * KEEP_ROW_CHARGE;
}

static tm_keep_owner *owner_of(const tm_switch *sw, const tm_keep *keep) {
    return &sw->keeps->owners[keep->owner];
}

bool keep_make_owners(tm_switch *sw) {
    tm_keeps *keeps = sw->keeps;
    return tm_grow(&keeps->memory, TM_COLD, &keeps->owners, sizeof *keeps->owners, &keeps->owner_capacity, 1);
}

void keep_charge(tm_switch *sw, const tm_keep *keep, uint64_t rows, uint64_t bytes) {
    uint64_t charge = rows * KEEP_ROW_CHARGE + bytes;
    owner_of(sw, keep)->charge += charge;
    owner_of(sw, keep)->refusing += drops(keep) ? 0 : charge;
}

void keep_discharge(tm_switch *sw, const tm_keep *keep, uint64_t rows, uint64_t bytes) {
    uint64_t charge = rows * KEEP_ROW_CHARGE + bytes;
    owner_of(sw, keep)->charge -= charge;
    owner_of(sw, keep)->refusing -= drops(keep) ? 0 : charge;
}

/* Charge all that a subscription stores to another owner. */
static void give(tm_switch *sw, tm_keep *keep, uint32_t owner) {
    uint64_t rows = (uint64_t)keep->open + keep->past;
    keep_discharge(sw, keep, rows, keep->bytes);
    owner_of(sw, keep)->droppers -= keep->owner != KEEP_NOBODY && drops(keep);
    keep->owner = owner;
    owner_of(sw, keep)->droppers += owner != KEEP_NOBODY && drops(keep);
    keep_charge(sw, keep, rows, keep->bytes);
}

void keep_disown(tm_switch *sw, tm_keep *keep) {
    give(sw, keep, KEEP_NOBODY);
}

void keep_end_charge(tm_switch *sw, tm_keep *keep) {
    keep_disown(sw, keep);
    keep_discharge(sw, keep, (uint64_t)keep->open + keep->past, keep->bytes);
    keep->open = keep->past = 0;
    keep->bytes = 0;
}

/* ---- shares ---- */

/* true if the share of its owner binds a subscription now. */
static bool binds(const tm_switch *sw, const tm_keep *keep) {
    const tm_keeps *keeps = sw->keeps;
    return keeps->share_bytes > 0 && keep->owner != KEEP_NOBODY && tm_log_is_tight(keeps->log);
}

bool keep_share_has_room(const tm_switch *sw, const tm_keep *keep, uint32_t size) {
    const tm_keep_account *account = keep_account(keep);
    uint64_t past = account->past_bytes + (uint64_t)keep->past * KEEP_ROW_CHARGE; /* can be dropped */
    return !binds(sw, keep) || owner_of(sw, keep)->charge - past + size + KEEP_ROW_CHARGE <= sw->keeps->share_bytes;
}

bool keep_is_past_share(const tm_switch *sw, const tm_keep *keep) {
    uint64_t share = sw->keeps->share_bytes;
    const tm_keep_owner *owner = owner_of(sw, keep);
    if (owner->charge <= share || !binds(sw, keep)) {
        return false;
    }
    uint64_t left = owner->refusing < share ? share - owner->refusing : 0;
    return !drops(keep) || keep_charge_of(keep) > left / owner->droppers;
}

/* ---- for Python ---- */

int tm_keep_own(tm_switch *sw, uint32_t number, uint32_t owner) {
    uint32_t slot = sw != NULL && sw->keeps != NULL ? keep_slot(sw, number) : KEEP_NONE;
    if (slot == KEEP_NONE || slot == KEEP_BOOK || keep_at(sw, slot)->is_closing || owner == KEEP_NOBODY ||
        owner > TM_KEEP_OWNERS_MAX) {
        return TM_MISUSED;
    }
    tm_keeps *keeps = sw->keeps;
    if (!tm_grow(&keeps->memory, TM_COLD, &keeps->owners, sizeof *keeps->owners, &keeps->owner_capacity, owner + 1)) {
        return TM_NO_MEMORY;
    }
    give(sw, keep_at(sw, slot), owner);
    return TM_OK;
}

int tm_keeps_share(tm_switch *sw, uint64_t bytes) {
    if (sw == NULL || sw->keeps == NULL) {
        return TM_MISUSED;
    }
    sw->keeps->share_bytes = bytes;
    return TM_OK;
}

int tm_keeps_charge(const tm_switch *sw, uint32_t owner, uint64_t *bytes) {
    if (sw == NULL || sw->keeps == NULL || bytes == NULL || owner >= sw->keeps->owner_capacity) {
        return TM_ABSENT;
    }
    *bytes = sw->keeps->owners[owner].charge;
    return TM_OK;
}

bool keep_owners_are_sound(const tm_switch *sw) {
    tm_keeps *keeps = sw->keeps;
    bool is_sound = true;
    for (uint32_t id = 0; id < keeps->owner_capacity; id++) {
        keeps->owners[id].seen = 0;
    }
    for (uint32_t slot = KEEP_BOOK + 1; slot < keeps->count; slot++) {
        const tm_keep *keep = keeps->rows[slot];
        is_sound = is_sound && keep->owner < keeps->owner_capacity && (keep->is_live || keep->owner == KEEP_NOBODY);
        owner_of(sw, keep)->seen += keep_charge_of(keep);
    }
    for (uint32_t id = 0; id < keeps->owner_capacity; id++) {
        is_sound = is_sound && keeps->owners[id].seen == keeps->owners[id].charge;
    }
    return is_sound;
}
