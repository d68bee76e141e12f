/* labels.h - a number for every constant of order that sorts as the constants do.
 *
 * Law: labels are even and rise with the constants, so that a value between two of them has the odd label above the
 * lower one's. They have gaps. Where one is used up, the labels of the chunks around it are spread evenly: of as few as
 * have room enough, and the more there are, the more room is asked for, so that a constant moves few labels on average
 * whatever order constants come in.
 */
#ifndef TM_ONEPATH_LABELS_H
#define TM_ONEPATH_LABELS_H

#include "engines/onepath/values/strings.h"

/* Label the constant that has just come to stand at `place`. */
void onepath_labels_give(onepath_strings *strings, onepath_sorted_place place);

int onepath_labels_validate(const onepath_strings *strings, const char **reason);

#endif
