// Calls a function of the tests', where there is one, before the first test runs.
extern void pippinTestsStart(void) __attribute__((weak));

__attribute__((constructor)) static void start(void) {
    if (pippinTestsStart) pippinTestsStart();
}
