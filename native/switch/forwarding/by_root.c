/* by_root.c - see by_root.h.
 *
 * Law: the router where a message enters finds its class, the first whose filters it satisfies, and writes the root of
 * that class into it (ROUTE, mode TREE); routers on the path follow it (transit.c, depart.c), whatever their policy.
 * Where no root is known, or there is no room to write it, the message follows the tree of its source.
 */
#include "switch/forwarding/by_root.h"

#include "switch/forwarding/depart.h"
#include "switch/forwarding/route.h"
#include "switch/matching/check.h"
#include "switch/matching/local.h"

_Static_assert(TM_CLASSES_MAX <= 64, "one bit for each class");

int tm_switch_classify(tm_switch *sw, tm_table *classes, uint32_t count) {
    if (sw == NULL || classes == NULL || sw->net == NULL || sw->net->classes.table != NULL || count > TM_CLASSES_MAX ||
        classes == sw->table || classes == sw->net->network.table) {
        return TM_MISUSED;
    }
    sw->net->classes.table = classes;
    sw->net->classes.count = count;
    for (uint32_t i = 0; i < SWITCH_FORMS; i++) { /* shapes made before have no such table */
        tm_shape *shape = &sw->forms[i].shape;
        shape->unknown[SHAPE_CLASSES] = switch_unknown_to_classes(sw);
        tm_shape_want_all(shape, shape->unknown);
    }
    return TM_OK;
}

int tm_switch_roots(tm_switch *sw, const uint64_t *roots, size_t count) {
    if (sw == NULL || sw->net == NULL || (count > 0 && (roots == NULL || count != sw->net->classes.count + 1))) {
        return TM_MISUSED;
    }
    tm_classes *classes = &sw->net->classes;
    classes->is_known = count > 0;
    if (count > 0) {
        memcpy(classes->roots, roots, sizeof *roots * count);
    }
    return TM_OK;
}

/* Find the class of a message; the number of classes means that it is in none. Returns TM_OK, TM_NO_MEMORY or
 * TM_TOO_COSTLY. */
static int find_class(tm_switch *sw, const tm_message *message, uint32_t *class) {
    tm_classes *classes = &sw->net->classes;
    tm_shape *shape = &message->form->shape;
    uint64_t bits = 0;
    tm_query query = {.group_count = classes->count, .memo = shape->memo[SHAPE_CLASSES]};
    tm_hits hits = {.bits = &bits};
    int result = switch_ask(sw, classes->table, message->attribute_count, &query, &hits);
    if (result == TM_OK) {
        tm_shape_note_asked(shape, SHAPE_CLASSES);
    }
    *class = bits != 0 ? (uint32_t)__builtin_ctzll(bits) : classes->count;
    return result;
}

/* Write the root into the message; false: the root has no route, or there is no room. */
static bool name_root(tm_switch *sw, const tm_message *message, uint64_t root, tm_message *routed) {
    tm_net *net = sw->net;
    uint32_t router = tm_routers_find(&net->routers, root);
    if (router == ROUTER_NONE || net->routes.in_force == 0 ||
        tm_generation_route(&net->routes.generations[net->routes.in_force - 1], tm_key_of_tree(router)) == NULL) {
        return false;
    }
    uint8_t route[WIRE_ROUTE_TREE_BYTES - 4] = {WIRE_ROUTE_TREE};
    wire_store64(route + 1, root);
    *routed = switch_with_route(sw, message, route, sizeof route);
    routed->key = tm_key_of_tree(router);
    return routed->route_bytes > 0;
}

int switch_go_by_root(tm_switch *sw, const tm_message *message, uint32_t key, uint32_t came_from, uint32_t *behind) {
    const tm_classes *classes = &sw->net->classes;
    bool is_entry = came_from == NEIGHBOUR_NONE && !message->members_only && classes->is_known;
    if (classes->table == NULL || (!is_entry && message->form->shape.is_trimmed)) {
        return switch_depart(sw, message, key, came_from, behind);
    }
    uint32_t class;
    int result = find_class(sw, message, &class); /* in transit, only the shape learns from it */
    if (result == TM_TOO_COSTLY) {
        return result;
    }
    tm_message routed;
    if (is_entry && result == TM_OK && name_root(sw, message, classes->roots[class], &routed)) {
        return switch_depart(sw, &routed, routed.key, came_from, behind);
    }
    return switch_depart(sw, message, key, came_from, behind);
}
