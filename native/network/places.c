/* places.c - see places.h. */
#include "network/places.h"

#include <string.h>

#include "base/grow.h"
#include "tm.h"

void tm_places_init(tm_places *places, tm_memory *memory) {
    *places = (tm_places){.memory = memory, .version = 1};
}

void tm_places_clear(tm_places *places) {
    TM_DELETE(places->memory, TM_COLD, places->numbers, uint64_t, places->capacity);
    TM_DELETE(places->memory, TM_COLD, places->found, uint32_t, places->found_capacity);
    tm_places_init(places, places->memory);
}

int tm_places_set(tm_places *places, const uint64_t *numbers, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        if (numbers[i] <= (i > 0 ? numbers[i - 1] : 0)) {
            return TM_MISUSED;
        }
    }
    if (!tm_grow(places->memory, TM_COLD, &places->numbers, sizeof *numbers, &places->capacity, count)) {
        return TM_NO_MEMORY;
    }
    if (count > 0) {
        memcpy(places->numbers, numbers, sizeof *numbers * count);
    }
    places->count = count;
    places->version += places->version == UINT32_MAX ? 2 : 1;
    return TM_OK;
}

bool tm_places_reserve(tm_places *places, uint32_t routers) {
    return tm_grow(places->memory, TM_COLD, &places->found, sizeof *places->found, &places->found_capacity, routers);
}

static uint32_t search(const tm_places *places, uint64_t number) {
    uint32_t low = 0;
    uint32_t high = places->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (places->numbers[middle] < number) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < places->count && places->numbers[low] == number ? low : PLACE_NONE;
}

uint32_t tm_places_of(tm_places *places, const tm_routers *routers, uint32_t index) {
    uint64_t number = routers->rows[index].number;
    uint32_t place = places->found[index];
    if (place >= places->count || places->numbers[place] != number) {
        place = search(places, number);
        places->found[index] = place;
    }
    return place;
}
