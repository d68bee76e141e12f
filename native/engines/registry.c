/* registry.c - the engines by their numbers.
 *
 * Law: this is the only list of them, and with registry.h the one place outside an engine's folder that names it:
 * table/ asks for a number, so that it includes nothing of engines/; Python and the tests ask for names.
 */
#include "engines/registry.h"

static const tm_engine_class *const engine_classes[] = {
    &tm_engine_tamis,  &tm_engine_sff, &tm_engine_counting, &tm_engine_linear,
    &tm_engine_kdtree, &tm_engine_pst, &tm_engine_interval,
};

#define ENGINE_CLASSES (sizeof engine_classes / sizeof *engine_classes)

const tm_engine_class *tm_engine_class_of(uint32_t engine) {
    return engine < ENGINE_CLASSES ? engine_classes[engine] : NULL;
}
