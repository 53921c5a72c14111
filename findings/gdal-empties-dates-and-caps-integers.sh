#!/usr/bin/env bash
# GDAL 3.12.4, as pyogrio 0.13.0 (PyPI) brings it, reads a plain SQLite file. A number in a column that is declared TIMESTAMP,
# as each date of a Core Data store is, becomes no date at all, without a word. A column that is declared INTEGER is read
# with 32 bits: 2^40 becomes 2147483647, with a warning. The same file read by SQLite has both. GDAL 3.6.2 (Debian 12)
# does the same.
. "$(dirname "$0")/lib.sh"
python_packages pyogrio==0.13.0 numpy==2.4.6

cat >read.py <<'END'
import sqlite3
import warnings

import pyogrio
import pyogrio.raw

database = sqlite3.connect("notes.sqlite")
database.execute("CREATE TABLE note (id INTEGER PRIMARY KEY, made TIMESTAMP, size INTEGER)")
database.executemany("INSERT INTO note VALUES (?, ?, ?)", [(1, 700000000.25, 7), (2, 700000001, 1 << 40)])
database.commit()
print("SQLite", database.execute("SELECT made, size FROM note").fetchall())
database.close()

with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    fields = pyogrio.raw.read("notes.sqlite", layer="note", read_geometry=False)[3]
print("GDAL", ".".join(str(part) for part in pyogrio.__gdal_version__), [column.tolist() for column in fields])
print([str(warning.message).split(":")[0] for warning in told])
END
expect "SQLite [(700000000.25, 7), (700000001, 1099511627776)]
GDAL 3.12.4 [[None, None], [7, 2147483647]]
['Field note.size']" "$(python3 read.py)"
