/* log_model.c - see log_model.h. */
#include "log_model.h"

#include <string.h>

#define READ_BYTES 16384U

static bool is_home(uint32_t holder) {
    return holder >= MODEL_HOLDERS - MODEL_HOMES;
}

void model_begin(model *m) {
    memset(m, 0, sizeof *m);
    for (uint32_t i = 0; i < MODEL_HOLDERS; i++) {
        m->ids[i] = ++m->last_id;
    }
    for (uint32_t i = 0; i < MODEL_CHAINS - MODEL_HOMES; i++) {
        m->entries[i] = ++m->last_id;
    }
}

/* true if the holder with this id was removed by then */
static bool has_ended(const model *m, uint64_t id, uint64_t committed) {
    for (uint32_t i = 0; i < m->ends.count; i++) {
        if (m->ends.all[i].id == id && m->ends.all[i].n <= committed) {
            return true;
        }
    }
    return false;
}

/* Return the id that a holder had then. */
static uint64_t id_at(const model *m, uint32_t holder, uint64_t committed) {
    for (uint32_t i = 0; i < m->ends.count; i++) {
        if (m->ends.all[i].holder == holder && m->ends.all[i].n > committed) {
            return m->ends.all[i].id;
        }
    }
    return m->ids[holder];
}

/* ---- bodies ---- */

static void fill(uint8_t *body, uint32_t size, uint64_t seed) {
    dice d = {seed};
    for (uint32_t i = 0; i < size; i += 8) {
        uint64_t word = roll(&d);
        memcpy(body + i, &word, size - i < 8 ? size - i : 8);
    }
}

static uint64_t digest_of(const uint8_t *body, uint32_t size) {
    uint64_t digest = UINT64_C(0xcbf29ce484222325) + size;
    for (uint32_t i = 0; i < size; i++) {
        digest = (digest ^ body[i]) * UINT64_C(0x100000001b3);
    }
    return digest;
}

/* ---- chains ---- */

/* Return what the records up to `committed` made of a chain; NULL: nothing yet. */
static const model_chain_event *last_of(const model *m, uint32_t chain, uint64_t committed) {
    const model_chain_event *last = NULL;
    for (uint32_t i = 0; i < m->chain_event_count; i++) {
        const model_chain_event *event = &m->chain_events[i];
        last = event->chain == chain && event->n <= committed ? event : last;
    }
    return last != NULL && last->is_end ? NULL : last;
}

/* Take the next number of some chain for a message. */
static void draw_from(const model *m, dice *d, model_record *record) {
    uint32_t chain = below(d, MODEL_CHAINS - MODEL_HOMES);
    const model_chain_event *last = last_of(m, chain, NEVER);
    if (!m->is_plain && below(d, 3) == 0 && m->chain_event_count < MODEL_CHAIN_EVENTS / 4 * 3) {
        record->from_router = m->entries[chain];
        record->from_n = (last != NULL ? last->state.have : 0) + 1 + below(d, 3);
    }
}

static void add_event(model *m, const model_chain_event *event) {
    CHECK(m->chain_event_count < MODEL_CHAIN_EVENTS, "too many records of chains for the model");
    m->chain_events[m->chain_event_count++] = *event;
}

/* A message moves the chain that it came by, if that is known. */
static void move_chain(model *m, const model_record *record, uint64_t n) {
    for (uint32_t chain = 0; chain < MODEL_CHAINS - MODEL_HOMES; chain++) {
        const model_chain_event *last = last_of(m, chain, NEVER);
        if (record->from_router == m->entries[chain] && last != NULL) {
            model_chain_event event = *last;
            event.n = n;
            event.state.have = record->from_n;
            add_event(m, &event);
        }
    }
}

