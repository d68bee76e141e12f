/* rate.c - see rate.h. */
#include "switch/connections/rate.h"

#include "base/grow.h"
#include "switch/connections/connection.h"
#include "switch/connections/events.h"

#define THOUSAND 1000U

static tm_bucket *bucket_at(const tm_switch *sw, uint32_t bucket) {
    return &sw->buckets[bucket - 1];
}

bool switch_knows_bucket(const tm_switch *sw, uint32_t bucket) {
    return bucket == TM_BUCKET_NONE || (bucket <= sw->bucket_count && !bucket_at(sw, bucket)->is_free);
}

/* ---- filling ---- */

static uint64_t filled(uint64_t level, uint64_t most, uint64_t rate, uint64_t ms) {
    uint64_t room = level < most ? most - level : 0;
    return rate == 0 || room == 0 ? level : ms > room / rate ? most : level + ms * rate;
}

static uint64_t most_of(uint64_t burst, uint64_t unspent) {
    return unspent < burst ? (burst - unspent) * THOUSAND : 0;
}

static uint64_t unspent(uint64_t granted, uint64_t used) {
    return granted > used ? granted - used : 0;
}

static void fill(const tm_switch *sw, tm_bucket *bucket, uint64_t frames, uint64_t bytes) {
    const tm_rate *rate = &bucket->rate;
    uint64_t ms = sw->now_ms - bucket->filled_ms;
    bucket->frames = filled(bucket->frames, most_of(rate->burst, frames), rate->messages_s, ms);
    bucket->bytes = filled(bucket->bytes, most_of(rate->burst_bytes, bytes), rate->bytes_s, ms);
    bucket->filled_ms = sw->now_ms;
}

/* Return what can be granted of what is wanted. */
static uint64_t part(uint64_t wanted, uint64_t rate, uint64_t level) {
    return rate == 0 || wanted < level / THOUSAND ? wanted : level / THOUSAND;
}

bool switch_draw(tm_switch *sw, tm_connection *connection, uint32_t least) {
    const tm_admission *admission = &connection->admission;
    tm_credit *credit = &connection->credit;
    tm_bucket *bucket = bucket_at(sw, admission->bucket);
    uint64_t frames = unspent(credit->granted_frames, credit->used_frames);
    uint64_t bytes = unspent(credit->granted_bytes, credit->used_bytes);
    fill(sw, bucket, frames, bytes);
    uint64_t more_frames = part(unspent(admission->credit_frames, frames), bucket->rate.messages_s, bucket->frames);
    uint64_t more_bytes = part(unspent(admission->credit_bytes, bytes), bucket->rate.bytes_s, bucket->bytes);
    bool is_worth = least == 0
                        ? more_frames + more_bytes > 0
                        : (frames <= admission->credit_frames / 2 && more_frames >= admission->credit_frames / least) ||
                              (bytes <= admission->credit_bytes / 2 && more_bytes >= admission->credit_bytes / least);
    if (!is_worth) {
        return false;
    }
    credit->granted_frames = credit->used_frames + frames + more_frames;
    credit->granted_bytes = credit->used_bytes + bytes + more_bytes;
    bucket->frames -= bucket->rate.messages_s > 0 ? more_frames * THOUSAND : 0;
    bucket->bytes -= bucket->rate.bytes_s > 0 ? more_bytes * THOUSAND : 0;
    return true;
}

/* ---- connections ---- */

void switch_begin_rate(tm_switch *sw, tm_connection *connection) {
    if (connection->admission.bucket != TM_BUCKET_NONE) {
        bucket_at(sw, connection->admission.bucket)->users++;
        sw->rated_count++;
    }
}

void switch_end_rate(tm_switch *sw, tm_connection *connection) {
    if (connection->admission.bucket == TM_BUCKET_NONE) {
        return;
    }
    const tm_credit *credit = &connection->credit;
    tm_bucket *bucket = bucket_at(sw, connection->admission.bucket);
    fill(sw, bucket, unspent(credit->granted_frames, credit->used_frames),
         unspent(credit->granted_bytes, credit->used_bytes));
    uint64_t frames = bucket->frames + unspent(credit->granted_frames, credit->used_frames) * THOUSAND;
    uint64_t bytes = bucket->bytes + unspent(credit->granted_bytes, credit->used_bytes) * THOUSAND;
    bucket->frames = frames < most_of(bucket->rate.burst, 0) ? frames : most_of(bucket->rate.burst, 0);
    bucket->bytes = bytes < most_of(bucket->rate.burst_bytes, 0) ? bytes : most_of(bucket->rate.burst_bytes, 0);
    bucket->users--;
    sw->rated_count--;
    connection->admission.bucket = TM_BUCKET_NONE;
}

