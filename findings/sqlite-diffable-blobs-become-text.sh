#!/usr/bin/env bash
# sqlite-diffable 0.6 (PyPI) dumps tables as JSON lines and loads them again. A blob is written as Python prints it
# (b'\x00\xffA'); loading the dump makes it a text of these characters. Dump and load end without an error.
. "$(dirname "$0")/lib.sh"
python_packages sqlite-diffable==0.6

cat >round.py <<'END'
import sqlite3
import subprocess

database = sqlite3.connect("old.db")
database.execute("CREATE TABLE book (id INTEGER PRIMARY KEY, cover BLOB)")
database.execute("INSERT INTO book VALUES (1, x'00FF41')")
database.commit()
database.close()
sqlite3.connect("new.db").execute("VACUUM")
subprocess.run(["sqlite-diffable", "dump", "old.db", "dump", "book"], check=True, stdout=subprocess.DEVNULL)
subprocess.run(["sqlite-diffable", "load", "new.db", "dump"], check=True, stdout=subprocess.DEVNULL)
for name in ("old.db", "new.db"):
    print(*sqlite3.connect(name).execute("SELECT typeof(cover), length(cover), hex(cover) FROM book").fetchone())
END
expect "blob 3 00FF41
text 12 62275C7830305C7866664127" "$(python3 round.py)"