bool model_draw_chain(model *m, dice *d, tm_log_entry *entry, model_chain_event *event) {
    static tm_log_chain said;
    static tm_log_home peer;
    uint32_t chain = below(d, MODEL_CHAINS);
    bool is_home = chain >= MODEL_CHAINS - MODEL_HOMES;
    const model_chain_event *last = last_of(m, chain, NEVER);
    said = last != NULL ? last->state : (tm_log_chain){.log = 1, .is_home = is_home};
    said.router = is_home ? m->ids[MODEL_HOLDERS - MODEL_CHAINS + chain] : m->entries[chain];
    said.n = roll(d); /* ignored */
    if (below(d, 12) == 0) {
        said.log++;
        said.have = 0;
    } else if (is_home && m->count > 0) {
        uint64_t have = m->all[below(d, m->count)].n;
        said.have = have > said.have ? have : said.have;
    } else if (!is_home) {
        said.have += below(d, 4);
        uint32_t is_some = below(d, 2);
        said.lost += is_some * below(d, 9);
        said.doubts += below(d, 20) == 0;
        said.life += below(d, 4) == 0;
    }
    peer = (tm_log_home){said.router, 0};
    *event = (model_chain_event){.chain = chain, .state = said};
    *entry = (tm_log_entry){.homes = &peer,
                            .home_count = 1,
                            .body = &said,
                            .body_size = sizeof said,
                            .kind = is_home ? TM_LOG_HOME_HAS : TM_LOG_CHAIN};
    return !m->is_plain && m->chain_event_count < MODEL_CHAIN_EVENTS - 1;
}

void model_set_chain(model *m, const model_chain_event *event, uint64_t n) {
    CHECK(n > m->highest, "number %lx is used again, or descends", (unsigned long)n);
    m->highest = n;
    model_chain_event added = *event;
    added.n = added.stated_n = added.state.n = n;
    added.stated_have = event->state.have;
    add_event(m, &added);
    if (event->chain >= MODEL_CHAINS - MODEL_HOMES) {
        tm_log_done done = {.holder = event->state.router, .last = event->state.have};
        model_ack(m, MODEL_HOLDERS - MODEL_CHAINS + event->chain, &done, n);
    }
}

bool model_draw_chain_end(model *m, dice *d, tm_log_done *done, model_chain_event *event) {
    uint32_t chain = below(d, MODEL_CHAINS - MODEL_HOMES);
    *done = (tm_log_done){.holder = m->entries[chain], .is_home = TM_LOG_ENTRY};
    *event = (model_chain_event){.chain = chain, .is_end = true, .state = {.router = m->entries[chain]}};
    return last_of(m, chain, NEVER) != NULL && m->chain_event_count < MODEL_CHAIN_EVENTS - 1;
}

/* Return the ranges of numbers of a home from its oldest open message on, at most MODEL_GIVEN_UP messages, without what
 * was given up before. */
static uint32_t oldest_of(const model *m, uint32_t holder, uint32_t most, tm_log_range *ranges, uint64_t *numbers,
                          uint32_t *count) {
    uint32_t found = 0;
    bool is_new = true;
    *count = 0;
    for (uint32_t i = 0; i < m->count && *count < most; i++) {
        const model_record *record = &m->all[i];
        bool is_open =
            record->named >> holder & 1 && record->ids[holder] == m->ids[holder] && record->done_at[holder] == NEVER;
        if (is_open && record->kind == TM_LOG_MESSAGE) {
            ranges[is_new ? found : found - 1] =
                (tm_log_range){is_new ? record->n : ranges[found - 1].first, record->n};
            found += is_new;
            numbers[(*count)++] = record->n;
        }
        is_new = is_open ? record->kind != TM_LOG_MESSAGE : is_new;
    }
    return found;
}

