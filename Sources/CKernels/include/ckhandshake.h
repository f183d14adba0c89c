// What a server said in a TLS handshake that failed. libcurl tells it in a sentence only.
#ifndef S3UP_CKHANDSHAKE_H
#define S3UP_CKHANDSHAKE_H

struct ck_handshake;

// Listens to the connections of an SSL_CTX of this OpenSSL. What is given back stays until it is let go, whatever becomes
// of the connection; NULL when memory ends.
struct ck_handshake *ck_handshake_watch(void *context);
void ck_handshake_release(struct ck_handshake *handshake);

// The first bytes that came were no record of TLS.
int ck_handshake_is_foreign(const struct ck_handshake *handshake);
// The fatal alert that the server sent (RFC 8446, 6); -1 when there was none.
int ck_handshake_alert(const struct ck_handshake *handshake);
#endif
