// Prepares the process of the tests before the first of them runs.
#include <stdlib.h>
#include <sys/resource.h>

// A function of the tests', where there is one.
extern void pippinTestsStart(void) __attribute__((weak));

__attribute__((constructor)) static void start(void) {
    // Each test has stores of its own. The usual limit of 1,024 open files is soon reached when many run at once, and
    // Foundation and Dispatch stop a program that has none left.
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files);
    }
    // How many tests run at once, at most, unless whoever runs them says otherwise: Swift Testing would begin all.
    setenv("SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH", "16", 0);
    if (pippinTestsStart) pippinTestsStart();
}