bool model_draw_given_up(model *m, dice *d, tm_log_entry *entry, model_record *record) {
    static uint64_t body[1 + 3 * MODEL_GIVEN_UP];
    static tm_log_home peer;
    tm_log_range ranges[MODEL_GIVEN_UP];
    uint64_t numbers[MODEL_GIVEN_UP];
    uint32_t holder = MODEL_HOLDERS - MODEL_HOMES + below(d, MODEL_HOMES);
    uint32_t count;
    uint32_t found = oldest_of(m, holder, 1 + below(d, MODEL_GIVEN_UP - 1), ranges, numbers, &count);
    tm_log_given_up head = {found, count};
    memcpy(body, &head, sizeof head);
    memcpy(body + 1, ranges, found * sizeof *ranges);
    memcpy(body + 1 + 2 * found, numbers, count * sizeof *numbers);
    *record = (model_record){.seed = roll(d), .kind = TM_LOG_GIVEN_UP, .named = 1U << holder};
    record->body_size = (uint32_t)(sizeof head + found * sizeof *ranges + count * sizeof *numbers);
    record->digest = digest_of((const uint8_t *)body, record->body_size);
    for (uint32_t i = 0; i < MODEL_HOLDERS; i++) {
        record->ids[i] = m->ids[i];
        record->done_at[i] = NEVER;
    }
    peer = (tm_log_home){m->ids[holder], numbers[0]};
    *entry = (tm_log_entry){.homes = &peer,
                            .home_count = 1,
                            .body = body,
                            .body_size = record->body_size,
                            .kind = record->kind,
                            .t_us = record->seed};
    return count > 0 && !m->is_plain;
}

/* Record `n` has given up the oldest messages of its home, up to its last number. */
static void let_given_up_go(model *m, const model_record *by, uint64_t n, const tm_log_entry *entry) {
    tm_log_given_up head;
    memcpy(&head, entry->body, sizeof head);
    const uint64_t *numbers = (const uint64_t *)entry->body + 1 + 2 * head.ranges;
    for (uint32_t i = 0; i < head.numbers; i++) {
        for (uint32_t each = 0; each < m->count; each++) {
            model_record *record = &m->all[each];
            for (uint32_t holder = 0; holder < MODEL_HOLDERS; holder++) {
                bool is_its = by->named >> holder & 1 && record->named >> holder & 1;
                if (record->n == numbers[i] && is_its && n < record->done_at[holder]) {
                    record->done_at[holder] = n;
                }
            }
        }
    }
}

/* ---- records ---- */

void model_draw(model *m, dice *d, uint32_t body_max, tm_log_entry *entry, model_record *record) {
    static uint8_t body[1 << 16];
    static uint32_t durables[MODEL_HOLDERS];
    static tm_log_home homes[MODEL_HOMES];
    *record = (model_record){.seed = roll(d), .kind = TM_LOG_MESSAGE};
    record->body_size = below(d, 20) == 0 ? below(d, body_max) : below(d, body_max / 8);
    record->named = 1U << below(d, MODEL_HOLDERS);
    uint32_t another = 1U << below(d, MODEL_HOLDERS);
    record->named |= another & (uint32_t)roll(d);
    if (m->body_bytes > 0) {
        record->body_size = m->body_bytes;
        record->named = 1U << below(d, MODEL_HOLDERS - MODEL_HOMES);
    }
    if (m->is_plain) {
        record->named = record->named & ((1U << (MODEL_HOLDERS - MODEL_HOMES)) - 1) ? record->named : 1;
        record->named &= (1U << (MODEL_HOLDERS - MODEL_HOMES)) - 1;
    }
    draw_from(m, d, record);
    fill(body, record->body_size, record->seed);
    record->digest = digest_of(body, record->body_size);
    *entry = (tm_log_entry){.durables = durables,
                            .homes = homes,
                            .body = body,
                            .body_size = record->body_size,
                            .kind = record->kind,
                            .t_us = record->seed,
                            .from_router = record->from_router,
                            .from_n = record->from_n};
    for (uint32_t i = 0; i < MODEL_HOLDERS; i++) {
        record->ids[i] = m->ids[i];
        record->done_at[i] = NEVER;
        if (record->named >> i & 1) {
            if (is_home(i)) {
                homes[entry->home_count++] = (tm_log_home){m->ids[i], record->seed};
            } else {
                durables[entry->durable_count++] = (uint32_t)m->ids[i];
            }
        }
    }
}

