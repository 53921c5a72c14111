#include "allocation_count.h"

#ifdef __linux__
#include <linux/perf_event.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int counter = -2;

int64_t instruction_count(void) {
    if (counter == -2) {
        struct perf_event_attr attributes;
        memset(&attributes, 0, sizeof attributes);
        attributes.size = sizeof attributes;
        attributes.type = PERF_TYPE_HARDWARE;
        attributes.config = PERF_COUNT_HW_INSTRUCTIONS;
        attributes.exclude_kernel = 1;
        attributes.exclude_hv = 1;
        // Threads that begin later count as well.
        attributes.inherit = 1;
        counter = (int)syscall(SYS_perf_event_open, &attributes, 0, -1, -1, 0);
    }
    int64_t count = 0;
    if (counter < 0 || read(counter, &count, sizeof count) != sizeof count) return -1;
    return count;
}
#else
int64_t instruction_count(void) { return -1; }
#endif
