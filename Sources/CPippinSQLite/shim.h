#include <sqlite3.h>

/* Swift cannot call functions with a variable number of arguments. */
static inline int csqlite_set_triggers_run(sqlite3 *database, int run) {
    return sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_TRIGGER, run, (int *)0);
}
