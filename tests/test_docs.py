"""The code in the guides runs, with fewer steps."""

import ast
import os
import pathlib
import re
import shutil
import subprocess
import sys
import textwrap
from types import SimpleNamespace

import keras
import matplotlib
import pytest

import keraspinn as kp
from keraspinn.derivatives.taylor import rules

matplotlib.use("Agg")
DOCS = pathlib.Path(__file__).parents[1] / "docs"


SHORTER = {
    "epochs=10": "epochs=1",
    "steps_per_epoch=1000": "steps_per_epoch=5",
    "steps_per_epoch=500": "steps_per_epoch=5",
    "steps_per_epoch=60": "steps_per_epoch=2",
    "steps_per_epoch=2_000": "steps_per_epoch=5",
    "adam_steps=2_000, steps=1_000, points=1_000": "adam_steps=4, steps=2, points=20",
    "adam_steps=1_000, steps=500": "adam_steps=4, steps=5, points=20",
    "over=t)\n": "over=t, frames=2)\n",
    "epochs=3": "epochs=1",
    "fit(epochs=40": "fit(steps_per_epoch=4, epochs=1",
    "every=1000": "every=2",
    "steps = 1000": "steps = 4",
    "n=128": "n=16",
    "fit(epochs=5": "fit(steps_per_epoch=4, epochs=1",
    "monotonic() + 600": "monotonic()",
    "max_time=300": "max_time=0.001",
    "windows=10)": "windows=2, recipe=kp.recipes.OneStage(5, 20))",
    "fit(callbacks=": "fit(steps_per_epoch=4, callbacks=",
}
# The guide's pages in order: each continues the one before.
GUIDE = ("declare", "conditions", "train", "look", "ensembles", "save")
# Pages that are complete programs.
ALONE = (
    "guide/domains.md",
    "guide/data.md",
    "guide/long_times.md",
    "guide/solve.md",
    "guide/materials.md",
    "guide/energies.md",
    "coming_from/deepxde.md",
    "coming_from/fem.md",
    "coming_from/jinns.md",
    "coming_from/keras.md",
    "coming_from/pina.md",
    "llms.txt",
)


def blocks(page):
    text = (DOCS / page).read_text(encoding="utf-8")
    return re.findall(r"```python\n(.*?)```", text, re.DOTALL)


# These run in separate tests: settings of devices, which must come before all others,
# and the continuation of the front page's plate.
APART = ("tf.config", "tf.distribute", "keras.distribution", "cluster_resolver")
APART += ("through_side",)


def shorter(code):
    for long, short in SHORTER.items():
        code = code.replace(long, short)
    return code


def block_with(text, page):
    """Return the only Python block of a page that contains a text, with fewer steps."""
    (code,) = [code for code in blocks(page) if text in code]
    return shorter(code)


def namespace_after(*pages, **namespace):
    """Run the pages' Python blocks in order, and return their variables."""
    for page in pages:
        for code in blocks(page):
            if code.startswith("# look.py:"):  # a file, which limits its process
                pathlib.Path("look.py").write_text(code, "utf-8")
                continue
            if not any(text in code for text in APART):
                exec(compile(shorter(code), page, "exec"), namespace)
    return namespace


@pytest.mark.slow
def test_guide_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    namespace = namespace_after(*(f"guide/{name}.md" for name in GUIDE))
    assert namespace["model"].optimizer.iterations.numpy() == 10
    assert "walls_weight" in namespace["history"].history
    ended = [namespace["TimeLimit"]()]
    history = small_model().fit(
        batch_size=4, steps_per_epoch=2, epochs=3, callbacks=ended, verbose=0
    )
    assert history.epoch == [0]
    assert (tmp_path / "model.keras").exists()


@pytest.mark.slow
def test_a_file_is_small_without_the_second_stage_s_optimizer(tmp_path):
    problem, network = kp.problems.poisson(), kp.networks.MLP(20, 2)
    model = kp.PINNModel(problem, network, seed=0).astype("float64")
    model.compile(kp.optimizers.SSBroyden(), jit_compile=False)
    model.fit(batch_size=4, steps_per_epoch=1, verbose=0)
    sizes = []
    for options in ({}, {"include_optimizer": False}, {}):
        model.save(tmp_path / "model.keras", **options)
        sizes.append((tmp_path / "model.keras").stat().st_size)
        if len(sizes) == 2:
            model.compile("adam")
    assert sizes[0] == sizes[1] > 10 * sizes[2]


