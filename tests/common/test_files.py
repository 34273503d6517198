"""Files that are complete or absent."""

import keras
import numpy as np
import pytest

import keraspinn as kp
from keraspinn.common.files import write_whole


@pytest.fixture
def model():
    return kp.PINNModel(kp.problems.helmholtz(), kp.networks.MLP(4, 1), seed=0)


def fails_halfway(path):
    path.write_bytes(b"half")
    raise OSError("the disk is full")


def test_old_file_stays_until_the_new_one_is_complete(tmp_path):
    path = tmp_path / "file.txt"
    path.write_text("old")
    with pytest.raises(OSError, match="full"):
        write_whole(path, fails_halfway)
    assert path.read_text() == "old" and list(tmp_path.iterdir()) == [path]
    seen = []

    def write(partial):
        partial.write_text("new")
        seen.append((partial.suffix, path.read_text()))

    write_whole(path, write)
    assert seen == [(".txt", "old")] and path.read_text() == "new"


def test_two_processes_write_one_file(tmp_path, monkeypatch):
    path = tmp_path / "file.txt"

    def write(partial):
        partial.write_text("first")
        with monkeypatch.context() as patch:
            patch.setattr("os.getpid", lambda: 1)
            write_whole(path, lambda other: other.write_text("second"))
        assert path.read_text() == "second"

    write_whole(path, write)
    assert path.read_text() == "first" and list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("name", ["model.keras", "model.weights.h5"])
def test_model_is_saved_atomically(tmp_path, model, monkeypatch, name):
    path = tmp_path / name
    save = model.save if name.endswith(".keras") else model.save_weights
    save(str(path))
    before = path.read_bytes()

    def dies(store, *arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(keras.Variable, "numpy", dies)
    monkeypatch.setattr(model.network.head, "save_own_variables", dies)
    with pytest.raises(KeyboardInterrupt):
        save(path)
    assert path.read_bytes() == before and list(tmp_path.iterdir()) == [path]


def test_save_without_overwrite_keeps_the_file(tmp_path, model, monkeypatch):
    path = tmp_path / "model.keras"
    path.write_text("mine")
    monkeypatch.setattr("builtins.input", lambda *_: "n")
    model.save(path, overwrite=False)
    assert path.read_text() == "mine"


def test_other_formats_of_keras_save(tmp_path, model):
    model.save(tmp_path / "folder", zipped=False)
    copy = keras.models.load_model(tmp_path / "folder")
    points = model.problem.domain.grid(3)
    expected = model.predict(points, verbose=0)
    np.testing.assert_array_equal(copy.predict(points, verbose=0), expected)
    model.save_weights(tmp_path / "shards.weights.json", max_shard_size=0.01)
    assert (tmp_path / "shards.weights.json").exists()
    with pytest.raises(ValueError, match=r"\.keras"):
        model.save(tmp_path / "model.zip")


def test_trained_model_is_exported(tmp_path):
    model = kp.PINNModel(kp.problems.poisson(2), kp.networks.MLP(4, 1), seed=0)
    model.compile(run_eagerly=True)
    model.fit(steps_per_epoch=1, verbose=0)
    model.export(tmp_path / "exported", verbose=False)
    served = keras.layers.TFSMLayer(tmp_path / "exported", call_endpoint="serve")
    points = model.problem.domain.grid(3).astype("float32")
    np.testing.assert_allclose(served(points), model(points), rtol=1e-6)