void model_add(model *m, const model_record *record, const tm_log_entry *entry, uint64_t n) {
    CHECK(n > m->highest, "number %lx is used again, or descends", (unsigned long)n);
    CHECK(m->count < MODEL_RECORDS, "too many records for the model");
    m->highest = n;
    if (record->kind == TM_LOG_GIVEN_UP) {
        let_given_up_go(m, record, n, entry);
    } else {
        move_chain(m, record, n);
    }
    m->all[m->count] = *record;
    m->all[m->count++].n = n;
}

/* ---- acks ---- */

bool model_draw_ack(model *m, dice *d, tm_log_done *done, uint32_t *holder) {
    if (m->count == 0) {
        return false;
    }
    const model_record *last = &m->all[below(d, m->count)];
    const model_record *first = &m->all[below(d, (uint32_t)(last - m->all) + 1)];
    uint32_t how = below(d, 3);
    *holder = below(d, MODEL_HOLDERS);
    *done = (tm_log_done){.holder = m->ids[*holder], .last = last->n, .is_home = is_home(*holder)};
    done->first = how == 0 ? 0 : how == 1 ? last->n : first->n;
    return true;
}

void model_ack(model *m, uint32_t holder, const tm_log_done *done, uint64_t n) {
    m->highest = n > m->highest ? n : m->highest;
    for (uint32_t i = 0; i < m->count; i++) {
        model_record *record = &m->all[i];
        if (record->n >= done->first && record->n <= done->last && record->ids[holder] == done->holder &&
            n < record->done_at[holder]) {
            record->done_at[holder] = n;
        }
    }
}

/* ---- policies, and the end of a holder ---- */

bool model_draw_policy(model *m, dice *d, tm_log_entry *entry, model_event *policy) {
    static uint8_t body[1 << 10];
    static uint32_t durable;
    uint32_t holder = below(d, MODEL_HOLDERS - MODEL_HOMES);
    *policy = (model_event){.holder = holder, .id = m->ids[holder], .seed = roll(d)};
    policy->body_size = m->body_bytes > 0 ? m->body_bytes : below(d, sizeof body);
    fill(body, policy->body_size, policy->seed);
    durable = (uint32_t)policy->id;
    *entry = (tm_log_entry){
        .durables = &durable, .durable_count = 1, .body = body, .body_size = policy->body_size, .kind = TM_LOG_DURABLE};
    return m->policy.count < MODEL_EVENTS;
}

void model_end_chain(model *m, const model_chain_event *event, uint64_t n) {
    m->highest = n > m->highest ? n : m->highest;
    model_chain_event added = *event;
    added.n = n;
    add_event(m, &added);
    m->entries[event->chain] = ++m->last_id;
}

void model_set_policy(model *m, const model_event *policy, uint64_t n) {
    CHECK(n > m->highest, "number %lx is used again, or descends", (unsigned long)n);
    m->highest = n;
    m->policy.all[m->policy.count] = *policy;
    m->policy.all[m->policy.count++].n = n;
}

bool model_draw_end(model *m, dice *d, tm_log_done *done, uint32_t *holder) {
    *holder = below(d, MODEL_HOLDERS);
    *done = (tm_log_done){.holder = m->ids[*holder], .is_home = is_home(*holder)};
    return m->ends.count < MODEL_EVENTS && m->chain_event_count < MODEL_CHAIN_EVENTS - 1;
}

void model_end(model *m, uint32_t holder, uint64_t n) {
    m->highest = n > m->highest ? n : m->highest;
    m->ends.all[m->ends.count++] = (model_event){.n = n, .id = m->ids[holder], .holder = holder};
    if (is_home(holder)) {
        add_event(m, &(model_chain_event){.n = n, .chain = holder - (MODEL_HOLDERS - MODEL_CHAINS), .is_end = true});
    }
    m->ids[holder] = ++m->last_id;
}

