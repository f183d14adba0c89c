#ifndef S3UP_CEXPAT_SHIM_H
#define S3UP_CEXPAT_SHIM_H
#include <expat.h>
#endif
