"""Rows in many files: which they are, whether they fit together, and a sample of them."""

import itertools
import os

import numpy as np
import pandas as pd
import pytest

from mixoracle import ChunkedObservations, Observations
from mixoracle.errors import DataWarning, FileFormatError, InvalidInputError
from mixoracle.observations.many_files import listed_files

pytest.importorskip("pyarrow", reason="the extra 'parquet' is not installed")


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    return pd.DataFrame({"flow": rng.normal(size=120), "mode": rng.choice(["off", "on"], 120)})


def write(folder, table, cuts, **options):
    """The table in files, cut at these rows."""
    for number, (start, end) in enumerate(zip([0, *cuts], [*cuts, len(table)], strict=True)):
        part = table.iloc[start:end]
        part.to_parquet(folder / f"part-{number}.parquet", index=False, **options)


def all_rows(chunked):
    return chunked.sample(chunked.n_rows, np.random.default_rng(0))


class TestFiles:
    def test_a_folder_a_pattern_and_a_list_are_the_same_table(self, table, tmp_path):
        write(tmp_path, table, [50, 90], row_group_size=20)
        files = sorted(tmp_path.glob("*.parquet"))
        whole = Observations.from_frame(table)
        for paths in (tmp_path, str(tmp_path / "*.parquet"), files):
            chunked = ChunkedObservations.scan(paths)
            assert chunked.n_rows == 120
            assert all_rows(chunked) == whole

    def test_text_is_the_same_table_as_in_one_piece(self, table, tmp_path):
        table.iloc[:70].to_csv(tmp_path / "a.csv", index=False)
        table.iloc[70:].to_csv(tmp_path / "b.csv", index=False)
        table.to_csv(tmp_path / "whole.csv", index=False)
        found = all_rows(ChunkedObservations.scan([tmp_path / "a.csv", tmp_path / "b.csv"]))
        assert found == Observations.read(tmp_path / "whole.csv")

    def test_text_with_a_declared_kind_and_decimal_commas(self, tmp_path):
        lines = [f"{n % 3};{n % 7},5" for n in range(60)]
        (tmp_path / "a.csv").write_text("\n".join(["code:categorical;size", *lines]))
        found = all_rows(ChunkedObservations.scan(tmp_path / "a.csv"))
        assert found == Observations.read(tmp_path / "a.csv")
        assert found.levels[0] == (("0", "1", "2"),)

    def test_converted_text_vanishes(self, table, tmp_path, monkeypatch):
        monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
        (tmp_path / "tmp" / "mixoracle-text-left").mkdir(parents=True)
        lock = tmp_path / "tmp" / "mixoracle-text-left" / ".lock"
        lock.write_bytes(b"")
        os.utime(lock, (0, 0))
        table.to_csv(tmp_path / "a.csv", index=False)
        first = ChunkedObservations.scan(tmp_path / "a.csv")
        # What a killed run left behind is gone, what is in use stays.
        assert len(list((tmp_path / "tmp").iterdir())) == 1
        del first
        assert list((tmp_path / "tmp").iterdir()) == []

    def test_columns_may_stand_in_another_order(self, table, tmp_path):
        table.iloc[:60].to_parquet(tmp_path / "a.parquet", index=False)
        table.iloc[60:][["mode", "flow"]].to_parquet(tmp_path / "b.parquet", index=False)
        assert all_rows(ChunkedObservations.scan(tmp_path)) == Observations.from_frame(table)

    def test_files_without_rows_are_passed_over(self, table, tmp_path):
        write(tmp_path, table, [0, 60])
        assert ChunkedObservations.scan(tmp_path).n_rows == 120

    @pytest.mark.parametrize(
        ("second", "complaint"),
        [
            (
                lambda t: t.drop(columns="mode"),
                r"b\.parquet should have .*a\.parquet; it lacks 'mode'",
            ),
            (lambda t: t.assign(more=1.0), r"b\.parquet should have .*; it also has 'more'"),
            (
                lambda t: t.assign(flow=t["flow"].astype(str)),
                r"b\.parquet holds text in column 'flow', but .*a\.parquet holds numbers",
            ),
        ],
    )
    def test_files_that_do_not_fit_together_are_named(self, table, tmp_path, second, complaint):
        table.to_parquet(tmp_path / "a.parquet", index=False)
        second(table).to_parquet(tmp_path / "b.parquet", index=False)
        with pytest.raises(InvalidInputError, match=complaint):
            ChunkedObservations.scan(tmp_path)

    def test_text_files_that_do_not_fit_together_are_named(self, table, tmp_path):
        table.to_csv(tmp_path / "a.csv", index=False)
        table.assign(flow="high").to_csv(tmp_path / "b.csv", index=False)
        files = [tmp_path / "a.csv", tmp_path / "b.csv"]
        with pytest.raises(InvalidInputError, match=r"b\.csv holds text in column 'flow'"):
            ChunkedObservations.scan(files)
        assert ChunkedObservations.scan(files, categorical="flow").n_rows == 240

    def test_bad_files_are_named(self, table, tmp_path):
        write(tmp_path, table, [60])
        (tmp_path / "part-2.parquet").write_bytes(b"")
        with pytest.raises(FileFormatError, match=r"part-2\.parquet is empty"):
            ChunkedObservations.scan(tmp_path)
        (tmp_path / "part-2.parquet").write_bytes((tmp_path / "part-1.parquet").read_bytes()[:-9])
        with pytest.raises(FileFormatError, match=r"part-2\.parquet is cut off"):
            ChunkedObservations.scan(tmp_path)

    def test_names_that_lead_nowhere(self, table, tmp_path):
        with pytest.raises(InvalidInputError, match=r"no file matches .*\*\.parquet"):
            listed_files(str(tmp_path / "*.parquet"))
        with pytest.raises(InvalidInputError, match=r"should be a folder of \.parquet files"):
            listed_files(tmp_path)
        table.to_parquet(tmp_path / "a.parquet")
        table.to_csv(tmp_path / "a.csv")
        with pytest.raises(InvalidInputError, match=r"all files should be \.parquet, or all text"):
            listed_files([tmp_path / "a.parquet", tmp_path / "a.csv"])
        with pytest.raises(InvalidInputError, match="named twice"):
            listed_files([tmp_path / "a.csv", tmp_path / "a.csv"])

    def test_bytes_are_estimated_before_anything_is_read(self, table, tmp_path):
        numbers = pd.DataFrame(np.zeros((1000, 4)), columns=list("abcd"))
        numbers.to_parquet(tmp_path / "a.parquet", index=False)
        assert listed_files(tmp_path).n_bytes() == 1000 * 4 * 8


