/* records.c - see records.h. */
#include "records.h"

#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fail.h"

static void append(records *r, size_t *room, FILE *file, uint32_t length) {
    if (r->count + 2 > *room) {
        *room *= 2;
        r->offsets = realloc(r->offsets, *room * sizeof *r->offsets);
        if (r->offsets == NULL) {
            fail("out of memory");
        }
    }
    if (length > 0 && fread(buffer_extend(&r->content, length), 1, length, file) != length) {
        fail("a file of records is cut short");
    }
    r->offsets[++r->count] = r->content.length;
}

records records_read(const char *path) {
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        fail_errno(path);
    }
    size_t room = 1024;
    records r = {.offsets = calloc(room, sizeof *r.offsets)};
    if (r.offsets == NULL) {
        fail("out of memory");
    }
    uint8_t length[4];
    while (fread(length, 1, sizeof length, file) == sizeof length) {
        uint32_t little_endian;
        memcpy(&little_endian, length, sizeof little_endian);
        append(&r, &room, file, le32toh(little_endian));
    }
    fclose(file);
    return r;
}

record records_at(const records *r, size_t index) {
    return (record){r->content.bytes + r->offsets[index], r->offsets[index + 1] - r->offsets[index]};
}

void records_free(records *r) {
    buffer_free(&r->content);
    free(r->offsets);
    *r = (records){0};
}
