import contextlib
import dataclasses
import hashlib
import io
import json
import os
import stat
import tracemalloc
import zipfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mixoracle.errors import FileFormatError
from mixoracle.model import CPDAG, GaussianComponents, JointTable, LatentModel
from mixoracle.model.storage import MODEL_FILE, write_atomically


def random_model(seed, with_components=True):
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(1, 5)), int(rng.integers(0, 4))
    sizes = tuple(int(size) for size in rng.integers(2, 4, m))
    bipartite = rng.random((n, m)) < 0.5
    counts = [int(np.prod([d for d, p in zip(sizes, row, strict=True) if p])) for row in bipartite]
    held = [
        GaussianComponents(rng.standard_normal((k, 2)), np.eye(2) * rng.uniform(0.1, 1, (k, 1, 1)))
        for k in counts
    ]
    edges = [(i, j) for j in range(m) for i in range(j) if rng.random() < 0.5]
    return LatentModel(
        observed_names=[f"X{i} ä\"',[{i}]" for i in range(n)],
        latent_names=[f"H{j} →" for j in range(m)],
        bipartite=bipartite,
        domain_sizes=sizes,
        joint=JointTable(rng.dirichlet(np.ones(int(np.prod(sizes)))).reshape(sizes)),
        latent_graph=CPDAG.from_dag(edges, m),
        components=held if with_components else None,
    )


@pytest.fixture
def saved(tmp_path):
    """A saved model with two latents, its folder, and a way to change its header."""
    model = next(m for m in map(random_model, range(100)) if m.n_latent == 2 and m.n_observed > 1)
    model.save(tmp_path / "model")
    return model, tmp_path / "model"


def change(folder, **entries):
    path = folder / MODEL_FILE
    header = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps(header | entries), encoding="utf-8")


def replace_arrays(folder, **arrays):
    """Put other arrays beside the header, with their right name and checksum."""
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    digest = hashlib.sha256(buffer.getvalue()).hexdigest()
    (folder / f"arrays-{digest[:16]}.npz").write_bytes(buffer.getvalue())
    change(folder, arrays={"file": f"arrays-{digest[:16]}.npz", "sha256": digest})


