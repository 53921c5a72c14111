#!/usr/bin/env bash
# nska_deserialize 1.5.1 (PyPI) reads keyed archives for examiners. Two things are lost without an error:
# - Of a dictionary with the number 1 and the text "1" as keys, which is valid, one entry remains: keys become texts.
# - A value that is null in the archive ("$null") becomes an empty text, like one that is an empty text.
# bpylist2 4.1.1 reads the same bytes with both entries and None.
. "$(dirname "$0")/lib.sh"
python_packages nska_deserialize==1.5.1 bpylist2==4.1.1

cat >archive.py <<'END'
import plistlib
import bpylist2.archiver
import nska_deserialize

uid = plistlib.UID


def archive(*objects):
    tree = {"$archiver": "NSKeyedArchiver", "$version": 100000, "$top": {"root": uid(1)}, "$objects": ["$null", *objects]}
    return plistlib.dumps(tree, fmt=plistlib.FMT_BINARY)


kind = {"$classname": "NSDictionary", "$classes": ["NSDictionary", "NSObject"]}
keys = archive({"$class": uid(6), "NS.keys": [uid(2), uid(3)], "NS.objects": [uid(4), uid(5)]}, 1, "1", "number", "text", kind)
null = archive({"$class": uid(3), "NS.keys": [uid(2)], "NS.objects": [uid(0)]}, "key", kind)
for name, data in (("keys", keys), ("null", null)):
    print(name, nska_deserialize.deserialize_plist_from_string(data), bpylist2.archiver.unarchive(data))
END
expect "keys {'1': 'text'} {1: 'number', '1': 'text'}
null {'key': ''} {'key': None}" "$(python3 archive.py)"
