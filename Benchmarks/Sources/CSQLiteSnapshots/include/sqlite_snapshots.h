// Functions of SQLite that GRDB refers to, and that the SQLite of Debian is built without. No work measured here calls them.
#ifndef SQLITE_SNAPSHOTS_H
#define SQLITE_SNAPSHOTS_H
int sqlite3_snapshot_get(void *database, const char *schema, void **snapshot);
int sqlite3_snapshot_open(void *database, const char *schema, void *snapshot);
int sqlite3_snapshot_cmp(void *first, void *second);
void sqlite3_snapshot_free(void *snapshot);
#endif
