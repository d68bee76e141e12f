/* shed.c - see shed.h.
 *
 * Law: each such drop is in one row, by neighbour, source and reason; where there is no row left, in one of several
 * sources. So each source is told of every drop that concerns it, and perhaps of one that does not.
 */
#include "switch/observe/shed.h"

static tm_shed *find(tm_net *net, const tm_shed *wanted) {
    for (uint32_t i = net->shed_count; i-- > 0;) {
        tm_shed *row = &net->shed[i];
        if (row->neighbour == wanted->neighbour && row->source == wanted->source && row->reason == wanted->reason) {
            return row;
        }
    }
    return NULL;
}

/* The last row is for anybody behind any neighbour. */
static tm_shed *row_of(tm_net *net, tm_shed wanted) {
    tm_shed *row = find(net, &wanted);
    if (row == NULL && net->shed_count + 1 >= TM_SHED_ROWS) {
        wanted.source = wanted.neighbour = 0;
        row = find(net, &wanted);
        if (row == NULL && net->shed_count == TM_SHED_ROWS) {
            row = &net->shed[TM_SHED_ROWS - 1];
        }
    }
    if (row == NULL) {
        row = &net->shed[net->shed_count++];
        *row = wanted;
    }
    return row;
}

void switch_note_shed(tm_switch *sw, const tm_message *message, uint32_t place, wire_loss reason) {
    tm_net *net = sw->net;
    tm_shed wanted = {.source = message->source, .reason = reason};
    if (message->is_dry) {
        return;
    }
    if (place != NEIGHBOUR_NONE) {
        wanted.neighbour = net->routers.rows[net->neighbours[place].router].number;
    }
    tm_shed *row = row_of(net, wanted);
    row->messages++;
    row->bytes += message->size;
}

uint32_t tm_switch_shed(tm_switch *sw, tm_shed *out) {
    if (sw == NULL || sw->net == NULL || out == NULL) {
        return 0;
    }
    uint32_t count = sw->net->shed_count;
    memcpy(out, sw->net->shed, count * sizeof *out);
    sw->net->shed_count = 0;
    return count;
}
