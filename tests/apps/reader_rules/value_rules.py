# tests/apps/reader_rules/value_rules.py - what an array may hold that a reader could lose or invent.
"""READERS and RULES as in readers.py and text_rules.py: a Reader of arrays is started on the bytes of a file, a rule
makes a Case of a reader or says why it does not apply."""

READERS = []
RULES = []
