/* order.h - a comparison of numbers as the set of orders that satisfy it.
 *
 * Law: bit 0 stands for a value less than the operand, bit 1 for an equal one, bit 2 for a greater one, so that a
 * comparison needs no jump, whatever its operator.
 */
#ifndef TM_ORDER_H
#define TM_ORDER_H

#include <stdbool.h>
#include <stdint.h>

static inline bool tm_order_holds(uint8_t orders, int64_t value, int64_t operand) {
    return orders >> (1 + (value > operand) - (value < operand)) & 1;
}

#endif