@pytest.mark.slow
@pytest.mark.parametrize("page", ALONE)
def test_standalone_pages_run(page):
    problems = [v for v in namespace_after(page).values() if isinstance(v, kp.Problem)]
    assert problems


def test_example_replaces_scales():
    left = namespace_after("guide/declare.md", "api/declare.md")
    assert left["rescaled"].scales.terms["residual"] == (5.0,)


def test_example_of_a_custom_network():
    model = namespace_after("guide/declare.md", "guide/networks.md")["own"]
    assert model.derivative_engine == "taylor"


def test_known_solution_reveals_a_wrong_sign():
    assert namespace_after("guide/not_converging.md")["left"] != 0


def test_every_page_with_code_runs():
    source = pathlib.Path(__file__).read_text("utf-8")
    for page in DOCS.rglob("*.md"):
        name = page.relative_to(DOCS).as_posix()
        if blocks(name):
            quoted = f'"{name}"' in source
            assert quoted or page.stem in GUIDE, f"Run {name} in a test."


# Programs of packages that are not installed here.
OTHERS = {"coming_from/deepxde.md", "coming_from/pina.md"}


def is_python(code):
    try:
        return bool(ast.parse(textwrap.dedent(code)))
    except SyntaxError:
        return False


def test_every_code_block_is_of_a_tested_language():
    for page in DOCS.rglob("*.md"):
        text = page.read_text("utf-8")
        fences = set(re.findall(r"^```(\w+)", text, re.MULTILINE))
        other = {"py"} if page.relative_to(DOCS).as_posix() in OTHERS else set()
        assert fences <= {"python", "bash", "bibtex"} | other, page
        prose = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
        indented = re.findall(r"(?<=\n\n)(?: {4}.*\n)+", prose)
        assert not [code for code in indented if is_python(code)], page


def texts():
    """Yield every string of the package, with … for inserted values."""
    for path in (DOCS.parent / "keraspinn").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield node.value
            elif isinstance(node, ast.JoinedStr):
                parts = node.values
                yield "".join(
                    part.value if isinstance(part, ast.Constant) else "…"
                    for part in parts
                )


def test_messages_are_those_of_the_package():
    page = (DOCS / "messages.md").read_text("utf-8")
    messages = [line[2:].split(" | ")[0] for line in page.splitlines() if "| " in line]
    pieces = [piece.strip(" :,;|") for m in messages for piece in re.split("[…;]", m)]
    quoted = {piece for piece in pieces if len(piece.split()) > 1}
    package_texts = "\n".join(texts())
    assert len(quoted) > 40
    assert not sorted(piece for piece in quoted if piece not in package_texts)


def test_guide_is_short():
    pages = [page.read_text("utf-8") for page in DOCS.glob("guide/*.md")]
    assert sum(len(page.split()) for page in pages) < 10_000


# Chains of pages that print and do not train.
WITHOUT_TRAINING = [["declare", "conditions"], ["data"], ["domains"], ["materials"]]


@pytest.mark.parametrize("chain", WITHOUT_TRAINING)
def test_printed_declarations_of_the_guide(chain):
    from examples import guide

    for page, printed, _ in guide.run(*chain):
        assert printed
        for number, lines in printed.items():
            path = guide.PRINTED / f"{page}_{number}.txt"
            assert lines == path.read_text("utf-8")


def test_printed_lines_of_the_guide_have_their_blocks():
    from examples import guide

    for path in guide.PRINTED.glob("*.txt"):
        page, number = path.stem.rsplit("_", 1)
        assert path.name in guide.text(page) and guide.blocks(page)[int(number) - 1]
    kept = {path.stem for path in guide.PRINTED.glob("*.png")}
    assert kept == {*guide.FIGURES}


# Words that the docs of Keras and SciPy do not use.
AVOIDED = r"""besides, shall, some [0-9], one's own, be it, asked for, goes on from,
what is (?:said|left|found|given)"""


