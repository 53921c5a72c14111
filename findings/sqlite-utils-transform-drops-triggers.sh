#!/usr/bin/env bash
# sqlite-utils 4.2.1 (PyPI) changes a table by making a new one and copying the rows ("transform"). The table's indexes are
# made again and its views go on working, but its triggers are gone, without a word: what they kept up to date (counts, search
# tables, the derived attributes of Core Data's stores) is wrong from the next change on.
. "$(dirname "$0")/lib.sh"
python_packages sqlite-utils==4.2.1

cat >transform.py <<'END'
import sqlite3
import subprocess

database = sqlite3.connect("library.db")
database.executescript("""
    CREATE TABLE book (id INTEGER PRIMARY KEY, title TEXT, n INTEGER);
    CREATE INDEX book_title ON book (title);
    CREATE TRIGGER book_renamed AFTER UPDATE ON book BEGIN UPDATE counter SET n = n + 1; END;
    CREATE TABLE counter (n INTEGER);
    INSERT INTO counter VALUES (0);
    INSERT INTO book VALUES (1, 'Emma', 3);
""")


def look():
    names = sorted(name for name, in database.execute("SELECT name FROM sqlite_master"))
    database.execute("UPDATE book SET title = title")
    database.commit()
    print(names, database.execute("SELECT n FROM counter").fetchone()[0])


look()
subprocess.run(["sqlite-utils", "transform", "library.db", "book", "--rename", "n", "number"], check=True)
look()
END
expect "['book', 'book_renamed', 'book_title', 'counter'] 1
['book', 'book_title', 'counter'] 1" "$(python3 transform.py)"
