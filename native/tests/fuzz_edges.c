/* fuzz_edges.c - what libFuzzer needs of a program that gcc has built: a counter for each edge, and main.
 *
 * Law: gcc calls __sanitizer_cov_trace_pc at each edge; the counters stand where libFuzzer looks for those of others.
 * clang counts by itself, and builds without this file.
 */
#include <stddef.h>
#include <stdint.h>

#define COUNTERS 32768U /* a power of two, a few times the edges; two edges may share one */

extern int LLVMFuzzerRunDriver(int *count, char ***words, int (*target)(const uint8_t *bytes, size_t size));
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);
void __sanitizer_cov_trace_pc(void);
void __sanitizer_cov_trace_cmpf(float a, float b);
void __sanitizer_cov_trace_cmpd(double a, double b);

__attribute__((section("__libfuzzer_extra_counters"))) static uint8_t counters[COUNTERS];

__attribute__((no_sanitize("address", "undefined"))) void __sanitizer_cov_trace_pc(void) {
    uintptr_t place = (uintptr_t)__builtin_return_address(0);
    counters[(place ^ place >> 15) % COUNTERS]++;
}

/* gcc tells of comparisons of fractions, too, which libFuzzer does not ask for. */
void __sanitizer_cov_trace_cmpf(float a, float b) {
    (void)a;
    (void)b;
}

void __sanitizer_cov_trace_cmpd(double a, double b) {
    (void)a;
    (void)b;
}

int main(int count, char **words) {
    return LLVMFuzzerRunDriver(&count, &words, LLVMFuzzerTestOneInput);
}
