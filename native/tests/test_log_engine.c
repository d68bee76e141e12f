/* test_log_engine.c - the log over an engine that is no disk: one list of changes, and a commit, as a database has.
 *
 * Law: every change, a write too, is a row behind the others, and nothing is changed in place; a commit makes all rows
 * durable, a crash forgets those behind the last one. The log is judged by the model of the crash tests. A batch
 * crosses the port whole: one write and one commit, however many records it has. An engine whose commit does nothing is
 * found.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "log_model.h"

#define SEGMENT_BYTES 16384U
#define RING_BYTES 8192U
#define BODY_MAX 1900U
#define STEPS 6000U
#define FILES 4096U
#define NAMES 64U
#define NAME_BYTES (2 * TM_DISK_NAME_BYTES)
#define SEEDS 3U

/* ---- the engine ---- */

typedef enum { ROW_WRITTEN, ROW_CUT, ROW_NAMED, ROW_UNNAMED } row_kind;

typedef struct row {
    row_kind kind;
    int file;
    char name[NAME_BYTES];
    uint64_t at;
    size_t size;
    uint8_t *bytes; /* owned; NULL: zeroes, as many as there were not yet */
} row;

typedef struct engine {
    tm_disk base;
    row *rows; /* owned */
    size_t count;
    size_t capacity;
    size_t committed;
    uint64_t writes;
    uint64_t commits;
    struct {            /* what all rows come to */
        uint8_t *bytes; /* owned */
        size_t size;
    } files[FILES];
    int file_count;
    struct {
        char name[NAME_BYTES]; /* empty: free */
        int file;
    } names[NAMES];
} engine;

static bool is_lying; /* a commit does nothing */

static engine *engine_of(tm_disk *disk) {
    return (engine *)disk;
}

static int find(const engine *e, const char *name) {
    int place = 0;
    while (place < (int)NAMES && strcmp(e->names[place].name, name) != 0) {
        place++;
    }
    return place < (int)NAMES ? place : -1;
}

static void take(engine *e, const row *r) {
    if (r->kind == ROW_WRITTEN) {
        size_t end = r->at + r->size;
        if (end > e->files[r->file].size) {
            e->files[r->file].bytes = realloc(e->files[r->file].bytes, end);
            CHECK(e->files[r->file].bytes != NULL, "memory");
            memset(e->files[r->file].bytes + e->files[r->file].size, 0, end - e->files[r->file].size);
            e->files[r->file].size = end;
        }
        if (r->bytes != NULL) {
            memcpy(e->files[r->file].bytes + r->at, r->bytes, r->size);
        }
        return;
    }
    if (r->kind == ROW_CUT) {
        e->files[r->file].size = r->size < e->files[r->file].size ? r->size : e->files[r->file].size;
        return;
    }
    int place = find(e, r->name);
    place = place < 0 ? find(e, "") : place;
    CHECK(place >= 0, "too many names");
    strcpy(e->names[place].name, r->kind == ROW_NAMED ? r->name : "");
    e->names[place].file = r->file;
    e->file_count = r->file >= e->file_count ? r->file + 1 : e->file_count;
}

/* A row, of which the bytes are the engine's from here on. */
static void insert(engine *e, row r) {
    if (e->count == e->capacity) {
        e->capacity = e->capacity * 2 + 64;
        e->rows = realloc(e->rows, e->capacity * sizeof *e->rows);
        CHECK(e->rows != NULL, "memory");
    }
    e->rows[e->count++] = r;
    take(e, &r);
}

static void name(engine *e, row_kind kind, const char *name, int file) {
    row r = {.kind = kind, .file = file};
    strcpy(r.name, name);
    insert(e, r);
}

static int commit(engine *e) {
    e->committed = is_lying ? e->committed : e->count;
    e->commits++;
    return 0;
}

static int open_file(tm_disk *disk, const char *wanted, bool is_new, int *file) {
    engine *e = engine_of(disk);
    int place = find(e, wanted);
    if (!is_new && place < 0) {
        return -ENOENT;
    }
    if (is_new) {
        CHECK(e->file_count < (int)FILES, "too many files");
        name(e, ROW_NAMED, wanted, e->file_count);
        place = find(e, wanted);
    }
    *file = e->names[place].file;
    return 0;
}

