/* fuzz_log.c - libFuzzer target: any bytes as a segment.
 *
 * Law: whatever they are, a scan ends; what it finds lies within the bytes, is sound, and comes in the order of its
 * places; what it says is missing does not come. What is found is applied as a start does: no holder is done with a
 * number past the record that says so, and each chain is of a record that was found. In half of the runs the checksums
 * are put right first, so that what stands behind them is reached.
 */
#include <stdlib.h>
#include <string.h>

#include "log/effects.h"
#include "log/scan.h"

#define SERIAL UINT64_C(0x100000001)
#define BYTES_MAX 32768U

typedef struct seen {
    const uint8_t *bytes;
    uint64_t size;
    uint64_t end; /* of the record found last */
    uint64_t next_n;
    uint64_t most_n; /* of the records found */
    tm_store store;
} seen;

static void require(bool holds) {
    if (!holds) {
        abort();
    }
}

static void found(void *context, const tm_log_record *record, uint32_t place, uint64_t seq) {
    seen *s = context;
    uint64_t at = (uint64_t)place * 8;
    (void)seq;
    require((const uint8_t *)record == s->bytes + at && at >= s->end && record->size <= s->size - at);
    require(record->size == tm_record_bytes(record->durables, record->homes, record->body_size));
    const uint8_t *body = tm_record_body(record);
    volatile uint8_t last = record->body_size > 0 ? body[record->body_size - 1] : 0;
    (void)last;
    s->end = at + record->size;
    s->most_n = record->n > s->most_n ? record->n : s->most_n;
    require(tm_store_take_holders(&s->store, record, record->n));
    tm_store_apply(&s->store, record);
}

static void judge(const seen *s) {
    for (uint32_t i = 0; i < s->store.holders.count; i++) {
        const tm_log_holder *holder = &s->store.holders.all[i];
        const tm_ranges *above = &holder->above;
        require(holder->done <= s->most_n);
        require(above->count == 0 || above->spans[above->count - 1].last <= s->most_n);
    }
    for (uint32_t i = 0; i < s->store.chains.count; i++) {
        const tm_log_chain *chain = &s->store.chains.all[i];
        tm_role role = chain->is_home ? TM_CHAIN_OF_HOME : TM_CHAIN_OF_ENTRY;
        require(chain->n <= s->most_n && chain->is_home < 2);
        require(tm_log_holders_find(&s->store.holders, chain->router, role) != NULL);
    }
}

static void missing(void *context, uint64_t first, uint64_t last) {
    seen *s = context;
    require(first <= last && first >= s->next_n);
    s->next_n = last;
}

/* Make heads and records of the bytes sound where they nearly are. */
static void mend(uint8_t *bytes, uint64_t size) {
    for (uint64_t at = SEGMENT_HEAD_BYTES; at + sizeof(tm_batch_head) <= size; at += SECTOR_BYTES) {
        tm_batch_head *head = (tm_batch_head *)(bytes + at);
        if (head->magic % 4 == 0) {
            continue;
        }
        head->magic = BATCH_MAGIC;
        head->serial = SERIAL;
        head->seq %= 16;
        head->committed_before %= 16;
        head->bytes %= 4096;
        uint64_t end = at + sizeof *head + head->bytes < size ? at + sizeof *head + head->bytes : size;
        uint32_t count = 0;
        for (uint64_t place = at + sizeof *head; place + sizeof(tm_log_record) <= end; count++) {
            tm_log_record *record = (tm_log_record *)(bytes + place);
            record->durables %= 8;
            record->homes %= 4;
            record->kind %= TM_LOG_HOME_HAS + 1;
            record->from_router %= 4;
            record->body_size %= 700;
            record->n %= 64;
            record->size = (uint32_t)tm_record_bytes(record->durables, record->homes, record->body_size);
            if (record->size > end - place) {
                break;
            }
            record->crc = tm_record_crc(tm_salt(SERIAL), record);
            place += record->size;
            head->bytes = (uint32_t)(place - at - sizeof *head);
        }
        head->count = head->count % 8 == 0 ? count + 1 : count;
        head->first_n %= 64;
        head->last_n = head->first_n + head->last_n % 8;
        tm_batch_head_seal(head);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    if (size < 8) {
        return 0;
    }
    uint64_t body = size - 8 < BYTES_MAX ? (size - 8) / 8 * 8 : BYTES_MAX;
    uint8_t *copy = aligned_alloc(8, SEGMENT_HEAD_BYTES + body);
    require(copy != NULL);
    memset(copy, 0, SEGMENT_HEAD_BYTES);
    memcpy(copy + SEGMENT_HEAD_BYTES, bytes + 8, body);
    if (bytes[0] & 1) {
        mend(copy, SEGMENT_HEAD_BYTES + body);
    }
    seen s = {.bytes = copy, .size = SEGMENT_HEAD_BYTES + body};
    s.store.holders.memory = s.store.chains.memory = &s.store.memory;
    tm_scan scan = {.bytes = copy,
                    .size = s.size,
                    .serial = SERIAL,
                    .seq = bytes[1] % 4,
                    .seq_max = bytes[2] % 2 == 0 ? UINT64_MAX : bytes[2] % 16,
                    .known_seq = bytes[3] % 16,
                    .known_n = bytes[4] % 64,
                    .next_n = bytes[5] % 8,
                    .context = &s,
                    .found = found,
                    .missing = missing};
    tm_scan_segment(&scan);
    require(scan.end <= s.size);
    judge(&s);
    tm_log_holders_free(&s.store.holders);
    tm_chains_free(&s.store.chains);
    tm_ranges_free(&s.store.missing, &s.store.memory);
    tm_footer_is_sound(copy + SEGMENT_HEAD_BYTES, body, SERIAL);
    free(copy);
    return 0;
}
