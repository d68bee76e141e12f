/* owners.c - see owners.h.
 *
 * Law: an owner is charged for each message of each of its subscriptions, from its row on until it leaves,
 * DURABLE_ROW_CHARGE and the bytes of its frame: a message that three of its subscriptions store is charged three
 * times, and in each pool of the owner. The common share binds only while the log is tight, a bound of an owner or a
 * pool always; either affects only the subscriptions that are charged to it: those that refuse store nothing more, and
 * those that drop do so, the larger before the smaller. The dropping ones divide what the refusing ones leave of the
 * bound, so if an account is past its bound and has subscriptions that drop, one of them has more than its part and
 * drops.
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

/* Return account `i` that a subscription is charged to: that of its owner, then those of its pools; NULL: no more. */
static tm_durable_owner *account_of(const tm_switch *sw, const tm_durable *durable, uint32_t i) {
    tm_durable_owner *owner = owner_of(sw, durable);
    return i == 0 ? owner : i <= owner->pool_count ? &sw->durables->pools[owner->pools[i - 1]] : NULL;
}

bool durable_make_owners(tm_switch *sw) {
    tm_durables *durables = sw->durables;
    return tm_grow(&durables->memory, TM_COLD, &durables->owners, sizeof *durables->owners, &durables->owner_capacity,
                   1);
}

void durable_charge(tm_switch *sw, const tm_durable *durable, uint64_t rows, uint64_t bytes) {
    uint64_t charge = rows * DURABLE_ROW_CHARGE + bytes;
    tm_durable_owner *account;
    for (uint32_t i = 0; (account = account_of(sw, durable, i)) != NULL; i++) {
        account->charge += charge;
        account->refusing += drops(durable) ? 0 : charge;
    }
}

void durable_discharge(tm_switch *sw, const tm_durable *durable, uint64_t rows, uint64_t bytes) {
    uint64_t charge = rows * DURABLE_ROW_CHARGE + bytes;
    tm_durable_owner *account;
    for (uint32_t i = 0; (account = account_of(sw, durable, i)) != NULL; i++) {
        account->charge -= charge;
        account->refusing -= drops(durable) ? 0 : charge;
    }
}

/* Count a subscription that drops in all its accounts, or no longer. */
static void count_dropper(tm_switch *sw, const tm_durable *durable, bool is_more) {
    tm_durable_owner *account;
    bool counts = durable->owner != DURABLE_NO_CONSUMER && drops(durable);
    for (uint32_t i = 0; counts && (account = account_of(sw, durable, i)) != NULL; i++) {
        account->droppers += is_more ? 1 : -1U;
    }
}

