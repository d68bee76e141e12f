/* worker_groups.h - groups of subscriptions that share their messages: one member gets a copy of each message.
 *
 * Law: a group exists while a subscription names it. A message is given to a member in two steps: every member that it
 * satisfies is offered once, then the chosen one is read; the order of offers does not matter. The chosen member is the
 * one with the fewest waiting bytes, in steps of 64 KiB; among equals, a keyed hash of the message and the member
 * decides, so that members take turns and an outsider cannot steer messages.
 */
#ifndef TM_WORKER_GROUPS_H
#define TM_WORKER_GROUPS_H

#include "base/hash.h"
#include "base/idset.h"

#define WORKER_GROUP_NONE 0U

typedef struct tm_worker_group {
    uint64_t name;    /* keyed hash of its name; of a free row, 0 */
    uint32_t number;  /* of its name between routers; 0: its messages stay at this router */
    uint32_t members; /* subscriptions that name it; of a free row, the next free one */
    uint32_t stamp;   /* of the message that was offered last */
    uint32_t chosen;  /* subscriber */
    uint64_t waiting; /* waiting bytes of the chosen member, in steps */
    uint64_t turn;
} tm_worker_group;

typedef struct tm_worker_groups {
    tm_memory *memory;     /* borrowed */
    tm_worker_group *rows; /* owned; row 0 is unused */
    uint32_t row_count;
    uint32_t row_capacity;
    uint32_t free; /* 0: none */
    uint32_t live;
    tm_idset set; /* of rows, by name */
} tm_worker_groups;

void tm_worker_groups_init(tm_worker_groups *groups, tm_memory *memory);
void tm_worker_groups_clear(tm_worker_groups *groups);

/* Add a member to the group of a name, made if needed; WORKER_GROUP_NONE: no memory. `number` is that of the name
 * between routers, or 0. */
uint32_t tm_worker_groups_join(tm_worker_groups *groups, const uint8_t *name, uint32_t size, uint32_t number);
/* Remove a member; the group ends with the last one. */
void tm_worker_groups_leave(tm_worker_groups *groups, uint32_t group);

/* Offer a message to a member. `stamp` is that of the message, and differs from the last message's. */
void tm_worker_groups_offer(tm_worker_groups *groups, uint32_t group, uint32_t stamp, uint32_t subscriber,
                            uint64_t waiting_bytes, uint64_t message);
/* Return the subscriber chosen for the message that was offered last. */
static inline uint32_t tm_worker_groups_chosen(const tm_worker_groups *groups, uint32_t group) {
    return groups->rows[group].chosen;
}
/* Reset all stamps, because they start again at 1. */
void tm_worker_groups_forget_stamps(tm_worker_groups *groups);

#endif
