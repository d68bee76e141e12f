/* log_model.c - see log_model.h. */
#include "log_model.h"

#include <string.h>

#include "log/tested.h"

#define READ_BYTES 16384U

tm_log_fault tm_log_broken = TM_BREAK_NOTHING;

static bool is_home(uint32_t claimant) {
    return claimant >= MODEL_CLAIMANTS - MODEL_HOMES;
}

void model_begin(model *m) {
    memset(m, 0, sizeof *m);
    for (uint32_t i = 0; i < MODEL_CLAIMANTS; i++) {
        m->ids[i] = i + 1;
    }
}

/* ---- bodies ---- */

static void fill(uint8_t *body, uint32_t size, uint64_t seed) {
    dice d = {seed};
    for (uint32_t i = 0; i < size; i += 8) {
        uint64_t word = roll(&d);
        memcpy(body + i, &word, size - i < 8 ? size - i : 8);
    }
}

void model_draw(model *m, dice *d, uint32_t body_max, tm_log_entry *entry, model_record *record) {
    static uint8_t body[1 << 16];
    static uint32_t keeps[MODEL_CLAIMANTS];
    static tm_log_home homes[MODEL_HOMES];
    *record = (model_record){.seed = roll(d), .kind = TM_LOG_MESSAGE};
    record->body_size = below(d, 20) == 0 ? below(d, body_max) : below(d, body_max / 8);
    record->named = 1U << below(d, MODEL_CLAIMANTS) | (1U << below(d, MODEL_CLAIMANTS) & roll(d));
    if (m->body_bytes > 0) {
        record->body_size = m->body_bytes;
        record->named = 1U << below(d, MODEL_CLAIMANTS - MODEL_HOMES);
    }
    fill(body, record->body_size, record->seed);
    *entry = (tm_log_entry){.keeps = keeps,
                            .homes = homes,
                            .body = body,
                            .body_size = record->body_size,
                            .kind = record->kind,
                            .t_us = record->seed,
                            .from_router = record->seed >> 1,
                            .from_n = record->seed >> 2};
    for (uint32_t i = 0; i < MODEL_CLAIMANTS; i++) {
        record->ids[i] = m->ids[i];
        record->done_at[i] = NEVER;
        if (record->named >> i & 1) {
            if (is_home(i)) {
                homes[entry->home_count++] = (tm_log_home){m->ids[i], record->seed};
            } else {
                keeps[entry->keep_count++] = (uint32_t)m->ids[i];
            }
        }
    }
}

void model_add(model *m, const model_record *record, uint64_t n) {
    CHECK(n > m->highest, "number %lx is given again, or goes back", (unsigned long)n);
    CHECK(m->count < MODEL_RECORDS, "too many records for the model");
    m->highest = n;
    m->all[m->count] = *record;
    m->all[m->count++].n = n;
}

/* ---- acks ---- */

bool model_draw_ack(model *m, dice *d, tm_log_done *done, uint32_t *claimant) {
    if (m->count == 0) {
        return false;
    }
    const model_record *last = &m->all[below(d, m->count)];
    const model_record *first = &m->all[below(d, (uint32_t)(last - m->all) + 1)];
    uint32_t how = below(d, 3);
    *claimant = below(d, MODEL_CLAIMANTS);
    *done = (tm_log_done){.claimant = m->ids[*claimant], .last = last->n, .is_home = is_home(*claimant)};
    done->first = how == 0 ? 0 : how == 1 ? last->n : first->n;
    return true;
}

void model_ack(model *m, uint32_t claimant, const tm_log_done *done, uint64_t n) {
    m->highest = n > m->highest ? n : m->highest;
    for (uint32_t i = 0; i < m->count; i++) {
        model_record *record = &m->all[i];
        if (record->n >= done->first && record->n <= done->last && record->ids[claimant] == done->claimant &&
            n < record->done_at[claimant]) {
            record->done_at[claimant] = n;
        }
    }
}

void model_lose(model *m, uint64_t committed) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < m->count; i++) {
        for (uint32_t c = 0; c < MODEL_CLAIMANTS; c++) {
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
        for (uint32_t c = 0; c < MODEL_CLAIMANTS; c++) {
            is_open = is_open || (record->named >> c & 1 && record->done_at[c] > committed);
        }
        if (is_open) {
            m->all[kept++] = *record;
        }
    }
    m->count = kept;
}

/* ---- judging ---- */

static bool is_same(const model_record *expected, const tm_log_record *record) {
    static uint8_t body[1 << 16];
    fill(body, expected->body_size, expected->seed);
    const uint8_t *keeps = (const uint8_t *)(record + 1);
    const uint8_t *homes = keeps + (record->keeps + 1U) / 2 * 8;
    return record->kind == expected->kind && record->body_size == expected->body_size &&
           record->t_us == expected->seed && record->from_router == expected->seed >> 1 &&
           record->from_n == expected->seed >> 2 &&
           memcmp(homes + record->homes * sizeof(tm_log_home), body, expected->body_size) == 0;
}

static bool is_told(tm_log *log, uint64_t n) {
    static tm_log_range ranges[4096];
    size_t count = tm_log_missing(log, ranges, 4096);
    CHECK(count <= 4096, "more is missing than the model looks at");
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
    uint32_t claimant;
    uint32_t next; /* record of the model */
    uint64_t n;
} comparison;

/* Pass the records of the model before number `n`: each is not for the claimant, done with, gone, or missing. */
static const char *pass(comparison *c, uint64_t n) {
    for (; c->next < c->m->count && c->m->all[c->next].n < n; c->next++) {
        const model_record *record = &c->m->all[c->next];
        bool is_due = record->named >> c->claimant & 1 && record->n <= c->committed &&
                      record->ids[c->claimant] == c->m->ids[c->claimant] && record->done_at[c->claimant] > c->committed;
        if (is_due && !is_told(c->log, record->n)) {
            c->n = record->n;
            return "a record that was committed and is open is not there";
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
        return c->may_return ? NULL : "a record that was done with long ago, or never was, or comes twice";
    }
    const model_record *expected = &c->m->all[c->next++];
    if (expected->n > c->committed) {
        return "a record that is past what the log says is committed";
    }
    if (!(expected->named >> c->claimant & 1)) {
        return "a record that is for another";
    }
    if (expected->done_at[c->claimant] <= c->committed && !c->may_return) {
        return "a record that was done with";
    }
    return is_same(expected, record) ? NULL : "a record with other contents";
}

const char *model_compare(const model *m, tm_log *log, uint64_t committed, bool may_return, uint64_t *n) {
    static uint64_t buffer[READ_BYTES / 8];
    for (uint32_t claimant = 0; claimant < MODEL_CLAIMANTS; claimant++) {
        comparison c = {m, log, committed, may_return, claimant, 0, 0};
        uint64_t after = 0;
        size_t size;
        do {
            int result = tm_log_read(log, m->ids[claimant], is_home(claimant), after, buffer, sizeof buffer, &size);
            if (result == TM_NO_MEMORY) { /* a test let an allocation fail, once */
                result = tm_log_read(log, m->ids[claimant], is_home(claimant), after, buffer, sizeof buffer, &size);
            }
            CHECK(result == TM_OK, "reading: %d", result);
            for (size_t at = 0; at < size;) {
                const tm_log_record *record = (const tm_log_record *)((uint8_t *)buffer + at);
                const char *reason = record->n > after ? judge(&c, record) : "numbers go back";
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
    return NULL;
}
