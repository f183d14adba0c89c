// One send for all TLS records of one SSL_write. libcurl gives OpenSSL 256 KiB at a time, OpenSSL makes sixteen records
// of them, and writes each by its own system call: half of the cost of the kernel. A filter BIO between OpenSSL and
// libcurl's own collects the records and passes them on together.
//
// It holds nothing back when SSL_write returns success, because the caller waits for the socket only if SSL_write asks
// for it. So it must know which record is the last. The caller announces how many bytes the next SSL_write gets
// (ctls_gather_expect), and OpenSSL cuts them into records of 16 KiB, of which only the last is shorter. Whatever does
// not match that (a shorter record, an alert, part of a handshake) is sent at once, with all that came before it.
#include "include/gather.h"
#include <openssl/bio.h>
#include <openssl/ssl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { RECORD = 16384, HEADER = 5, APPLICATION_DATA = 23, ROOM = 17 * RECORD };

struct gather {
  // How many records of the current SSL_write may still come, and the length of each except the last.
  size_t records;
  int whole;
  // The first `sent` of `held` bytes have been sent.
  int held, sent;
  // The length of a record that was stored but not acknowledged yet, because the socket was full: OpenSSL passes the
  // same record again until the write succeeds.
  int owed;
  // ROOM bytes while anything is held, else NULL.
  char *bytes;
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static BIO_METHOD *method;
static int type;
static atomic_size_t connections;
// One spare buffer per thread: its connections share it as long as the socket takes everything, so that it stays in the
// cache and an idle connection has none.
static pthread_key_t spare;

static int take_buffer(struct gather *g) {
  if (g->bytes) return 1;
  g->bytes = pthread_getspecific(spare);
  if (g->bytes) pthread_setspecific(spare, NULL);
  else g->bytes = malloc(ROOM);
  return g->bytes != NULL;
}

static void give_back_buffer(struct gather *g) {
  if (g->bytes && (pthread_getspecific(spare) || pthread_setspecific(spare, g->bytes))) free(g->bytes);
  g->bytes = NULL;
}

// Returns 1, or the result of the BIO below. After a retry the same bytes are passed again, because that BIO may be TLS
// too (to a proxy), and OpenSSL requires that.
static int flush(BIO *bio, struct gather *g) {
  while (g->sent < g->held) {
    int count = BIO_write(BIO_next(bio), g->bytes + g->sent, g->held - g->sent);
    if (count <= 0) {
      BIO_copy_next_retry(bio);
      return count;
    }
    g->sent += count;
  }
  g->held = g->sent = 0;
  give_back_buffer(g);
  return 1;
}

static int pass_on(BIO *bio, const char *data, int length) {
  int count = BIO_write(BIO_next(bio), data, length);
  if (count <= 0) BIO_copy_next_retry(bio);
  return count;
}

static int gather_write(BIO *bio, const char *data, int length) {
  struct gather *g = BIO_get_data(bio);
  BIO_clear_retry_flags(bio);
  if (length <= 0) return 0;
  if (g->owed) {
    // OpenSSL never passes another record while one is owed; accepting it would lose one.
    if (length != g->owed) return -1;
    int status = flush(bio, g);
    if (status > 0) g->owed = 0;
    return status > 0 ? length : status;
  }
  if (!g->records || (unsigned char)data[0] != APPLICATION_DATA || length > ROOM - g->held || !take_buffer(g)) {
    g->records = 0;
    int status = flush(bio, g);
    return status > 0 ? pass_on(bio, data, length) : status;
  }
  if (!g->whole) g->whole = length;
  g->records = length < HEADER + RECORD || length != g->whole ? 0 : g->records - 1;
  memcpy(g->bytes + g->held, data, (size_t)length);
  g->held += length;
  if (g->records && g->held + g->whole <= ROOM) return length;
  int status = flush(bio, g);
  if (status > 0) return length;
  g->owed = length;
  return status;
}

static long gather_control(BIO *bio, int command, long number, void *pointer) {
  struct gather *g = BIO_get_data(bio);
  BIO *next = BIO_next(bio);
  if (!next) return 0;
  if (command == BIO_CTRL_FLUSH) {
    BIO_clear_retry_flags(bio);
    int status = flush(bio, g);
    if (status <= 0) return status;
  }
  long answer = BIO_ctrl(next, command, number, pointer);
  if (command == BIO_CTRL_FLUSH && answer <= 0) BIO_copy_next_retry(bio);
  return command == BIO_CTRL_WPENDING ? answer + g->held - g->sent : answer;
}

static int gather_free(BIO *bio) {
  if (!bio) return 0;
  struct gather *g = BIO_get_data(bio);
  if (g) free(g->bytes);
  free(g);
  BIO_set_data(bio, NULL);
  return 1;
}

static void prepare(void) {
  type = BIO_get_new_index() | BIO_TYPE_FILTER;
  if (pthread_key_create(&spare, free)) return;
  method = BIO_meth_new(type, "gathered records");
  if (!method) return;
  BIO_meth_set_write(method, gather_write);
  BIO_meth_set_ctrl(method, gather_control);
  BIO_meth_set_destroy(method, gather_free);
}

// The connection's gathering BIO, inserted on first use; NULL if that is impossible.
static struct gather *gather_of(SSL *ssl) {
  pthread_once(&once, prepare);
  BIO *own = SSL_get_wbio(ssl);
  if (!method || !own) return NULL;
  if (BIO_method_type(own) == type) return BIO_get_data(own);
  // With partial writes SSL_write returns after each record, so that records cannot be collected.
  if (!SSL_is_init_finished(ssl) || SSL_get_mode(ssl) & SSL_MODE_ENABLE_PARTIAL_WRITE) return NULL;
  BIO *bio = BIO_new(method);
  struct gather *g = bio ? calloc(1, sizeof *g) : NULL;
  if (!g) {
    BIO_free(bio);
    return NULL;
  }
  BIO_set_data(bio, g);
  BIO_set_init(bio, 1);
  // SSL_set0_wbio releases the connection's reference to its own BIO; from here on the chain holds one.
  BIO_up_ref(own);
  BIO_push(bio, own);
  SSL_set0_wbio(ssl, bio);
  atomic_fetch_add_explicit(&connections, 1, memory_order_relaxed);
  return g;
}

size_t ctls_gather_connections(void) { return atomic_load_explicit(&connections, memory_order_relaxed); }

int ctls_gather_expect(void *connection, size_t count) {
  SSL *ssl = connection;
  // The method is a variable of the library: the same address means the same copy of the library.
  if (!ssl || SSL_CTX_get_ssl_method(SSL_get_SSL_CTX(ssl)) != TLS_client_method()) return 0;
  // A write that OpenSSL has to repeat must find the same BIO and count.
  if (SSL_want_write(ssl)) return 0;
  struct gather *g = gather_of(ssl);
  if (!g || g->held) return 0;
  g->records = (count + RECORD - 1) / RECORD;
  g->whole = 0;
  return 1;
}
