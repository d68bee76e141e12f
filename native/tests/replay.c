/* replay.c - a main for a libFuzzer target where there is no libFuzzer: each file named on the command line once.
 *
 * Law: what a fuzzer found is never found again: its input is a seed, and every run of the tests replays the seeds.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define SEED_BYTES_MAX 65536 /* libFuzzer cuts a seed down before it stores it */

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void replay(const char *path) {
    static uint8_t bytes[SEED_BYTES_MAX];
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        perror(path);
        exit(1);
    }
    size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    printf("%s: %zu bytes\n", path, size);
    LLVMFuzzerTestOneInput(bytes, size);
}

int main(int count, char **paths) {
    for (int i = 1; i < count; i++) {
        replay(paths[i]);
    }
    return count > 1 ? 0 : 1;
}
