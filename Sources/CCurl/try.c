// Whether a libcurl is the one of its headers, can be set up, tell its versions and make requests: to a port of this
// machine where nobody listens.
#include <curl/curl.h>
#include <stdio.h>
#include <string.h>

int main(void) {
    if (curl_global_init(CURL_GLOBAL_ALL) != CURLE_OK) return 1;
    const curl_version_info_data *version = curl_version_info(CURLVERSION_NOW);
    if (strcmp(version->version, LIBCURL_VERSION)) return 5;
    if (!version->ssl_version || strncmp(version->ssl_version, "OpenSSL/", 8)) return 2;
    static const char *const urls[] = {"http://127.0.0.1:1/", "https://127.0.0.1:1/"};
    for (int i = 0; i < 2; i++) {
        CURL *easy = curl_easy_init();
        if (!easy || curl_easy_setopt(easy, CURLOPT_URL, urls[i]) != CURLE_OK ||
            curl_easy_setopt(easy, CURLOPT_PROXY, "") != CURLE_OK ||
            curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1) != CURLE_OK ||
            curl_easy_setopt(easy, CURLOPT_TIMEOUT, 5L) != CURLE_OK)
            return 3;
        CURLcode outcome = curl_easy_perform(easy);
        if (outcome != CURLE_COULDNT_CONNECT) {
            puts(curl_easy_strerror(outcome));
            return 4;
        }
        curl_easy_cleanup(easy);
    }
    curl_global_cleanup();
    return 0;
}
