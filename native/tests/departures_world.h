/* departures_world.h - an entry and a home, each a switch with a log on a faulty disk, and a publisher at the entry.
 *
 * Law: a confirmation as held is judged when the publisher reads it. The world does what Python does in a router.
 */
#ifndef TM_DEPARTURES_WORLD_H
#define TM_DEPARTURES_WORLD_H

#include "durable/state.h"
#include "faulty_disk.h"
#include "frames.h"
#include "log/log.h"
#include "tm_custody.h"

#define ENTRY UINT64_C(10)
#define HOME UINT64_C(20)
#define OTHER_HOME UINT64_C(30) /* there where messages are refused; it has at once what is on disk for it */
#define PUBLISHER UINT64_C(1000)
#define MESSAGES 120U
#define COPIES (4U * MESSAGES)
#define DURABLE 1U
#define ON_THE_WAY 64U

typedef struct side {
    faulty_disk *disk;
    tm_log *log;
    tm_table *local;
    tm_table *network;
    tm_switch *sw;
    uint32_t link;
} side;

/* A record of a message at the entry; one that is published again may have several. */
typedef struct copy {
    uint64_t number;
    uint32_t message;
    bool is_open;    /* it was appended in this run */
    bool is_due;     /* it was on disk there */
    bool is_told;    /* the home was told that it is given up */
    bool is_doubted; /* the home was told a doubt up to it, or past it */
} copy;

typedef struct pair_world {
    dice dice;
    side entry;
    side home;
    uint32_t publisher;
    uint64_t counter;
    uint64_t latest; /* message that was published last */
    copy copies[COPIES];
    uint32_t copy_count;
    bool is_held[MESSAGES + 1];    /* it is confirmed as held */
    bool is_awaited[MESSAGES + 1]; /* its publisher waits for that, or for the disk of the entry, or may try again */
    bool is_full[MESSAGES + 1];    /* it was refused for want of room */
    bool is_again[MESSAGES + 1];   /* it was published again */
    uint64_t held, refused, full, retried;
    uint64_t room; /* at most; where messages are refused, it is the half after some starts */
    bool refuses;
    uint64_t age_ms;  /* for which a message may wait for the home; 0: for ever */
    int64_t ahead_ms; /* of the clock of the computer, at the entry */
    uint64_t entered; /* messages that the entry has stored in this run */
    uint64_t last;    /* number of the chain */
    frame way[ON_THE_WAY];
    uint32_t on_the_way;
    uint64_t on_disk; /* as the home reported last */
    bool is_early;
    uint64_t crashes, resent, given_up, old, doubts;
} pair_world;

/* The world of the test; zeroed before each life, except for `dice`, `room`, `refuses` and `age_ms`. */
extern pair_world departures;

/* Start a side on a disk, which it borrows. */
void departures_start_entry(faulty_disk *disk);
void departures_start_home(faulty_disk *disk);
void departures_end_side(const side *at);
/* Check both sides, and read what is new: numbers of records, and answers to the publisher. */
void departures_validate(void);
/* Commit the log of a side, and let it act on that. */
void departures_commit(const side *at);
/* Take the events of a side. */
void departures_hear(const tm_event *events, size_t count);
/* Begin the life that the entry has now at the home, behind what has been taken. */
void departures_begin_chain(void);
tm_custody_home departures_chain_to_home(void);
/* Let time pass at the entry, as far as it judges the age of messages. */
void departures_pass_time(int64_t ms);
/* Publish a message, unless the publisher waits for the disk. */
void departures_publish(void);
/* Publish a message again whose publisher is not answered, or is refused. */
void departures_retry(void);
void departures_retry_message(uint64_t message);
/* true if the publisher of a message waits for each home, and not for the disk of the entry alone. */
bool departures_waits_for_homes(uint64_t message);
/* Let the other home acknowledge all that is on disk for it. */
void departures_acknowledge_other(void);
/* Note the number of the last message if the entry has stored it now; it may have waited for the disk. */
void departures_note_number(void);
/* Judge what the publisher has got. */
void departures_read_answers(void);

#endif
