/* lists.h: lists of devices for trs_options.devices, in tests that solve on several devices, or on one by several parts. */
#ifndef TRS_TESTS_PEERS_LISTS_H
#define TRS_TESTS_PEERS_LISTS_H

#include "tests/common/device.h"
#include "tests/common/place.h"

typedef struct list {
    int count, device[5];
} list;

static int devices; /* of this machine, two at most */

/* Skips the test without a device. */
static void begin_on_device(void)
{
    char name[200];
    if (!has_device()) skip();
    there = true;
    devices = trs_device_name(TRS_CUDA(1), name, sizeof name) ? 1 : 2;
}

static bool is_here(const list *l)
{
    return l->device[l->count - 1] <= devices;
}

/* B and X are where `there` says. */
static trs_options options_for(const list *l, const char *solver)
{
    return (trs_options){.solver = solver,
                         .device = there ? l->device[0] : TRS_HOST,
                         .devices = l->device,
                         .device_count = l->count};
}

#endif
