/* tls.h - the client's end of a TLS connection, without checking the daemon's certificate: it is measured, not trusted.
 *
 * Built without OpenSSL's headers (no WITH_TLS), tls_open says so and ends the program.
 */
#ifndef TLS_H
#define TLS_H

#include <stddef.h>
#include <sys/types.h>

typedef struct tls tls;

/* Shakes hands over the connected blocking socket, which stays the caller's. */
tls *tls_open(int fd);
void tls_close(tls *t);

/* As recv and send: -1 with errno EAGAIN if it must wait. */
ssize_t tls_read(tls *t, void *bytes, size_t room);
ssize_t tls_write(tls *t, const void *bytes, size_t length);

#endif