/* Charge all that a subscription stores to another owner. */
static void give(tm_switch *sw, tm_durable *durable, uint32_t owner) {
    uint64_t rows = (uint64_t)durable->open + durable->past;
    durable_discharge(sw, durable, rows, durable->bytes);
    count_dropper(sw, durable, false);
    durable->owner = owner;
    count_dropper(sw, durable, true);
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

/* Return the bytes that account `i` of a subscription may hold now; 0: no bound. */
static uint64_t bound_of(const tm_switch *sw, const tm_durable *durable, uint32_t i) {
    const tm_durables *durables = sw->durables;
    uint64_t most = account_of(sw, durable, i)->most;
    bool is_shared = most == 0 && i == 0 && durables->share_bytes > 0 && durable->owner != DURABLE_NO_CONSUMER;
    return is_shared && tm_log_is_tight(durables->log) ? durables->share_bytes : most;
}

bool durable_share_has_room(const tm_switch *sw, const tm_durable *durable, uint32_t size) {
    const tm_durable_account *account = durable_account(durable);
    uint64_t past = account->past_bytes + (uint64_t)durable->past * DURABLE_ROW_CHARGE; /* can be dropped */
    const tm_durable_owner *charged;
    for (uint32_t i = 0; (charged = account_of(sw, durable, i)) != NULL; i++) {
        uint64_t most = bound_of(sw, durable, i);
        if (most > 0 && charged->charge - past + size + DURABLE_ROW_CHARGE > most) {
            return false;
        }
    }
    return true;
}

bool durable_is_past_share(const tm_switch *sw, const tm_durable *durable) {
    const tm_durable_owner *charged;
    for (uint32_t i = 0; (charged = account_of(sw, durable, i)) != NULL; i++) {
        uint64_t most = bound_of(sw, durable, i);
        uint64_t left = charged->refusing < most ? most - charged->refusing : 0;
        if (most > 0 && charged->charge > most &&
            (!drops(durable) || durable_charge_of(durable) > left / charged->droppers)) {
            return true;
        }
    }
    return false;
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

/* Add what an owner holds to its pools, or subtract it. */
static void count_in_pools(tm_durables *durables, const tm_durable_owner *owner, bool is_more) {
    for (uint8_t i = 0; i < owner->pool_count; i++) {
        tm_durable_owner *pool = &durables->pools[owner->pools[i]];
        pool->charge += is_more ? owner->charge : -owner->charge;
        pool->refusing += is_more ? owner->refusing : -owner->refusing;
        pool->droppers += is_more ? owner->droppers : -owner->droppers;
    }
}

static bool grow_pools(tm_durables *durables, uint32_t pool) {
    return tm_grow(&durables->memory, TM_COLD, &durables->pools, sizeof *durables->pools, &durables->pool_capacity,
                   pool + 1);
}

int tm_durables_bound(tm_switch *sw, uint32_t owner, uint64_t bytes, const uint32_t *pools, size_t count) {
    if (sw == NULL || sw->durables == NULL || count > TM_DURABLE_POOLS_OF_OWNER_MAX || (count > 0 && pools == NULL)) {
        return TM_MISUSED;
    }
    tm_durables *durables = sw->durables;
    if (owner == DURABLE_NO_CONSUMER || owner >= durables->owner_capacity) {
        return TM_ABSENT;
    }
    for (size_t i = 0; i < count; i++) {
        if (pools[i] >= TM_DURABLE_POOLS_MAX) {
            return TM_MISUSED;
        }
        if (!grow_pools(durables, pools[i])) {
            return TM_NO_MEMORY;
        }
    }
    tm_durable_owner *found = &durables->owners[owner];
    count_in_pools(durables, found, false);
    found->most = bytes;
    found->pool_count = (uint8_t)count;
    for (size_t i = 0; i < count; i++) {
        found->pools[i] = pools[i];
    }
    count_in_pools(durables, found, true);
    return TM_OK;
}

int tm_durables_bound_pool(tm_switch *sw, uint32_t pool, uint64_t bytes) {
    if (sw == NULL || sw->durables == NULL || pool >= TM_DURABLE_POOLS_MAX) {
        return TM_MISUSED;
    }
    if (!grow_pools(sw->durables, pool)) {
        return TM_NO_MEMORY;
    }
    sw->durables->pools[pool].most = bytes;
    return TM_OK;
}

int tm_durables_pool_charge(const tm_switch *sw, uint32_t pool, uint64_t *bytes) {
    if (sw == NULL || sw->durables == NULL || bytes == NULL || pool >= sw->durables->pool_capacity) {
        return TM_ABSENT;
    }
    *bytes = sw->durables->pools[pool].charge;
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
    for (uint32_t id = 0; id < durables->pool_capacity; id++) {
        durables->pools[id].seen = 0;
    }
    for (uint32_t slot = DURABLE_CATALOG + 1; slot < durables->count; slot++) {
        const tm_durable *durable = durables->rows[slot];
        is_sound = is_sound && durable->owner < durables->owner_capacity &&
                   (durable->is_live || durable->owner == DURABLE_NO_CONSUMER);
        tm_durable_owner *account;
        for (uint32_t i = 0; (account = account_of(sw, durable, i)) != NULL; i++) {
            account->seen += durable_charge_of(durable);
        }
    }
    for (uint32_t id = 0; id < durables->owner_capacity; id++) {
        is_sound = is_sound && durables->owners[id].seen == durables->owners[id].charge;
    }
    for (uint32_t id = 0; id < durables->pool_capacity; id++) {
        is_sound = is_sound && durables->pools[id].seen == durables->pools[id].charge;
    }
    return is_sound;
}
