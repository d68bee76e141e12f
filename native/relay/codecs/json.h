/* json.h - one message in JSON as a PUBLISH frame, for the codec of lines; tm_relay_api.h says the rest. */
#ifndef TM_RELAY_JSON_H
#define TM_RELAY_JSON_H

#include <stdbool.h>

#include "tm_relay.h"

/* A text, or a line among others: bytes up to `limit` may be read. */
typedef struct json_text {
    const uint8_t *at; /* borrowed */
    size_t size;
    const uint8_t *limit;
} json_text;

bool json_rules_are_sound(const tm_json_rules *rules);

/* As tm_json_publish, with rules that are sound and room in `out`; false: refused. `refusal->line` is not set. */
bool json_publish(const tm_json_rules *rules, const tm_json_numbering *numbering, json_text text, uint8_t *out,
                  tm_json_made *made, tm_json_refusal *refusal);

#endif
