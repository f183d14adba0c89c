// The part that both floors share: one thread drives all transfers of a multi handle.
#include <curl/curl.h>
#include <stdio.h>

// Drives the transfers until none is left. `arrived` reports whether a transfer that has ended without an error has all
// its bytes; `begin` starts the next one in its place, and reports whether there is one. Returns whether any has
// failed.
static int drive(CURLM *multi, int (*arrived)(void *), int (*begin)(CURLM *, void *)) {
    int running = 0, left, failed = 0;
    do {
        curl_multi_perform(multi, &running);
        for (CURLMsg *message; (message = curl_multi_info_read(multi, &left));) {
            CURL *handle = message->easy_handle;
            void *transfer;
            if (message->data.result) {
                fprintf(stderr, "%s\n", curl_easy_strerror(message->data.result));
                failed = 1;
            }
            curl_easy_getinfo(handle, CURLINFO_PRIVATE, &transfer);
            if (!arrived(transfer)) failed = 1;
            curl_multi_remove_handle(multi, handle);
            if (!failed) running += begin(multi, transfer);
        }
        if (running) curl_multi_poll(multi, NULL, 0, 1000, NULL);
    } while (running);
    return failed;
}
