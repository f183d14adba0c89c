// libcurl and the thirty libraries under it take most of the time before main. So they are not loaded by the linker but by
// a thread of the program, while another one reads the command line. Each function of libcurl that is used stands here
// as a jump to where it then is; who calls one has seen to it that it was loaded.
#include "include/ckernels.h"
#include <dlfcn.h>
#include <stddef.h>

#define EACH(X)                                                                                                        \
    X(curl_easy_cleanup) X(curl_easy_getinfo) X(curl_easy_init) X(curl_easy_pause) X(curl_easy_reset)                  \
    X(curl_easy_setopt) X(curl_easy_strerror) X(curl_global_init) X(curl_multi_add_handle) X(curl_multi_cleanup)       \
    X(curl_multi_info_read) X(curl_multi_init) X(curl_multi_perform) X(curl_multi_poll) X(curl_multi_remove_handle)    \
    X(curl_multi_setopt) X(curl_multi_strerror) X(curl_multi_wakeup) X(curl_share_cleanup) X(curl_share_init)          \
    X(curl_share_setopt) X(curl_slist_append) X(curl_slist_free_all) X(curl_version_info)

// The jump keeps the arguments as they are, also those of a variadic function.
#if defined(__x86_64__)
#define JUMP(name) "endbr64\n jmp *to_" #name "(%rip)\n"
#elif defined(__aarch64__)
#define JUMP(name) "hint #34\n adrp x16, to_" #name "\n ldr x16, [x16, :lo12:to_" #name "]\n br x16\n"
#else
#error "the jumps are written for x86-64 and 64-bit ARM"
#endif
#define STAND_IN(name)                                                                                                 \
    __attribute__((visibility("hidden"), used)) void *to_##name;                                                       \
    __asm__(".text\n .p2align 4\n .globl " #name "\n .hidden " #name "\n .type " #name ", %function\n" #name ":\n"     \
            JUMP(name) ".size " #name ", .-" #name "\n");
EACH(STAND_IN)

const char *ck_curl_load(void) {
    void *library = dlopen("libcurl.so.4", RTLD_LAZY | RTLD_LOCAL);
    if (!library) return dlerror();
#define FIND(name)                                                                                                     \
    if (!(to_##name = dlsym(library, #name))) return dlerror();
    EACH(FIND)
    return NULL;
}
