/* registry.c - the engines by their numbers.
 *
 * Law: this is the only list of them, and with registry.h the one place outside an engine's folder that names it:
 * table/ receives a class and does not depend on engines/; Python and the tests select an engine by number.
 */
#include "engines/registry.h"

static const tm_engine_class *const engine_classes[] = {
    &tm_engine_tamis,  &tm_engine_sff, &tm_engine_counting, &tm_engine_linear,
    &tm_engine_kdtree, &tm_engine_pst, &tm_engine_interval,
};

#define ENGINE_CLASSES (sizeof engine_classes / sizeof *engine_classes)

static const tm_engine_class *class_of(uint32_t engine) {
    return engine < ENGINE_CLASSES ? engine_classes[engine] : NULL;
}

const char *tm_engine_name(uint32_t engine) {
    const tm_engine_class *class = class_of(engine);
    return class != NULL ? class->name : NULL;
}

const char *tm_engine_about(uint32_t engine) {
    const tm_engine_class *class = class_of(engine);
    return class != NULL ? class->about : NULL;
}

bool tm_engine_compares(uint32_t engine) {
    const tm_engine_class *class = class_of(engine);
    return class != NULL && class->compares != NULL;
}

bool tm_engine_limits(uint32_t engine) {
    const tm_engine_class *class = class_of(engine);
    return class != NULL && class->limits;
}

const tm_option_kind *tm_engine_option(uint32_t engine, uint32_t i) {
    const tm_engine_class *class = class_of(engine);
    return class != NULL ? tm_engine_kind(class, i) : NULL;
}

int tm_table_new(uint32_t engine, const tm_options *options, tm_table **table) {
    return tm_table_make(class_of(engine), options, table);
}
