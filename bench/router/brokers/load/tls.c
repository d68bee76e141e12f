/* tls.c - see tls.h. */
#include "tls.h"

#include "fail.h"

#ifdef WITH_TLS

#include <errno.h>
#include <openssl/ssl.h>
#include <stdlib.h>

struct tls {
    SSL_CTX *context;
    SSL *session;
};

tls *tls_open(int fd) {
    tls *t = malloc(sizeof *t);
    if (t == NULL) {
        fail("out of memory");
    }
    t->context = SSL_CTX_new(TLS_client_method());
    SSL_CTX_set_min_proto_version(t->context, TLS1_3_VERSION);
    SSL_CTX_set_mode(t->context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    t->session = SSL_new(t->context);
    if (t->session == NULL || !SSL_set_fd(t->session, fd) || SSL_connect(t->session) != 1) {
        fail("the daemon does not speak TLS 1.3 on this port");
    }
    return t;
}

void tls_close(tls *t) {
    SSL_free(t->session);
    SSL_CTX_free(t->context);
    free(t);
}

static ssize_t result_of(tls *t, int result) {
    if (result > 0) {
        return result;
    }
    int error = SSL_get_error(t->session, result);
    if (error == SSL_ERROR_ZERO_RETURN) {
        return 0;
    }
    errno = error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE ? EAGAIN : EPROTO;
    return -1;
}

/* Reads on while OpenSSL holds decrypted bytes: epoll does not know of those. */
ssize_t tls_read(tls *t, void *bytes, size_t room) {
    size_t done = 0;
    do {
        ssize_t got = result_of(t, SSL_read(t->session, (char *)bytes + done, (int)(room - done)));
        if (got <= 0) {
            return done > 0 ? (ssize_t)done : got;
        }
        done += (size_t)got;
    } while (done < room && SSL_pending(t->session) > 0);
    return (ssize_t)done;
}

ssize_t tls_write(tls *t, const void *bytes, size_t length) {
    return result_of(t, SSL_write(t->session, bytes, (int)length));
}

#else

_Noreturn static void absent(void) {
    fail("built without TLS: install libssl-dev and build again");
}

tls *tls_open(int fd) {
    (void)fd;
    absent();
}

void tls_close(tls *t) {
    (void)t;
    absent();
}

ssize_t tls_read(tls *t, void *bytes, size_t room) {
    (void)t, (void)bytes, (void)room;
    absent();
}

ssize_t tls_write(tls *t, const void *bytes, size_t length) {
    (void)t, (void)bytes, (void)length;
    absent();
}

#endif