@pytest.mark.parametrize("words", re.split(r",\s", AVOIDED))
def test_docs_avoid(words):
    for page in [*DOCS.rglob("*.md"), DOCS.parent / "README.md"]:
        prose = re.sub("(?ms)^```.*?^```$", "", page.read_text("utf-8"))
        lines = re.findall(rf".*\b{words}\b.*", prose)
        assert not lines, f"{page.name}: write it without '{words}': {lines[0]}"


def test_the_word_what_is_rare_in_docs():
    """Keras's and SciPy's docs have it less than once in 1,000 words."""
    pages = [page.read_text("utf-8") for page in DOCS.rglob("*.md")]
    words = re.findall(r"[a-z]+", "\n".join(pages).lower())
    assert words.count("what") < 1e-3 * len(words)


def test_no_line_is_dropped():
    """MyST takes a line that begins with a percent sign for a comment."""
    for page in DOCS.rglob("*.md"):
        assert not re.search("^ *%", page.read_text("utf-8"), re.MULTILINE), page


# Words that a reader types into the search.
SOUGHT = """hole, circle, ODE, elasticity, heat, tutorial, gallery, hard, L-BFGS, GPU,
parametric, cite, mesh, periodic, Neumann, not converging, units, JAX, checkpoint,
Robin, Dirichlet, uncertainty, inverse problems, animation, transient"""


@pytest.mark.parametrize("sought", re.split(r",\s", SOUGHT))
def test_headings_contain_searched_words(sought):
    """Compare stems of words, as the search does, with headings, which it shows."""
    stems = [re.sub("ing$", "", word) for word in sought.split()]
    pages = [page.read_text("utf-8") for page in DOCS.rglob("*.md")]
    headings = re.findall("^#+ .*$", "\n".join(pages), re.MULTILINE)
    assert any(
        all(re.search(rf"\b{stem}", heading, re.IGNORECASE) for stem in stems)
        for heading in headings
    )


@pytest.mark.slow
def test_front_page(capsys):
    """Solve its problem."""
    (code,) = blocks("index.md")
    exec(compile(code, "index.md", "exec"), {})
    assert "\nSolved: u " in capsys.readouterr().out


def test_first_steps_show_the_gallery_s_program_and_its_output():
    page = (DOCS / "first_steps.md").read_text("utf-8")
    program = (DOCS.parent / "examples/gallery/fin.py").read_text("utf-8")
    shown = [code.strip() for code in blocks("first_steps.md")]
    below = program.split('"""', 2)[2]  # the docstring
    assert "".join(below.split()) == "".join("".join(shown).split())
    printed = (DOCS / "gallery/fin.txt").read_text("utf-8")
    assert f"```\n{printed}```\n" in page


def test_example_of_a_flux_through_a_side():
    """Use the front page's names with an untrained network."""
    (code,) = blocks("index.md")
    names = {}
    exec(code[: code.index("solution")], names)
    keras.utils.set_random_seed(0)
    names["model"] = kp.PINNModel(names["problem"], kp.networks.MLP(4, 1))
    exec(block_with("through_side", "guide/look.md"), names)
    operator = names["u"].diff(names["x"], 2) + names["u"].diff(names["y"], 2)
    sides = sum(
        names["model"].integrate(names["outwards"], over=side)
        for side in ({names["x"]: -1}, {names["y"]: -1}, {names["y"]: 1})
    )
    total = sides + names["through_side"] + names["through_rim"]
    # Points around a hole are random.
    inside = names["model"].integrate(operator, points=100_000)
    values = names["model"].predict_expression(operator, names["plate"].grid(50))
    assert total == pytest.approx(-inside, abs=1e-3 * float(values.std()))


def test_citation_agrees_with_the_citation_file():
    file = (DOCS.parent / "CITATION.cff").read_text("utf-8")
    citation = re.search(
        r"```bibtex\n(.*?)```", (DOCS / "index.md").read_text("utf-8"), re.DOTALL
    )
    fields = dict(
        re.findall(r"(version|volume|number|year|doi) += {(.*?)}", citation[1])
    )
    assert len(fields) == 5
    for name, value in fields.items():
        assert f"{'issue' if name == 'number' else name}: {value}\n" in file, name


