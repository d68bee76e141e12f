/* tamis_match.c - one message against the table.
 *
 * Law: reads what add and remove have built, changes only scratch, memos and `hits`, allocates nothing, and leaves the
 * scratch as clean as it found it. Cheap and productive steps come first, and it stops as soon as every interface that
 * is wanted has matched:
 *
 *     1. numbers    name -> key -> cells: one search and one OR an attribute
 *     2. strings    the same with labels
 *     3. values     spans of runs, and everything under an equality or pattern: singles now, entries are kept for later
 *     4. entries    of scans, of the buckets seen and of pairs of names; then those that are always candidates
 */
#include "tamis_interval_pass.h"

/* ---- entries ------------------------------------------------------------------------------------------------------
 */

/* The rest of an entry whose own test holds. */
static inline void verify(pass *p, const tamis_entry *entry) {
    const tamis_body *body = tamis_body_at(p->engine, entry->body);
    uint32_t interface = entry->interface & ~TAMIS_LAST;
    for (uint32_t i = 0; i < body->count; i++) {
        if (!holds(p, body->tests[i])) {
            return;
        }
    }
    emit_if_open(p, interface, body->handle);
}

static void verify_waiting(pass *p) {
    for (uint32_t i = 0; i < p->waiting_count; i++) {
        verify(p, p->waiting[i]);
    }
    p->waiting_count = 0;
}

/* Bodies are far away: those that must be read are asked for, and read when several are on their way. */
static inline void try_entry(pass *p, const tamis_entry *entry) {
    uint32_t interface = entry->interface & ~TAMIS_LAST;
    if (is_settled(p, interface) || !holds(p, entry->test)) {
        return;
    }
    if ((entry->interface & TAMIS_LAST) && p->hits->handles == NULL) {
        emit(p, interface, 0);
        return;
    }
    if (p->waiting_count == WAITING_MAX) {
        verify_waiting(p);
    }
    __builtin_prefetch(tamis_body_at(p->engine, entry->body));
    p->waiting[p->waiting_count++] = entry;
}

static void try_entries(pass *p, const tamis_entry *entries, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        try_entry(p, &entries[i]);
    }
}

/* ---- cells --------------------------------------------------------------------------------------------------------
 */

static void emit_spans(pass *p, const tamis_cells *cells, int64_t value, const tamis_strings *strings) {
    for (uint32_t at = 0; at < cells->span_count; at++) {
        if (tamis_span_holds(cells->spans[at], value, strings)) {
            emit_if_open(p, cells->spans[at].interface, cells->spans[at].handle);
        }
    }
}

static void emit_new_bits(pass *p, uint64_t bits, uint32_t word) {
    for (; bits != 0; bits &= bits - 1) {
        emit_if_open(p, word * 64 + (uint32_t)__builtin_ctzll(bits), 0);
    }
}

static inline void collect_cells(pass *p, const tamis_cells *cells, int64_t value, const tamis_strings *strings) {
    if (p->shape >= WHICH) {
        if (p->shape == WHICH) {
            emit_spans(p, cells, value, strings);
        }
        return;
    }
    const uint64_t *cell = cells->bits + (size_t)tamis_cells_find(cells, value, strings) * cells->words;
    for (uint32_t word = 0; word < cells->words; word++) {
        uint64_t fresh = cell[word] & ~p->matched[word];
        p->matched[word] |= fresh;
        if (p->shape == GROUPED) {
            emit_new_bits(p, fresh, word);
        }
    }
}

/* ---- buckets ------------------------------------------------------------------------------------------------------
 */

static void look_at(pass *p, const tamis_slot *slot) {
    const tamis_buckets *buckets = &p->engine->buckets;
    if (slot->single_count != 0) {
        const tamis_single *singles = tamis_slot_singles(buckets, slot);
        for (ptrdiff_t i = 0; i < slot->single_count; i++) {
            emit_if_open(p, singles[-i].interface, singles[-i].handle);
        }
    }
    if (slot->entry_count == 0) {
        return;
    }
    if (p->slot_count < SLOTS_KEPT_MAX) {
        p->slots[p->slot_count++] = slot;
    } else {
        try_entries(p, tamis_slot_entries(buckets, slot), slot->entry_count);
    }
}

