"""The exam's command runs, continues where it stopped, and makes its page."""

import json

import pytest
import sympy as sp

import keraspinn as kp
from examples.exam import __main__ as exam
from examples.exam import problems, table

t = sp.Symbol("t")
u = sp.Function("u")(t)


def decay():
    return kp.Problem(
        kp.geometry.Box(time={t: (0, 1)}),
        {"decay": sp.Eq(u.diff(t), -u)},
        {"initial": kp.Condition(sp.Eq(u, 1), on="initial")},
        reference={u: sp.exp(-t)},
    )


@pytest.fixture
def questions(monkeypatch):
    names = ("first", "second", "third")
    questions_by_name = {name: problems.Question(name, decay) for name in names}
    for module in (exam, table):
        monkeypatch.setattr(module, "QUESTIONS", questions_by_name)
    return questions_by_name


def record(solved=True, error=1e-4):
    return {"solved": solved, "errors": {"u": error}, "tolerance": 1e-3, "seconds": 2.0}


def test_a_tiny_problem_is_examined(questions, tmp_path):
    path = tmp_path / "exam.json"
    exam.main(
        [
            "--only",
            "first",
            "--max-time",
            "0.001",
            "--tolerance",
            "1e-12",
            "--output",
            str(path),
        ]
    )
    last = json.loads(path.read_text("utf-8"))["first"]["last"]
    assert not last["solved"] and "max_time=" in last["reason"]
    assert 0 < last["errors"]["u"] < 10 and last["rounds"][0]["steps"] > 0


def test_an_interrupted_exam_continues(questions, tmp_path, monkeypatch):
    path, runs = tmp_path / "exam.json", []

    def run(question, tolerance, max_time):
        runs.append(question.name)
        if runs == ["first", "second"]:
            raise KeyboardInterrupt
        if question.name == "third":
            raise ValueError("It cannot be declared.")
        return record()

    monkeypatch.setattr(exam, "run", run)
    with pytest.raises(KeyboardInterrupt):
        exam.main(["--output", str(path)])
    exam.main(["--output", str(path)])
    exam.main(["--output", str(path)])
    assert runs == ["first", "second", "second", "third"]
    third = json.loads(path.read_text("utf-8"))["third"]["last"]
    assert third["reason"] == "ValueError: It cannot be declared."


def test_the_first_run_is_kept(questions, tmp_path):
    path = tmp_path / "exam.json"
    for error in (0.1, 1e-5):
        exam.keep(path, "first", record(error=error))
    runs = exam.kept(path)["first"]
    assert runs["first"]["errors"]["u"] == 0.1 and runs["last"]["errors"]["u"] == 1e-5


def test_shards_are_all_problems_once(questions):
    parts = [exam.chosen([], f"{k}/2", {"third"}) for k in (1, 2)]
    assert parts == [["first"], ["second"]]
    with pytest.raises(SystemExit, match="fourth"):
        exam.chosen(["fourth"], "1/1", {})


@pytest.mark.parametrize(
    ("solved", "error", "result"),
    [(True, 1e-4, "right"), (True, 2e-3, "wrong"), (False, 1e-4, "not solved")],
)
def test_results_are_right_wrong_or_not_solved(solved, error, result):
    assert table.result(record(solved, error)) == result


def test_the_exam_has_enough_problems():
    solvable = [q for q in problems.QUESTIONS.values() if q.solvable]
    assert len(solvable) >= 60
    assert sum(q.held_back for q in solvable) == 12
    assert all(problems.QUESTIONS[n].problem().reference for n in ("ide", "heat_rod"))


def test_the_page_is_made_from_the_record():
    text, records = table.PAGE.read_text("utf-8"), exam.kept(exam.RECORDS)
    others = exam.kept(table.TIGHT), exam.kept(table.BESIDE)
    assert records and table.page(text, records, *others) == text
