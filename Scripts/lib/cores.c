// Answers `sysconf` as a machine with $CORES cores does: Dispatch gives tasks as many threads.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

long sysconf(int name) {
    static long (*next)(int);
    if (!next) next = (long (*)(int))dlsym(RTLD_NEXT, "sysconf");
    const char *cores = getenv("CORES");
    int isCount = name == _SC_NPROCESSORS_ONLN || name == _SC_NPROCESSORS_CONF;
    return cores && isCount ? atol(cores) : next(name);
}