/* Find the slots of all probes, ask for what they point to, then look at them. */
static void look_at_probes(pass *p) {
    const tamis_buckets *buckets = &p->engine->buckets;
    for (uint32_t i = 0; i < p->probe_count; i++) {
        __builtin_prefetch(tamis_slot_entries(buckets, p->probes[i].slot));
    }
    for (uint32_t i = 0; i < p->probe_count; i++) {
        const probe *at = &p->probes[i];
        uint32_t next = at->next;
        for (const tamis_slot *slot = at->slot; slot != NULL;
             slot = tamis_segment_next(at->segment, at->key, at->tag, &next)) {
            if (slot->key == at->key) { /* the first has only the tag in common so far */
                look_at(p, slot);
            }
        }
    }
    p->probe_count = 0;
}

/* Look for a bucket by its tag alone, and ask for the slot; most probes end here. */
static inline void see_bucket(pass *p, uint64_t key) {
    const tamis_buckets *buckets = &p->engine->buckets;
    uint64_t hash = tamis_bucket_hash(buckets, key);
    const tamis_segment *segment = tamis_segment_of(buckets, hash);
    if (segment->count == 0) {
        return;
    }
    uint8_t tag = tamis_tag_of(hash);
    uint32_t at = tamis_segment_tagged(segment, tag, tamis_segment_home(segment, hash));
    if (at == TAMIS_NONE) {
        return;
    }
    if (p->probe_count == PROBES_MAX) {
        look_at_probes(p);
    }
    __builtin_prefetch(&segment->slots[at]);
    p->probes[p->probe_count++] = (probe){segment, &segment->slots[at], key, tamis_segment_after(segment, at), tag};
}

static void see_patterns(pass *p, uint32_t attribute, uint32_t name, const tamis_key *key) {
    const tamis_view *view = &p->views[attribute];
    const uint32_t *patterns = view->patterns;
    if (patterns == NULL) { /* more than are kept for a message: find them again, all */
        const tm_attribute *value = &p->attributes[attribute];
        uint32_t *all = p->engine->pattern_scratch + TAMIS_MESSAGE_PATTERNS;
        tamis_patterns_find(&p->engine->patterns, value->string, value->length, all, view->pattern_count);
        patterns = all;
    }
    for (uint32_t i = 0; i < view->pattern_count; i++) {
        if (key->pattern_bits & tamis_operand_bit(patterns[i])) {
            see_bucket(p, tamis_bucket_key(TAMIS_BY_PATTERN, name, patterns[i]));
        }
    }
}

/* ---- runs ---------------------------------------------------------------------------------------------------------
 */

static void emit_rows(pass *p, const tamis_chunk *chunk, uint32_t from, uint32_t to) {
    if (p->direct) { /* runs hold no interface with cells */
        uint32_t rows = to - from;
        if (p->count + rows <= p->hits->capacity) {
            memcpy(p->hits->links + p->count, chunk->interfaces + from, sizeof *chunk->interfaces * rows);
        }
        p->count += rows;
        return;
    }
    for (uint32_t i = from; i < to; i++) {
        emit_if_open(p, chunk->interfaces[i], chunk->handles[i]);
    }
}

static void emit_runs(pass *p, const tamis_key *key, int64_t value, const tamis_strings *strings) {
    uint32_t chunk;
    uint32_t index;
    if (key->at_most != NULL) {
        tamis_run_find(key->at_most, value, false, strings, &chunk, &index);
        for (; chunk < key->at_most->count; chunk++, index = 0) {
            emit_rows(p, &key->at_most->chunks[chunk], index, key->at_most->chunks[chunk].count);
        }
    }
    if (key->at_least != NULL) {
        tamis_run_find(key->at_least, value, true, strings, &chunk, &index);
        for (uint32_t at = 0; at < chunk; at++) {
            emit_rows(p, &key->at_least->chunks[at], 0, key->at_least->chunks[at].count);
        }
        if (chunk < key->at_least->count) {
            emit_rows(p, &key->at_least->chunks[chunk], 0, index);
        }
    }
}

