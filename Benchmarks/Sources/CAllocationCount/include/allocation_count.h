#pragma once
#include <stdint.h>

/// How often memory was allocated in this process so far; always 0 where counting is not possible.
int64_t allocation_count(void);

/// How many bytes of the heap are in use; always 0 where nobody says so.
int64_t bytes_in_use(void);

/// How many instructions this process has run outside the kernel since the first call; -1 where the machine does not count them.
int64_t instruction_count(void);
