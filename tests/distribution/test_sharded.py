"""Several devices on JAX, which give the numbers of one device."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import keraspinn

HERE = Path(__file__).parent
PACKAGE = Path(keraspinn.__file__).parents[1]
FLAGS = "--xla_force_host_platform_device_count=4"


@pytest.fixture(scope="module")
def sharded(tmp_path_factory):
    pytest.importorskip("jax")
    path = os.pathsep.join([str(PACKAGE), os.environ.get("PYTHONPATH", "")])
    settings = {
        "KERAS_BACKEND": "jax",
        "JAX_ENABLE_X64": "1",
        "JAX_PLATFORMS": "cpu",
        "XLA_FLAGS": f"{os.environ.get('XLA_FLAGS', '')} {FLAGS}",
        "PYTHONPATH": path,
    }
    result = subprocess.run(
        [sys.executable, HERE / "sharded.py", tmp_path_factory.mktemp("sharded")],
        env=os.environ | settings,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert result.returncode == 0, result.stderr[-6000:]
    report = json.loads(result.stdout.splitlines()[-1])
    assert report["devices"] == 4
    return report


@pytest.mark.parametrize(
    "name",
    [
        "drawn",
        "held, in parts",
        "streamed",
        "LBFGS",
        "GaussNewton",
        "evaluated",
        "ensemble",
        "diagnosed",
        "loaded",
    ],
)
def test_four_devices_equal_one(sharded, name):
    alone, together = sharded["alike"][name]
    np.testing.assert_allclose(together, alone, rtol=1e-4, atol=2e-6)


@pytest.mark.parametrize("name", ["drawn", "ensemble"])
def test_devices_share_the_work(sharded, name):
    alone, together = sharded["work"][name]
    assert together < 0.45 * alone


def test_resume_on_devices_is_bit_exact(sharded):
    assert sharded["interrupted"] == [True, 20]


def test_nonfinite_step_stops_all_devices(sharded):
    assert "Training stopped at iteration" in sharded["stopped"]


def test_rejects_unsupported_settings(sharded):
    refused = sharded["refused"]
    assert "Received: keras.distribution.ModelParallel" in refused["ModelParallel"]
    for late in ("made before", "compiled before"):
        assert "on one device, and a distribution of 4" in refused[late]
