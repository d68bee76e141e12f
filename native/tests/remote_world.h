/* remote_world.h - two switches, a client at one and the home at the other, and a path between them that loses,
 * repeats and swaps frames.
 *
 * Law: nothing happens by itself: time passes and frames move as a test says. What passes is judged (remote_judge.h).
 */
#ifndef TM_TEST_REMOTE_WORLD_H
#define TM_TEST_REMOTE_WORLD_H

#include "frames.h"
#include "remote_judge.h"
#include "tm_remote.h"

#define PATH_MAX_FRAMES 512U
#define REMOTE_CONSUMER 3U
#define REMOTE_QUEUE 131072U /* of the client */
#define REMOTE_TICK_MS 100U

typedef struct path_frame {
    uint8_t *bytes; /* owned */
    uint32_t size;
    uint8_t from;
} path_frame;

typedef struct remote_side {
    tm_switch *sw; /* owned, with its tables */
    tm_table *table;
    tm_table *network;
    uint32_t link;
    uint32_t client; /* FAR: the connection of the far end, or TM_CONNECTION_NONE */
} remote_side;

typedef struct remote_world {
    dice dice;
    remote_side sides[SIDES];
    path_frame path[PATH_MAX_FRAMES];
    uint32_t path_count;
    uint32_t lost_of_8; /* of eight frames */
    uint32_t again_of_8;
    uint32_t swapped_of_8;
    bool is_cut;
    bool reads;       /* the client does */
    bool is_attached; /* the consumer */
    bool is_closing;  /* the far end, in order */
    bool has_ended[SIDES];
    uint64_t now_ms;
    uint64_t sessions;
    uint64_t heard; /* bytes, in all lives */
    remote_judge judge;
} remote_world;

extern remote_world remotes;

void remotes_begin(uint64_t seed);
void remotes_end(void);

void remotes_open(void);
/* Let some time pass at both ends; the client reads. */
void remotes_pass(uint32_t ms);
/* Move what has left to the path, and up to `most` frames of it on. */
void remotes_carry(uint32_t most);
void remotes_drop_path(void);
/* The client's router and the client say something; false: there is no room. */
bool remotes_say_up(void);
void remotes_say_credit(void);
/* The home does: a delivery to `consumer`, or an answer. */
void remotes_deliver(uint32_t consumer);
void remotes_answer(void);
/* Handle the events of a call. */
void remotes_handle(unsigned side, const tm_event *events, size_t count);

#endif
