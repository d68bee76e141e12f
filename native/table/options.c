/* options.c - named values for an engine, validated against its options.
 *
 * Law: the engine's own table of options is the only list of them. An engine is created with one value for each, within
 * its bounds; other names are refused before.
 */
#include <string.h>

#include "table/engine.h"

#define NO_OPTION UINT32_MAX

static uint32_t count_options(const tm_engine_class *class) {
    uint32_t count = 0;
    while (class->options != NULL && class->options[count].name != NULL) {
        count++;
    }
    return count;
}

static uint32_t find_option(const tm_engine_class *class, const char *name) {
    for (uint32_t i = 0; name != NULL && i < count_options(class); i++) {
        if (strcmp(class->options[i].name, name) == 0) {
            return i;
        }
    }
    return NO_OPTION;
}

int tm_engine_values(const tm_engine_class *class, const tm_option *named, size_t count,
                     uint64_t values[TM_ENGINE_OPTIONS_MAX]) {
    for (uint32_t i = 0; i < count_options(class); i++) {
        values[i] = class->options[i].standard;
    }
    for (size_t i = 0; i < count; i++) {
        uint32_t at = find_option(class, named[i].name);
        if (at == NO_OPTION || named[i].value < class->options[at].least || named[i].value > class->options[at].most) {
            return TM_MISUSED;
        }
        values[at] = named[i].value;
    }
    return TM_OK;
}

const tm_option_kind *tm_engine_kind(const tm_engine_class *class, uint32_t i) {
    return i < count_options(class) ? &class->options[i] : NULL;
}
