/* amqp_table.h - attributes and filters as the field tables of AMQP 0-9-1, for a headers exchange.
 */
#ifndef AMQP_TABLE_H
#define AMQP_TABLE_H

#include "records.h"

/* Append a message's attributes (a msgpack map) as a table. */
void amqp_put_attributes(buffer *out, record attributes);

/* Append a packed filter as the arguments of a binding: its equalities, all of which must hold. Other constraints are
 * left out, because a headers exchange cannot express them. */
void amqp_put_binding(buffer *out, record filter);

#endif
