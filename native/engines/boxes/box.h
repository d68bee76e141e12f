/* box.h - numbers and bounds as floats. */
#ifndef TM_BOXES_BOX_H
#define TM_BOXES_BOX_H

#include "engines/boxes/tree.h"

/* Return the floats around a real or an integer. */
tm_box_value tm_box_value_of(bool is_real, int64_t integer, double real);
/* Initialise a box that contains every number. */
void tm_box_open(tm_box *box, uint32_t names);
/* Narrow the range of a name by one bound. */
void tm_box_narrow(tm_box *box, uint32_t names, uint32_t name, bool is_low, bool is_strict, double bound);
/* Narrow the range of a labelled name. */
void tm_box_narrow_labelled(tm_box *box, uint32_t names, uint32_t name, bool is_low, double end, const int64_t *labels);

#endif
