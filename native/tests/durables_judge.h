/* durables_judge.h - what a world of keeps is told of, and what clients see of it; see durables_world.h.
 *
 * Law: a position is one message for ever, goes to who wants it, and comes no more once its acknowledgement was
 * confirmed. What was confirmed and is wanted was given in the end, or is among those that are told as lost.
 */
#ifndef TM_DURABLES_JUDGE_H
#define TM_DURABLES_JUDGE_H

#include "durables_world.h"

/* ---- durables_lives.c ---- */

bool durables_wants(uint32_t kind, const seen_message *message);
/* Does a keep of this kind replace messages by newer ones? */
bool durables_lets_go(uint32_t kind);
/* Is what is older than some time nothing to a keep of this kind, also when it begins? */
bool durables_by_age(uint32_t kind);
bool durables_takes_dead_letters(uint32_t kind);

/* ---- durables_judge.c ---- */

void judge_made(durables_world *w, uint32_t kind, uint32_t number, uint64_t n);
/* A keep began with what is in the log, which has at least what another keep has, that lets nothing go. */
void judge_took_over(durables_world *w, uint32_t kind, uint32_t of);
void judge_gone(durables_world *w, uint32_t kind);
/* A start finds a keep. */
void judge_recovered(durables_world *w, uint32_t kind, uint32_t number, uint64_t n);
void judge_published(const durables_world *w, seen_message *message);
/* A member sends an acknowledgement; `request` 0: it does not ask. */
void judge_acked(durables_world *w, const seen_consumer *consumer, uint64_t first, uint64_t last, uint32_t verdict,
                 uint32_t request);
/* The owner of a keep passes over what it has up to position `after`; the doubts there are told to nobody. */
void judge_skipped(durables_world *w, uint32_t kind, uint64_t after);
void judge_left(durables_world *w, const seen_consumer *consumer);
/* A keep may have missed messages of other routers, which the record `n` says. */
void judge_missed(durables_world *w, uint32_t kind, uint64_t n);
/* What is on disk by now is owed. */
void judge_committed(durables_world *w);
/* The log's disk is lost but for what is committed, and members with it. */
void judge_crash(durables_world *w);
/* What keeps count of dead letters now; a start counts no more than that, and no fewer than were on disk. */
void judge_dead(durables_world *w);
void judge_dead_again(const durables_world *w);
/* The newest message of each value is the last that the log has of it. */
void judge_newest(const durables_world *w);
/* Of each keep, what came is what left and what is open. */
void judge_figures(const durables_world *w);
/* Read what the switch sends. */
void judge_output(durables_world *w);

/* ---- the end ---- */

bool judge_has_consumer(const durables_world *w, uint32_t kind);
/* Has it nothing left, and had it nothing at the last look? A loss that a full log does not take yet is not told. */
bool judge_is_at_rest(durables_world *w, uint32_t kind);
/* Nothing that a keep owes is missing; the keep is asked no more. */
void judge_end(durables_world *w, uint32_t kind);
bool judge_all_ended(const durables_world *w);

#endif
