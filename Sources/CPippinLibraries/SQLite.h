#include <sqlite3.h>

/* Swift cannot call functions with a variable number of arguments. */
static inline int csqlite_set_triggers_run(sqlite3 *database, int run) {
    return sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_TRIGGER, run, (int *)0);
}

/* The byte of a statement's text at which SQLite found an error; -1 if unknown. SQLite 3.38 and later. */
static inline int csqlite_error_offset(sqlite3 *database) {
#if SQLITE_VERSION_NUMBER >= 3038000
    return sqlite3_error_offset(database);
#else
    (void)database;
    return -1;
#endif
}
