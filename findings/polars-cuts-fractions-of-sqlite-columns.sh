#!/usr/bin/env bash
# polars 2.1.0 (PyPI) decides the type of a column of SQLite's by its first 100 rows. Where these are whole numbers, the
# fractions of later rows are cut off: 0.5 becomes 0, without an error or a warning. SQLite's column of affinity NUMERIC holds
# both, and stores a whole number as an integer. infer_schema_length=None reads all rows first, and keeps them.
. "$(dirname "$0")/lib.sh"
python_packages polars==2.1.0

cat >read.py <<'END'
import sqlite3
import polars

database = sqlite3.connect(":memory:")
database.execute("CREATE TABLE payment (id INTEGER PRIMARY KEY, amount NUMERIC)")
database.executemany("INSERT INTO payment (amount) VALUES (?)", [(number,) for number in range(200)] + [(0.5,)])
query = "SELECT amount FROM payment ORDER BY id"
print("SQLite", database.execute("SELECT amount, typeof(amount) FROM payment WHERE id = 201").fetchone())
for length in (100, None):
    frame = polars.read_database(query, database, infer_schema_length=length)
    print(length, frame.dtypes, frame["amount"][-1])
END
expect "SQLite (0.5, 'real')
100 [Int64] 0
None [Float64] 0.5" "$(python3 read.py)"
