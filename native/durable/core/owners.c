/* owners.c - see owners.h.
 *
 * Law: an owner is charged for each message of each of its subscriptions, from its row on until it leaves,
 * DURABLE_ROW_CHARGE and the bytes of its frame: a message that three of its subscriptions store is charged three
 * times. A share binds only while the log is tight, and then affects only the subscriptions of its owner: those that
 * refuse store nothing more, and those that drop do so, the larger before the smaller. The dropping ones divide what
 * the refusing ones leave of the share, so if an owner is past its share and has subscriptions that drop, one of them
 * has more than its part and drops.
 */
#include "durable/core/owners.h"

#include "base/grow.h"
#include "durable/core/table.h"

static bool drops(const tm_durable *durable) {
    return durable->policy != NULL && durable->policy->overflow == TM_DURABLE_DROP_OLDEST;
}

uint64_t durable_charge_of(const tm_durable *durable) {
    return durable->bytes + ((uint64_t)durable->open + durable->past) * DURABLE_ROW_CHARGE;
}

static tm_durable_owner *owner_of(const tm_switch *sw, const tm_durable *durable) {
    return &sw->durables->owners[durable->owner];
}

bool durable_make_owners(tm_switch *sw) {
    tm_durables *durables = sw->durables;
    return tm_grow(&durables->memory, TM_COLD, &durables->owners, sizeof *durables->owners, &durables->owner_capacity,
                   1);
}

void durable_charge(tm_switch *sw, const tm_durable *durable, uint64_t rows, uint64_t bytes) {
    uint64_t charge = rows * DURABLE_ROW_CHARGE + bytes;
    owner_of(sw, durable)->charge += charge;
    owner_of(sw, durable)->refusing += drops(durable) ? 0 : charge;
}

void durable_discharge(tm_switch *sw, const tm_durable *durable, uint64_t rows, uint64_t bytes) {
    uint64_t charge = rows * DURABLE_ROW_CHARGE + bytes;
    owner_of(sw, durable)->charge -= charge;
    owner_of(sw, durable)->refusing -= drops(durable) ? 0 : charge;
}

/* Charge all that a subscription stores to another owner. */
static void give(tm_switch *sw, tm_durable *durable, uint32_t owner) {
    uint64_t rows = (uint64_t)durable->open + durable->past;
    durable_discharge(sw, durable, rows, durable->bytes);
    owner_of(sw, durable)->droppers -= durable->owner != DURABLE_NO_CONSUMER && drops(durable);
    durable->owner = owner;
    owner_of(sw, durable)->droppers += owner != DURABLE_NO_CONSUMER && drops(durable);
    durable_charge(sw, durable, rows, durable->bytes);
}

void durable_disown(tm_switch *sw, tm_durable *durable) {
    give(sw, durable, DURABLE_NO_CONSUMER);
}

void durable_end_charge(tm_switch *sw, tm_durable *durable) {
    durable_disown(sw, durable);
    durable_discharge(sw, durable, (uint64_t)durable->open + durable->past, durable->bytes);
    durable->open = durable->past = 0;
    durable->bytes = 0;
}

/* ---- shares ---- */

/* true if the share of its owner binds a subscription now. */
static bool binds(const tm_switch *sw, const tm_durable *durable) {
    const tm_durables *durables = sw->durables;
    return durables->share_bytes > 0 && durable->owner != DURABLE_NO_CONSUMER && tm_log_is_tight(durables->log);
}

bool durable_share_has_room(const tm_switch *sw, const tm_durable *durable, uint32_t size) {
    const tm_durable_account *account = durable_account(durable);
    uint64_t past = account->past_bytes + (uint64_t)durable->past * DURABLE_ROW_CHARGE; /* can be dropped */
    return !binds(sw, durable) ||
           owner_of(sw, durable)->charge - past + size + DURABLE_ROW_CHARGE <= sw->durables->share_bytes;
}

bool durable_is_past_share(const tm_switch *sw, const tm_durable *durable) {
    uint64_t share = sw->durables->share_bytes;
    const tm_durable_owner *owner = owner_of(sw, durable);
    if (owner->charge <= share || !binds(sw, durable)) {
        return false;
    }
    uint64_t left = owner->refusing < share ? share - owner->refusing : 0;
    return !drops(durable) || durable_charge_of(durable) > left / owner->droppers;
}

/* ---- for Python ---- */

int tm_durable_own(tm_switch *sw, uint32_t number, uint32_t owner) {
    uint32_t slot = sw != NULL && sw->durables != NULL ? durable_slot(sw, number) : DURABLE_NONE;
    if (slot == DURABLE_NONE || slot == DURABLE_CATALOG || durable_at(sw, slot)->is_closing ||
        owner == DURABLE_NO_CONSUMER || owner > TM_DURABLE_OWNERS_MAX) {
        return TM_MISUSED;
    }
    tm_durables *durables = sw->durables;
    if (!tm_grow(&durables->memory, TM_COLD, &durables->owners, sizeof *durables->owners, &durables->owner_capacity,
                 owner + 1)) {
        return TM_NO_MEMORY;
    }
    give(sw, durable_at(sw, slot), owner);
    return TM_OK;
}

int tm_durables_share(tm_switch *sw, uint64_t bytes) {
    if (sw == NULL || sw->durables == NULL) {
        return TM_MISUSED;
    }
    sw->durables->share_bytes = bytes;
    return TM_OK;
}

int tm_durables_charge(const tm_switch *sw, uint32_t owner, uint64_t *bytes) {
    if (sw == NULL || sw->durables == NULL || bytes == NULL || owner >= sw->durables->owner_capacity) {
        return TM_ABSENT;
    }
    *bytes = sw->durables->owners[owner].charge;
    return TM_OK;
}

bool durable_owners_are_sound(const tm_switch *sw) {
    tm_durables *durables = sw->durables;
    bool is_sound = true;
    for (uint32_t id = 0; id < durables->owner_capacity; id++) {
        durables->owners[id].seen = 0;
    }
    for (uint32_t slot = DURABLE_CATALOG + 1; slot < durables->count; slot++) {
        const tm_durable *durable = durables->rows[slot];
        is_sound = is_sound && durable->owner < durables->owner_capacity &&
                   (durable->is_live || durable->owner == DURABLE_NO_CONSUMER);
        owner_of(sw, durable)->seen += durable_charge_of(durable);
    }
    for (uint32_t id = 0; id < durables->owner_capacity; id++) {
        is_sound = is_sound && durables->owners[id].seen == durables->owners[id].charge;
    }
    return is_sound;
}