static inline void see_runs(pass *p, const tamis_key *key, int64_t value, const tamis_strings *strings) {
    if (key->at_most != NULL || key->at_least != NULL) {
        emit_runs(p, key, value, strings);
    }
}

/* ---- the steps ----------------------------------------------------------------------------------------------------
 */

/* Ranges that the code does not decide. */
static void see_wide(pass *p, const tm_attribute *value, const tamis_key *key) {
    bool is_real = value->kind == TM_KIND_FLOAT;
    if (key->wide != NULL) {
        uint8_t bytes[TAMIS_NUMBER_BYTES];
        tamis_number_bytes(is_real, value->integer, value->real, bytes);
        int64_t label = tamis_strings_label(&p->engine->numbers, bytes, sizeof bytes);
        if (key->wide->cells != NULL) {
            collect_cells(p, key->wide->cells, label, &p->engine->numbers);
        }
        see_runs(p, key->wide, label, &p->engine->numbers);
    }
    if (key->intervals != NULL) {
        int64_t place;
        bool on_grid = tm_grid_of_number(value->integer, value->real, is_real, &place);
        emit_intervals(p, key->intervals, place, on_grid);
    }
}

static void see_number(pass *p, uint32_t attribute, uint32_t name, const tamis_key *key, int32_t code) {
    const tm_attribute *value = &p->attributes[attribute];
    bool is_real = value->kind == TM_KIND_FLOAT;
    if (is_real || !tamis_has_code(value->integer)) {
        uint32_t operand = tamis_wide_operand(is_real, value->integer, value->real);
        if (key->equal_bits & tamis_operand_bit(operand)) {
            see_bucket(p, tamis_bucket_key(TAMIS_BY_WIDE, name, operand));
        }
    } else if (key->equal_bits & tamis_operand_bit((uint32_t)code)) {
        see_bucket(p, tamis_bucket_key(TAMIS_BY_NUMBER, name, (uint32_t)code));
    }
    see_runs(p, key, code, NULL);
    if (key->wide != NULL || key->intervals != NULL) {
        see_wide(p, value, key);
    }
}

static void see_string(pass *p, uint32_t attribute, uint32_t name, const tamis_key *key) {
    const tamis_view *view = &p->views[attribute];
    if (view->constant != TM_NO_STRING && (key->equal_bits & tamis_operand_bit(view->constant))) {
        see_bucket(p, tamis_bucket_key(TAMIS_BY_STRING, name, view->constant));
    }
    if (key->patterns > 0) {
        see_patterns(p, attribute, name, key);
    }
    see_runs(p, key, view->label, &p->engine->strings);
    if (key->intervals != NULL) {
        const tm_attribute *value = &p->attributes[attribute];
        emit_intervals(p, key->intervals, tm_grid_of_text(value->string, value->length), false);
    }
}

/* What the message says of a name the table knows; its key, or NULL. */
static inline const tamis_key *take_note(pass *p, uint32_t i, unsigned kind, int32_t code) {
    tm_engine *engine = p->engine;
    const tm_attribute *attribute = &p->attributes[i];
    uint32_t name = tamis_names_find(&engine->names, attribute->name, attribute->name_length);
    p->names[i] = name;
    if (name == TM_NO_NAME) {
        return NULL;
    }
    engine->state[name] = state_of(kind, i, code);
    return engine->names.records[name].keys[kind];
}

/* Step 1: numbers, as most tables are satisfied by them alone. */
static bool see_numbers(pass *p) {
    for (uint32_t i = 0; i < p->attribute_count; i++) {
        const tm_attribute *attribute = &p->attributes[i];
        if (attribute->kind != TM_KIND_INTEGER && attribute->kind != TM_KIND_FLOAT) {
            p->names[i] = TM_NO_NAME;
            continue;
        }
        int32_t code = attribute->kind == TM_KIND_INTEGER ? tamis_code_of_integer(attribute->integer)
                                                          : tamis_code_of_real(attribute->real);
        const tamis_key *key = take_note(p, i, TAMIS_NUMBER, code);
        if (key != NULL && key->cells != NULL) {
            collect_cells(p, key->cells, code, NULL);
            if (is_full(p)) {
                p->attribute_count = i + 1; /* so much has state to clear */
                return true;
            }
        }
    }
    return false;
}

