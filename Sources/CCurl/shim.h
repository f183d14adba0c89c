// curl_easy_setopt, curl_easy_getinfo and curl_multi_setopt are variadic, which Swift cannot call: one typed function for each kind of argument.
#ifndef S3UP_CCURL_SHIM_H
#define S3UP_CCURL_SHIM_H
#include "loan.h"
#include <curl/curl.h>

typedef size_t (*s3up_curl_io)(char *buffer, size_t size, size_t count, void *context);
typedef int (*s3up_curl_seek)(void *context, curl_off_t offset, int origin);
typedef int (*s3up_curl_xferinfo)(
    void *context, curl_off_t downTotal, curl_off_t down, curl_off_t upTotal, curl_off_t up);
typedef CURLcode (*s3up_curl_sslctx)(CURL *handle, void *sslContext, void *context);
typedef int (*s3up_curl_sockopt)(void *context, curl_socket_t socket, curlsocktype purpose);

static inline CURLcode s3up_easy_long(CURL *h, CURLoption o, long v) { return curl_easy_setopt(h, o, v); }
static inline CURLcode s3up_easy_offset(CURL *h, CURLoption o, curl_off_t v) { return curl_easy_setopt(h, o, v); }
static inline CURLcode s3up_easy_string(CURL *h, CURLoption o, const char *v) { return curl_easy_setopt(h, o, v); }
static inline CURLcode s3up_easy_pointer(CURL *h, CURLoption o, void *v) { return curl_easy_setopt(h, o, v); }
static inline CURLcode s3up_easy_loan(CURL *h, struct s3up_loan *v) {
  return curl_easy_setopt(h, (CURLoption)S3UP_CURLOPT_LOAN, v);
}
static inline CURLcode s3up_easy_list(CURL *h, CURLoption o, struct curl_slist *v) { return curl_easy_setopt(h, o, v); }
static inline CURLcode s3up_easy_io(CURL *h, CURLoption o, s3up_curl_io f) { return curl_easy_setopt(h, o, f); }
static inline CURLcode s3up_easy_seek(CURL *h, s3up_curl_seek f) { return curl_easy_setopt(h, CURLOPT_SEEKFUNCTION, f); }
static inline CURLcode s3up_easy_xferinfo(CURL *h, s3up_curl_xferinfo f) {
  return curl_easy_setopt(h, CURLOPT_XFERINFOFUNCTION, f);
}
static inline CURLcode s3up_easy_sslctx(CURL *h, s3up_curl_sslctx f) {
  return curl_easy_setopt(h, CURLOPT_SSL_CTX_FUNCTION, f);
}
static inline CURLcode s3up_easy_prereq(CURL *h, curl_prereq_callback f) {
  return curl_easy_setopt(h, CURLOPT_PREREQFUNCTION, f);
}
static inline CURLcode s3up_easy_sockopt(CURL *h, s3up_curl_sockopt f) {
  return curl_easy_setopt(h, CURLOPT_SOCKOPTFUNCTION, f);
}
static inline CURLcode s3up_info_long(CURL *h, CURLINFO i, long *v) { return curl_easy_getinfo(h, i, v); }
static inline CURLcode s3up_info_offset(CURL *h, CURLINFO i, curl_off_t *v) { return curl_easy_getinfo(h, i, v); }
static inline CURLcode s3up_info_string(CURL *h, CURLINFO i, const char **v) { return curl_easy_getinfo(h, i, v); }
static inline CURLcode s3up_info_pointer(CURL *h, CURLINFO i, void **v) { return curl_easy_getinfo(h, i, v); }
// The name and version of libcurl's TLS library, such as "OpenSSL/3.0.22".
static inline const char *s3up_tls_library(void) { return curl_version_info(CURLVERSION_NOW)->ssl_version; }
// Where this libcurl looks for certificates by default; NULL if it was built without a default.
static inline const char *s3up_ca_bundle(void) { return curl_version_info(CURLVERSION_NOW)->cainfo; }
static inline const char *s3up_ca_folder(void) { return curl_version_info(CURLVERSION_NOW)->capath; }
// The SSL* of the connection that the transfer uses now; NULL when it uses none, or libcurl's TLS is not OpenSSL's.
static inline void *s3up_info_openssl(CURL *h) {
  struct curl_tlssessioninfo *info = NULL;
  if (curl_easy_getinfo(h, CURLINFO_TLS_SSL_PTR, &info) != CURLE_OK || !info) return NULL;
  return info->backend == CURLSSLBACKEND_OPENSSL ? info->internals : NULL;
}
static inline CURLcode s3up_easy_share(CURL *h, CURLSH *v) { return curl_easy_setopt(h, CURLOPT_SHARE, v); }
static inline CURLSHcode s3up_share_data(CURLSH *s, curl_lock_data v) {
  return curl_share_setopt(s, CURLSHOPT_SHARE, v);
}
static inline CURLMcode s3up_multi_long(CURLM *m, CURLMoption o, long v) { return curl_multi_setopt(m, o, v); }

// CURLMsg keeps the result in a union that Swift imports awkwardly.
static inline CURLcode s3up_message_result(const CURLMsg *m) { return m->data.result; }
#endif
