"""The record of N cases of n observed variables.

All columns lie in one read-only C-contiguous float array; the block of a variable is a view into
it, so that a million rows are held once. Any width, any name, missing values, constant columns
and wholly missing rows or columns are legal here: whether they can be learned from is for later
stages to judge. Infinite values are not, because no component family has a density for them.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mixoracle._arrays import Floats, FrozenArrays
from mixoracle.errors import InvalidInputError
from mixoracle.observations import showing
from mixoracle.observations.choosing import text_options, with_description
from mixoracle.observations.columns import ColumnKind, Encoded, Levels, Spelling, encode_column
from mixoracle.observations.described import Columns, Said
from mixoracle.observations.dialects import TextOptions
from mixoracle.observations.gathering import (
    as_array,
    as_block,
    check_cells,
    checked_levels,
    checked_texts,
    fingerprint,
    frozen,
    frozen_values,
    gathered,
    gathered_blocks,
    gathered_frame,
    row_numbers,
)
from mixoracle.observations.grouping import Choices, Groups, checked_names, column_names
from mixoracle.observations.input_columns import ColumnRef, InputColumns, did_you_mean

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False, repr=False)
class Observations(FrozenArrays):
    """N cases of n observed variables, each a block of one or more columns.

    Use :meth:`from_array`, :meth:`from_arrays`, :meth:`from_frame` or :meth:`read`; the
    constructor takes what they make.

    Parameters
    ----------
    values : (N, total width) float array
        The columns of the first variable, then those of the second, and so on. Missing is NaN.
        An array that is read-only already is kept; any other is copied.
    names : sequence of str
        Distinct and not empty, one for each observed variable.
    widths : sequence of int, optional
        How many columns each variable has; 1 each if left out.
    levels : for each variable a sequence of (None or labels), optional
        For each column the labels behind its codes 0..L-1, or None where it is continuous.
    ids : sequence of str, optional
        What the cases are called, where they have names. They are no data: observations with
        other ids are equal, and files do not keep them.
    inputs : sequence of str, optional
        What the columns were called in the table that they came from. They are no data either.
    columns : Columns, optional
        What each column of that table was read as, also those that are left out; no data either.

    Examples
    --------
    >>> obs = Observations.from_arrays({"flow": [[0.1, 2.0], [0.3, 4.0]], "mode": ["off", "on"]})
    >>> obs
    Observations(2 samples of 2 variables: flow (2 columns), mode (categorical))
    >>> obs["flow"].shape
    (2, 2)
    >>> obs.column_names
    ('flow[0]', 'flow[1]', 'mode')
    """

    values: Floats
    names: tuple[str, ...]
    widths: tuple[int, ...] = ()
    levels: tuple[tuple[Levels | None, ...], ...] = ()
    ids: tuple[str, ...] | None = None
    inputs: tuple[str, ...] | None = None
    columns: Columns | None = None

    def __post_init__(self) -> None:
        names = checked_names(self.names)
        values = frozen_values(self.values)
        widths = tuple(operator.index(width) for width in self.widths) or (1,) * len(names)
        if len(widths) != len(names) or not names or min(widths) < 1:
            raise InvalidInputError(
                f"widths should hold a number of at least 1 for each of the {len(names)} "
                f"observed variables; got {widths}"
            )
        if values.shape[1] != sum(widths):
            raise InvalidInputError(
                f"values should have {sum(widths)} columns, the sum of the widths; "
                f"got {values.shape[1]}"
            )
        levels = checked_levels(self.levels, names, widths)
        ids = checked_texts(self.ids, len(values), "ids", "rows")
        inputs = checked_texts(self.inputs, sum(widths), "inputs", "columns")
        self._keep(names=names, values=values, widths=widths, levels=levels)
        self._keep(ids=ids, inputs=inputs)
        check_cells(values, column_names(names, widths), levels)

    @classmethod
    def from_array(
        cls,
        X: ArrayLike,
        groups: Groups = None,
        names: Sequence[str] | None = None,
        *,
        categorical: bool | ColumnRef | Iterable[ColumnRef] = (),
        drop: ColumnRef | Iterable[ColumnRef] = (),
    ) -> Observations:
        """Take the columns of a 2-d array.

        Parameters
        ----------
        X : (N, columns) array
            Numbers, text or truth values; a masked value is missing.
        groups : None, int, sequence of column sequences, or mapping from name to columns
            Which columns make which variable: each its own, blocks of equal width, or as listed.
        names : sequence of str, optional
            The names of the variables; X1, X2, … if left out.
        categorical : column numbers, column names (``"X1[0]"``), variable names, or True for all
            Numeric columns whose numbers are labels.
        drop : column numbers
            Columns to leave out.
        """
        array = as_array(X, "the array of observations")
        if array.ndim != 2:
            raise InvalidInputError(
                "observations should be a 2-d array, one row for each case; "
                f"got shape {array.shape}. Reshape your data"
            )
        columns = InputColumns(array.shape[1])
        choices = Choices(groups, names, categorical, drop)

        def encoded(position: int, declared: bool) -> Encoded:
            return encode_column(array[:, position], columns.describe(position), declared)

        return cls(*gathered(len(array), columns, choices, encoded))

    @classmethod
    def from_arrays(
        cls,
        blocks: Mapping[str, ArrayLike],
        *,
        categorical: bool | ColumnRef | Iterable[ColumnRef] = (),
    ) -> Observations:
        """Take one (N, d) array for each variable; a 1-d array is one column wide."""
        names = checked_names(blocks)
        arrays = {name: as_block(blocks[name], name) for name in names}
        if len({len(held) for held in arrays.values()}) > 1:
            raise InvalidInputError(
                "all observed variables should have the same number of rows; got "
                + ", ".join(f"{name!r}: {len(held)}" for name, held in arrays.items())
            )
        return cls(*gathered_blocks(arrays, Choices(categorical=categorical)))

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        groups: Groups = None,
        names: Sequence[str] | None = None,
        *,
        categorical: bool | ColumnRef | Iterable[ColumnRef] = (),
        drop: ColumnRef | Iterable[ColumnRef] = (),
        keep: bool | ColumnRef | Iterable[ColumnRef] = (),
        id: ColumnRef | None = None,
        decimal: str | None = None,
        na: str | float | Iterable[str | float] = (),
        columns: Said = None,
    ) -> Observations:
        """Take the columns of a frame of pandas, polars, pyarrow or xarray; an index is not data.

        Columns that are no measurements (dates and times, identifiers, row numbers, columns that
        are empty or the same in every row) are set aside, and a :class:`DataWarning
        <mixoracle.errors.DataWarning>` names them.

        Parameters
        ----------
        frame : DataFrame
            Text, categorical and boolean columns are categorical; others are numbers, as is text
            that spells them. Columns with two levels of names are grouped by the first.
        groups : None, int, "prefix", callable, sequence of column sequences, or mapping
            None groups columns named ``name[0], name[1], …`` in index order; any other column
            stands alone. An int makes blocks of equal width, ``"prefix"`` puts columns together
            whose names begin alike (``blood_hb``, ``blood_crp``), a callable those whose names give
            the same group, and a mapping goes from names to columns.
        names, categorical, drop
            As in :meth:`from_array`; columns go by name or number.
        keep : column names or numbers, or True for all
            Columns that are measurements although they do not seem to be.
        id : column name or number
            The column that names the cases: it becomes ``ids``.
        decimal : {".", ","}, optional
            The decimal mark of numbers that are written as text; found from the cells if left
            out, where they tell it.
        na : words or numbers
            What else stands for a missing value: ``"n.d."``, ``-999``.
        columns : mapping, :class:`Columns <mixoracle.Columns>` or name of a .toml file
            All this in one place, by column: ``{"day": "drop", "hb": {"unit": "g/l"}}``.
        """
        spelling = Spelling.of(decimal, na)
        choices = Choices(groups, names, categorical, drop, keep, id, spelling)
        return cls(*gathered_frame(frame, with_description(choices, Columns.of(columns))))

    @classmethod
    def read(
        cls,
        path: str | PathLike[str],
        groups: Groups = None,
        names: Sequence[str] | None = None,
        *,
        categorical: bool | ColumnRef | Iterable[ColumnRef] = (),
        drop: ColumnRef | Iterable[ColumnRef] = (),
        keep: bool | ColumnRef | Iterable[ColumnRef] = (),
        id: ColumnRef | None = None,
        decimal: str | None = None,
        na: str | float | Iterable[str | float] = (),
        sep: str | None = None,
        header: bool | None = None,
        encoding: str | None = None,
        columns: Said = None,
    ) -> Observations:
        """Read a ``.csv``, ``.tsv``, ``.txt``, ``.parquet`` or ``.npz`` file; never a pickle.

        Columns group, and are set aside, as in :meth:`from_frame`, which also describes the other
        arguments. In text files (also compressed: ``.csv.gz``) the first line names the columns,
        and a name that ends in ``:categorical`` or ``:continuous`` says what the column is. In an
        ``.npz`` each entry is the (N,) or (N, d) block of one variable. ``.feather`` and ``.xlsx``
        need the extras ``parquet`` and ``excel``.

        Parameters
        ----------
        path : str or path
        groups, names, categorical, drop, keep, id, decimal, na, columns
            As in :meth:`from_frame`.
        sep : str, optional
            What separates the cells of a text file; a blank means any number of blanks.
        header : bool, optional
            Whether the first line of a text file holds names. If not, the columns are X1, X2, ….
        encoding : str, optional
            Of a text file: UTF-8 and UTF-16 are recognised, anything else is read as Latin-1.
        """
        from mixoracle.observations.files import read_file

        spelling, said = Spelling.of(decimal, na), Columns.of(columns)
        choices = Choices(groups, names, categorical, drop, keep, id, spelling)
        options = text_options(TextOptions(sep, header, encoding), said)
        return read_file(path, with_description(choices, said), options)

    def write(self, path: str | PathLike[str]) -> None:
        """Write a file of any kind that :meth:`read` reads, in one step.

        Names, kinds and values come back exactly. Text files do not keep levels that no case has
        and put the others in order; ``.parquet`` and ``.npz`` keep all levels as they are.
        """
        from mixoracle.observations.files import write_file

        write_file(self, path)

    @property
    def n_samples(self) -> int:
        """The number of cases, N."""
        return int(self.values.shape[0])

    @property
    def n_observed(self) -> int:
        """The number of observed variables, n."""
        return len(self.names)

    @cached_property
    def column_names(self) -> tuple[str, ...]:
        """One name for each column: ``X1[0], X1[1], …``, or the plain name for width 1."""
        return column_names(self.names, self.widths)

    @property
    def titles(self) -> tuple[str, ...]:
        """What each column is called in tables and messages: as in the table that it came from."""
        return self.column_names if self.inputs is None else self.inputs

    @property
    def units(self) -> tuple[str, ...]:
        """The unit of each column, empty where it has none or nobody knows it."""
        return tuple("" if self.columns is None else self.columns.unit(t) for t in self.titles)

    @cached_property
    def kinds(self) -> tuple[tuple[ColumnKind, ...], ...]:
        """For each variable, whether each of its columns is continuous or categorical."""
        return tuple(
            tuple(
                ColumnKind.CONTINUOUS if held is None else ColumnKind.CATEGORICAL for held in block
            )
            for block in self.levels
        )

    @cached_property
    def missing_fraction(self) -> float:
        """The share of all values that is missing."""
        missing = sum(int(np.isnan(column).sum()) for column in self.values.T)
        return missing / self.values.size

    @property
    def has_missing(self) -> bool:
        """Whether any value is missing."""
        return self.missing_fraction > 0

    def index(self, name: str) -> int:
        """Return the position of a variable."""
        if name not in self.names:
            raise InvalidInputError(
                f"no observed variable is called {name!r}" + did_you_mean(name, self.names)
            )
        return self.names.index(name)

    def __getitem__(self, variable: str | int) -> Floats:
        """Return the (N, d) block of a variable, by name or position, as a read-only view."""
        if isinstance(variable, str):
            position = self.index(variable)
        else:
            # An IndexError also tells Python's own iteration where to stop.
            position = range(self.n_observed)[operator.index(variable)]
        start = sum(self.widths[:position])
        return self.values[:, start : start + self.widths[position]]

    def __len__(self) -> int:
        return self.n_samples

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __contains__(self, name: object) -> bool:
        return name in self.names

    def select(self, names: Iterable[str]) -> Observations:
        """Return some of the variables, in the order in which they are named."""
        positions = [self.index(name) for name in ([names] if isinstance(names, str) else names)]
        bounds = np.cumsum([0, *self.widths])
        columns = [c for i in positions for c in range(bounds[i], bounds[i + 1])]
        return replace(
            self,
            values=frozen(np.take(self.values, columns, axis=1)),
            names=tuple(self.names[i] for i in positions),
            widths=tuple(self.widths[i] for i in positions),
            levels=tuple(self.levels[i] for i in positions),
            inputs=None if self.inputs is None else tuple(self.inputs[c] for c in columns),
        )

    def take(self, rows: slice | ArrayLike) -> Observations:
        """Return some of the cases, by number, mask or slice."""
        chosen = rows if isinstance(rows, slice) else row_numbers(rows, self.n_samples)
        picked = np.array(self.values[chosen], order="C")
        ids = None if self.ids is None else tuple(np.array(self.ids, dtype=object)[chosen])
        return replace(self, values=frozen(picked), ids=ids)

    def to_array(self) -> Floats:
        """All columns as a read-only (N, total width) array; categorical ones as codes."""
        return self.values.view()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        if copy:
            return np.array(self.values, dtype=dtype)
        return np.asarray(self.values, dtype=dtype)

    def to_frame(self) -> pd.DataFrame:
        """All columns as a pandas frame; categorical ones as categoricals of their labels."""
        return showing.as_frame(self)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Observations):
            return NotImplemented
        return (
            self.names == other.names
            and self.widths == other.widths
            and self.levels == other.levels
            and np.array_equal(self.values, other.values, equal_nan=True)
        )

    def __hash__(self) -> int:
        first = fingerprint(self.values)
        return hash((self.names, self.widths, self.levels, self.n_samples, first))

    def __repr__(self) -> str:
        return showing.in_a_line(self)

    def _repr_html_(self) -> str:
        return showing.as_table(self)