static void view_string(pass *p, uint32_t attribute) {
    const tm_attribute *value = &p->attributes[attribute];
    tm_engine *engine = p->engine;
    tamis_view *view = &p->views[attribute];
    tamis_digests_view(&engine->digests, &engine->strings, &engine->patterns, value->string, value->length,
                       engine->pattern_scratch + p->scratch_used, TAMIS_MESSAGE_PATTERNS - p->scratch_used, view);
    p->scratch_used += view->patterns == NULL ? 0 : view->pattern_count;
}

/* Step 2: the other names, what is known of their values, and the cells of strings. */
static bool see_strings(pass *p) {
    for (uint32_t i = 0; i < p->attribute_count; i++) {
        const tm_attribute *attribute = &p->attributes[i];
        if (attribute->kind == TM_KIND_BOOLEAN) {
            take_note(p, i, TAMIS_BOOLEAN, (int32_t)attribute->integer);
        } else if (attribute->kind == TM_KIND_STRING) {
            const tamis_key *key = take_note(p, i, TAMIS_STRING, 0);
            if (p->names[i] == TM_NO_NAME) {
                continue;
            }
            view_string(p, i);
            if (key != NULL && key->cells != NULL) {
                collect_cells(p, key->cells, p->views[i].label, &p->engine->strings);
            }
        }
    }
    return is_full(p);
}

/* Step 3: all that stands under a value. */
static void see_values(pass *p) {
    tm_engine *engine = p->engine;
    for (uint32_t i = 0; i < p->attribute_count; i++) {
        uint32_t name = p->names[i];
        if (name == TM_NO_NAME) {
            continue;
        }
        uint64_t state = engine->state[name];
        unsigned kind = state_kind(state);
        const tamis_key *key = engine->names.records[name].keys[kind];
        if (key == NULL) {
            continue;
        }
        if (kind == TAMIS_STRING) {
            see_string(p, i, name, key);
        } else if (kind == TAMIS_NUMBER) {
            see_number(p, i, name, key, state_code(state));
        } else if (key->equalities > 0) {
            see_bucket(p, tamis_bucket_key(TAMIS_BY_BOOLEAN, name, (uint32_t)state_code(state)));
        }
    }
    look_at_probes(p);
}

static void see_scans(pass *p) {
    for (uint32_t i = 0; i < p->attribute_count; i++) {
        if (p->names[i] == TM_NO_NAME) {
            continue;
        }
        const tamis_name *name = &p->engine->names.records[p->names[i]];
        const tamis_key *keys[2] = {name->keys[state_kind(p->engine->state[p->names[i]])], name->keys[TAMIS_ANY]};
        for (unsigned k = 0; k < 2; k++) {
            if (keys[k] != NULL) {
                try_entries(p, keys[k]->scan.entries, keys[k]->scan.count);
            }
        }
    }
}

/* The names of a message and, by their partner bits, which of them a name may have pairs with. */
typedef struct company {
    uint32_t names[TM_ATTRIBUTES_MAX];
    unsigned kinds[TM_ATTRIBUTES_MAX];
    uint32_t bits[TM_ATTRIBUTES_MAX];
    uint64_t present[TAMIS_PARTNER_WORDS];
    uint64_t coarse;
    uint32_t count;
} company;

static void join_company(company *all, uint32_t name, unsigned kind) {
    uint32_t bit = tamis_partner_bit(name, kind);
    all->names[all->count] = name;
    all->kinds[all->count] = kind;
    all->bits[all->count++] = bit;
    all->coarse |= tamis_coarse_bit(bit);
    set_bit(all->present, bit);
}

/* Can the key have a pair with anybody here? */
static inline bool may_meet(const tamis_key *key, const company *all) {
    if (key == NULL || !(key->partner_bits & all->coarse) || key->partners == NULL) {
        return key != NULL && (key->partner_bits & all->coarse);
    }
    uint64_t common = 0;
    for (uint32_t word = 0; word < TAMIS_PARTNER_WORDS; word++) {
        common |= key->partners[word] & all->present[word];
    }
    return common != 0;
}

