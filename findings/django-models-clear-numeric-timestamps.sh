#!/usr/bin/env bash
# Django 5.2.19 (PyPI): a column that is declared TIMESTAMP and holds a number, as each date of a Core Data store does, is
# read as None, without an error, although inspectdb makes a TextField of it. A save of the object writes every field, so
# that an edited title takes the date out of the database. The cause is a converter for the declared type, which gives
# None for what is not the text of a date.
. "$(dirname "$0")/lib.sh"
python_packages django==5.2.19

cat >edit.py <<'END'
import io
import sqlite3

import django
from django.conf import settings
from django.core.management import call_command

database = sqlite3.connect("notes.sqlite")
database.execute("CREATE TABLE ZNOTE (Z_PK INTEGER PRIMARY KEY, ZTITLE VARCHAR, ZMADE TIMESTAMP)")
database.execute("INSERT INTO ZNOTE VALUES (1, 'Milk', 700000000.25)")
database.commit()

connection = {"ENGINE": "django.db.backends.sqlite3", "NAME": "notes.sqlite"}
settings.configure(DATABASES={"default": connection}, INSTALLED_APPS=[], USE_TZ=False)
django.setup()
source = io.StringIO()
call_command("inspectdb", "ZNOTE", stdout=source)
code = source.getvalue().replace("class Meta:", "class Meta:\n        app_label = 'notes'")
names = {"__name__": "notes"}
exec(code, names)
note = names["Znote"].objects.get()
print(type(names["Znote"]._meta.get_field("zmade")).__name__, note.zmade)
note.ztitle = "Bread"
note.save()
print(database.execute("SELECT ZTITLE, ZMADE FROM ZNOTE").fetchone())
END
expect "TextField None
('Bread', None)" "$(python3 edit.py)"