/* Return the last committed policy of a durable subscription; NULL: none. */
static const model_event *policy_of(const model *m, uint64_t id, uint64_t committed) {
    const model_event *last = NULL;
    for (uint32_t i = 0; i < m->policy.count; i++) {
        const model_event *policy = &m->policy.all[i];
        last = policy->id == id && policy->n <= committed ? policy : last;
    }
    return last;
}

static void lose_events(model *m, uint64_t committed) {
    while (m->ends.count > 0 && m->ends.all[m->ends.count - 1].n > committed) {
        const model_event *end = &m->ends.all[--m->ends.count];
        m->ids[end->holder] = end->id;
    }
    while (m->policy.count > 0 && m->policy.all[m->policy.count - 1].n > committed) {
        m->policy.count--;
    }
    while (m->chain_event_count > 0 && m->chain_events[m->chain_event_count - 1].n > committed) {
        const model_chain_event *event = &m->chain_events[--m->chain_event_count];
        if (event->is_end && event->chain < MODEL_CHAINS - MODEL_HOMES) {
            m->entries[event->chain] = event->state.router;
        }
    }
}

/* Keep only the last event of each chain, and those that a crash may take back. */
static void cut_chain_events(model *m, uint64_t committed) {
    uint32_t kept = 0;
    uint64_t last[MODEL_CHAINS] = {0};
    for (uint32_t i = 0; i < m->chain_event_count; i++) {
        const model_chain_event *event = &m->chain_events[i];
        last[event->chain] = event->n <= committed ? event->n : last[event->chain];
    }
    for (uint32_t i = 0; i < m->chain_event_count; i++) {
        if (m->chain_events[i].n >= last[m->chain_events[i].chain]) {
            m->chain_events[kept++] = m->chain_events[i];
        }
    }
    m->chain_event_count = kept;
}

static void cut_events(model *m, uint64_t committed) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < m->policy.count; i++) {
        const model_event *policy = &m->policy.all[i];
        bool is_over = policy->n <= committed &&
                       (has_ended(m, policy->id, committed) || policy_of(m, policy->id, committed) != policy);
        if (!is_over) {
            m->policy.all[kept++] = *policy;
        }
    }
    m->policy.count = kept;
}

void model_lose(model *m, uint64_t committed) {
    uint32_t kept = 0;
    lose_events(m, committed);
    for (uint32_t i = 0; i < m->count; i++) {
        for (uint32_t c = 0; c < MODEL_HOLDERS; c++) {
            m->all[i].done_at[c] = m->all[i].done_at[c] > committed ? NEVER : m->all[i].done_at[c];
        }
        if (m->all[i].n <= committed) {
            m->all[kept++] = m->all[i];
        }
    }
    m->count = kept;
}

void model_cut(model *m, uint64_t committed) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < m->count; i++) {
        model_record *record = &m->all[i];
        bool is_open = false;
        for (uint32_t c = 0; c < MODEL_HOLDERS; c++) {
            is_open = is_open || (record->named >> c & 1 && record->done_at[c] > committed &&
                                  !has_ended(m, record->ids[c], committed));
        }
        if (is_open) {
            m->all[kept++] = *record;
        }
    }
    m->count = kept;
    cut_events(m, committed);
    cut_chain_events(m, committed);
    while (m->ends.count > 64 && m->ends.all[0].n <= committed) { /* no record has them any longer */
        memmove(m->ends.all, m->ends.all + 1, --m->ends.count * sizeof m->ends.all[0]);
    }
}

/* ---- judging ---- */

static bool is_same(const model_record *expected, const tm_log_record *record) {
    const uint8_t *durables = (const uint8_t *)(record + 1);
    const uint8_t *homes = durables + (record->durables + 1U) / 2 * 8;
    return record->kind == expected->kind && record->body_size == expected->body_size &&
           record->t_us == expected->seed && record->from_router == expected->from_router &&
           record->from_n == expected->from_n &&
           digest_of(homes + record->homes * sizeof(tm_log_home), record->body_size) == expected->digest;
}

