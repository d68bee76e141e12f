/* fuzz_message.c - libFuzzer target: any bytes as a message.
 *
 * Law: what is accepted is within every bound, borrows only from the input, and is accepted again byte for byte when
 * cut to the bytes it used; one byte less is refused. Read as being like any other message, it is accepted or refused
 * the same.
 */
#include <stdlib.h>
#include <string.h>

#include "model/shape.h"

static int decode(const uint8_t *bytes, size_t size, tm_attribute *out, size_t *count, size_t *used) {
    uint8_t *exact = malloc(size > 0 ? size : 1); /* so that the sanitizer sees a read of one byte too many */
    if (exact == NULL) {
        abort();
    }
    memcpy(exact, bytes, size);
    int result = tm_attributes_decode(exact, size, out, count, used);
    for (size_t i = 0; result == TM_OK && i < *count; i++) {
        bool is_string = out[i].kind == TM_KIND_STRING;
        if (out[i].kind > TM_KIND_STRING || out[i].name_length == 0 || out[i].name_length > TM_NAME_BYTES_MAX ||
            out[i].name < exact || out[i].name + out[i].name_length > exact + size ||
            (is_string && (out[i].string < exact || out[i].string + out[i].length > exact + size))) {
            abort();
        }
    }
    free(exact);
    return result;
}

/* The input is two messages, the second one read as if it were like the first. */
static void decode_like(const uint8_t *bytes, size_t size) {
    static tm_shape shape;
    static tm_attribute attributes[TM_ATTRIBUTES_MAX];
    size_t parts[2] = {size > 0 && bytes[0] < size ? bytes[0] : 0, 0};
    parts[1] = size - parts[0];
    for (unsigned part = 0; part < 2; part++) {
        uint8_t *slack = calloc(1, parts[part] + TM_SHAPE_SLACK);
        if (slack == NULL) {
            abort();
        }
        memcpy(slack, bytes, parts[part]);
        size_t count = 0;
        size_t again = 0;
        size_t used = 0;
        int result = tm_shape_decode(&shape, slack, parts[part], attributes, &count);
        int expected = decode(bytes, parts[part], attributes, &again, &used);
        expected = expected == TM_OK && used != parts[part] ? TM_MALFORMED : expected;
        if (result != expected || (result == TM_OK && count != again)) {
            abort();
        }
        free(slack);
        bytes += parts[part];
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    tm_attribute attributes[TM_ATTRIBUTES_MAX];
    size_t count = 0;
    size_t used = 0;
    decode_like(bytes, size);
    if (decode(bytes, size, attributes, &count, &used) != TM_OK) {
        return 0;
    }
    size_t again = 0;
    size_t used_again = 0;
    if (count > TM_ATTRIBUTES_MAX || used > size || decode(bytes, used, attributes, &again, &used_again) != TM_OK ||
        again != count || used_again != used || decode(bytes, used - 1, attributes, &again, &used_again) == TM_OK) {
        abort();
    }
    return 0;
}
