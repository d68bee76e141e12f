/* draft.c - converts a filter to spans. Law: see draft.h. */
#include <string.h>

#include "engines/interval/draft.h"

static bool same_name(const tm_constraint *a, const tm_constraint *b) {
    return a->name_length == b->name_length && memcmp(a->name, b->name, a->name_length) == 0;
}

static bool is_interval(const tm_constraint *constraint) {
    return !constraint->negated && constraint->operand_count <= TM_DRAFT_SPANS_MAX &&
           (constraint->op <= TM_OP_LE || constraint->op == TM_OP_PREFIX);
}

/* Return the cut just before the first text after all that begin with the prefix: its last byte is one higher. */
static tm_cut end_of_prefix(const tm_value *prefix, uint8_t text[TM_PATTERN_BYTES_MAX]) {
    uint32_t length = prefix->length;
    while (length > 0 && prefix->string[length - 1] == UINT8_MAX) {
        length--;
    }
    if (length == 0) {
        return tm_cut_end;
    }
    memcpy(text, prefix->string, length);
    text[length - 1]++;
    return tm_cut_of_text(text, length, false);
}

/* Return the k-th span of the constraint; `end` has room for the text of a cut. */
static tm_span span_of(const tm_constraint *constraint, uint32_t k, uint8_t end[TM_PATTERN_BYTES_MAX]) {
    const tm_value *value = &constraint->operands[k];
    switch (constraint->op) {
    case TM_OP_EXISTS:
        return (tm_span){tm_cut_first, tm_cut_end};
    case TM_OP_BETWEEN:
        return (tm_span){tm_cut_at(value, false), tm_cut_at(value + 1, true)};
    case TM_OP_GT:
    case TM_OP_GE:
        return (tm_span){tm_cut_at(value, constraint->op == TM_OP_GT), tm_cut_of_kind(value, true)};
    case TM_OP_LT:
    case TM_OP_LE:
        return (tm_span){tm_cut_of_kind(value, false), tm_cut_at(value, constraint->op == TM_OP_LE)};
    case TM_OP_PREFIX:
        return (tm_span){tm_cut_at(value, false), end_of_prefix(value, end)};
    default: /* TM_OP_EQ, TM_OP_IN */
        return (tm_span){tm_cut_at(value, false), tm_cut_at(value, true)};
    }
}

static uint32_t spans_of(const tm_constraint *constraint) {
    return constraint->op == TM_OP_IN ? constraint->operand_count : 1;
}

/* Intersect `count` spans with the constraint and return their number, which may be larger; 0 with `*fits` false if
 * they are too many. */
static uint32_t narrow(tm_span spans[TM_DRAFT_SPANS_MAX], uint32_t count, const tm_constraint *constraint,
                       uint8_t end[TM_PATTERN_BYTES_MAX], bool *fits) {
    tm_span left[TM_DRAFT_SPANS_MAX];
    uint32_t found = 0;
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t k = 0; k < spans_of(constraint); k++) {
            tm_span other = span_of(constraint, k, end);
            tm_span both = {tm_cut_compare(&spans[i].low, &other.low) < 0 ? other.low : spans[i].low,
                            tm_cut_compare(&spans[i].high, &other.high) < 0 ? spans[i].high : other.high};
            if (tm_span_is_empty(&both)) {
                continue;
            }
            if (found == TM_DRAFT_SPANS_MAX) {
                *fits = false;
                return 0;
            }
            left[found++] = both;
        }
    }
    memcpy(spans, left, sizeof *spans * found);
    return found;
}

/* Draft one axis: all intervals from the first on that have its name. false if it has too many spans, and is left
 * out. */
static bool draft_axis(const tm_filter *filter, size_t first, size_t without, tm_interval_draft *out) {
    tm_span spans[TM_DRAFT_SPANS_MAX] = {{tm_cut_first, tm_cut_end}};
    uint32_t count = 1;
    bool fits = true;
    for (size_t i = first; i < filter->count && fits; i++) {
        const tm_constraint *constraint = &filter->constraints[i];
        if (i != without && is_interval(constraint) && same_name(constraint, &filter->constraints[first])) {
            count = narrow(spans, count, constraint, out->ends[i], &fits);
        }
    }
    if (!fits || out->span_count + count > TM_DRAFT_SPANS_MAX) {
        return false;
    }
    memcpy(&out->spans[out->span_count], spans, sizeof *spans * count);
    const tm_constraint *named = &filter->constraints[first];
    out->axes[out->axis_count++] =
        (tm_draft_axis){named->name, named->name_length, (uint16_t)out->span_count, (uint16_t)count};
    out->span_count += count;
    return true;
}

static bool is_type(const tm_constraint *constraint) {
    return constraint->op == TM_OP_EQ && constraint->operands[0].kind == TM_KIND_STRING &&
           constraint->name_length == TM_TYPE_NAME_LENGTH &&
           memcmp(constraint->name, TM_TYPE_NAME, TM_TYPE_NAME_LENGTH) == 0;
}

/* true if an earlier interval, except `without`, has that name. */
static bool is_drafted(const tm_filter *filter, size_t at, size_t without) {
    for (size_t i = 0; i < at; i++) {
        const tm_constraint *constraint = &filter->constraints[i];
        if (i != without && is_interval(constraint) && same_name(constraint, &filter->constraints[at])) {
            return true;
        }
    }
    return false;
}

bool tm_interval_draft_of(const tm_filter *filter, bool by_type, tm_interval_draft *out) {
    size_t type = filter->count;
    bool is_exact = true;
    out->type = NULL;
    out->axis_count = 0;
    out->span_count = 0;
    for (size_t i = 0; i < filter->count; i++) {
        const tm_constraint *constraint = &filter->constraints[i];
        is_exact &= is_interval(constraint);
        if (by_type && out->type == NULL && is_interval(constraint) && is_type(constraint)) {
            out->type = &constraint->operands[0];
            type = i;
        }
    }
    for (size_t i = 0; i < filter->count; i++) {
        if (i != type && is_interval(&filter->constraints[i]) && !is_drafted(filter, i, type)) {
            is_exact &= draft_axis(filter, i, type, out);
        }
    }
    return is_exact;
}