def files(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("seed", range(60))
def test_round_trip(tmp_path, seed):
    for with_components in (True, False):
        model = random_model(seed, with_components)
        model.save(tmp_path)
        assert LatentModel.load(tmp_path) == model


def test_models_without_latents_round_trip(tmp_path):
    models = [m for m in map(random_model, range(60)) if m.n_latent == 0]
    assert len(models) > 5
    for model in models:
        model.save(tmp_path)
        loaded = LatentModel.load(tmp_path)
        assert loaded == model
        assert loaded.bipartite.shape == (model.n_observed, 0)


def test_equal_models_give_equal_bytes(tmp_path):
    random_model(3).save(tmp_path / "one")
    random_model(3).save(tmp_path / "two")
    random_model(4).save(tmp_path / "three")
    assert files(tmp_path / "one") == files(tmp_path / "two")
    assert files(tmp_path / "one") != files(tmp_path / "three")


def test_a_zero_of_either_sign_gives_equal_bytes(tmp_path):
    base = random_model(4, with_components=False)
    assert base.n_latent > 0
    for name, zero in (("plus", 0.0), ("minus", -0.0)):
        table = np.zeros(base.domain_sizes) + zero
        table.flat[0] = 1.0
        dataclasses.replace(base, joint=JointTable(table)).save(tmp_path / name)
    assert files(tmp_path / "plus") == files(tmp_path / "minus")


def test_saving_again_leaves_one_set_of_arrays(saved):
    _, folder = saved
    (folder / "arrays-of-my-own.npz").write_bytes(b"not ours")
    other = random_model(7)
    other.save(folder)
    assert LatentModel.load(folder) == other
    assert len([name for name in files(folder) if name != "arrays-of-my-own.npz"]) == 2
    assert (folder / "arrays-of-my-own.npz").exists()


def test_saved_files_can_be_read_by_others(saved):
    for path in saved[1].iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o644


@pytest.mark.parametrize("step", ["replace", "fsync"])
@pytest.mark.parametrize("call", [1, 2])
def test_a_failed_save_leaves_the_old_model(saved, monkeypatch, step, call):
    old, folder = saved
    before, calls, real = files(folder), [], getattr(os, step)

    def fail_at_call(*args):
        calls.append(args)
        if len(calls) == call:
            raise OSError("disk full")
        return real(*args)

    with monkeypatch.context() as patched:
        patched.setattr(os, step, fail_at_call)
        with pytest.raises(OSError, match="disk full"):
            random_model(7).save(folder)
    assert files(folder) == before
    assert LatentModel.load(folder) == old


def test_an_interrupted_save_of_the_same_model_keeps_its_arrays(saved, monkeypatch):
    old, folder = saved
    calls, real = [], os.replace

    def interrupt_second(*args):
        calls.append(args)
        if len(calls) == 2:
            raise KeyboardInterrupt
        real(*args)

    with monkeypatch.context() as patched:
        patched.setattr(os, "replace", interrupt_second)
        with pytest.raises(KeyboardInterrupt):
            old.save(folder)
    assert LatentModel.load(folder) == old


def test_write_atomically_replaces(tmp_path):
    write_atomically(tmp_path / "f", b"one")
    write_atomically(tmp_path / "f", b"two")
    assert files(tmp_path) == {"f": b"two"}


def test_a_header_cut_off_anywhere_is_refused(saved):
    _, folder = saved
    whole = (folder / MODEL_FILE).read_bytes()
    for kept in range(0, len(whole.rstrip()), 7):
        (folder / MODEL_FILE).write_bytes(whole[:kept])
        with pytest.raises(FileFormatError, match="cut off or not JSON"):
            LatentModel.load(folder)


def test_arrays_cut_off_anywhere_are_refused(saved):
    _, folder = saved
    (path,) = folder.glob("*.npz")
    whole = path.read_bytes()
    for kept in range(0, len(whole), 50):
        path.write_bytes(whole[:kept])
        with pytest.raises(FileFormatError, match="cut off or was changed: its checksum"):
            LatentModel.load(folder)


def test_missing_files_are_named(saved, tmp_path):
    _, folder = saved
    with pytest.raises(FileFormatError, match=r"model\.json is not there; expected a folder"):
        LatentModel.load(tmp_path / "nowhere")
    with pytest.raises(FileFormatError, match="is not there"):
        LatentModel.load(folder / MODEL_FILE)
    (path,) = folder.glob("*.npz")
    path.unlink()
    with pytest.raises(FileFormatError, match=r"npz is missing; the model cannot be read"):
        LatentModel.load(folder)


@pytest.mark.parametrize("content", ["{}", "[]", "3", '{"format": "other"}', "null"])
def test_foreign_json_is_refused(saved, content):
    (saved[1] / MODEL_FILE).write_text(content)
    with pytest.raises(FileFormatError, match="is JSON, but not a mixoracle model"):
        LatentModel.load(saved[1])


@pytest.mark.parametrize("content", [b"\xff\xfe{", b"[" * 100_000, b"{'format': 1}"])
def test_what_is_not_json_is_refused(saved, content):
    (saved[1] / MODEL_FILE).write_bytes(content)
    with pytest.raises(FileFormatError, match="cut off or not JSON"):
        LatentModel.load(saved[1])


@pytest.mark.parametrize("version", [0, 3, "1", None, [1]])
def test_other_versions_are_refused(saved, version):
    change(saved[1], version=version)
    with pytest.raises(
        FileFormatError, match=r"has format version .* this mixoracle reads versions 1 and 2"
    ):
        LatentModel.load(saved[1])


@pytest.mark.parametrize(
    "name",
    [
        "../secret.npz",
        "/etc/passwd",
        "..",
        ".",
        "",
        "model.json",
        "sub/arrays.npz",
        "a\0b",
        "arrays-.npz",
    ],
)
def test_arrays_elsewhere_are_not_opened(saved, name):
    change(saved[1], arrays={"file": name, "sha256": "0" * 64})
    with pytest.raises(FileFormatError, match="the arrays of a model lie beside it"):
        LatentModel.load(saved[1])


@pytest.mark.parametrize(
    ("entries", "sentence"),
    [
        ({"arrays": None}, "not a complete model"),
        ({"arrays": {}}, "not a complete model"),
        ({"arrays": {"file": 3, "sha256": ""}}, "not a complete model"),
        ({"latent_graph": {}}, "not a complete model"),
        ({"latent_graph": {"directed": [[0.5, 1]], "undirected": []}}, "pairs of whole numbers"),
        ({"latent_graph": {"directed": [[True, 0]], "undirected": []}}, "pairs of whole numbers"),
        ({"latent_graph": {"directed": [[0, 5]], "undirected": []}}, "contradicts itself"),
        ({"latent_graph": {"directed": [[0, 1], [1, 0]], "undirected": []}}, "contradicts itself"),
        ({"observed_names": "XY"}, "observed_names of a model should be a list; got str"),
        ({"observed_names": ["X"]}, "contradicts itself"),
        ({"latent_names": None}, "latent_names of a model should be a list"),
        ({"latent_names": ["H"]}, "contradicts itself"),
        ({"domain_sizes": [2, 1]}, "contradicts itself"),
        ({"domain_sizes": [2, 10**400]}, "contradicts itself"),
        ({"domain_sizes": [2, 1e300]}, "contradicts itself"),
        ({"domain_sizes": [7, 7]}, "contradicts itself"),
        ({"bipartite": [[1]]}, "contradicts itself"),
        ({"bipartite": 3}, "not a complete model"),
        ({"components": ["gaussian"]}, "contradicts itself"),
        ({"components": ["cauchy"]}, "unknown component family 'cauchy'"),
        ({"components": ["gaussian"] * 50}, "not a complete model"),
        ({"components": 3}, "not a complete model"),
    ],
)
def test_headers_that_cannot_be_are_refused(saved, entries, sentence):
    change(saved[1], **entries)
    with pytest.raises(FileFormatError, match=sentence):
        LatentModel.load(saved[1])


def test_arrays_that_do_not_fit_the_header_are_refused(saved):
    model, folder = saved
    change(folder, components=None)
    replace_arrays(folder, other=np.ones(1))
    with pytest.raises(FileFormatError, match="not a complete model: KeyError"):
        LatentModel.load(folder)
    replace_arrays(folder, joint=np.full((9,), 1 / 9))
    with pytest.raises(FileFormatError, match=r"contradicts itself: P\(H\) should have shape"):
        LatentModel.load(folder)
    replace_arrays(folder, joint=model.joint.table * 2)
    with pytest.raises(FileFormatError, match="contradicts itself: a joint table should sum to 1"):
        LatentModel.load(folder)
    replace_arrays(folder, joint=np.array([{}], dtype=object))
    with pytest.raises(FileFormatError, match="does not hold plain arrays"):
        LatentModel.load(folder)


def declare_arrays(folder, **entries):
    """Put a file of arrays beside the header of which each declares a shape it may not hold."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, (shape, content) in entries.items():
            stream = io.BytesIO()
            header = {"descr": "<f8", "fortran_order": False, "shape": shape}
            np.lib.format.write_array_header_1_0(stream, header)
            archive.writestr(f"{name}.npy", stream.getvalue() + content)
    digest = hashlib.sha256(buffer.getvalue()).hexdigest()
    (folder / f"arrays-{digest[:16]}.npz").write_bytes(buffer.getvalue())
    change(folder, arrays={"file": f"arrays-{digest[:16]}.npz", "sha256": digest})


def test_a_small_file_does_not_take_much_memory(saved):
    model, folder = saved
    table = model.joint.table.astype("<f8")
    joint = (table.shape, table.tobytes())
    for entries in (
        {"joint": ((2**33, 2**20), b"")},
        {"joint": joint, "component_0_means": ((4, 2**40), b"")},
        {"joint": joint, "component_0_means": ((4, 2), bytes(10))},
    ):
        declare_arrays(folder, **entries)
        tracemalloc.start()
        with pytest.raises(FileFormatError, match="does not hold plain arrays"):
            LatentModel.load(folder)
        assert tracemalloc.get_traced_memory()[1] < 5e6
        tracemalloc.stop()


def test_arrays_that_the_model_does_not_need_are_not_read(saved):
    model, folder = saved
    change(folder, components=None)
    table = model.joint.table.astype("<f8")
    declare_arrays(folder, joint=(table.shape, table.tobytes()), other=((2**60,), b""))
    assert LatentModel.load(folder).joint == model.joint


@pytest.fixture(scope="module")
def once_saved(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fuzz")
    random_model(1).save(folder)
    return folder, json.loads((folder / MODEL_FILE).read_text(encoding="utf-8"))


@settings(max_examples=150, deadline=None)
@given(
    key=st.sampled_from(
        [
            "observed_names",
            "latent_names",
            "domain_sizes",
            "bipartite",
            "latent_graph",
            "components",
            "arrays",
        ]
    ),
    value=st.recursive(
        st.one_of(st.none(), st.booleans(), st.integers(-2, 5), st.floats(), st.text(max_size=3)),
        lambda inner: st.one_of(
            st.lists(inner, max_size=4),
            st.dictionaries(st.sampled_from(["file", "sha256", "directed", "undirected"]), inner),
        ),
        max_leaves=8,
    ),
)
def test_no_header_breaks_out_with_another_error(once_saved, key, value):
    folder, header = once_saved
    (folder / MODEL_FILE).write_text(json.dumps(header | {key: value}), encoding="utf-8")
    # What still makes a model may load; anything but a FileFormatError fails the test.
    with contextlib.suppress(FileFormatError):
        assert LatentModel.load(folder).n_observed == len(header["observed_names"])
