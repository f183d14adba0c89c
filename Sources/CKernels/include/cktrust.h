// The system's certificates, read when they are needed. A bundle is all of them in one file, and reading it costs more
// than the rest of a small upload; in the folder beside it OpenSSL finds the one that is asked for by its name.
#ifndef S3UP_CKTRUST_H
#define S3UP_CKTRUST_H

struct ck_trust;

// The bundle at a path, not read yet. It lives as long as the process; the same path gives the same. NULL without memory.
struct ck_trust *ck_trust_bundle(const char *path);

// Verifies the servers of an SSL_CTX with what its store has; when that is not enough, with the bundle as well. What is
// accepted and refused is what it would be had the store held both from the start.
void ck_trust_when_needed(void *context, struct ck_trust *bundle);

// 1 once the bundle has been read, for tests.
int ck_trust_was_read(struct ck_trust *bundle);
#endif
