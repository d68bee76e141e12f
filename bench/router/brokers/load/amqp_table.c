/* amqp_table.c - see amqp_table.h. */
#include "amqp_table.h"

#include "fail.h"
#include "walk.h"

#define OPCODE_EQUAL 1

static walk walk_over(record r) {
    return (walk){r.bytes, r.bytes + r.length};
}

static size_t begin(buffer *out) {
    put_be32(out, 0);
    return out->length;
}

static void end(buffer *out, size_t start) {
    set_be32(out->bytes + start - 4, (uint32_t)(out->length - start));
}

static void put_name(buffer *out, const walk_item *name) {
    if (name->number > 255) {
        fail("a name of AMQP has at most 255 bytes");
    }
    put_u8(out, (uint8_t)name->number);
    put_bytes(out, name->bytes, name->number);
}

static void put_value(buffer *out, const walk_item *value) {
    switch (value->kind) {
    case WALK_TEXT:
        put_u8(out, 'S');
        put_be32(out, (uint32_t)value->number);
        put_bytes(out, value->bytes, value->number);
        break;
    case WALK_BOOLEAN:
        put_u8(out, 't');
        put_u8(out, (uint8_t)value->number);
        break;
    case WALK_FLOAT:
        put_u8(out, 'd');
        put_be64(out, value->number);
        break;
    default:
        put_u8(out, 'l');
        put_be64(out, value->number);
    }
}

void amqp_put_attributes(buffer *out, record attributes) {
    walk w = walk_over(attributes);
    walk_item map, name, value;
    if (!walk_expect(&w, WALK_MAP, &map)) {
        fail("attributes that are no map");
    }
    size_t start = begin(out);
    for (uint64_t i = 0; i < map.number; i++) {
        if (!walk_expect(&w, WALK_TEXT, &name) || !walk_next(&w, &value)) {
            fail("attributes that cannot be read");
        }
        put_name(out, &name);
        put_value(out, &value);
    }
    end(out, start);
}

static void put_match_all(buffer *out) {
    static const uint8_t match[] = "x-match", all[] = "all";
    put_name(out, &(walk_item){WALK_TEXT, sizeof match - 1, match});
    put_value(out, &(walk_item){WALK_TEXT, sizeof all - 1, all});
}

void amqp_put_binding(buffer *out, record filter) {
    walk w = walk_over(filter);
    walk_item constraints, parts, name, opcode, operand;
    size_t start = begin(out);
    put_match_all(out);
    bool read = walk_expect(&w, WALK_ARRAY, &constraints);
    for (uint64_t i = 0; read && i < constraints.number; i++) {
        read = walk_expect(&w, WALK_ARRAY, &parts) && walk_expect(&w, WALK_TEXT, &name) &&
               walk_expect(&w, WALK_UNSIGNED, &opcode) && parts.number == 3 && walk_next(&w, &operand);
        if (read && opcode.number == OPCODE_EQUAL) {
            put_name(out, &name);
            put_value(out, &operand);
        }
    }
    if (!read) {
        fail("a filter that is not made of comparisons with one value");
    }
    end(out, start);
}
