#!/usr/bin/env bash
# sqldiff of Debian 12's sqlite3-tools (SQLite 3.40.1) writes doubles with 15 significant digits. A file that is patched with
# its output differs from the wanted one, and comparing both again shows the same difference for ever.
. "$(dirname "$0")/lib.sh"
apt-get download sqlite3-tools=3.40.1-2+deb12u2 >/dev/null 2>&1
dpkg -x sqlite3-tools_*.deb tools

cat >compare.py <<'END'
import sqlite3
import subprocess

definition = "CREATE TABLE place (id INTEGER PRIMARY KEY, x REAL)"
for name, rows in (("old.db", [(1, 1.5)]), ("new.db", [(1, 718281828.4590452), (2, 0.1 + 0.2)])):
    database = sqlite3.connect(name)
    database.execute(definition)
    database.executemany("INSERT INTO place VALUES (?, ?)", rows)
    database.commit()
    database.close()


def difference():
    return subprocess.run(["tools/usr/bin/sqldiff", "old.db", "new.db"], capture_output=True, text=True).stdout


patch = difference()
print(patch, end="")
old = sqlite3.connect("old.db")
old.executescript(patch)
print([x for x, in old.execute("SELECT x FROM place ORDER BY id")])
old.close()
print(difference(), end="")
END
expect "UPDATE place SET x=718281828.459045 WHERE id=1;
INSERT INTO place(id,x) VALUES(2,0.3);
[718281828.459045, 0.3]
UPDATE place SET x=718281828.459045 WHERE id=1;
UPDATE place SET x=0.3 WHERE id=2;" "$(python3 compare.py)"
