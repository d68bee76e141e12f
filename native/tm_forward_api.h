/* tm_forward_api.h - other routers, as Python tells the switch of them: what they want, and the ways to them.
 *
 * Law: that of tm_api.h. It stands on tm_switch_api.h, and cffi reads it as it is, too.
 */

/* What the others want is a second table, whose interfaces are routers; where they are is in the routes. Neither knows
 * of the other: a change of topology touches no filter. Routers go by their number, which is never 0. */

#define TM_ROUTERS_MAX 65536   /* that a switch knows at a time */
#define TM_NEIGHBOURS_MAX 1024 /* as many as an LSA can list */

/* By which messages go between routers (switch/forward.h). */
#define TM_FORWARD_WANTED 0       /* where the table knows somebody who wants them */
#define TM_FORWARD_FLOOD 1        /* the same, without asking the table while each router wants everything or nothing */
#define TM_FORWARD_MATCH_FIRST 2  /* matched where they enter: they list the routers they go to, if these are few */
#define TM_FORWARD_DESTINATIONS 3 /* matched where they enter: they carry the set of routers that want them */
#define TM_FORWARD_BY_ROOT 4      /* along the tree of the root of their class, which they name where they enter */
#define TM_FORWARDINGS 5
#define TM_ROUTE_ROUTERS 32 /* routers that TM_FORWARD_MATCH_FIRST lists until it is told otherwise */
#define TM_ROUTE_ROUTERS_MAX 64
#define TM_ROUTE_SET_ROUTERS_MAX 4096 /* that a set counts */
#define TM_DIGEST_BYTES 16
#define TM_CLASSES_MAX 64 /* of messages, those in none apart */

/* The switch is one of several from here on. It borrows `network`, an empty table, whose handles it alone gives out.
 * `sources_max`: routers whose messages in transit are remembered (8 KiB each), the one quiet longest going first.
 * `forwarding` is one of TM_FORWARD_*, for good. */
int tm_switch_join(tm_switch *sw, tm_table *network, uint32_t sources_max, uint32_t forwarding);
/* A message for more routers than this, 1 to TM_ROUTE_ROUTERS_MAX, lists none: it is matched at each hop. */
int tm_switch_list_routers(tm_switch *sw, uint32_t destinations_max);
/* What the network table holds, for TM_FORWARD_DESTINATIONS: `digest` (TM_DIGEST_BYTES) is that over what `routers`
 * want, this one among them, whose numbers ascend (copied; NULL: those before). NULL for the digest: the table is about
 * to change, or does not hold all of it, so no set is written or believed, as at first. TM_OK, TM_NO_MEMORY or (more
 * than TM_ROUTE_SET_ROUTERS_MAX, or in no order) TM_MISUSED: none is, either. */
int tm_switch_tables(tm_switch *sw, const uint8_t *digest, const uint64_t *routers, size_t count);
/* Classes of messages, for TM_FORWARD_BY_ROOT, once: the filters of class i are those of interface i of `classes`, of
 * `count`. The switch borrows that table, whose filters are there and do not change any more. A message
 * is of the first class that it satisfies a filter of. */
int tm_switch_classify(tm_switch *sw, tm_table *classes, uint32_t count);
/* The number of the root of each class from now on, and behind them that of messages in no class (copied); `count` 0:
 * none is known, so messages go by the trees of their sources, as at first. */
int tm_switch_roots(tm_switch *sw, const uint64_t *roots, size_t count);
/* The tree of messages that enter here, for TM_FORWARD_DESTINATIONS: they come to routers[i] by before[i], another of
 * `routers`, which ascend, or this one (both copied). From then on a message gets a set where that costs all routers
 * together less, by what this one measures; without a tree (`count` 0), as at first, each one does. TM_OK; without a
 * tree TM_NO_MEMORY or (more than TM_ROUTE_SET_ROUTERS_MAX, or in no order) TM_MISUSED. */
int tm_switch_tree(tm_switch *sw, const uint64_t *routers, const uint64_t *before, size_t count);
/* Messages that enter here are stamped with this epoch from now on, and counted from 1 again. */
void tm_switch_raise_epoch(tm_switch *sw, uint64_t epoch);
/* Messages of later epochs of their sources are not taken; UINT64_MAX at first. */
void tm_switch_bound_epochs(tm_switch *sw, uint64_t epoch_max);
/* Nothing is known of a router any more: its next life may count its messages again, from any epoch on. */
void tm_switch_forget_source(tm_switch *sw, uint64_t router);
/* For messages of one source this takes the place of that bound, until it is bounded again or forgotten; UINT64_MAX: it
 * has none of its own. What was taken of later epochs is forgotten. TM_OK, TM_NO_MEMORY, TM_TOO_MANY or TM_MISUSED. */
