"""Commands of the README and the docs, which find all of their records."""

import pathlib
import re
import shlex

import pytest

from examples.reproduction import Results
from examples.reproduction.__main__ import parser, trainings

ROOT = pathlib.Path(__file__).parents[3]
PAGES = ("README.md", "docs/reproduction.md")
COMMAND = re.compile(r"^python -m examples\.reproduction (.+)$", re.MULTILINE)
COMMANDS = [
    command
    for page in PAGES
    for command in COMMAND.findall((ROOT / page).read_text("utf-8"))
]


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_repeat_no_training(command):
    arguments = parser().parse_args(shlex.split(command))
    wanted = [training for _, training in trainings(arguments)]
    assert wanted
    assert Results(ROOT / arguments.results).missing(wanted) == []


def test_commands_exist():
    assert len(COMMANDS) > 10
