/* link_drops.c - see link_drops.h.
 *
 * Law: each such drop is counted in one row, by neighbour, source and reason; without a free row, in a row of several
 * sources. Thereby each source gets a report of every drop that concerns it, and perhaps of one that does not.
 */
#include "switch/observe/link_drops.h"

static tm_link_drops *find(tm_net *net, const tm_link_drops *wanted) {
    for (uint32_t i = net->link_drop_count; i-- > 0;) {
        tm_link_drops *row = &net->link_drops[i];
        if (row->neighbour == wanted->neighbour && row->source == wanted->source && row->reason == wanted->reason) {
            return row;
        }
    }
    return NULL;
}

/* Return the row to count in. The last row holds drops of any source behind any neighbour. */
static tm_link_drops *row_of(tm_net *net, tm_link_drops wanted) {
    tm_link_drops *row = find(net, &wanted);
    if (row == NULL && net->link_drop_count + 1 >= TM_LINK_DROP_ROWS) {
        wanted.source = wanted.neighbour = 0;
        row = find(net, &wanted);
        if (row == NULL && net->link_drop_count == TM_LINK_DROP_ROWS) {
            row = &net->link_drops[TM_LINK_DROP_ROWS - 1];
        }
    }
    if (row == NULL) {
        row = &net->link_drops[net->link_drop_count++];
        *row = wanted;
    }
    return row;
}

void switch_note_link_drops(tm_switch *sw, const tm_message *message, uint32_t place, wire_loss reason) {
    tm_net *net = sw->net;
    tm_link_drops wanted = {.source = message->source, .reason = reason};
    if (message->is_dry) {
        return;
    }
    if (place != NEIGHBOUR_NONE) {
        wanted.neighbour = net->routers.rows[net->neighbours[place].router].number;
    }
    tm_link_drops *row = row_of(net, wanted);
    row->messages++;
    row->bytes += message->size;
}

uint32_t tm_switch_link_drops(tm_switch *sw, tm_link_drops *out) {
    if (sw == NULL || sw->net == NULL || out == NULL) {
        return 0;
    }
    uint32_t count = sw->net->link_drop_count;
    memcpy(out, sw->net->link_drops, count * sizeof *out);
    sw->net->link_drop_count = 0;
    return count;
}