static bool is_told(tm_log *log, uint64_t n) {
    static tm_log_range ranges[4096];
    size_t count = tm_log_missing(log, ranges, 4096);
    CHECK(count <= 4096, "more ranges are missing than the model supports");
    for (size_t i = 0; i < count; i++) {
        if (n >= ranges[i].first && n <= ranges[i].last) {
            return true;
        }
    }
    return false;
}

typedef struct comparison {
    const model *m;
    tm_log *log;
    uint64_t committed;
    bool may_return;
    uint32_t holder;
    uint64_t id;
    uint32_t next; /* record of the model */
    uint64_t n;
} comparison;

/* Skip the records of the model before number `n`: each is of another holder, done, lost, or missing. */
static const char *pass(comparison *c, uint64_t n) {
    for (; c->next < c->m->count && c->m->all[c->next].n < n; c->next++) {
        const model_record *record = &c->m->all[c->next];
        bool is_due = record->named >> c->holder & 1 && record->n <= c->committed && record->ids[c->holder] == c->id &&
                      record->done_at[c->holder] > c->committed;
        if (is_due && !is_told(c->log, record->n)) {
            c->n = record->n;
            return "a committed open record is missing";
        }
    }
    return NULL;
}

static const char *judge(comparison *c, const tm_log_record *record) {
    const char *reason = pass(c, record->n);
    c->n = record->n;
    if (reason != NULL) {
        return reason;
    }
    if (c->next == c->m->count || c->m->all[c->next].n != record->n) {
        return c->may_return ? NULL : "a record that was done long ago, never existed, or is read twice";
    }
    const model_record *expected = &c->m->all[c->next++];
    if (expected->n > c->committed) {
        return "a record beyond the committed number of the log";
    }
    if (!(expected->named >> c->holder & 1) || expected->ids[c->holder] != c->id) {
        return "a record of another durable subscription";
    }
    if (expected->done_at[c->holder] <= c->committed && !c->may_return) {
        return "a record that was done";
    }
    return is_same(expected, record) ? NULL : "a record with other contents";
}

/* Check the policies of all durable subscriptions: the last committed ones, each once, and no others. */
static const char *compare_policy(const model *m, tm_log *log, uint64_t committed, bool may_return, uint64_t *n) {
    static uint64_t buffer[READ_BYTES / 8];
    static uint8_t body[1 << 10];
    bool is_seen[MODEL_HOLDERS] = {0};
    uint32_t after = 0;
    size_t size;
    do {
        int result = tm_log_durables(log, after, buffer, sizeof buffer, &size);
        result = result == TM_NO_MEMORY ? tm_log_durables(log, after, buffer, sizeof buffer, &size) : result;
        CHECK(result == TM_OK, "listing durable subscriptions: %d", result);
        for (size_t at = 0; at < size;) {
            const tm_log_record *record = (const tm_log_record *)((uint8_t *)buffer + at);
            uint32_t durable = *(const uint32_t *)(record + 1);
            CHECK(durable > after && record->kind == TM_LOG_DURABLE, "durable subscription %u is listed twice",
                  durable);
            after = durable;
            at += record->size;
            *n = record->n;
            const model_event *policy = policy_of(m, durable, committed);
            bool is_last = policy != NULL && policy->n == record->n;
            if (has_ended(m, durable, committed) || !is_last) {
                if (!may_return) {
                    return "a policy that was replaced, or of a removed subscription";
                }
                continue;
            }
            is_seen[policy->holder] = true;
            fill(body, policy->body_size, policy->seed);
            if (record->body_size != policy->body_size || memcmp(record + 1, &durable, sizeof durable) != 0 ||
                memcmp((const uint8_t *)(record + 1) + 8, body, policy->body_size) != 0) {
                return "a policy with other contents";
            }
        }
    } while (size > 0);
    for (uint32_t holder = 0; holder < MODEL_HOLDERS - MODEL_HOMES; holder++) {
        const model_event *policy = policy_of(m, id_at(m, holder, committed), committed);
        if (policy != NULL && !is_seen[holder] && !is_told(log, policy->n)) {
            *n = policy->n;
            return "a committed policy is missing";
        }
    }
    return NULL;
}

