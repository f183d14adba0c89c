// Looks at record headers and alerts until the handshake is over. A connection belongs to one thread at a time, so only
// the count of holders is atomic.
#include "include/handshake.h"
#include <openssl/ssl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct ctls_handshake {
  // The SSL_CTX and the caller.
  atomic_int holders;
  int heads;
  int is_foreign;
  int alert;
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int place = -1;

void ctls_handshake_release(struct ctls_handshake *handshake) {
  if (handshake && atomic_fetch_sub(&handshake->holders, 1) == 1) free(handshake);
}

static void let_go(void *parent, void *held, CRYPTO_EX_DATA *data, int index, long number, void *pointer) {
  (void)parent, (void)data, (void)index, (void)number, (void)pointer;
  ctls_handshake_release(held);
}

static void set_up(void) { place = SSL_CTX_get_ex_new_index(0, NULL, NULL, NULL, let_go); }

static void hear(
  int is_sent, int version, int type, const void *bytes, size_t length, SSL *ssl, void *argument) {
  struct ctls_handshake *handshake = argument;
  const unsigned char *text = bytes;
  (void)version;
  // The callback stays installed: OpenSSL calls it twice for a TLS 1.3 record, but checks only before the first call that
  // there is one.
  // In TLS 1.3 the alert about a missing certificate comes after the client's side of the handshake.
  if (is_sent || (SSL_is_init_finished(ssl) && type != SSL3_RT_ALERT)) return;
  // Record types 20 to 24, and version 3.x, which TLS 1.3 sends too.
  if (type == SSL3_RT_HEADER && handshake->heads++ == 0)
    handshake->is_foreign = length >= 2 && (text[0] < 20 || text[0] > 24 || text[1] != 3);
  if (type == SSL3_RT_ALERT && length == 2 && text[0] == SSL3_AL_FATAL) handshake->alert = text[1];
}

struct ctls_handshake *ctls_handshake_watch(void *context) {
  SSL_CTX *tls = context;
  pthread_once(&once, set_up);
  if (!tls || place < 0 || SSL_CTX_get_ex_data(tls, place)) return NULL;
  struct ctls_handshake *handshake = calloc(1, sizeof *handshake);
  if (!handshake) return NULL;
  handshake->alert = -1;
  handshake->holders = 1;
  if (!SSL_CTX_set_ex_data(tls, place, handshake)) {
    free(handshake);
    return NULL;
  }
  handshake->holders = 2;
  SSL_CTX_set_msg_callback(tls, hear);
  SSL_CTX_set_msg_callback_arg(tls, handshake);
  return handshake;
}

int ctls_handshake_is_foreign(const struct ctls_handshake *handshake) { return handshake && handshake->is_foreign; }
int ctls_handshake_alert(const struct ctls_handshake *handshake) { return handshake ? handshake->alert : -1; }
