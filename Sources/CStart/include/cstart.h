// The command's arguments for the Swift runtime: see arguments.c.
#ifndef S3UP_CSTART_H
#define S3UP_CSTART_H

char **_swift_stdlib_getUnsafeArgvArgc(int *count);
#endif