/* Pairs stand under their rarer name; its partners' bits say which other names of the message are worth a probe. */
static void see_pairs(pass *p) {
    const tm_engine *engine = p->engine;
    company all;
    all.count = 0;
    all.coarse = 0;
    memset(all.present, 0, sizeof all.present);
    for (uint32_t i = 0; i < p->attribute_count; i++) {
        if (p->names[i] != TM_NO_NAME) {
            join_company(&all, p->names[i], state_kind(engine->state[p->names[i]]));
        }
    }
    for (uint32_t home = 0; home < all.count; home++) {
        const tamis_key *key = engine->names.records[all.names[home]].keys[all.kinds[home]];
        if (!may_meet(key, &all)) {
            continue;
        }
        for (uint32_t i = 0; i < all.count; i++) {
            bool met = key->partners != NULL ? has_bit(key->partners, all.bits[i])
                                             : (key->partner_bits & tamis_coarse_bit(all.bits[i])) != 0;
            if (met && i != home) {
                see_bucket(p, tamis_pair_key(all.names[home], all.kinds[home], all.names[i], all.kinds[i]));
            }
        }
    }
}

/* The middle of a chunk's bounds, where a search begins. */
static inline void ask_for_run(const tamis_run *run) {
    if (run != NULL && run->count > 0) {
        const tamis_chunk *chunk = &run->chunks[run->count / 2];
        __builtin_prefetch(chunk->bounds + chunk->count / 2);
        __builtin_prefetch(chunk->interfaces);
    }
}

