"""The code in the guides runs, with fewer steps."""

import pathlib
import re

import matplotlib
import pytest

import keraspinn as kp

matplotlib.use("Agg")
DOCS = pathlib.Path(__file__).parents[1] / "docs"


def namespace_after(page):
    """Run a page's Python blocks in order, and return what they leave."""
    namespace = {}
    text = (DOCS / page).read_text(encoding="utf-8")
    for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
        code = block.replace("steps_per_epoch=1000", "steps_per_epoch=5")
        exec(compile(code, page, "exec"), namespace)
    return namespace


def test_guide():
    namespace = namespace_after("guide.md")
    assert namespace["model"].optimizer.iterations.numpy() == 5
    assert "walls_weight" in namespace["history"].history


def test_front_page(capsys):
    """It ends in a verdict, which a few steps do not make a good one."""
    namespace_after("index.md")
    assert "rusted" in capsys.readouterr().out


def test_a_rule_of_ones_own():
    balance = namespace_after("learning_rate_annealing.md")["balance"]
    model = kp.PINNModel(kp.problems.poisson(), kp.networks.MLP(4, 1), seed=0)
    model.compile("adam", jit_compile=False)
    model.fit(batch_size=4, steps_per_epoch=3, verbose=0, callbacks=[balance])
    assert float(model.loss_weights["boundary"].numpy()) != pytest.approx(1.0)


def test_training_safely(capsys):
    namespace_after("training_safely.md")
    assert "the loss of 'residual' is nan" in capsys.readouterr().out
