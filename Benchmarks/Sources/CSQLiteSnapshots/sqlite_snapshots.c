#include "sqlite_snapshots.h"

// SQLITE_ERROR: as good as not there.
int sqlite3_snapshot_get(void *database, const char *schema, void **snapshot) { return 1; }
int sqlite3_snapshot_open(void *database, const char *schema, void *snapshot) { return 1; }
int sqlite3_snapshot_cmp(void *first, void *second) { return 0; }
void sqlite3_snapshot_free(void *snapshot) {}
