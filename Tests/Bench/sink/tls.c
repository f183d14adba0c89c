// TLS 1.3 with a certificate for the sink's address, signed by an authority created at the start.
#include "sink.h"
#include <openssl/hmac.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void must(int ok, const char *what) {
    if (ok) return;
    fprintf(stderr, "sink: %s failed\n", what);
    exit(1);
}

static void extension(X509 *x, X509V3_CTX *ctx, int id, const char *value) {
    X509_EXTENSION *e = X509V3_EXT_conf_nid(NULL, ctx, id, value);
    must(e != NULL, value);
    X509_add_ext(x, e, -1);
    X509_EXTENSION_free(e);
}

// Without an issuer the certificate is a self-signed authority.
static X509 *certificate(EVP_PKEY *key, const char *name, const char *alternatives, X509 *issuer, EVP_PKEY *issuer_key) {
    X509 *x = X509_new();
    unsigned char serial[8];
    must(x && RAND_bytes(serial, sizeof serial) == 1, "certificate");
    serial[0] &= 0x7f;
    BIGNUM *number = BN_bin2bn(serial, sizeof serial, NULL);
    BN_to_ASN1_INTEGER(number, X509_get_serialNumber(x));
    BN_free(number);
    X509_set_version(x, 2);
    X509_gmtime_adj(X509_getm_notBefore(x), -86400);
    X509_gmtime_adj(X509_getm_notAfter(x), 30L * 86400);
    X509_NAME_add_entry_by_txt(X509_get_subject_name(x), "CN", MBSTRING_ASC, (const unsigned char *)name, -1, -1, 0);
    X509_set_issuer_name(x, X509_get_subject_name(issuer ? issuer : x));
    X509_set_pubkey(x, key);
    X509V3_CTX ctx;
    X509V3_set_ctx(&ctx, issuer ? issuer : x, x, NULL, NULL, 0);
    extension(x, &ctx, NID_basic_constraints, issuer ? "critical,CA:FALSE" : "critical,CA:TRUE");
    extension(x, &ctx, NID_key_usage, issuer ? "critical,digitalSignature" : "critical,keyCertSign,cRLSign");
    extension(x, &ctx, NID_subject_key_identifier, "hash");
    if (issuer) {
        extension(x, &ctx, NID_ext_key_usage, "serverAuth");
        extension(x, &ctx, NID_authority_key_identifier, "keyid");
        extension(x, &ctx, NID_subject_alt_name, alternatives);
    }
    must(X509_sign(x, issuer_key ? issuer_key : key, EVP_sha256()), "signing the certificate");
    return x;
}

// OpenSSL gives the traffic secrets to the key log callback; the client's secret opens the records that it sends.
static void on_key(const SSL *s, const char *line) {
    Records *r = SSL_get_app_data(s);
    if (strncmp(line, "CLIENT_TRAFFIC_SECRET_0 ", 24)) return;
    r->secret_length = 0;
    for (const char *p = strrchr(line, ' ') + 1; p[0] && p[1] && r->secret_length < 64; p += 2) {
        unsigned byte = 0;
        sscanf(p, "%2x", &byte);
        r->secret[r->secret_length++] = (unsigned char)byte;
    }
}

// HKDF-Expand-Label of RFC 8446, for outputs of at most one hash
static void expand_label(const Records *r, const EVP_MD *md, const char *label, unsigned char *out, size_t n) {
    unsigned char info[64] = {0, (unsigned char)n, (unsigned char)(strlen(label) + 6)}, block[64];
    int k = 3 + snprintf((char *)info + 3, sizeof info - 3, "tls13 %s", label);
    info[k++] = 0;
    info[k++] = 1;
    HMAC(md, r->secret, r->secret_length, info, (size_t)k, block, NULL);
    memcpy(out, block, n);
}

int records_start(Records *r, SSL *s) {
    int long_key = !strcmp(SSL_get_cipher(s), "TLS_AES_256_GCM_SHA384");
    if (!r->secret_length || SSL_has_pending(s)) return 0;
    unsigned char key[32];
    const EVP_MD *md = long_key ? EVP_sha384() : EVP_sha256();
    expand_label(r, md, "key", key, long_key ? 32 : 16);
    expand_label(r, md, "iv", r->iv, sizeof r->iv);
    r->gcm = EVP_CIPHER_CTX_new();
    EVP_DecryptInit_ex(r->gcm, long_key ? EVP_aes_256_gcm() : EVP_aes_128_gcm(), NULL, key, NULL);
    r->record = malloc(1 << 15);
    return r->gcm && r->record;
}

int records_open(Records *r, unsigned char *record, size_t n) {
    unsigned char nonce[12];
    int m;
    if (n < 17) return -1;
    memcpy(nonce, r->iv, sizeof nonce);
    for (int i = 0; i < 8; i++) nonce[11 - i] ^= (unsigned char)(r->sequence >> (8 * i));
    if (!EVP_DecryptInit_ex(r->gcm, NULL, NULL, NULL, nonce) || !EVP_DecryptUpdate(r->gcm, NULL, &m, r->head, 5) ||
        !EVP_DecryptUpdate(r->gcm, record, &m, record, (int)n - 16) ||
        !EVP_CIPHER_CTX_ctrl(r->gcm, EVP_CTRL_GCM_SET_TAG, 16, record + n - 16) ||
        EVP_DecryptFinal_ex(r->gcm, record + m, &m) <= 0) return -1;
    for (n -= 16; n && !record[n - 1];) n--;        // padding
    return n ? (int)n : -1;
}

SSL_CTX *tls_context(const char *ca_file, const char *address) {
    SSL_CTX *c = SSL_CTX_new(TLS_server_method());
    must(c && SSL_CTX_set_min_proto_version(c, TLS1_3_VERSION), "TLS");
    // AES-128-GCM first, as S3 prefers it
    must(SSL_CTX_set_ciphersuites(c, "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384"), "ciphers");
    SSL_CTX_set_options(c, SSL_OP_CIPHER_SERVER_PREFERENCE);
    SSL_CTX_set_mode(c, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    SSL_CTX_set_keylog_callback(c, on_key);
    EVP_PKEY *ca_key = EVP_EC_gen("P-256"), *key = EVP_EC_gen("P-256");
    char alternatives[64];
    snprintf(alternatives, sizeof alternatives, "DNS:localhost,IP:%s", address);
    X509 *ca = certificate(ca_key, "s3up benchmark authority", NULL, NULL, NULL);
    SSL_CTX_use_certificate(c, certificate(key, "localhost", alternatives, ca, ca_key));
    SSL_CTX_use_PrivateKey(c, key);
    FILE *f = fopen(ca_file, "w");
    must(f && PEM_write_X509(f, ca) && !fclose(f), ca_file);
    return c;
}
