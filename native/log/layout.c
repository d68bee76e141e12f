/* layout.c - see layout.h. */
#include "log/layout.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/tested.h"
#include "log/disk.h"

/* ---- records ---- */

uint64_t tm_record_bytes(uint32_t durables, uint32_t homes, uint64_t body) {
    uint64_t bytes = sizeof(tm_log_record) + (durables + UINT64_C(1)) / 2 * 8 + homes * sizeof(tm_log_home) + body;
    return (bytes + 7) / 8 * 8;
}

uint32_t tm_record_crc(uint32_t salt, const tm_log_record *record) {
    uint32_t crc = tm_crc(TM_BREAKS(NO_SALT) ? 0 : salt, &record->size, sizeof record->size);
    return tm_crc(crc, (const uint8_t *)record + offsetof(tm_log_record, n), record->size - offsetof(tm_log_record, n));
}

bool tm_record_is_sound(uint32_t salt, const uint8_t *at, uint64_t left) {
    const tm_log_record *record = (const tm_log_record *)at;
    return left >= sizeof *record && record->size <= left &&
           record->size == tm_record_bytes(record->durables, record->homes, record->body_size) &&
           record->crc == tm_record_crc(salt, record);
}

/* ---- heads ---- */

void tm_segment_head_seal(tm_segment_head *head) {
    head->crc = tm_crc(0, head, offsetof(tm_segment_head, crc));
}

uint32_t tm_version_of(uint64_t magic, uint64_t number) {
    uint64_t version = number >> 56;
    return number << 8 == magic << 8 && version > '0' ? (uint32_t)version - '0' : 0;
}

bool tm_version_is_known(uint32_t version) {
    return version == VERSION_PLAIN || (version == VERSION_CUSTODY && !TM_BREAKS(KNOW_PLAIN_ONLY));
}

uint32_t tm_segment_head_version(const tm_segment_head *head) {
    bool is_whole = head->crc == tm_crc(0, head, offsetof(tm_segment_head, crc));
    return is_whole ? tm_version_of(SEGMENT_MAGIC, head->magic) : 0;
}

bool tm_segment_head_is_sound(const tm_segment_head *head) {
    return tm_version_is_known(tm_segment_head_version(head));
}

static uint32_t batch_crc(const tm_batch_head *head) {
    return tm_crc(0, &head->serial, sizeof *head - offsetof(tm_batch_head, serial));
}

void tm_batch_head_seal(tm_batch_head *head) {
    head->crc = batch_crc(head);
}

bool tm_batch_head_is_sound(const tm_batch_head *head, uint64_t serial, uint64_t left) {
    return head->magic == BATCH_MAGIC && (head->serial == serial || TM_BREAKS(NO_SALT)) && left >= sizeof *head &&
           head->bytes <= left - sizeof *head && head->count > 0 && head->first_n <= head->last_n &&
           head->crc == batch_crc(head);
}

/* ---- footers ---- */

uint64_t tm_footer_bytes(const tm_footer_head *head) {
    return sizeof *head + (uint64_t)head->rows * sizeof(tm_row) + (uint64_t)head->postings * sizeof(tm_posting) +
           (uint64_t)head->summaries * sizeof(tm_summary);
}

uint32_t tm_footer_crc(const tm_footer_head *head, uint64_t bytes) {
    return tm_crc(tm_salt(head->serial), &head->serial, bytes - offsetof(tm_footer_head, serial));
}

bool tm_footer_is_sound(const uint8_t *at, uint64_t left, uint64_t serial) {
    const tm_footer_head *head = (const tm_footer_head *)at;
    if (left < sizeof *head || head->magic != FOOTER_MAGIC || head->serial != serial || tm_footer_bytes(head) > left ||
        head->crc != tm_footer_crc(head, tm_footer_bytes(head))) {
        return false;
    }
    const tm_row *rows = (const tm_row *)(head + 1);
    uint64_t postings = 0;
    for (uint32_t i = 0; i < head->rows; i++) {
        if (rows[i].start != postings || rows[i].count == 0) {
            return false;
        }
        postings += rows[i].count;
    }
    return postings == head->postings;
}

uint32_t tm_summary_crc(uint32_t salt, uint64_t n, const tm_summary *summary) {
    return tm_crc(tm_crc(salt, &n, sizeof n), summary, offsetof(tm_summary, crc));
}

/* ---- names ---- */

void tm_segment_name(char *name, uint64_t first_n, uint64_t serial) {
    snprintf(name, TM_DISK_NAME_BYTES, "segment-%016" PRIx64 "-%016" PRIx64, first_n, serial);
}

void tm_spare_name(char *name, uint64_t serial) {
    snprintf(name, TM_DISK_NAME_BYTES, "spare-%016" PRIx64, serial);
}

bool tm_segment_name_read(const char *name, uint64_t *first_n, uint64_t *serial) {
    char again[TM_DISK_NAME_BYTES];
    if (sscanf(name, "segment-%16" SCNx64 "-%16" SCNx64, first_n, serial) != 2) {
        return false;
    }
    tm_segment_name(again, *first_n, *serial);
    return strcmp(name, again) == 0;
}

bool tm_spare_name_read(const char *name, uint64_t *serial) {
    char again[TM_DISK_NAME_BYTES];
    if (sscanf(name, "spare-%16" SCNx64, serial) != 1) {
        return false;
    }
    tm_spare_name(again, *serial);
    return strcmp(name, again) == 0;
}
