/* tm_forward_api.h - the network of other routers, as Python passes it to the switch: their filters, and the routes.
 *
 * Law: that of tm_api.h. It builds on tm_switch_api.h, and cffi reads it unchanged.
 */

/* Filters of other routers are in a second table, whose interfaces are routers; topology is in the routes. Neither
 * depends on the other: a change of topology changes no filter. Routers are named by their number, which is never 0. */

#define TM_ROUTERS_MAX 65536   /* known to a switch at a time */
#define TM_NEIGHBOURS_MAX 1024 /* as many as an LSA can list */

/* Policies of forwarding between routers (switch/forward.h). */
#define TM_FORWARD_WANTED 0       /* to routers whose filters match */
#define TM_FORWARD_FLOOD 1        /* like WANTED, without a match while each router wants everything or nothing */
#define TM_FORWARD_MATCH_FIRST 2  /* matched on entry: messages list their destinations, if these are few */
#define TM_FORWARD_DESTINATIONS 3 /* matched on entry: messages carry the set of routers that want them */
#define TM_FORWARD_BY_ROOT 4      /* along the tree of the root of their class, which they name on entry */
#define TM_FORWARD_KEYS 5         /* copies carry keys of some matching filters behind their link */
#define TM_FORWARDINGS 6
#define TM_KEYS 60 /* initial bound of the keys of a copy */
#define TM_ROUTE_KEYS_MAX 240
#define TM_ROUTE_ROUTERS 32 /* initial bound of the list of TM_FORWARD_MATCH_FIRST */
#define TM_ROUTE_ROUTERS_MAX 64
#define TM_ROUTE_SET_ROUTERS_MAX 4096 /* in one set */
#define TM_DIGEST_BYTES 16
#define TM_CLASSES_MAX 64 /* of messages, without those in no class */

/* Make the switch a part of a network. It borrows `network`, an empty table, and is the only one to add filters to it.
 * `sources_max`: routers whose messages in transit are remembered (8 KiB each); the one quiet longest is forgotten.
 * `forwarding` is one of TM_FORWARD_* and cannot be changed; TM_FORWARD_KEYS needs an engine that limits a match
 * (tm_table_limits). */
int tm_switch_join(tm_switch *sw, tm_table *network, uint32_t sources_max, uint32_t forwarding);
/* Set the most routers that a message lists, 1 to TM_ROUTE_ROUTERS_MAX; a message for more is matched at each hop. */
int tm_switch_list_routers(tm_switch *sw, uint32_t destinations_max);
/* Set the most keys that a copy carries, 1 to TM_ROUTE_KEYS_MAX, for TM_FORWARD_KEYS. */
int tm_switch_limit_keys(tm_switch *sw, uint32_t keys_max);
/* Describe the network table for TM_FORWARD_DESTINATIONS and TM_FORWARD_KEYS: `digest` (TM_DIGEST_BYTES) covers the
 * filters of `routers`, including this one, in ascending order (copied; NULL: as before). NULL for the digest: the
 * table is changing or incomplete, so no set or key is written or accepted, which is the initial state. TM_OK;
 * TM_NO_MEMORY or (more than TM_ROUTE_SET_ROUTERS_MAX, or not ascending) TM_MISUSED: no set is used, either. */
int tm_switch_tables(tm_switch *sw, const uint8_t *digest, const uint64_t *routers, size_t count);
/* Set the classes of messages, for TM_FORWARD_BY_ROOT, once: the filters of class i are those of interface i of
 * `classes`, of `count`. The switch borrows that table, whose filters no longer change. A message belongs to the first
 * class of which it satisfies a filter. */
int tm_switch_classify(tm_switch *sw, tm_table *classes, uint32_t count);
/* Set the number of the root of each class, followed by that of messages in no class (copied); `count` 0, the initial
 * state: there are no roots, and messages follow the trees of their sources. */
int tm_switch_roots(tm_switch *sw, const uint64_t *roots, size_t count);
/* Set the tree of messages that enter here, for TM_FORWARD_DESTINATIONS: they reach routers[i] by before[i], another of
 * `routers`, which ascend, or this one (both copied). From then on a message gets a set if that costs all routers
 * together less, as measured here; without a tree (`count` 0), the initial state, each one does. TM_OK; without a tree
 * TM_NO_MEMORY or (more than TM_ROUTE_SET_ROUTERS_MAX, or not ascending) TM_MISUSED. */
