/* keys.c - copies carry keys of the filters that a router found for their link, and the next router looks them up.
 *
 * Law: a router sorts the keys of a message by its own links. If they are complete, the links with a key get a copy,
 * and no others. If not, these get a copy with their keys, which stay incomplete, and all other links are matched for
 * up to `keys_max` filters each. A message without keys is one that has none for any link. Keys that several filters
 * share are left out where they are written, and make incomplete what they are read from. Messages that are traced, for
 * members alone or with choices of worker groups are matched for all links, as are those of tables with few filters,
 * for which a plan costs less.
 *
 *     keys of the message   -> rows (link, key)  ->  sorted by link -> one copy for each link
 *     match of other links  ->
 */
#include "switch/forwarding/keys.h"

#include "base/bits.h"
#include "base/grow.h"
#include "switch/forwarding/depart.h"
#include "switch/forwarding/reuse.h"
#include "switch/forwarding/route.h"
#include "switch/message.h"
#include "switch/observe/trail.h"

_Static_assert(TM_ROUTE_KEYS_MAX == WIRE_KEYS_MAX, "the limit of a ROUTE");

#define LINK_WORDS (1 + TM_NEIGHBOURS_MAX / 64)

/* The links of one message. */
typedef struct forwarding {
    tm_switch *sw;
    const tm_message *message;
    const tm_next_hops *next_hops;
    uint32_t came_from;
    uint32_t row_count;
    bool is_complete;            /* the keys of the message are all that match */
    uint64_t keyed[LINK_WORDS];  /* bitset: links with a key of the message */
    uint64_t wanted[LINK_WORDS]; /* bitset: links that are matched */
    uint64_t whole[LINK_WORDS];  /* bitset: links whose keys are complete */
} forwarding;

void switch_keys_free(tm_link_keys *keys, tm_memory *memory) {
    tm_filter_keys_clear(&keys->filters);
    TM_DELETE(memory, TM_COLD, keys->links, uint32_t, keys->link_capacity);
    TM_DELETE(memory, TM_COLD, keys->handles, uint32_t, keys->handle_capacity);
    TM_DELETE(memory, TM_COLD, keys->counts, uint32_t, keys->count_capacity);
    TM_DELETE(memory, TM_COLD, keys->ends, uint32_t, keys->end_capacity);
    TM_DELETE(memory, TM_COLD, keys->rows, tm_key_row, keys->row_capacity);
    TM_DELETE(memory, TM_COLD, keys->sorted, uint32_t, keys->sorted_capacity);
}

/* ---- the keys of the message ---- */

static bool is_keyed(const tm_message *message) {
    return message->route_bytes > 0 && switch_route_mode(message) == WIRE_ROUTE_KEYS;
}

static uint32_t stated_count(const tm_message *message) {
    return is_keyed(message) ? (message->route_bytes - 4 - WIRE_KEYS_AT) / 4 : 0;
}

/* true if the keys of a message were found in tables equal to this router's */
static bool is_believed(const tm_reuse *reuse, const tm_message *message) {
    return memcmp(message->frame + WIRE_HEADER_BYTES + 4 + 2, reuse->digest, WIRE_DIGEST_BYTES) == 0;
}

/* Sort the keys of the message by link; false: no memory. A key of this router's own filters is in no table. */
static bool look_up(forwarding *f) {
    tm_net *net = f->sw->net;
    tm_link_keys *keys = &net->keys;
    const uint8_t *area = f->message->frame + WIRE_HEADER_BYTES + 4;
    uint32_t count = stated_count(f->message);
    f->is_complete = count > 0 && area[1] == 1;
    if (!tm_grow(&f->sw->memory, TM_COLD, &keys->rows, sizeof *keys->rows, &keys->row_capacity, count + 1)) {
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t key = tm_load32(area + WIRE_KEYS_AT + 4 * i);
        uint32_t handle = tm_filter_keys_find(&keys->filters, key);
        f->is_complete &= handle != FILTER_KEY_SHARED;
        if (handle >= FILTER_KEY_SHARED) {
            continue;
        }
        uint32_t link = tm_next_hops_towards(f->next_hops, net->network.filters[handle].router);
        if (link != NEXT_HOP_NONE && link != f->came_from) {
            keys->rows[f->row_count++] = (tm_key_row){link, key};
            tm_bit_set(f->keyed, link);
        }
    }
    return true;
}

