/* tree_shape.c - chooses the node of a new box, and the end along which a node is split.
 *
 * Law: only speed depends on these choices. Ends are compared as shares of the range that the tree has seen of the name
 * or, weighted by a quarter, of the end; a missing bound counts as the edge of the range of the end.
 */
#include <math.h>

#include "engines/boxes/node.h"

#define SIZE_SHARE (1.0 / 64) /* of two rows that grow alike the smaller one is chosen */
#define HUGE_RANGE 1e300      /* shares of a larger range mean nothing */
#define OWN_SHARE (1.0 / 4)   /* weight of an end whose values lie together, where those of its name do not */

static double within(double at, tm_box_scale scale) {
    return at < scale.least ? scale.least : at > scale.greatest ? scale.greatest : at;
}

/* Return an end of a row, measured; a missing one is at the edge. */
static double clamp(const tm_box_node *node, uint32_t end, double at) {
    return within(measure_of(node->tree, end, at), node->tree->scales[end]);
}

static double inverse(double range) {
    return range > 0 && range < HUGE_RANGE ? 1 / range : 0;
}

/* Return the weight of a distance: by the range of the name, of its lows and its highs together, or of the end
 * alone. */
static double weigh(const tm_boxes *tree, uint32_t end) {
    tm_box_scale own = tree->scales[end];
    tm_box_scale other = tree->scales[end < tree->names ? end + tree->names : end - tree->names];
    double least = own.least < other.least ? own.least : other.least;
    double greatest = own.greatest > other.greatest ? own.greatest : other.greatest;
    double by_name = inverse(greatest - least);
    double by_end = inverse(own.greatest - own.least) * OWN_SHARE;
    return by_name > by_end ? by_name : by_end;
}

static double weight_of(const tm_box_node *node, uint32_t end) {
    return node->tree->scales[end].weight;
}

void tm_box_widen_scales(tm_boxes *tree, const tm_box *box) {
    bool is_wider = false;
    for (uint32_t end = 0; end < 2 * tree->names; end++) {
        tm_box_scale *scale = &tree->scales[end];
        double at = measure_of(tree, end, box->ends[end]);
        bool is_new = scale->least == 0 && scale->greatest == 0;
        tree->open |= (uint32_t)!isfinite(box->ends[end]) << end;
        if (isfinite(box->ends[end]) && (is_new || at < scale->least || at > scale->greatest)) {
            scale->least = is_new || at < scale->least ? at : scale->least;
            scale->greatest = is_new || at > scale->greatest ? at : scale->greatest;
            is_wider = true;
        }
    }
    for (uint32_t end = 0; is_wider && end < 2 * tree->names; end++) {
        tree->scales[end].weight = weigh(tree, end);
    }
}

static uint32_t least_of(const double *scores, uint32_t count) {
    uint32_t best = 0;
    for (uint32_t row = 1; row < count; row++) {
        best = scores[row] < scores[best] ? row : best;
    }
    return best;
}

/* Add the cost of a box for the rows of a node along one end, at which the box has `at`: how far they grow, and a share
 * of their width. Rows behind the last are computed, too. A function of its own: inlined, compilers process one row at
 * a time. */
static __attribute__((noinline)) void add_scores(const double *restrict leasts, const double *restrict greatests,
                                                 double at, double weight, double *restrict scores) {
    for (uint32_t row = 0; row < INNER_ROWS; row++) {
        double from = leasts[row] > at ? leasts[row] : at;
        double to = greatests[row] < at ? greatests[row] : at;
        scores[row] += ((from - to) + (greatests[row] - leasts[row]) * SIZE_SHARE) * weight;
    }
}

/* Copy bounds of rows for `add_scores`: measured, and at the edge where they are missing. */
static void clamp_rows(const tm_box_node *inner, uint32_t end, const double *restrict column, double *restrict out) {
    const tm_box_scale scale = inner->tree->scales[end];
    const bool labelled = is_labelled(inner, end);
    for (uint32_t row = 0; row < INNER_ROWS && labelled; row++) {
        out[row] = row < inner->count ? within(measure_of(inner->tree, end, column[row]), scale) : 0;
    }
    for (uint32_t row = 0; row < INNER_ROWS && !labelled; row++) {
        out[row] = within(column[row], scale);
    }
}

