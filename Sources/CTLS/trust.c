// A bundle of certificates as a fallback for a folder of them.
#include "include/trust.h"
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct ctls_trust {
  char *path;
  // The certificates of the file; NULL until it is read, and never changed afterwards.
  X509_STORE *store;
  struct ctls_trust *next;
};

// Guards `bundles` and each one's `store`: event loops of several threads verify at the same time.
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct ctls_trust *bundles;

struct ctls_trust *ctls_trust_bundle(const char *path) {
  pthread_mutex_lock(&lock);
  struct ctls_trust *bundle = bundles;
  while (bundle && strcmp(bundle->path, path)) bundle = bundle->next;
  if (!bundle && (bundle = calloc(1, sizeof *bundle))) {
    if ((bundle->path = strdup(path))) {
      bundle->next = bundles;
      bundles = bundle;
    } else {
      free(bundle);
      bundle = NULL;
    }
  }
  pthread_mutex_unlock(&lock);
  return bundle;
}

int ctls_trust_was_read(struct ctls_trust *bundle) {
  pthread_mutex_lock(&lock);
  int was = bundle->store != NULL;
  pthread_mutex_unlock(&lock);
  return was;
}

// Reads the file once, on the first thread that needs it. If it cannot be read, it adds nothing.
static X509_STORE *contents(struct ctls_trust *bundle) {
  pthread_mutex_lock(&lock);
  if (!bundle->store && (bundle->store = X509_STORE_new())) X509_STORE_load_file(bundle->store, bundle->path);
  X509_STORE *store = bundle->store;
  pthread_mutex_unlock(&lock);
  return store;
}

static void add(X509_STORE *store, struct ctls_trust *bundle) {
  X509_STORE *from = contents(bundle);
  STACK_OF(X509_OBJECT) *objects = from ? X509_STORE_get0_objects(from) : NULL;
  for (int i = 0; i < sk_X509_OBJECT_num(objects); i++) {
    const X509_OBJECT *object = sk_X509_OBJECT_value(objects, i);
    X509 *certificate = X509_OBJECT_get0_X509(object);
    X509_CRL *list = X509_OBJECT_get0_X509_CRL(object);
    if (certificate) X509_STORE_add_cert(store, certificate);
    if (list) X509_STORE_add_crl(store, list);
  }
}

// Verifies again in a new context, because a context can be used for one verification only.
static int is_enough(X509_STORE_CTX *context) {
  X509_STORE_CTX *trial = X509_STORE_CTX_new();
  int enough = trial &&
               X509_STORE_CTX_init(trial, X509_STORE_CTX_get0_store(context), X509_STORE_CTX_get0_cert(context),
                                   X509_STORE_CTX_get0_untrusted(context)) == 1 &&
               X509_VERIFY_PARAM_set1(X509_STORE_CTX_get0_param(trial), X509_STORE_CTX_get0_param(context)) == 1 &&
               X509_verify_cert(trial) == 1;
  X509_STORE_CTX_free(trial);
  return enough;
}

static int verify(X509_STORE_CTX *context, void *bundle) {
  // Errors of earlier attempts must not be reported as the error of the verification that counts.
  ERR_set_mark();
  if (!is_enough(context)) add(X509_STORE_CTX_get0_store(context), bundle);
  ERR_pop_to_mark();
  return X509_verify_cert(context);
}

void ctls_trust_when_needed(void *context, struct ctls_trust *bundle) {
  SSL_CTX_set_cert_verify_callback(context, verify, bundle);
}
