/* host.h: where and when it was measured. */
#ifndef TRS_BIN_BENCH_HOST_H
#define TRS_BIN_BENCH_HOST_H

#include "settings.h"

typedef struct host {
    char date[32], cpu[128];
    char gpu[256];   /* its name, or why none is used */
    char driver[64]; /* the version of NVIDIA's driver; "": there is none */
    int threads;
} host;

void find_host(const settings *s, host *h);

#endif