static void close_file(tm_disk *disk, int file) {
    (void)disk;
    (void)file;
}

static int preallocate(tm_disk *disk, int file, uint64_t bytes) {
    insert(engine_of(disk), (row){.kind = ROW_WRITTEN, .file = file, .size = bytes});
    return 0;
}

static int cut(tm_disk *disk, int file, uint64_t bytes) {
    insert(engine_of(disk), (row){.kind = ROW_CUT, .file = file, .size = bytes});
    return 0;
}

static int64_t write_parts(tm_disk *disk, int file, const struct iovec *parts, int count, uint64_t at) {
    row r = {.kind = ROW_WRITTEN, .file = file, .at = at};
    for (int i = 0; i < count; i++) {
        r.size += parts[i].iov_len;
    }
    uint8_t *to = r.bytes = malloc(r.size);
    CHECK(to != NULL, "memory");
    for (int i = 0; i < count; i++) {
        memcpy(to, parts[i].iov_base, parts[i].iov_len);
        to += parts[i].iov_len;
    }
    insert(engine_of(disk), r);
    engine_of(disk)->writes++;
    return (int64_t)r.size;
}

static int64_t read_some(tm_disk *disk, int file, void *out, size_t size, uint64_t at) {
    const engine *e = engine_of(disk);
    size_t has = e->files[file].size;
    size = at >= has ? 0 : size < has - at ? size : has - at;
    if (size > 0) {
        memcpy(out, e->files[file].bytes + at, size);
    }
    return (int64_t)size;
}

static int sync_file(tm_disk *disk, int file) {
    (void)file;
    return commit(engine_of(disk));
}

static int rename_file(tm_disk *disk, const char *from, const char *to) {
    engine *e = engine_of(disk);
    int place = find(e, from);
    if (place < 0) {
        return -ENOENT;
    }
    int file = e->names[place].file;
    name(e, ROW_UNNAMED, from, file);
    name(e, ROW_NAMED, to, file);
    return 0;
}

static int sync_folder(tm_disk *disk) {
    return commit(engine_of(disk));
}

static int remove_file(tm_disk *disk, const char *gone) {
    engine *e = engine_of(disk);
    int place = find(e, gone);
    if (place < 0) {
        return -ENOENT;
    }
    name(e, ROW_UNNAMED, gone, e->names[place].file);
    return 0;
}

static int list_files(tm_disk *disk, tm_disk_seen seen, void *context) {
    const engine *e = engine_of(disk);
    for (uint32_t i = 0; i < NAMES; i++) {
        bool is_here = e->names[i].name[0] != 0 && strchr(e->names[i].name, '/') == NULL;
        if (is_here && !seen(context, e->names[i].name)) {
            break;
        }
    }
    return 0;
}

static int64_t size_of(tm_disk *disk, int file) {
    return (int64_t)engine_of(disk)->files[file].size;
}

static void free_engine(tm_disk *disk) {
    engine *e = engine_of(disk);
    for (size_t i = 0; i < e->count; i++) {
        free(e->rows[i].bytes);
    }
    for (int i = 0; i < e->file_count; i++) {
        free(e->files[i].bytes);
    }
    free(e->rows);
    free(e);
}

static const tm_disk_port PORT = {open_file,   close_file,  preallocate, cut,        write_parts, read_some,  sync_file,
                                  rename_file, sync_folder, remove_file, list_files, size_of,     free_engine};

static engine *engine_new(void) {
    engine *e = calloc(1, sizeof *e);
    CHECK(e != NULL, "memory");
    e->base.port = &PORT;
    return e;
}

/* What is found after a crash now. */
static engine *engine_crash(const engine *crashed) {
    engine *e = engine_new();
    for (size_t i = 0; i < crashed->committed; i++) {
        row r = crashed->rows[i];
        if (r.bytes != NULL) {
            r.bytes = malloc(r.size);
            CHECK(r.bytes != NULL, "memory");
            memcpy(r.bytes, crashed->rows[i].bytes, r.size);
        }
        insert(e, r);
    }
    commit(e);
    return e;
}

/* ---- the log over it ---- */

static model MODEL;

