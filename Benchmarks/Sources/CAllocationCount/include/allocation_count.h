#pragma once
#include <stdint.h>

/// How often memory was allocated in this process so far; always 0 where counting is not possible.
int64_t allocation_count(void);
