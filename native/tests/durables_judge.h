/* durables_judge.h - checks the reports of a durables world and what its clients receive; see durables_world.h.
 *
 * Law: a position always means one message. It is delivered only to a matching subscription, and no longer once its
 * acknowledgement is confirmed. A confirmed matching message is delivered in the end, or reported as lost.
 */
#ifndef TM_DURABLES_JUDGE_H
#define TM_DURABLES_JUDGE_H

#include "durables_world.h"

/* ---- durables_lives.c ---- */

bool durables_wants(uint32_t kind, const seen_message *message);
/* true if a subscription of this kind replaces messages by newer ones */
bool durables_lets_go(uint32_t kind);
/* true if a subscription of this kind expires messages by age, also when it begins */
bool durables_by_age(uint32_t kind);
bool durables_takes_dead_letters(uint32_t kind);

/* ---- durables_judge.c ---- */

void judge_made(durables_world *w, uint32_t kind, uint32_t number, uint64_t n);
/* A subscription began with the messages in the log: at least those of subscription `of`, which expires none. */
void judge_took_over(durables_world *w, uint32_t kind, uint32_t of);
void judge_gone(durables_world *w, uint32_t kind);
/* A start recovers a subscription. */
void judge_recovered(durables_world *w, uint32_t kind, uint32_t number, uint64_t n);
void judge_published(const durables_world *w, seen_message *message);
/* A consumer sends an acknowledgement; `request` 0: without a confirmation. */
void judge_acked(durables_world *w, const seen_consumer *consumer, uint64_t first, uint64_t last, uint32_t verdict,
                 uint32_t request);
/* The owner of a subscription skips its messages up to position `after`; unknown ranges there are not reported. */
void judge_skipped(durables_world *w, uint32_t kind, uint64_t after);
void judge_left(durables_world *w, const seen_consumer *consumer);
/* A subscription may have missed messages of other routers, according to record `n`, of which `messages` were given up.
 */
void judge_missed(durables_world *w, uint32_t kind, uint64_t n, uint64_t messages);
/* Messages that are on disk by now must be delivered. */
void judge_committed(durables_world *w);
/* The disk of the log loses what is not committed, and all consumers end. */
void judge_crash(durables_world *w);
/* Note the counts of dead letters; after a start they are at most these, and at least those on disk. */
void judge_dead(durables_world *w);
void judge_dead_again(const durables_world *w);
/* The newest message of each value is the last one in the log. */
void judge_newest(const durables_world *w);
/* Check that each subscription has as many messages as have left and are open. */
void judge_figures(const durables_world *w);
/* Read and check the output of the switch. */
void judge_output(durables_world *w);

/* ---- the end ---- */

bool judge_has_consumer(const durables_world *w, uint32_t kind);
/* true if the subscription is empty now and was at the last check; a full log delays the report of a loss */
bool judge_is_at_rest(durables_world *w, uint32_t kind);
/* Check that no owed message of a subscription is missing; it is not checked again. */
void judge_end(durables_world *w, uint32_t kind);
bool judge_all_ended(const durables_world *w);

#endif