/* ---- buckets ---- */

static bool is_sound(const tm_rate *rate) {
    return rate != NULL && rate->messages_s <= TM_RATE_MAX && rate->bytes_s <= TM_RATE_MAX &&
           rate->burst <= TM_RATE_MAX && rate->burst_bytes <= TM_RATE_MAX &&
           (rate->messages_s == 0 || rate->burst > 0) && (rate->bytes_s == 0 || rate->burst_bytes > 0);
}

int tm_switch_bucket_new(tm_switch *sw, const tm_rate *rate, uint32_t *bucket) {
    if (sw == NULL || bucket == NULL || !is_sound(rate)) {
        return TM_MISUSED;
    }
    if (sw->bucket_free == 0 && sw->bucket_count == TM_BUCKETS_MAX) {
        return TM_TOO_MANY;
    }
    if (sw->bucket_free == 0 &&
        !tm_grow(&sw->memory, TM_COLD, &sw->buckets, sizeof *sw->buckets, &sw->bucket_capacity, sw->bucket_count + 1)) {
        return TM_NO_MEMORY;
    }
    *bucket = sw->bucket_free != 0 ? sw->bucket_free : ++sw->bucket_count;
    sw->bucket_free = sw->bucket_free != 0 ? bucket_at(sw, *bucket)->next : 0;
    switch_begin(sw);
    *bucket_at(sw, *bucket) = (tm_bucket){.rate = *rate,
                                          .frames = most_of(rate->burst, 0),
                                          .bytes = most_of(rate->burst_bytes, 0),
                                          .filled_ms = sw->now_ms};
    return TM_OK;
}

int tm_switch_bucket_set(tm_switch *sw, uint32_t bucket, const tm_rate *rate) {
    if (sw == NULL || bucket == TM_BUCKET_NONE || !switch_knows_bucket(sw, bucket) || !is_sound(rate)) {
        return TM_MISUSED;
    }
    tm_bucket *found = bucket_at(sw, bucket);
    switch_begin(sw);
    fill(sw, found, 0, 0);
    found->rate = *rate;
    found->frames = found->frames < most_of(rate->burst, 0) ? found->frames : most_of(rate->burst, 0);
    found->bytes = found->bytes < most_of(rate->burst_bytes, 0) ? found->bytes : most_of(rate->burst_bytes, 0);
    return TM_OK;
}

int tm_switch_bucket_free(tm_switch *sw, uint32_t bucket) {
    if (sw == NULL || bucket == TM_BUCKET_NONE || !switch_knows_bucket(sw, bucket) || bucket_at(sw, bucket)->users) {
        return TM_MISUSED;
    }
    *bucket_at(sw, bucket) = (tm_bucket){.is_free = true, .next = sw->bucket_free};
    sw->bucket_free = bucket;
    return TM_OK;
}

int tm_switch_bucket_is_full(tm_switch *sw, uint32_t bucket, bool *is_full) {
    if (sw == NULL || is_full == NULL || bucket == TM_BUCKET_NONE || !switch_knows_bucket(sw, bucket)) {
        return TM_MISUSED;
    }
    tm_bucket *found = bucket_at(sw, bucket);
    switch_begin(sw);
    fill(sw, found, 0, 0);
    *is_full = found->users == 0 && (found->rate.messages_s == 0 || found->frames >= most_of(found->rate.burst, 0)) &&
               (found->rate.bytes_s == 0 || found->bytes >= most_of(found->rate.burst_bytes, 0));
    return TM_OK;
}

void switch_free_buckets(tm_switch *sw) {
    TM_DELETE(&sw->memory, TM_COLD, sw->buckets, tm_bucket, sw->bucket_capacity);
}
