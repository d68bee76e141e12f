/* policy.h - policies of durable subscriptions, each value stored once, as few programs choose their own.
 *
 * Law: a policy does not change or move while a subscription has it.
 */
#ifndef TM_DURABLES_POLICY_H
#define TM_DURABLES_POLICY_H

#include "base/memory.h"
#include "tm.h"
#include "tm_durables.h"

#define POLICY_BUCKETS 256U

typedef struct tm_shared_policy {
    tm_durable_policy policy; /* first, as subscriptions point to it; its names follow the row */
    struct tm_shared_policy *next;
    uint64_t hash;
    uint32_t durables;
} tm_shared_policy;

typedef struct tm_all_policy {
    tm_memory *memory;                         /* borrowed */
    tm_shared_policy *buckets[POLICY_BUCKETS]; /* owned: lists, by hash */
} tm_all_policy;

/* Return the shared policy that equals `policy`, with its own copy of the names, and count one more user. NULL: no
 * memory. Borrowed until tm_policy_drop. */
const tm_durable_policy *tm_policy_take(tm_all_policy *all, const tm_durable_policy *policy);
/* Drop one use of a policy that tm_policy_take returned; NULL is allowed. */
void tm_policy_drop(tm_all_policy *all, const tm_durable_policy *policy);

#endif
