/* worker_groups.h - groups of subscriptions that share their messages: of each message one member gets a copy.
 *
 * Law: a group is there while a subscription names it. A message is given to a member in two steps, once for each
 * message: every member that it satisfies is offered, then the one that is chosen is asked for; who is offered first
 * does not matter. Chosen is the member with the least waiting for it, in steps of 64 KiB; among equals, a keyed hash
 * of the message and the member decides, so that members take turns and a stranger cannot aim.
 */
#ifndef TM_WORKER_GROUPS_H
#define TM_WORKER_GROUPS_H

#include "base/hash.h"
#include "base/idset.h"

#define WORKER_GROUP_NONE 0U

typedef struct tm_worker_group {
    uint64_t name;    /* keyed hash of its name; of a free row, 0 */
    uint32_t number;  /* between routers; 0: its messages stay here */
    uint32_t members; /* subscriptions that name it; of a free row, the next free one */
    uint32_t stamp;   /* of the message that was offered last */
    uint32_t chosen;  /* subscriber */
    uint64_t waiting; /* of the chosen one: what counts against it */
    uint64_t turn;
} tm_worker_group;

typedef struct tm_worker_groups {
    tm_memory *memory;     /* borrowed */
    tm_worker_group *rows; /* owned; row 0 is no group */
    uint32_t row_count;
    uint32_t row_capacity;
    uint32_t free; /* 0: none */
    uint32_t live;
    tm_idset set; /* of rows, by name */
} tm_worker_groups;

void tm_worker_groups_init(tm_worker_groups *groups, tm_memory *memory);
void tm_worker_groups_clear(tm_worker_groups *groups);

/* The group of a name, with one member more; WORKER_GROUP_NONE: no memory. `number` is that of the name between
 * routers, or 0. */
uint32_t tm_worker_groups_join(tm_worker_groups *groups, const uint8_t *name, uint32_t size, uint32_t number);
void tm_worker_groups_leave(tm_worker_groups *groups, uint32_t group);

/* Offer a message to a member. `stamp` is that of the message, and different from the last message's. */
void tm_worker_groups_offer(tm_worker_groups *groups, uint32_t group, uint32_t stamp, uint32_t subscriber,
                            uint64_t waiting_bytes, uint64_t message);
static inline uint32_t tm_worker_groups_chosen(const tm_worker_groups *groups, uint32_t group) {
    return groups->rows[group].chosen;
}
/* Stamps begin again. */
void tm_worker_groups_forget_stamps(tm_worker_groups *groups);

#endif
