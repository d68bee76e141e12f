/* border.c - see border.h. */
#include "switch/access/border.h"

#include "switch/access/access.h"
#include "switch/access/guard.h"

static size_t bytes_of(size_t count) {
    return sizeof(tm_border) + count * sizeof(uint64_t);
}

static void count_users(tm_switch *sw, const tm_border *border, uint32_t by) {
    if (border->in != TM_GUARD_NONE) {
        guard_at(sw, border->in)->users += by;
    }
    if (border->out != TM_GUARD_NONE) {
        guard_at(sw, border->out)->users += by;
    }
}

void switch_free_border(tm_switch *sw, tm_connection *connection) {
    tm_border *border = connection->border;
    if (border != NULL) {
        count_users(sw, border, UINT32_MAX);
        tm_free_counted(&sw->memory, TM_COLD, border, bytes_of(border->count));
        connection->border = NULL;
    }
}

/* true if the guard exists and asks for no name, as a link has none */
static bool fits(const tm_switch *sw, uint32_t guard) {
    return guard == TM_GUARD_NONE || (switch_knows_guard(sw, guard) && !guard_at(sw, guard)->asks_name);
}

static bool is_sound(const tm_switch *sw, uint32_t id, const tm_border_terms *terms) {
    if (!switch_knows(sw, id) || terms == NULL || !switch_is_link(&sw->connections[id]) || !fits(sw, terms->in) ||
        !fits(sw, terms->out) || terms->behind_count > TM_ROUTERS_MAX) {
        return false;
    }
    for (size_t i = 1; i < terms->behind_count; i++) {
        if (terms->behind[i - 1] >= terms->behind[i]) {
            return false;
        }
    }
    return true;
}

int tm_switch_border(tm_switch *sw, uint32_t id, const tm_border_terms *terms) {
    if (!is_sound(sw, id, terms)) {
        return TM_MISUSED;
    }
    tm_border *border = tm_alloc_counted(&sw->memory, TM_COLD, bytes_of(terms->behind_count));
    if (border == NULL) {
        return TM_NO_MEMORY;
    }
    *border = (tm_border){.in = terms->in,
                          .out = terms->out,
                          .is_bounded = terms->behind != NULL,
                          .count = (uint32_t)terms->behind_count};
    for (uint32_t i = 0; i < border->count; i++) {
        border->behind[i] = terms->behind[i];
    }
    tm_connection *connection = switch_at(sw, id);
    count_users(sw, border, 1);
    switch_free_border(sw, connection);
    connection->border = border;
    sw->looks_until_ms = border->in != TM_GUARD_NONE ? UINT64_MAX : sw->looks_until_ms;
    connection->onward_bytes_max = border->out != TM_GUARD_NONE ? 0 : connection->admission.frame_bytes_max;
    return TM_OK;
}

int tm_switch_border_figures(const tm_switch *sw, uint32_t id, tm_border_stats *out) {
    if (!switch_knows(sw, id) || out == NULL) {
        return TM_MISUSED;
    }
    *out = sw->connections[id].kept_back;
    return TM_OK;
}

static bool is_behind(const tm_border *border, uint64_t number) {
    uint32_t low = 0;
    for (uint32_t high = border->count; low < high;) {
        uint32_t middle = low + (high - low) / 2;
        if (border->behind[middle] < number) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < border->count && border->behind[low] == number;
}

bool switch_is_barred(tm_switch *sw, const tm_message *message) {
    tm_connection *link = switch_at(sw, message->from);
    bool is_barred = link->border != NULL && link->border->is_bounded && !is_behind(link->border, message->source);
    link->kept_back.refused += is_barred;
    return is_barred;
}

bool switch_may_come(tm_switch *sw, const tm_message *message) {
    tm_connection *link = switch_at(sw, message->from);
    if (link->border == NULL || link->border->in == TM_GUARD_NONE) {
        return true;
    }
    bool may = guard_passes(sw, guard_at(sw, link->border->in), NULL, message);
    link->kept_back.refused += !may;
    return may;
}

bool switch_has_exit(tm_switch *sw, uint32_t link) {
    const tm_border *border = switch_at(sw, link)->border;
    return border != NULL && border->out != TM_GUARD_NONE;
}

bool switch_may_go(tm_switch *sw, const tm_message *message, uint32_t link) {
    bool may = guard_passes(sw, guard_at(sw, switch_at(sw, link)->border->out), NULL, message);
    switch_at(sw, link)->kept_back.withheld += !may;
    return may;
}