/* ---- the match of other links ---- */

/* Find the links to be matched, and return their number. */
static uint32_t find_wanted(forwarding *f) {
    uint32_t count = 0;
    for (uint32_t word = 0; word < tm_bit_words(f->next_hops->neighbour_count) && !f->is_complete; word++) {
        uint64_t links = f->next_hops->children[word] & ~f->keyed[word];
        if (f->came_from / 64 == word) {
            links &= ~(UINT64_C(1) << f->came_from % 64);
        }
        f->wanted[word] = links;
        count += tm_bit_count(links);
    }
    return count;
}

static bool reserve(forwarding *f, uint32_t rows) {
    tm_memory *memory = &f->sw->memory;
    tm_link_keys *keys = &f->sw->net->keys;
    uint32_t links = f->next_hops->neighbour_count + 1;
    uint32_t all = f->row_count + rows + 1;
    return tm_grow(memory, TM_COLD, &keys->links, sizeof *keys->links, &keys->link_capacity, rows + 1) &&
           tm_grow(memory, TM_COLD, &keys->handles, sizeof *keys->handles, &keys->handle_capacity, rows + 1) &&
           tm_grow(memory, TM_COLD, &keys->counts, sizeof *keys->counts, &keys->count_capacity, links) &&
           tm_grow(memory, TM_COLD, &keys->ends, sizeof *keys->ends, &keys->end_capacity, links) &&
           tm_grow(memory, TM_COLD, &keys->rows, sizeof *keys->rows, &keys->row_capacity, all) &&
           tm_grow(memory, TM_COLD, &keys->sorted, sizeof *keys->sorted, &keys->sorted_capacity, all);
}

/* Add a row for each filter that the match found, and note whose keys are complete. */
static void take_rows(forwarding *f, size_t count) {
    tm_link_keys *keys = &f->sw->net->keys;
    for (uint32_t link = 0; link < f->next_hops->neighbour_count; link++) {
        if (keys->counts[link] > 0 && keys->counts[link] <= keys->keys_max) {
            tm_bit_set(f->whole, link);
        }
    }
    for (size_t i = 0; i < count; i++) {
        uint32_t key;
        if (tm_filter_keys_of(&keys->filters, keys->handles[i], &key)) {
            keys->rows[f->row_count++] = (tm_key_row){keys->links[i], key};
        } else {
            tm_bit_clear(f->whole, keys->links[i]);
        }
    }
}

/* Match the wanted links, `count` of them. */
static int match_wanted(forwarding *f, uint32_t count) {
    tm_link_keys *keys = &f->sw->net->keys;
    uint32_t rows = count * keys->keys_max;
    tm_query query = {.candidates = f->wanted,
                      .view = f->next_hops->view,
                      .group_count = f->next_hops->neighbour_count,
                      .mode = TM_MATCH_LIMITED,
                      .limit = keys->keys_max};
    tm_hits hits = {.groups = keys->links, .handles = keys->handles, .counts = keys->counts, .capacity = rows};
    int result = switch_ask_network(f->sw, f->message, &query, &hits);
    if (result == TM_OK) {
        take_rows(f, hits.count);
        f->sw->stats.keys_written += hits.count > 0;
    }
    return result;
}

/* ---- copies ---- */

/* Sort the rows by link: the keys of a link then end at `ends`. */
static void sort_rows(forwarding *f) {
    tm_link_keys *keys = &f->sw->net->keys;
    uint32_t links = f->next_hops->neighbour_count;
    memset(keys->ends, 0, sizeof *keys->ends * (links + 1));
    for (uint32_t i = 0; i < f->row_count; i++) {
        keys->ends[keys->rows[i].link + 1]++;
    }
    for (uint32_t link = 1; link <= links; link++) {
        keys->ends[link] += keys->ends[link - 1];
    }
    for (uint32_t i = 0; i < f->row_count; i++) {
        keys->sorted[keys->ends[keys->rows[i].link]++] = keys->rows[i].key;
    }
}