int tm_switch_bound_source(tm_switch *sw, uint64_t router, uint64_t epoch_max);

/* Is each filter of wire form bytes[offsets[i] .. offsets[i+1]) one? results[i] says as tm_table_add would;
 * TM_NO_MEMORY if nothing could be looked at. */
int tm_filters_check(const uint8_t *bytes, const uint64_t *offsets, size_t count, uint8_t *results);

/* Install filters of a router under the ids that it gave them: filter i is bytes[offsets[i] .. offsets[i+1]) (copied).
 * results[i] says as tm_table_add does, or TM_MISUSED where the id is in use; the others are installed all the same.
 * TM_NO_MEMORY or TM_TOO_MANY: the router is one too many. */
int tm_switch_install(tm_switch *sw, uint64_t router, const uint8_t *bytes, const uint64_t *offsets,
                      const uint64_t *ids, size_t count, uint8_t *results);
/* Of a filter of a worker group: the number of the group, and how many members want it; neither is 0. */
typedef struct tm_shared_filter {
    uint32_t group;
    uint32_t members;
} tm_shared_filter;
/* Hold filters of worker groups in `shared`, an empty table that the switch takes over; they are matched apart. Once,
 * after tm_switch_join; without it no such filter is installed. */
int tm_switch_share(tm_switch *sw, tm_table *shared);
/* Install filters of worker groups as tm_switch_install does others; rows[i] says what filter i is. Ids of a router
 * differ from those of its other filters, which is not looked at. */
int tm_switch_install_shared(tm_switch *sw, uint64_t router, const uint8_t *bytes, const uint64_t *offsets,
                             const uint64_t *ids, const tm_shared_filter *rows, size_t count, uint8_t *results);
/* Uninstall filters of both kinds: results[i] is TM_OK, or TM_ABSENT where the router has no filter of that id. */
int tm_switch_uninstall(tm_switch *sw, uint64_t router, const uint64_t *ids, size_t count, uint8_t *results);
/* Uninstall at most `steps` filters of a router; `*left` says how many remain. */
int tm_switch_forget_router(tm_switch *sw, uint64_t router, uint32_t steps, uint32_t *left);
/* Write the numbers of the routers by the interface of their filters in the network table, 0 where an interface is
 * free: `capacity` of them at most. `*count` says how many there are. */
int tm_switch_router_numbers(const tm_switch *sw, uint64_t *numbers, uint32_t capacity, uint32_t *count);

/* A new generation of routes, to be filled by tm_switch_route and put in force by tm_switch_commit; `*generation` names
 * it. One that was not put in force is thrown away. `hop_limit`, from 1, is stamped where a message enters. */
int tm_switch_begin_routes(tm_switch *sw, uint8_t hop_limit, uint32_t *generation);
/* Set (or replace) the route of a source in a generation that is in force or to be: `parent` is the neighbour from
 * which its messages are taken (0: none), and router issuers[i] lies behind neighbour children[i]. This router is the
 * source of what enters here. TM_ABSENT: no such generation any more. */
int tm_switch_route(tm_switch *sw, uint32_t generation, uint64_t source, uint64_t parent, const uint64_t *issuers,
                    const uint64_t *children, size_t count);
/* The same for the tree of a root, along which messages of any source go that name it: router routers[i] lies on the
 * tree behind neighbour ways[i], so messages of it come from there, and all go towards the root. */
int tm_switch_route_tree(tm_switch *sw, uint32_t generation, uint64_t root, const uint64_t *routers,
                         const uint64_t *ways, size_t way_count, const uint64_t *issuers, const uint64_t *children,
                         size_t count);
/* In force from now on; the one before it for `hold_ms` more, four generations at most. For `wait_ms` messages that
 * come by the new way of their source wait for those by an earlier one; 0 where an earlier way has broken. */
int tm_switch_commit(tm_switch *sw, uint32_t hold_ms, uint32_t wait_ms);

/* The frame of a TM_EVENT_UNROUTED once more; what it causes goes up later. Without a route still, it is dropped. */
int tm_switch_retake(tm_switch *sw, uint32_t connection, const uint8_t *frame, size_t size);