/* Check that a removed holder has no records. */
static const char *compare_ended(const model *m, tm_log *log, uint64_t committed, uint64_t *n) {
    for (uint32_t i = 0; i < m->ends.count; i++) {
        const model_event *end = &m->ends.all[i];
        size_t count;
        if (end->n <= committed) {
            tm_log_summary summary;
            int result = tm_log_summaries(log, end->id, is_home(end->holder), 0, &summary, 1, &count);
            CHECK(result == TM_OK || result == TM_NO_MEMORY, "reading numbers: %d", result);
            if (count > 0) {
                *n = summary.n;
                return "a removed subscription has records";
            }
        }
    }
    return NULL;
}

/* true if a chain is as its last record made it. Where a checkpoint is damaged, messages after it may be gone. */
static bool is_as_recorded(const tm_log_chain *found, const model_chain_event *last, bool may_return) {
    const tm_log_chain *state = &last->state;
    bool is_there =
        may_return ? found->have >= last->stated_have && found->have <= state->have : found->have == state->have;
    return is_there && found->log == state->log && found->life == state->life && found->lost == state->lost &&
           found->doubts == state->doubts && found->n == state->n;
}

/* Check that the log has each chain as its last committed record made it, and no other. */
static const char *compare_chains(const model *m, tm_log *log, uint64_t committed, bool may_return, uint64_t *n) {
    tm_log_chain found[MODEL_CHAINS * 4];
    size_t count = tm_log_chains(log, found, MODEL_CHAINS * 4);
    uint32_t expected = 0;
    for (uint32_t chain = 0; chain < MODEL_CHAINS; chain++) {
        const model_chain_event *last = last_of(m, chain, committed);
        size_t at = 0;
        while (last != NULL && at < count &&
               (found[at].router != last->state.router || found[at].is_home != last->state.is_home)) {
            at++;
        }
        expected += last != NULL;
        *n = last != NULL ? last->stated_n : 0;
        if (last == NULL || (may_return && is_told(log, last->stated_n))) {
            continue;
        }
        if (at == count) {
            return "a chain is forgotten";
        }
        if (!is_as_recorded(&found[at], last, may_return)) {
            return "a chain is not as its last record made it";
        }
    }
    return count > expected && !may_return ? "a chain that was deleted, or never was" : NULL;
}

const char *model_compare(const model *m, tm_log *log, uint64_t committed, bool may_return, uint64_t *n) {
    static uint64_t buffer[READ_BYTES / 8];
    for (uint32_t holder = 0; holder < MODEL_HOLDERS; holder++) {
        uint64_t id = id_at(m, holder, committed);
        comparison c = {m, log, committed, may_return, holder, id, 0, 0};
        uint64_t after = 0;
        size_t size;
        do {
            int result = tm_log_read(log, id, is_home(holder), after, buffer, sizeof buffer, &size);
            if (result == TM_NO_MEMORY) { /* a test made one allocation fail */
                result = tm_log_read(log, id, is_home(holder), after, buffer, sizeof buffer, &size);
            }
            CHECK(result == TM_OK, "reading: %d", result);
            for (size_t at = 0; at < size;) {
                const tm_log_record *record = (const tm_log_record *)((uint8_t *)buffer + at);
                bool is_told_lost = record->kind == TM_LOG_LOST && is_told(log, record->n);
                const char *reason = record->n <= after ? "numbers descend" : is_told_lost ? NULL : judge(&c, record);
                *n = c.n;
                if (reason != NULL) {
                    return reason;
                }
                after = record->n;
                at += record->size;
            }
        } while (size > 0);
        const char *reason = pass(&c, NEVER);
        *n = c.n;
        if (reason != NULL) {
            return reason;
        }
    }
    const char *reason = may_return ? NULL : compare_ended(m, log, committed, n);
    reason = reason != NULL ? reason : compare_chains(m, log, committed, may_return, n);
    return reason != NULL ? reason : compare_policy(m, log, committed, may_return, n);
}