int tm_switch_tree(tm_switch *sw, const uint64_t *routers, const uint64_t *before, size_t count);
/* Stamp messages that enter here with this epoch, and count them from 1. */
void tm_switch_raise_epoch(tm_switch *sw, uint64_t epoch);
/* Reject messages whose epoch exceeds this bound; initially UINT64_MAX. */
void tm_switch_bound_epochs(tm_switch *sw, uint64_t epoch_max);
/* Forget the counters of a router, so that its next start may begin at any epoch and counter. */
void tm_switch_forget_source(tm_switch *sw, uint64_t router);
/* Set a bound for the epochs of one source in place of the common one, until it is set again or forgotten; UINT64_MAX:
 * it has none of its own. Later epochs of the source are forgotten. TM_OK, TM_NO_MEMORY, TM_TOO_MANY or TM_MISUSED. */
int tm_switch_bound_source(tm_switch *sw, uint64_t router, uint64_t epoch_max);

/* Check filters in wire form, bytes[offsets[i] .. offsets[i+1]): results[i] is that of tm_table_add; TM_NO_MEMORY if
 * none could be checked. */
int tm_filters_check(const uint8_t *bytes, const uint64_t *offsets, size_t count, uint8_t *results);

/* Install filters of a router under its own ids: filter i is bytes[offsets[i] .. offsets[i+1]) (copied). results[i] is
 * that of tm_table_add, or TM_MISUSED if the id is in use; the others are installed all the same. TM_NO_MEMORY or
 * TM_TOO_MANY: there is no room for the router. */
int tm_switch_install(tm_switch *sw, uint64_t router, const uint8_t *bytes, const uint64_t *offsets,
                      const uint64_t *ids, size_t count, uint8_t *results);
/* The worker group of a filter: its number, and how many members have it; neither is 0. */
typedef struct tm_shared_filter {
    uint32_t group;
    uint32_t members;
} tm_shared_filter;
/* Hold filters of worker groups in `shared`, an empty table that the switch then owns; they are matched separately.
 * Once, after tm_switch_join; without it no such filter is installed. */
int tm_switch_share(tm_switch *sw, tm_table *shared);
/* Install filters of worker groups like tm_switch_install; rows[i] describes filter i. Their ids must differ from those
 * of the router's other filters, which is not checked. */
int tm_switch_install_shared(tm_switch *sw, uint64_t router, const uint8_t *bytes, const uint64_t *offsets,
                             const uint64_t *ids, const tm_shared_filter *rows, size_t count, uint8_t *results);
/* Uninstall filters of both kinds: results[i] is TM_OK, or TM_ABSENT if the router has no filter of that id. */
int tm_switch_uninstall(tm_switch *sw, uint64_t router, const uint64_t *ids, size_t count, uint8_t *results);
/* Uninstall at most `steps` filters of a router; `*left` remain. */
int tm_switch_forget_router(tm_switch *sw, uint64_t router, uint32_t steps, uint32_t *left);
/* Write the numbers of routers by their interface in the network table, 0 where an interface is free: at most
 * `capacity`. `*count` is their full number. */
int tm_switch_router_numbers(const tm_switch *sw, uint64_t *numbers, uint32_t capacity, uint32_t *count);

/* Begin a generation of routes, to be filled by tm_switch_route and put in force by tm_switch_commit; `*generation`
 * names it. An unfinished one is discarded. `hop_limit`, from 1, is stamped where a message enters. */
int tm_switch_begin_routes(tm_switch *sw, uint8_t hop_limit, uint32_t *generation);
/* Set or replace the route of a source in a generation in force or being made: `parent` is the neighbour from which its
 * messages are accepted (0: none), and router issuers[i] lies behind neighbour children[i]. This router is the source
 * of what enters here. TM_ABSENT: there is no such generation. */
int tm_switch_route(tm_switch *sw, uint32_t generation, uint64_t source, uint64_t parent, const uint64_t *issuers,
                    const uint64_t *children, size_t count);
/* Set or replace the route along the tree of a root, for messages of any source that name it: router routers[i] lies on
 * the tree behind neighbour ways[i], so its messages come from there, and all go towards the root. */
int tm_switch_route_tree(tm_switch *sw, uint32_t generation, uint64_t root, const uint64_t *routers,
                         const uint64_t *ways, size_t way_count, const uint64_t *issuers, const uint64_t *children,
                         size_t count);
/* Put the new generation in force; the one before stays for `hold_ms`, at most four in all. For `wait_ms` messages by
 * the new route of their source wait for those by an earlier one; 0 if an earlier route has broken. */
int tm_switch_commit(tm_switch *sw, uint32_t hold_ms, uint32_t wait_ms);

/* Pass in the frame of a TM_EVENT_UNROUTED again; its events are returned later. If it still has no route, it is
 * dropped. */
int tm_switch_retake(tm_switch *sw, uint32_t connection, const uint8_t *frame, size_t size);