class TestSamples:
    def test_the_same_rows_however_the_table_is_cut(self, table):
        cuts = ([0, 120], [0, 7, 60, 120])
        one, two = (
            ChunkedObservations.from_frames(
                [table.iloc[a:b] for a, b in itertools.pairwise(own)]
            ).sample(40, np.random.default_rng(5))
            for own in cuts
        )
        assert one == two
        assert one.n_samples == 40

    def test_every_row_has_the_same_chance(self):
        frames = [pd.DataFrame({"row": np.arange(a, a + 50.0)}) for a in (0, 50)]
        chunked = ChunkedObservations.from_frames(frames, columns={"row": "measurement"})
        drawn = [chunked.sample(20, np.random.default_rng(s)).values[:, 0] for s in range(200)]
        times = np.bincount(np.concatenate(drawn).astype(int), minlength=100)
        assert times.sum() == 4000
        # 200 draws of 20 in 100: 40 times each, with a standard deviation of 5.7.
        assert times.min() > 15
        assert times.max() < 65

    def test_a_column_that_counts_the_rows_is_set_aside(self, table):
        numbered = table.assign(count=np.arange(120.0))
        chunked = ChunkedObservations.from_frames([numbered.iloc[:50], numbered.iloc[50:]])
        with pytest.warns(DataWarning, match=r"'count' \(counts the rows\)"):
            found = chunked.sample(40, np.random.default_rng(0))
        assert found.names == ("flow", "mode")

    def test_no_rows_at_all(self, table):
        with pytest.raises(InvalidInputError, match="at least one row"):
            ChunkedObservations.from_frames([table.iloc[:0]])


class TestDask:
    def test_a_frame_and_an_array(self, table):
        dataframe = pytest.importorskip("dask.dataframe", reason="the extra 'dask' is missing")
        import dask.array

        frame = dataframe.from_pandas(table, npartitions=3)
        assert all_rows(ChunkedObservations.from_dask(frame)) == Observations.from_frame(table)
        numbers = np.random.default_rng(0).normal(size=(60, 4))
        array = dask.array.from_array(numbers, chunks=(25, 3))
        chunked = ChunkedObservations.from_dask(array, groups=2)
        assert all_rows(chunked) == Observations.from_array(numbers, groups=2)
        assert [len(t) for chunk in chunked.chunks for t in chunk.tables(None, 20)] == [
            *(20, 5),
            *(20, 5),
            10,
        ]
        with pytest.raises(InvalidInputError, match="2 dimensions"):
            ChunkedObservations.from_dask(array[:, 0])
