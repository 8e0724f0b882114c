"""The measurements: named, vector-valued, typed and possibly incomplete.

:class:`Observations` holds N cases of n observed variables, each a block of one or more columns.
It is made from arrays, frames or files, checks itself, and never changes. A missing value is NaN;
a categorical column holds the codes of its levels.

``described`` is what the columns of a table are, in one place; ``grouping`` decides which of them
make which variable, ``columns`` turns one column into numbers,
``gathering`` checks the columns and puts them together, ``files`` and ``text_files`` read and
write, and ``record`` is the record itself. :class:`ChunkedObservations` are those that do not fit
into memory: ``many_files`` finds their files, and ``table_chunks`` are the pieces that are read.
"""

from mixoracle.observations.annotated import from_anndata
from mixoracle.observations.chunked import ChunkedObservations
from mixoracle.observations.columns import ColumnKind
from mixoracle.observations.described import Columns
from mixoracle.observations.record import Observations

__all__ = ["ChunkedObservations", "ColumnKind", "Columns", "Observations", "from_anndata"]
