/* fail.h - a benchmark that cannot go on says why in one sentence and leaves with 1: no figure is better than a wrong
 * one.
 */
#ifndef FAIL_H
#define FAIL_H

_Noreturn void fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* As fail, with what errno says behind it. */
_Noreturn void fail_errno(const char *what);

#endif
