"""The stub says what the module has, and everything is documented."""

import ast
import doctest
import inspect
import re
from pathlib import Path

import pytest

import queenfold

ROOT = Path(__file__).parents[2]
STUB = ast.parse((ROOT / "python" / "queenfold.pyi").read_text())
CLASSES = {node.name: node for node in STUB.body if isinstance(node, ast.ClassDef) and node.name != "Classes"}
FUNCTIONS = {node.name: node for node in STUB.body if isinstance(node, ast.FunctionDef)}


def test_the_stub_has_all_names() -> None:
    names = {name for name in dir(queenfold) if not name.startswith("_") and name != "queenfold"}
    assert names == CLASSES.keys() | FUNCTIONS.keys()


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_have_the_signatures_of_the_stub(name: str) -> None:
    arguments = FUNCTIONS[name].args
    positional = [argument.arg for argument in arguments.args]
    given = [ast.literal_eval(default) for default in arguments.defaults]
    defaults = [None if default is None else ast.literal_eval(default) for default in arguments.kw_defaults]
    keywords = list(zip((argument.arg for argument in arguments.kwonlyargs), defaults))
    parameters = inspect.signature(getattr(queenfold, name)).parameters.values()
    plain = [one for one in parameters if one.kind is not one.KEYWORD_ONLY]
    assert [one.name for one in plain] == positional
    assert [one.default for one in plain if one.default is not one.empty] == given
    assert [(one.name, one.default) for one in parameters if one.kind is one.KEYWORD_ONLY] == keywords
    said = ast.get_docstring(FUNCTIONS[name])
    assert said and getattr(queenfold, name).__doc__.startswith(said.split("\n")[0].split(":")[0])


@pytest.mark.parametrize("name", CLASSES)
def test_classes_have_the_attributes_of_the_stub(name: str) -> None:
    members = [node for node in CLASSES[name].body if isinstance(node, ast.FunctionDef)]
    of_stub = {node.name for node in members if not node.name.startswith("_")}
    of_module = {member for member in vars(getattr(queenfold, name)) if not member.startswith("_")}
    assert of_module == of_stub
    assert getattr(queenfold, name).__doc__.startswith(ast.get_docstring(CLASSES[name]))
    for node in members:
        said = ast.get_docstring(node)
        if said:
            assert getattr(getattr(queenfold, name), node.name).__doc__ == said


def test_the_version_is_that_of_the_program() -> None:
    manifest = (ROOT / "Cargo.toml").read_text()
    version = re.search(r'^version = "(.*)"', manifest, re.MULTILINE)
    assert version and version[1] == queenfold.__version__


def test_the_examples_of_the_page_are_what_the_module_says() -> None:
    page = doctest.testfile(str(ROOT / "docs" / "PYTHON.md"), module_relative=False, encoding="utf-8")
    assert page.attempted > 0 and page.failed == 0
