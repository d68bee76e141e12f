/* labels.h - a number for every ordered constant that sorts as the constants do.
 *
 * Law: labels are even and rise with the constants, so that a value between two of them has the odd label above the
 * lower one's. They have gaps. Where a gap is used up, the labels of the chunks around it are spread evenly: of as few
 * chunks as have enough room. The required room rises with the number of chunks, so that an insertion moves few labels
 * on average, in whatever order constants are added.
 */
#ifndef TM_ONEPATH_LABELS_H
#define TM_ONEPATH_LABELS_H

#include "engines/onepath/values/strings.h"

/* Give a label to the constant that was just inserted at `place`. */
void onepath_labels_give(onepath_strings *strings, onepath_sorted_place place);

int onepath_labels_validate(const onepath_strings *strings, const char **reason);

#endif
