"""Files and folders named on the page of the architecture."""

import re
from pathlib import Path

REPOSITORY = Path(__file__).parents[1]
PAGE = (REPOSITORY / "docs" / "architecture.md").read_text("utf-8")
PACKAGE = REPOSITORY / "keraspinn"


def test_files_named_on_the_page_exist():
    named = set(re.findall(r"`([\w*/]+/[\w]+\.py)`", PAGE))
    assert len(named) > 20
    missing = {
        name
        for name in named
        if not any(PACKAGE.glob(name)) and not any(REPOSITORY.glob(name))
    }
    assert not missing


def test_every_folder_is_in_the_tree():
    tree = PAGE.split("## One step")[0]
    rooms = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    assert not {room for room in rooms if f"      {room}/ " not in tree}
