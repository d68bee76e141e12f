/* decide.c - see decide.h.
 *
 * Law: programs have an account of steps of their own, as large as that of the match, so that no program makes the
 * match of a message too costly. One program may use a part of it. Past that, the message is for the other
 * subscriptions alone, and is counted.
 */
#include "switch/matching/decide.h"

#include "tm_residual_api.h"

static uint64_t least(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

/* Run a program, once for each message; true if the message passes. */
static bool passes(tm_switch *sw, const tm_message *message, tm_program *program, uint64_t *left) {
    uint64_t matches = sw->subscriptions.programs.matches;
    if (program->asked == matches) {
        return program->passes;
    }
    uint64_t steps;
    uint64_t budget = least(*left, sw->work.steps_max / TM_RESIDUAL_PARTS);
    int verdict = tm_residual_run(program->bytes, sw->attributes, message->attribute_count, budget, &steps);
    steps = least(steps, budget);
    *left -= steps;
    program->asked = matches;
    program->passes = verdict == TM_RESIDUAL_TRUE;
    program->candidates++;
    program->passed += program->passes;
    sw->stats.steps += steps;
    sw->stats.residual_candidates++;
    sw->stats.residual_passed += program->passes;
    sw->stats.residual_over_budget += verdict == TM_RESIDUAL_OVER;
    return program->passes;
}

void switch_decide(tm_switch *sw, const tm_message *message, size_t *count) {
    tm_subscriptions *subscriptions = &sw->subscriptions;
    uint64_t left = sw->work.steps_max;
    size_t kept = 0;
    subscriptions->programs.matches++;
    for (size_t row = 0; row < *count; row++) {
        uint32_t handle = sw->rows.handles[row];
        uint32_t number = subscriptions->rows[subscriptions->kept[handle].subscription].program;
        if (number == PROGRAM_NONE || passes(sw, message, tm_programs_at(&subscriptions->programs, number), &left)) {
            sw->rows.groups[kept] = sw->rows.groups[row];
            sw->rows.handles[kept++] = handle;
        }
    }
    *count = kept;
}
