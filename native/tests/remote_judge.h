/* remote_judge.h - what the frames of a remote session and what comes out of it must be, by the page of the wire.
 *
 * Law: it shares no code with what it judges. It keeps each stream whole, and every limit is in figures of its own.
 */
#ifndef TM_TEST_REMOTE_JUDGE_H
#define TM_TEST_REMOTE_JUDGE_H

#include "support.h"

#define JUDGED_WINDOW 262144U
#define JUDGED_PIECE 32768U
#define JUDGED_WORD_MS 1000U

/* The two ends of a session, and the directions of which they are the beginning. */
enum { NEAR, FAR, SIDES };

/* Bytes that were said, of which the first `heard` have come. */
typedef struct judged_bytes {
    uint8_t *bytes; /* owned */
    size_t size;
    size_t capacity;
    size_t heard;
} judged_bytes;

/* What one side has said, and heard of the other one. */
typedef struct judged_side {
    judged_bytes stream;
    uint64_t sent;    /* the furthest byte in a frame of this side that has come to the other one */
    uint64_t allowed; /* what the other one has allowed, in a frame that has come here */
    uint64_t taken;   /* of this side's stream, likewise */
    uint64_t told;    /* of the other stream, in a frame of this side that has left */
    uint64_t said_ms; /* when a frame left last */
} judged_side;

typedef struct remote_judge {
    uint64_t session;
    judged_side sides[SIDES];
    judged_bytes deliveries; /* for the client */
    judged_bytes answers;    /* for its router */
} remote_judge;

void remote_judge_begin(remote_judge *judge, uint64_t session, uint64_t now_ms);
void remote_judge_end(remote_judge *judge);
/* Bytes are said, or have come. */
void remote_judge_say(judged_bytes *said, const uint8_t *bytes, size_t size);
void remote_judge_hear(judged_bytes *said, const uint8_t *bytes, size_t size, const char *who);
bool remote_judge_is_quiet(const remote_judge *judge);

/* A frame REMOTE leaves a side, or has come to the other one. It is of this session and no end of it, or `false`. */
bool remote_judge_leaves(remote_judge *judge, const uint8_t *frame, size_t size, uint64_t now_ms);
void remote_judge_comes(remote_judge *judge, const uint8_t *frame, size_t size);
/* The session of a frame REMOTE, and its marks. */
uint64_t remote_judge_session_of(const uint8_t *frame, uint32_t *marks);

#endif