/* Return the message with these keys; without a ROUTE if there are none, or no room for one. false: no memory. */
static bool with_keys(forwarding *f, uint32_t link, uint32_t first, uint32_t count, tm_message *copy) {
    tm_net *net = f->sw->net;
    uint8_t *route = net->keys.route;
    count = count < WIRE_KEYS_MAX ? count : WIRE_KEYS_MAX;
    route[0] = WIRE_ROUTE_KEYS;
    route[1] = f->is_complete || tm_bit_at(f->whole, link);
    memcpy(route + 2, net->reuse.digest, WIRE_DIGEST_BYTES);
    for (uint32_t i = 0; i < count; i++) {
        wire_store32(route + WIRE_KEYS_AT + 4 * i, net->keys.sorted[first + i]);
    }
    if (count > 0 && switch_set_route(f->sw, f->message, route, WIRE_KEYS_AT + 4 * count, copy)) {
        return true;
    }
    *copy = *f->message;
    return !is_keyed(f->message) || switch_set_route(f->sw, f->message, NULL, 0, copy);
}

/* Queue a copy for each link with a key, or that matched. Returns their number. */
static uint32_t queue_copies(forwarding *f) {
    tm_link_keys *keys = &f->sw->net->keys;
    uint32_t first = 0;
    uint32_t copies = 0;
    sort_rows(f);
    for (uint32_t link = 0; link < f->next_hops->neighbour_count; link++) {
        uint32_t count = keys->ends[link] - first;
        bool has_matched = tm_bit_at(f->wanted, link) && keys->counts[link] > 0;
        tm_message copy;
        if (count > 0 || has_matched) {
            copies++;
            if (with_keys(f, link, first, count, &copy)) {
                switch_queue_copy(f->sw, &copy, link);
            } else {
                switch_count_drop(f->sw, TM_DROP_MEMORY, 1, f->message->size);
            }
        }
        first = keys->ends[link];
    }
    return copies;
}

/* ---- the policy ---- */

/* Return the next hops of a message that may have keys; NULL: it is matched for all links. */
static const tm_next_hops *next_hops_of(tm_net *net, const tm_message *message, uint32_t key) {
    bool is_plain = !switch_is_traced(message) && !message->members_only && message->choice_count == 0 &&
                    !tm_key_is_tree(key) && (message->route_bytes == 0 || is_keyed(message));
    uint32_t block;
    if (!is_plain || !net->reuse.is_whole || net->network.count <= SMALL_PLAN_FILTERS_MAX ||
        net->routes.in_force != 1 || !tm_routes_agree(&net->routes, key, &block) || block == NEXT_HOPS_NONE) {
        return NULL;
    }
    const tm_next_hops *next_hops = tm_next_hops_at(&net->routes.next_hops, block);
    return next_hops->count > 0 ? next_hops : NULL;
}

/* true if no route leads on from here, for whatever filters match */
static bool ends_here(const tm_net *net, const tm_message *message, uint32_t key) {
    uint32_t block;
    if (net->routes.in_force == 0 || message->choice_count > 0 || !tm_routes_agree(&net->routes, key, &block)) {
        return false;
    }
    return block == NEXT_HOPS_NONE || tm_next_hops_at(&net->routes.next_hops, block)->count == 0;
}

int switch_forward_by_keys(tm_switch *sw, const tm_message *message, uint32_t key, uint32_t came_from,
                           uint32_t *behind) {
    tm_net *net = sw->net;
    bool is_stated = is_keyed(message);
    if (is_stated && ends_here(net, message, key)) {
        *behind = 0;
        switch_teach_again(sw, message);
        return TM_OK;
    }
    forwarding f = {.sw = sw, .message = message, .came_from = came_from};
    f.next_hops = next_hops_of(net, message, key);
    bool is_stale = is_stated && f.next_hops != NULL && !is_believed(&net->reuse, message);
    sw->stats.keys_stale += is_stale || (is_stated && !net->reuse.is_whole);
    if (f.next_hops == NULL || is_stale || !look_up(&f)) {
        return switch_depart(sw, message, key, came_from, behind);
    }
    uint32_t wanted = find_wanted(&f);
    if (!reserve(&f, wanted * net->keys.keys_max)) {
        return switch_depart(sw, message, key, came_from, behind);
    }
    *behind = 0;
    sw->stats.keys_believed += f.row_count > 0 || f.is_complete;
    if (wanted > 0) {
        int result = match_wanted(&f, wanted);
        if (result == TM_TOO_COSTLY) {
            return result;
        }
        if (result != TM_OK) {
            memset(f.wanted, 0, sizeof f.wanted);
            *behind = 1;
        }
    } else {
        switch_teach_again(sw, message);
    }
    *behind += queue_copies(&f);
    return TM_OK;
}
