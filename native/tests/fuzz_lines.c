/* fuzz_lines.c - libFuzzer target: any bytes as lines of records.
 *
 * Law: what is accepted ends where the bytes end, which an unreadable page guards; its columns have starts that do not
 * go back, within what they point into, and as many bits as lines that are counted. The first byte says which
 * allocation fails (0: none).
 */
#include <stdlib.h>

#include "records/lines.h"
#include "support.h"

#define FIELDS 6U

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static const tm_field FIELD[FIELDS] = {
    {(const uint8_t *)"kind", 4, TM_FIELD_TEXT},        {(const uint8_t *)"n", 1, TM_FIELD_INTEGER},
    {(const uint8_t *)"hop", 3, TM_FIELD_INTEGER},      {(const uint8_t *)"to", 2, TM_FIELD_TEXTS},
    {(const uint8_t *)"clients", 7, TM_FIELD_INTEGERS}, {(const uint8_t *)"refused", 7, TM_FIELD_TEXT},
};

static void check_starts(const int32_t *starts, uint64_t count, uint64_t end) {
    CHECK(starts[0] == 0 && (uint64_t)starts[count] == end, "%d to %d of %lu", starts[0], starts[count], end);
    for (uint64_t i = 0; i < count; i++) {
        CHECK(starts[i] <= starts[i + 1], "%lu goes back", i);
    }
}

static void check_column(const tm_column *column, uint32_t type, uint64_t rows) {
    uint64_t present = 0;
    for (uint64_t row = 0; row < rows; row++) {
        bool is_valid = column->valid[row / 8] >> row % 8 & 1;
        present += is_valid;
        CHECK(is_valid || type != TM_FIELD_INTEGER || column->integers[row] == 0, "a value of nothing");
        CHECK(is_valid || type == TM_FIELD_INTEGER || column->starts[row] == column->starts[row + 1],
              "items of nothing");
    }
    CHECK(present == column->present, "%lu bits, %lu present", present, column->present);
    if (type != TM_FIELD_INTEGER) {
        check_starts(column->starts, rows, type == TM_FIELD_TEXT ? column->bytes_size : column->items);
    }
    if (type == TM_FIELD_TEXTS) {
        check_starts(column->item_starts, column->items, column->bytes_size);
    }
    volatile uint8_t last = column->bytes_size > 0 ? column->bytes[column->bytes_size - 1] : 0;
    (void)last;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    if (size == 0) {
        return 0;
    }
    guarded copy = guard(bytes + 1, size - 1);
    tm_lines *lines = NULL;
    int result = tm_lines_parse_in((tm_memory){.fail_in = bytes[0]}, copy.bytes, size - 1, FIELD, FIELDS, &lines);
    CHECK(result == TM_OK || result == TM_MALFORMED || (result == TM_NO_MEMORY && bytes[0] != 0), "%d", result);
    CHECK((lines != NULL) == (result == TM_OK), "lines without success");
    for (uint32_t i = 0; lines != NULL && i < FIELDS; i++) {
        check_column(&tm_lines_columns(lines)[i], FIELD[i].type, tm_lines_count(lines));
    }
    tm_lines_free(lines);
    unguard(&copy);
    return 0;
}
