/* tm_remote_api.h - sessions of clients with the home of a durable subscription at another router, as C and Python
 * share them. cffi reads this text as it is, as it reads tm_api.h. It rests on tm_switch_api.h.
 *
 * A remote session is a stream of bytes in both directions between two routers, the frames of one client and the
 * answers of the home. Its near end is at the router of the client, its far end at the home, where it is the peer of a
 * connection without a socket. Frames REMOTE carry pieces of the stream by next hops; routers between hold nothing.
 *
 *     client ── CONSUME, ACK, CREDIT ──> near end ══ REMOTE ══> far end ──> a connection, as of a client of the home
 *            <── DELIVER, LOST, ACK ───          <═══════════          <──
 *
 * Law: no message makes an object of Python. A piece that is lost is sent again, so that a session outlives the cut of
 * a path; it ends when one end ends it, or hears nothing for TM_REMOTE_SILENT_MS. What was delivered by a session that
 * has ended, and not acknowledged, the home delivers again. */

#define TM_REMOTES_MAX 4096 /* ends of sessions in one router, near and far */
#define TM_REMOTE_WINDOW                                                                                               \
    262144                    /* bytes of one direction that are on the way and not taken; at it nothing more leaves */
#define TM_REMOTE_PIECE 32768 /* bytes of the stream in one REMOTE */
#define TM_REMOTE_CONSUMERS_MAX 64 /* of one session */
#define TM_REMOTE_SILENT_MS 10000

/* An event of tm_switch_poll and its variants: a session begins at a router that is to be its far end. `frame` is the
 * REMOTE; accept it with tm_remote_accept, or forget it: it comes again. */
#define TM_EVENT_REMOTE_BEGINS 13
/* A control frame of the home for the client of a near end, other than LOST: `connection` is the client's, `frame` the
 * number of the session (8 bytes), then the frame. */
#define TM_EVENT_REMOTE_SAID 14
/* A near end has ended, and not by tm_remote_end: `connection` is the client's, `frame` the number of the session. */
#define TM_EVENT_REMOTE_ENDED 15

/* Begin the near end of session `session` (not 0, and new) of a client with router `peer`. TM_OK, TM_NO_MEMORY,
 * TM_TOO_MANY, TM_MISUSED. */
int tm_remote_begin(tm_switch *sw, uint32_t connection, uint64_t peer, uint64_t session);
/* Take the first REMOTE of a session, as the event had it: `connection` has no socket and is its far end from now on.
 * Results as those of tm_remote_begin. */
int tm_remote_accept(tm_switch *sw, uint32_t connection, const uint8_t *frame, size_t size);
/* Send frames of the client of a near end. TM_TOO_MANY: a window is full of them. TM_ABSENT: it has ended. */
int tm_remote_send(tm_switch *sw, uint64_t session, const uint8_t *frames, size_t size);
/* Let a near end pass deliveries to consumer `id`, and the ACK and CREDIT frames of that consumer to the home; or, with
 * `is_there` 0, no longer. TM_ABSENT: the session has ended, or has no such consumer; TM_TOO_MANY. */
int tm_remote_consumer(tm_switch *sw, uint64_t session, uint32_t id, uint32_t is_there);
/* End a near end. TM_ABSENT: it has ended. */
int tm_remote_end(tm_switch *sw, uint64_t session);
/* Send what the connections of far ends have to send now. */
int tm_remote_flush(tm_switch *sw);

typedef struct tm_remote_stats {
    uint32_t near_ends;
    uint32_t far_ends;
    uint64_t sent;    /* REMOTE frames of ends here, among them `resent` */
    uint64_t resent;  /* frames whose piece was sent before */
    uint64_t passed;  /* frames that were passed on to another router */
    uint64_t dropped; /* frames that found no way, no room or no session */
    uint64_t ended;   /* ends that heard nothing for too long, or something false */
} tm_remote_stats;

int tm_remote_figures(const tm_switch *sw, tm_remote_stats *out);
