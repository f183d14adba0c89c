// Whether libcurl uses the OpenSSL that this program is linked to, and the order of its ciphers.
#include "include/gather.h"
#include <openssl/crypto.h>
#include <openssl/ssl.h>
#include <string.h>

int ctls_is_same_openssl(const char *version) {
  // "OpenSSL/3.0.22", or "(OpenSSL/3.0.22) GnuTLS/3.7.9", in which the library in parentheses is not in use.
  static const char name[] = "OpenSSL/";
  if (!version || strncmp(version, name, sizeof name - 1)) return 0;
  version += sizeof name - 1;
  const char *ours = OpenSSL_version(OPENSSL_VERSION);  // "OpenSSL 3.0.22 2 Jun 2026"
  if (strncmp(ours, "OpenSSL ", 8)) return 0;
  ours += 8;
  size_t length = strcspn(version, " ");
  return length > 0 && !strncmp(version, ours, length) && (ours[length] == ' ' || !ours[length]);
}

// Servers without an order of their own use the client's. 128 bits cost a tenth less than 256.
int ctls_prefer_aes128(void *context) {
  static const char wanted[] = "TLS_AES_128_GCM_SHA256";
  SSL_CTX *tls = context;
  if (!tls || SSL_CTX_get_ssl_method(tls) != TLS_client_method()) return 0;
  STACK_OF(SSL_CIPHER) *ciphers = SSL_CTX_get_ciphers(tls);
  char order[512], *end = order;
  int found = 0, count = 0;
  memcpy(end, wanted, sizeof wanted);
  end += sizeof wanted - 1;
  for (int i = 0; ciphers && i < sk_SSL_CIPHER_num(ciphers); i++) {
    const SSL_CIPHER *cipher = sk_SSL_CIPHER_value(ciphers, i);
    const char *name = SSL_CIPHER_get_name(cipher), *protocol = SSL_CIPHER_get_version(cipher);
    if (!name || !protocol || strcmp(protocol, "TLSv1.3")) continue;
    if (!strcmp(name, wanted)) {
      if (!count) return 1;
      found = 1;
      continue;
    }
    size_t length = strlen(name);
    if (length + 2 > (size_t)(order + sizeof order - end)) return 0;
    *end++ = ':';
    memcpy(end, name, length + 1);
    end += length;
    count++;
  }
  return found && SSL_CTX_set_ciphersuites(tls, order) == 1;
}