static tm_log *open_on(engine *e) {
    tm_log_options options = {.bytes_max = 20 * SEGMENT_BYTES,
                              .segment_bytes = SEGMENT_BYTES,
                              .ring_bytes = RING_BYTES,
                              .hash_seed = 1,
                              .has_no_threads = 1};
    tm_log *log = NULL;
    CHECK(tm_log_open_on(&options, &e->base, &log) == TM_OK, "the log does not open");
    return log;
}

static void append(tm_log *log, dice *d) {
    tm_log_entry entry;
    model_record record;
    uint64_t n;
    model_draw(&MODEL, d, BODY_MAX, &entry, &record);
    if (tm_log_append(log, &entry, &n) == TM_OK) {
        model_add(&MODEL, &record, &entry, n);
    }
}

static void acknowledge(tm_log *log, dice *d) {
    tm_log_done done;
    uint32_t holder;
    uint64_t n;
    if (model_draw_ack(&MODEL, d, &done, &holder)) {
        tm_log_entry entry = {.kind = TM_LOG_ACK, .body = &done, .body_size = sizeof done};
        if (tm_log_append(log, &entry, &n) == TM_OK) {
            model_ack(&MODEL, holder, &done, n);
        }
    }
}

/* Returns whether it was into the segment that was open, and made no spare file. */
static bool commit_batch(tm_log *log, const engine *e) {
    const tm_segment *open = log->store->open;
    uint32_t spares = log->store->spare_count;
    uint64_t writes = e->writes;
    uint64_t commits = e->commits;
    int result = tm_log_commit(log);
    CHECK(result == TM_OK || result == TM_ABSENT || result == TM_LOG_FULL, "commit: %d", result);
    bool is_plain = result == TM_OK && open != NULL && log->store->open == open && log->store->spare_count == spares;
    CHECK(!is_plain || (e->writes == writes + 1 && e->commits == commits + 1), "a batch is not written in one call");
    return is_plain;
}

static void compare(tm_log *log, uint64_t confirmed) {
    uint64_t n = tm_log_committed(log);
    CHECK(n >= confirmed, "committed records are not on disk");
    CHECK(log->store->recovery.damages == 0 && tm_log_missing(log, NULL, 0) == 0,
          "damage is reported, but there is none");
    const char *reason = model_compare(&MODEL, log, n, false, &n);
    CHECK(reason == NULL, "%s (number %lx)", reason, (unsigned long)n);
}

static void run(uint64_t seed) {
    dice d = {seed};
    engine *e = engine_new();
    tm_log *log = open_on(e);
    uint32_t crashes = 0;
    uint32_t plain = 0;
    model_begin(&MODEL);
    for (uint32_t step = 0; step < STEPS; step++) {
        uint32_t what = below(&d, 1000);
        uint32_t is_idle;
        if (what < 500) {
            append(log, &d);
        } else if (what < 700) {
            acknowledge(log, &d);
        } else if (what < 850) {
            plain += commit_batch(log, e);
        } else if (what < 990) {
            tm_log_maintain(log, &is_idle);
        } else {
            uint64_t confirmed = tm_log_committed(log);
            engine *found = engine_crash(e);
            tm_log_close(log);
            e = found;
            log = open_on(e);
            compare(log, confirmed);
            model_lose(&MODEL, tm_log_committed(log));
            crashes++;
        }
        if (MODEL.count > 400) {
            model_cut(&MODEL, tm_log_committed(log));
        }
    }
    while (tm_log_commit(log) == TM_OK) {
    }
    compare(log, tm_log_committed(log));
    tm_log_close(log);
    CHECK(crashes > STEPS / 200 && plain > STEPS / 40, "%u crashes, %u batches: too few", crashes, plain);
    printf("seed %lu: %u crashes of the engine, %u batches of one write and one commit\n", (unsigned long)seed, crashes,
           plain);
}

/* Is an engine that lies found? */
static bool finds_lies(void) {
    pid_t child = fork();
    CHECK(child >= 0, "no process");
    if (child == 0) {
        CHECK(freopen("/dev/null", "w", stderr) != NULL, "no /dev/null");
        is_lying = true;
        run(1);
        _exit(0);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child, "no process");
    return !WIFEXITED(status) || WEXITSTATUS(status) != 0;
}

int main(void) {
    CHECK(finds_lies(), "an engine that does not commit is not detected");
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        run(seed);
    }
    return 0;
}
