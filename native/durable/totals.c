/* totals.c - see totals.h.
 *
 * Law: a figure is a sum over the existing subscriptions, so it falls when one is deleted; commit times are counted
 * when a publish is confirmed.
 */
#include "durable/totals.h"

void durable_count_commits(tm_durables *durables, uint64_t us, uint32_t count) {
    uint32_t bucket = us < (1U << TM_COMMIT_BUCKET_LEAST) ? 0U : 64U - (uint32_t)__builtin_clzll(us);
    bucket = bucket > TM_COMMIT_BUCKET_LEAST ? bucket - TM_COMMIT_BUCKET_LEAST : 0U;
    durables->commits[bucket < TM_COMMIT_BUCKETS ? bucket : TM_COMMIT_BUCKETS - 1] += count;
    durables->commits_us += us * count;
}

static void add(tm_durable_stats *sum, const tm_durable_stats *one) {
    sum->appended += one->appended;
    sum->open += one->open;
    sum->out += one->out;
    sum->paused += one->paused;
    sum->ready += one->ready;
    sum->past += one->past;
    sum->bytes += one->bytes;
    sum->charge += one->charge;
    if (one->oldest != 0 && (sum->oldest == 0 || one->oldest_ms < sum->oldest_ms)) {
        sum->oldest = one->oldest;
        sum->oldest_ms = one->oldest_ms;
    }
    sum->acked += one->acked;
    sum->expired += one->expired;
    sum->dropped += one->dropped;
    sum->replaced += one->replaced;
    sum->dead += one->dead;
    sum->undeliverable += one->undeliverable;
    sum->damaged += one->damaged;
    sum->skipped += one->skipped;
    sum->unknowns += one->unknowns;
    sum->refused += one->refused;
    sum->delivered += one->delivered;
    sum->redelivered += one->redelivered;
    sum->consumers += one->consumers;
    sum->credit += one->credit;
    sum->held_back += one->held_back;
}

int tm_durables_totals(const tm_switch *sw, tm_durable_stats *out) {
    if (sw == NULL || sw->durables == NULL || out == NULL) {
        return TM_MISUSED;
    }
    *out = (tm_durable_stats){0};
    for (uint32_t slot = DURABLE_CATALOG + 1; slot < sw->durables->count; slot++) {
        tm_durable_stats one;
        if (durable_at(sw, slot)->is_live && tm_durable_figures(sw, durable_at(sw, slot)->number, &one) == TM_OK) {
            add(out, &one);
        }
    }
    return TM_OK;
}

int tm_durables_commits(const tm_switch *sw, uint64_t *counts, uint64_t *sum_us) {
    if (sw == NULL || sw->durables == NULL) {
        return TM_MISUSED;
    }
    memcpy(counts, sw->durables->commits, sizeof sw->durables->commits);
    *sum_us = sw->durables->commits_us;
    return TM_OK;
}
