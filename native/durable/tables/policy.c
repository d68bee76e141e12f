/* policy.c - see policy.h. */
#include "durable/tables/policy.h"

#include <string.h>

/* Return a policy without its names, as bytes that are equal for equal policies. */
static tm_durable_policy without_names(const tm_durable_policy *policy) {
    tm_durable_policy plain;
    memcpy(&plain, policy, sizeof plain); /* including the padding */
    plain.order_by = plain.latest_by = NULL;
    return plain;
}

static uint64_t hash_of(const tm_all_policy *all, const tm_durable_policy *policy) {
    const tm_hash_key *key = &all->memory->key;
    tm_durable_policy plain = without_names(policy);
    uint64_t order_by = tm_hash_text(policy->order_by, policy->order_by_size, key);
    uint64_t latest_by = tm_hash_text(policy->latest_by, policy->latest_by_size, key);
    return tm_hash_words(tm_hash_text((const uint8_t *)&plain, sizeof plain, key), order_by, latest_by, key);
}

static bool is_name(const uint8_t *name, const uint8_t *other, uint32_t size) {
    return size == 0 || memcmp(name, other, size) == 0;
}

static bool are_equal(const tm_durable_policy *policy, const tm_durable_policy *others) {
    tm_durable_policy plain = without_names(policy);
    tm_durable_policy other = without_names(others);
    return memcmp(&plain, &other, sizeof plain) == 0 &&
           is_name(policy->order_by, others->order_by, plain.order_by_size) &&
           is_name(policy->latest_by, others->latest_by, plain.latest_by_size);
}

static size_t row_bytes(const tm_durable_policy *policy) {
    return sizeof(tm_shared_policy) + policy->order_by_size + policy->latest_by_size;
}

static tm_shared_policy *new_row(tm_all_policy *all, const tm_durable_policy *policy, uint64_t hash) {
    tm_shared_policy *row = tm_alloc_counted(all->memory, TM_COLD, row_bytes(policy));
    if (row == NULL) {
        return NULL;
    }
    uint8_t *names = (uint8_t *)(row + 1);
    memcpy(&row->policy, policy, sizeof row->policy);
    row->policy.order_by = names;
    row->policy.latest_by = names + policy->order_by_size;
    if (policy->order_by_size > 0) {
        memcpy(names, policy->order_by, policy->order_by_size);
    }
    if (policy->latest_by_size > 0) {
        memcpy(names + policy->order_by_size, policy->latest_by, policy->latest_by_size);
    }
    row->hash = hash;
    row->next = all->buckets[hash % POLICY_BUCKETS];
    all->buckets[hash % POLICY_BUCKETS] = row;
    return row;
}

const tm_durable_policy *tm_policy_take(tm_all_policy *all, const tm_durable_policy *policy) {
    uint64_t hash = hash_of(all, policy);
    tm_shared_policy *row = all->buckets[hash % POLICY_BUCKETS];
    while (row != NULL && (row->hash != hash || !are_equal(&row->policy, policy))) {
        row = row->next;
    }
    row = row != NULL ? row : new_row(all, policy, hash);
    if (row == NULL) {
        return NULL;
    }
    row->durables++;
    return &row->policy;
}

void tm_policy_drop(tm_all_policy *all, const tm_durable_policy *policy) {
    if (policy == NULL) {
        return;
    }
    tm_shared_policy *row = (tm_shared_policy *)(uintptr_t)policy;
    if (--row->durables > 0) {
        return;
    }
    tm_shared_policy **at = &all->buckets[row->hash % POLICY_BUCKETS];
    while (*at != row) {
        at = &(*at)->next;
    }
    *at = row->next;
    tm_free_counted(all->memory, TM_COLD, row, row_bytes(policy));
}