def small_model():
    model = kp.PINNModel(kp.problems.poisson(), kp.networks.MLP(4, 1), seed=0)
    model.compile("adam", jit_compile=False)
    return model


@pytest.mark.slow
def test_example_of_diagnostics(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    model = small_model()
    (x,), (T,) = model.problem.coordinates, model.problem.fields
    names = {"model": model, "keras": keras, "kp": kp, "x": x, "T": T, "k": 2}
    left = namespace_after("diagnostics.md", "gradients.md", **names)
    assert left["stiffness"].steps == [8]
    assert (tmp_path / "logs").exists() and (tmp_path / "spectra.png").exists()


@pytest.mark.slow
def test_example_of_reliability(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    small_model().save("checkpoint.keras")
    shutil.copy("checkpoint.keras", "from_a_stranger.keras")
    names = {"model": small_model(), "path": "from_a_stranger.keras"}
    left = namespace_after("reliability.md", kp=kp, **names)
    assert left["epoch"] == 0 and (tmp_path / "model.keras").exists()


def test_example_of_the_cavity_s_reference():
    assert namespace_after("cavity_reference.md")["flow"].u.shape == (17, 17)


def test_example_of_a_custom_weighting_rule():
    balance = namespace_after("learning_rate_annealing.md")["balance"]
    model = small_model()
    model.fit(batch_size=4, steps_per_epoch=3, verbose=0, callbacks=[balance])
    assert float(model.loss_weights["boundary"].numpy()) != pytest.approx(1.0)


def test_example_of_a_weighting_rule_by_point():
    sampler = namespace_after("weighting_rules.md")["Attention"]()
    model = small_model()
    model.fit({"residual": sampler}, batch_size=4, steps_per_epoch=3, verbose=0)
    weights = model.trainer.state.structure["sampling"]["residual"]["weights"].numpy()
    assert weights.shape == (4,) and 0.01 <= weights.max() <= 0.03


@pytest.mark.slow
def test_example_of_a_second_stage():
    model = namespace_after("second_stage.md", model=small_model(), kp=kp)["model"]
    assert model.optimizer.iterations.numpy() == 5


def test_example_of_a_taylor_rule_for_a_layer():
    subclass = type("Own", (kp.layers.GatedDense,), {})
    names = {"activate": rules.activate, "affine": rules.affine}
    left = namespace_after("theory/taylor_mode.md", kp=kp, GatedDense=subclass, **names)
    assert callable(left["gated_dense"])


@pytest.mark.slow
def test_examples_of_tf32_and_replicas():
    import tensorflow as tf

    names = {"tf": tf, "keras": keras, "kp": kp, "model": small_model()}
    exec(block_with("tf.config", "guide/gpus.md"), names)
    assert names["model"].optimizer.iterations.numpy() == 4
    names["problem"] = kp.problems.poisson()
    exec(block_with("MirroredStrategy", "training_safely.md"), names)
    assert names["model"].optimizer.iterations.numpy() == 4


def test_one_worker_writes_the_backup(tmp_path):
    code = block_with("cluster_resolver", "training_safely.md")
    for worker in range(2):
        strategy = SimpleNamespace(cluster_resolver=SimpleNamespace(task_id=worker))
        names = {"keras": keras, "strategy": strategy, "directory": str(tmp_path)}
        exec(code, names)
        assert names["chief"] == (worker == 0) and names["backup"]


@pytest.mark.slow
def test_several_devices():
    program = [
        "import jax, keras",
        'jax.config.update("jax_num_cpu_devices", 2)',  # quoted in speed.md
        "import keraspinn as kp; problem = kp.problems.poisson()",
        block_with("DataParallel", "guide/gpus.md"),
        block_with("DataParallel", "training_safely.md"),
        "assert len(jax.devices()) == 2 and model.optimizer.iterations == 4",
    ]
    variables = {"KERAS_BACKEND": "jax", "JAX_PLATFORMS": "cpu", "XLA_FLAGS": ""}
    command = [sys.executable, "-c", "\n".join(program)]
    directory = pathlib.Path(kp.__file__).parents[1]
    subprocess.run(command, env=os.environ | variables, cwd=directory, check=True)


def test_training_safely(capsys):
    namespace_after("training_safely.md")
    assert "the loss of 'residual' is nan" in capsys.readouterr().out
