"""The paper's studies and ours: definitions, runs, and the report on them.

A study (:mod:`.studies`) is a list of numbered runs, each of which can be redone from its number
alone (:mod:`.trial`). The runner (:mod:`.runner`) appends one line for each finished run to a
results file (:mod:`.results`), and the report (:mod:`.report`) sets what came out beside what the
paper printed (:mod:`.published`).
"""
