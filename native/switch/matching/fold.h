/* fold.h - the folded texts of a message, for conditions that ignore case (subscribers/folded_names.h).
 *
 *     Name = "Bob", age = 7   ->   Name = "Bob", age = 7, Name~ = "bob"
 *
 * Law: a subscription with such conditions is never missed. Where a message cannot be matched with its folded texts,
 * each of these subscriptions is a candidate, and its program decides.
 */
#ifndef TM_SWITCH_FOLD_H
#define TM_SWITCH_FOLD_H

#include <stdbool.h>

#include "tm.h"

typedef struct tm_switch tm_switch;
typedef struct tm_message tm_message;

/* Which attributes of a shape have folded texts. Kept in a form (state.h). */
typedef struct tm_fold_plan {
    uint64_t shape_version;
    uint64_t names_version;
    uint8_t count;
    bool is_unfit; /* attributes and folded texts are more than a table takes, or two of them have one name */
    uint8_t places[TM_ATTRIBUTES_MAX]; /* of the attributes that have one */
    uint32_t names[TM_ATTRIBUTES_MAX]; /* their numbers in folded_names.h */
} tm_fold_plan;

/* Put the folded texts of a message behind its attributes in `sw->attributes`; `*count` is the number of both. false:
 * the message cannot be matched with them, `*count` is that of its attributes. */
bool switch_fold(tm_switch *sw, const tm_message *message, size_t *count);

/* Append each subscription with such conditions to the rows of a match; true if there is room in `sw->rows`. `*count`
 * is the number of rows, those without room included. */
bool switch_add_folded(tm_switch *sw, size_t *count);

#endif
