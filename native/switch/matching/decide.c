/* decide.c - see decide.h.
 *
 * Law: the steps of programs are not those of the match, so no program makes the match of a message too costly. Each
 * subscriber has an account of its own for a message, of which one program may use a part, so no program takes the
 * steps of another subscriber's. Past that, the message is for the other subscriptions alone, and is counted.
 */
#include "switch/matching/decide.h"

#include "switch/subscribers/subscriber.h"
#include "tm_residual_api.h"

#define ACCOUNT_PARTS 4U /* of the steps of a match: what the programs of one subscriber may take */

static uint64_t least(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

/* Run a program of a subscriber, once for each message; true if the message passes. */
static bool passes(tm_switch *sw, const tm_message *message, tm_subscriber *subscriber, tm_program *program) {
    uint64_t matches = sw->subscriptions.programs.matches;
    if (program->asked == matches) {
        return program->passes;
    }
    if (subscriber->programs_asked != matches) {
        subscriber->programs_asked = matches;
        subscriber->program_steps = sw->work.steps_max / ACCOUNT_PARTS;
    }
    uint64_t steps;
    uint64_t budget = least(subscriber->program_steps, sw->work.steps_max / TM_RESIDUAL_PARTS);
    int verdict = tm_residual_run(program->bytes, sw->attributes, message->attribute_count, budget, &steps);
    steps = least(steps, budget);
    subscriber->program_steps -= steps;
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
    size_t kept = 0;
    subscriptions->programs.matches++;
    for (size_t row = 0; row < *count; row++) {
        uint32_t handle = sw->rows.handles[row];
        uint32_t number = subscriptions->rows[subscriptions->kept[handle].subscription].program;
        tm_subscriber *subscriber = switch_subscriber(sw, sw->rows.groups[row]);
        if (number == PROGRAM_NONE ||
            passes(sw, message, subscriber, tm_programs_at(&subscriptions->programs, number))) {
            sw->rows.groups[kept] = sw->rows.groups[row];
            sw->rows.handles[kept++] = handle;
        }
    }
    *count = kept;
}
