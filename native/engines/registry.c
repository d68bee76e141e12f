/* registry.c - the engines by their numbers.
 *
 * Law: an engine has the number TM_ENGINE_* of tm_api.h. This is the one file outside an engine's folder that names the
 * engine: table/ asks for a number, so that it includes nothing of engines/.
 */
#include "engines/registry.h"

static const tm_engine_class *const engine_classes[] = {
    [TM_ENGINE_COUNTING] = &tm_engine_counting,
    [TM_ENGINE_SFF] = &tm_engine_sff,
    [TM_ENGINE_TAMIS] = &tm_engine_tamis,
};

#define ENGINE_CLASSES ((int)(sizeof engine_classes / sizeof *engine_classes))

const tm_engine_class *tm_engine_class_of(int engine) {
    return engine >= 0 && engine < ENGINE_CLASSES ? engine_classes[engine] : NULL;
}
