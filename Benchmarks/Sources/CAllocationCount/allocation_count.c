#include "allocation_count.h"
#ifdef __linux__
#include <features.h>
#endif

static int64_t count = 0;

int64_t allocation_count(void) { return __atomic_load_n(&count, __ATOMIC_RELAXED); }

#ifdef __GLIBC__
#include <stddef.h>

// The program's own definitions win over those of the C library, for all libraries of the process.
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t number, size_t size);
extern void *__libc_realloc(void *pointer, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

static void note(void) { __atomic_store_n(&count, __atomic_load_n(&count, __ATOMIC_RELAXED) + 1, __ATOMIC_RELAXED); }

void *malloc(size_t size) {
    note();
    return __libc_malloc(size);
}

void *calloc(size_t number, size_t size) {
    note();
    return __libc_calloc(number, size);
}

void *realloc(void *pointer, size_t size) {
    note();
    return __libc_realloc(pointer, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
    note();
    return __libc_memalign(alignment, size);
}
#endif

#ifdef __GLIBC__
#include <malloc.h>
int64_t bytes_in_use(void) {
    struct mallinfo2 info = mallinfo2();
    return (int64_t)info.uordblks + (int64_t)info.hblkhd;
}
#else
int64_t bytes_in_use(void) { return 0; }
#endif
