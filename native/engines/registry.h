/* registry.h - the list of engines; each is defined in its own folder. */
#ifndef TM_REGISTRY_H
#define TM_REGISTRY_H

#include "table/engine.h"

extern const tm_engine_class tm_engine_counting;
extern const tm_engine_class tm_engine_interval;
extern const tm_engine_class tm_engine_kdtree;
extern const tm_engine_class tm_engine_linear;
extern const tm_engine_class tm_engine_pst;
extern const tm_engine_class tm_engine_sff;
extern const tm_engine_class tm_engine_tamis;

#endif
