/* Preloaded into a process: counts what it does to the files in a folder, and lets the n-th of these operations go wrong.

   FAULT_FOLDER  the folder
   FAULT_AT      the number of the operation, from 1; 0 for none
   FAULT_KIND    kill: the process is killed before it
                 torn: half of a write is done, and the process is killed
                 full: from it on, what needs room fails with ENOSPC
                 error: it fails with EIO
   FAULT_COUNT   a file to write the number of operations to when the process ends by itself */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

static atomic_long count = 0;

static int is_inside(const char *path) {
    const char *folder = getenv("FAULT_FOLDER");
    return folder && path && strncmp(path, folder, strlen(folder)) == 0;
}

static int is_open_inside(int file) {
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return 0;
    path[length] = 0;
    return is_inside(path);
}

static int is_inside_at(int folder, const char *path) {
    if (!path) return 0;
    return path[0] == '/' ? is_inside(path) : folder != AT_FDCWD && is_open_inside(folder);
}

enum { PASS, FAIL, TEAR };

/* What becomes of the next operation; sets errno where it fails. */
static int next(int needs_room, int is_write) {
    const char *kind = getenv("FAULT_KIND"), *place = getenv("FAULT_AT");
    long number = atomic_fetch_add(&count, 1) + 1, at = place ? atol(place) : 0;
    if (!kind || at == 0 || number < at) return PASS;
    if (strcmp(kind, "full") == 0) {
        if (!needs_room) return PASS;
        errno = ENOSPC;
        return FAIL;
    }
    if (number != at) return PASS;
    if (strcmp(kind, "error") == 0) {
        errno = EIO;
        return FAIL;
    }
    if (strcmp(kind, "torn") == 0 && is_write) return TEAR;
    kill(getpid(), SIGKILL);
    return FAIL;
}

static void die(void) { kill(getpid(), SIGKILL); }

__attribute__((destructor)) static void report(void) {
    const char *path = getenv("FAULT_COUNT");
    FILE *file = path ? fopen(path, "w") : NULL;
    if (!file) return;
    fprintf(file, "%ld\n", (long)count);
    fclose(file);
}

#define REAL(type, name, ...) \
    static type (*real)(__VA_ARGS__) = NULL; \
    if (!real) real = (type (*)(__VA_ARGS__))dlsym(RTLD_NEXT, #name)

ssize_t write(int file, const void *bytes, size_t length) {
    REAL(ssize_t, write, int, const void *, size_t);
    if (!is_open_inside(file)) return real(file, bytes, length);
    switch (next(1, 1)) {
    case FAIL: return -1;
    case TEAR: real(file, bytes, length / 2); die();
    }
    return real(file, bytes, length);
}

#define PWRITE(name, offset_type) \
    ssize_t name(int file, const void *bytes, size_t length, offset_type offset) { \
        REAL(ssize_t, name, int, const void *, size_t, offset_type); \
        if (!is_open_inside(file)) return real(file, bytes, length, offset); \
        switch (next(1, 1)) { \
        case FAIL: return -1; \
        case TEAR: real(file, bytes, length / 2, offset); die(); \
        } \
        return real(file, bytes, length, offset); \
    }
PWRITE(pwrite, off_t)
PWRITE(pwrite64, off64_t)

#define ON_FILE(type, name, needs_room, parameters, arguments, ...) \
    type name parameters { \
        REAL(type, name, __VA_ARGS__); \
        if (is_open_inside(file) && next(needs_room, 0) != PASS) return -1; \
        return real arguments; \
    }
ON_FILE(int, fsync, 0, (int file), (file), int)
ON_FILE(int, fdatasync, 0, (int file), (file), int)
ON_FILE(int, ftruncate, 1, (int file, off_t length), (file, length), int, off_t)
ON_FILE(int, ftruncate64, 1, (int file, off64_t length), (file, length), int, off64_t)
ON_FILE(int, fallocate, 1, (int file, int mode, off_t at, off_t length), (file, mode, at, length), int, int, off_t, off_t)
ON_FILE(ssize_t, sendfile, 1, (int file, int from, off_t *offset, size_t length), (file, from, offset, length), int, int,
        off_t *, size_t)
ON_FILE(ssize_t, sendfile64, 1, (int file, int from, off64_t *offset, size_t length), (file, from, offset, length), int,
        int, off64_t *, size_t)

ssize_t copy_file_range(int from, off64_t *from_offset, int file, off64_t *offset, size_t length, unsigned flags) {
    REAL(ssize_t, copy_file_range, int, off64_t *, int, off64_t *, size_t, unsigned);
    if (is_open_inside(file) && next(1, 0) != PASS) return -1;
    return real(from, from_offset, file, offset, length, flags);
}

#define ON_PATH(name, needs_room, inside, parameters, arguments, ...) \
    int name parameters { \
        REAL(int, name, __VA_ARGS__); \
        if (inside && next(needs_room, 0) != PASS) return -1; \
        return real arguments; \
    }
ON_PATH(unlink, 0, is_inside(path), (const char *path), (path), const char *)
ON_PATH(rmdir, 0, is_inside(path), (const char *path), (path), const char *)
ON_PATH(remove, 0, is_inside(path), (const char *path), (path), const char *)
ON_PATH(unlinkat, 0, is_inside_at(folder, path), (int folder, const char *path, int flags), (folder, path, flags), int,
        const char *, int)
ON_PATH(mkdir, 1, is_inside(path), (const char *path, mode_t mode), (path, mode), const char *, mode_t)
ON_PATH(mkdirat, 1, is_inside_at(folder, path), (int folder, const char *path, mode_t mode), (folder, path, mode), int,
        const char *, mode_t)
ON_PATH(rename, 1, is_inside(to), (const char *path, const char *to), (path, to), const char *, const char *)
ON_PATH(link, 1, is_inside(to), (const char *path, const char *to), (path, to), const char *, const char *)
ON_PATH(linkat, 1, is_inside_at(target, to), (int folder, const char *path, int target, const char *to, int flags),
        (folder, path, target, to, flags), int, const char *, int, const char *, int)
ON_PATH(renameat, 1, is_inside_at(target, to), (int folder, const char *path, int target, const char *to),
        (folder, path, target, to), int, const char *, int, const char *)

/* Opening counts where it makes a file or lets one be changed. */
#define OPENS(flags) ((flags) & (O_CREAT | O_TRUNC) || ((flags) & O_ACCMODE) != O_RDONLY)
#define MODE(flags) \
    mode_t mode = 0; \
    if ((flags) & (O_CREAT | O_TMPFILE)) { \
        va_list rest; \
        va_start(rest, flags); \
        mode = va_arg(rest, mode_t); \
        va_end(rest); \
    }
#define OPEN(name) \
    int name(const char *path, int flags, ...) { \
        REAL(int, name, const char *, int, ...); \
        MODE(flags) \
        if (OPENS(flags) && is_inside(path) && next((flags) & O_CREAT, 0) != PASS) return -1; \
        return real(path, flags, mode); \
    }
OPEN(open)
OPEN(open64)
#define OPENAT(name) \
    int name(int folder, const char *path, int flags, ...) { \
        REAL(int, name, int, const char *, int, ...); \
        MODE(flags) \
        if (OPENS(flags) && is_inside_at(folder, path) && next((flags) & O_CREAT, 0) != PASS) return -1; \
        return real(folder, path, flags, mode); \
    }
OPENAT(openat)
OPENAT(openat64)
