#include <sqlite3.h>
#ifdef __linux__
// malloc_trim: what was freed is given back before memory is measured.
#include <malloc.h>
#endif
