// Reads the system's certificates only when needed. The bundle has all of them in one file, and reading it costs more than
// the rest of a small upload; in the folder beside it OpenSSL finds a single certificate by name.
#ifndef S3UP_CTLS_TRUST_H
#define S3UP_CTLS_TRUST_H

struct ctls_trust;

// The bundle at a path, not read yet. It lives as long as the process; the same path returns the same. NULL without memory.
struct ctls_trust *ctls_trust_bundle(const char *path);

// Verifies the servers of an SSL_CTX with the certificates of its store, and if those are not sufficient, with the
// bundle as well. The result is the same as if the store had contained both from the start.
void ctls_trust_when_needed(void *context, struct ctls_trust *bundle);

// 1 once the bundle has been read, for tests.
int ctls_trust_was_read(struct ctls_trust *bundle);
#endif
