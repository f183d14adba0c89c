// Growing buffers, query parameters, percent and XML escaping.
#include "sink.h"
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void buffer_add(Buffer *b, const void *p, size_t n) {
    if (b->n + n + 1 > b->cap) {
        b->cap = (b->n + n + 1) * 2;
        b->p = realloc(b->p, b->cap);
        if (!b->p) abort();
    }
    if (n) memcpy(b->p + b->n, p, n);
    b->n += n;
    b->p[b->n] = 0;
}

void buffer_fmt(Buffer *b, const char *fmt, ...) {
    char s[4096];
    va_list a;
    va_start(a, fmt);
    int n = vsnprintf(s, sizeof s, fmt, a);
    va_end(a);
    buffer_add(b, s, n < (int)sizeof s ? (size_t)n : sizeof s - 1);
}

void buffer_xml(Buffer *b, const char *s) {
    for (; *s; s++) {
        if (*s == '&') buffer_add(b, "&amp;", 5);
        else if (*s == '<') buffer_add(b, "&lt;", 4);
        else if (*s == '>') buffer_add(b, "&gt;", 4);
        else if (*s == '"') buffer_add(b, "&quot;", 6);
        else buffer_add(b, s, 1);
    }
}

static int hex(int c) { return c <= '9' ? c - '0' : (c | 32) - 'a' + 10; }

void unescape(char *dst, size_t cap, const char *s, size_t n) {
    size_t j = 0;
    for (size_t i = 0; i < n && j + 1 < cap; i++) {
        if (s[i] == '%' && i + 2 < n && isxdigit((unsigned char)s[i + 1]) && isxdigit((unsigned char)s[i + 2])) {
            dst[j++] = (char)(hex(s[i + 1]) << 4 | hex(s[i + 2]));
            i += 2;
        } else {
            dst[j++] = s[i];
        }
    }
    dst[j] = 0;
}

int parameter(const char *query, const char *name, char *dst, size_t cap) {
    size_t n = strlen(name);
    for (const char *s = query; *s; s += strcspn(s, "&"), s += *s == '&') {
        if (strncmp(s, name, n) || (s[n] && s[n] != '=' && s[n] != '&')) continue;
        s += n + (s[n] == '=');
        if (dst) unescape(dst, cap, s, strcspn(s, "&"));
        return 1;
    }
    return 0;
}