uint32_t tm_box_closest(const tm_box_node *inner, const double *ends) {
    double scores[INNER_ROWS] = {0};
    for (uint32_t end = 0; end < ends_of(inner); end++) {
        double at = clamp(inner, end, ends[end]);
        const double *leasts = column_of(inner, end);
        const double *greatests = greatest_of(inner, end);
        double clamped[2][INNER_ROWS];
        if ((inner->tree->open >> end & 1) || is_labelled(inner, end)) {
            clamp_rows(inner, end, leasts, clamped[0]);
            clamp_rows(inner, end, greatests, clamped[1]);
            leasts = clamped[0];
            greatests = clamped[1];
        }
        add_scores(leasts, greatests, at, weight_of(inner, end), scores);
    }
    return least_of(scores, inner->count);
}

/* Return by how much, in all, the range of one row would have to grow to contain another. */
static double growth(const tm_box_node *inner, uint32_t row, uint32_t other) {
    double grown = 0;
    for (uint32_t end = 0; end < ends_of(inner); end++) {
        double below = clamp(inner, end, column_of(inner, end)[row]) - clamp(inner, end, column_of(inner, end)[other]);
        double above =
            clamp(inner, end, greatest_of(inner, end)[other]) - clamp(inner, end, greatest_of(inner, end)[row]);
        grown += ((below > 0 ? below : 0) + (above > 0 ? above : 0)) * weight_of(inner, end);
    }
    return grown;
}

int tm_box_neighbour(const tm_box_node *node) {
    const tm_box_node *parent = node->parent;
    double least = 0;
    int best = -1;
    for (uint32_t row = 0; row < parent->count; row++) {
        const tm_box_node *other = children_of(parent)[row];
        if (other != node && other->count + node->count <= other->capacity) {
            double grown = growth(parent, row, node->slot);
            if (best < 0 || grown < least) {
                least = grown;
                best = (int)row;
            }
        }
    }
    return best;
}

double tm_box_position(const tm_box_node *node, uint32_t row, uint32_t end) {
    double least = clamp(node, end, column_of(node, end)[row]);
    return node->level == 0 ? least : (least + clamp(node, end, greatest_of(node, end)[row])) / 2;
}

/* Return the end along which the rows are farthest apart. */
static uint32_t widest_end(const tm_box_node *node) {
    double widest = -1;
    uint32_t best = 0;
    for (uint32_t end = 0; end < ends_of(node); end++) {
        double least = tm_box_position(node, 0, end);
        double greatest = least;
        for (uint32_t row = 1; row < node->count; row++) {
            double at = tm_box_position(node, row, end);
            least = at < least ? at : least;
            greatest = at > greatest ? at : greatest;
        }
        double width = (greatest - least) * weight_of(node, end);
        if (width > widest) {
            widest = width;
            best = end;
        }
    }
    return best;
}

/* Sort row numbers by their position along the end. */
static void sort_rows(const tm_box_node *node, uint32_t end, uint8_t order[LEAF_ROWS]) {
    double places[LEAF_ROWS];
    for (uint32_t row = 0; row < node->count; row++) {
        double at = tm_box_position(node, row, end);
        uint32_t to = row;
        for (; to > 0 && places[to - 1] > at; to--) {
            places[to] = places[to - 1];
            order[to] = order[to - 1];
        }
        places[to] = at;
        order[to] = (uint8_t)row;
    }
}

uint32_t tm_box_split(tm_box_node *full, tm_box_node *fresh, double *bound) {
    uint8_t order[LEAF_ROWS] = {0};
    uint32_t end = widest_end(full);
    sort_rows(full, end, order);
    uint32_t half = full->count / 2;
    *bound = tm_box_position(full, order[half], end);
    bool goes[LEAF_ROWS] = {false};
    for (uint32_t i = half; i < full->count; i++) {
        goes[order[i]] = true;
    }
    uint32_t stay = 0;
    for (uint32_t row = 0; row < full->count; row++) {
        if (goes[row]) {
            tm_box_row_move(fresh, fresh->count++, full, row);
        } else {
            tm_box_row_move(full, stay++, full, row);
        }
    }
    full->count = (uint16_t)stay;
    full->others &= (uint16_t)((1U << stay) - 1);
    return end;
}
