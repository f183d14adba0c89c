// Why a TLS handshake failed on the server's side, which libcurl reports only as a sentence.
#ifndef S3UP_CTLS_HANDSHAKE_H
#define S3UP_CTLS_HANDSHAKE_H

struct ctls_handshake;

// Watches the connections of an SSL_CTX of this OpenSSL. The returned value stays valid until it is released, even after
// the connection; NULL without memory.
struct ctls_handshake *ctls_handshake_watch(void *context);
void ctls_handshake_release(struct ctls_handshake *handshake);

// 1 if the first bytes received were not a TLS record.
int ctls_handshake_is_foreign(const struct ctls_handshake *handshake);
// The fatal alert that the server sent (RFC 8446, 6); -1 if none.
int ctls_handshake_alert(const struct ctls_handshake *handshake);
#endif