/* What values will be looked up in lies far apart: ask for all of it, level by level, before any is read. */
static void ask_for_keys(const pass *p) {
    const tamis_key *keys[TM_ATTRIBUTES_MAX];
    uint32_t count = 0;
    for (uint32_t i = 0; i < p->attribute_count; i++) {
        if (p->names[i] != TM_NO_NAME) {
            const tamis_name *name = &p->engine->names.records[p->names[i]];
            const tamis_key *key = name->keys[state_kind(p->engine->state[p->names[i]])];
            if (key != NULL) {
                __builtin_prefetch(key->at_most);
                __builtin_prefetch(key->at_least);
                keys[count++] = key;
            }
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        if (keys[i]->at_most != NULL) {
            __builtin_prefetch(keys[i]->at_most->chunks);
        }
        if (keys[i]->at_least != NULL) {
            __builtin_prefetch(keys[i]->at_least->chunks);
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        ask_for_run(keys[i]->at_most);
        ask_for_run(keys[i]->at_least);
    }
}

static void see_everything(pass *p) {
    if (see_numbers(p) || see_strings(p)) {
        return;
    }
    if (p->engine->listed > 0) {
        ask_for_keys(p);
    }
    see_values(p);
    if (p->engine->scanned > 0) {
        see_scans(p);
    }
    if (p->engine->pair_filters > 0 && !is_full(p)) {
        see_pairs(p);
        look_at_probes(p);
    }
    for (uint32_t i = 0; i < p->slot_count && !is_full(p); i++) {
        try_entries(p, tamis_slot_entries(&p->engine->buckets, p->slots[i]), p->slots[i]->entry_count);
    }
    try_entries(p, p->engine->always.entries, p->engine->always.count);
    verify_waiting(p);
}

/* ---- before and after ---------------------------------------------------------------------------------------------
 */

/* Interfaces with cells that are wanted: members that are candidates. */
static void find_wanted(pass *p) {
    const tm_query *query = p->query;
    for (uint32_t word = 0; word < p->engine->cell_words; word++) {
        uint64_t wanted = p->engine->cell_members[word];
        if (p->shape == PLAIN) {
            uint32_t first = word * 64;
            uint32_t left = query->link_count > first ? query->link_count - first : 0;
            wanted &= left >= 64 ? UINT64_MAX : (UINT64_C(1) << left) - 1;
            wanted &= query->candidates != NULL && left > 0 ? query->candidates[word] : UINT64_MAX;
        }
        p->wanted[word] = wanted;
        p->matched[word] = p->shape == PLAIN ? ~wanted : 0;
    }
}

static size_t count_links(const tm_query *query) {
    size_t count = 0;
    if (query->candidates == NULL) {
        return query->link_count;
    }
    for (uint32_t first = 0; first < query->link_count; first += 64) {
        uint32_t left = query->link_count - first;
        uint64_t mask = left >= 64 ? UINT64_MAX : (UINT64_C(1) << left) - 1;
        count += (size_t)__builtin_popcountll(query->candidates[first / 64] & mask);
    }
    return count;
}

static void put_bits(pass *p) {
    for (uint32_t word = 0; word < p->engine->cell_words; word++) {
        uint64_t bits = p->matched[word] & p->wanted[word];
        if (p->hits->bits != NULL) {
            if (bits != 0) {
                p->hits->bits[word] |= bits;
            }
            continue;
        }
        for (; bits != 0; bits &= bits - 1) {
            append(p, word * 64 + (uint32_t)__builtin_ctzll(bits), 0);
        }
    }
}

static void clear_scratch(pass *p) {
    for (uint32_t i = 0; i < p->attribute_count; i++) {
        if (p->names[i] != TM_NO_NAME) {
            p->engine->state[p->names[i]] = 0;
        }
    }
    if (p->distinct || p->hits->bits != NULL) {
        return;
    }
    size_t rows = p->count < p->hits->capacity ? p->count : p->hits->capacity;
    if (rows < p->count) { /* rows that did not fit have marks too */
        memset(p->engine->done, 0, sizeof(uint64_t) * p->engine->done_words);
        return;
    }
    for (size_t row = 0; row < rows; row++) {
        p->engine->done[p->hits->links[row] / 64] = 0;
    }
}

/* A grouping may have more links than the table has interfaces: the one allocation a match may make. */
static bool reserve_done(tm_engine *engine, uint32_t links) {
    uint32_t words = (links + 63) / 64;
    if (words <= engine->done_words) {
        return true;
    }
    uint64_t *done = TM_NEW(engine->memory, TM_HOT, uint64_t, words);
    if (done == NULL) {
        return false;
    }
    TM_DELETE(engine->memory, TM_HOT, engine->done, uint64_t, engine->done_words);
    engine->done = done;
    engine->done_words = words;
    return true;
}

static shape shape_of(const tm_query *query) {
    if (query->mode == TM_MATCH_ALL) {
        return ALL;
    }
    return query->mode == TM_MATCH_WHICH ? WHICH : query->grouping != NULL ? GROUPED : PLAIN;
}

int tamis_match(tm_engine *engine, const tm_attribute *attributes, size_t count, const tm_query *query, tm_hits *hits) {
    pass p; /* arrays are written before they are read: not cleared */
    p.engine = engine;
    p.attributes = attributes;
    p.query = query;
    p.hits = hits;
    p.count = 0;
    p.shape = shape_of(query);
    p.distinct = p.shape == ALL || (p.shape == PLAIN && engine->shared_listed == 0);
    p.direct = p.shape == PLAIN && p.distinct && hits->bits == NULL && query->candidates == NULL &&
               query->link_count >= engine->interface_count;
    p.only_bits = p.shape == PLAIN && engine->listed == 0;
    p.links_wanted = p.shape == GROUPED ? count_links(query) : 0;
    p.attribute_count = (uint32_t)count;
    p.scratch_used = 0;
    p.slot_count = 0;
    p.probe_count = 0;
    p.waiting_count = 0;
    if (hits->bits != NULL) {
        memset(hits->bits, 0, sizeof(uint64_t) * ((query->link_count + 63) / 64));
    }
    if (!p.distinct && hits->bits == NULL && !reserve_done(engine, query->link_count)) {
        return TM_NO_MEMORY;
    }
    find_wanted(&p);
    if (!is_full(&p)) {
        see_everything(&p);
    } else {
        p.attribute_count = 0;
    }
    clear_scratch(&p);
    if (p.shape == PLAIN) {
        put_bits(&p);
    }
    hits->count = p.count;
    return hits->bits == NULL && p.count > hits->capacity ? TM_TOO_MANY : TM_OK;
}
