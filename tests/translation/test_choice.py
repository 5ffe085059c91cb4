"""Which language texts are in: GNT_LANG, the locale, English."""

from __future__ import annotations

import pytest

from gn_tutorial.translation import choice
from gn_tutorial.translation.choice import language, languages, speaking

LOCALE = ("LC_ALL", "LC_MESSAGES", "LANG")


@pytest.fixture(autouse=True)
def _nothing_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    choice._named.cache_clear()
    for name in (choice.VARIABLE, *LOCALE):
        monkeypatch.delenv(name, raising=False)


def test_english_is_the_first_language_and_chinese_is_one() -> None:
    assert languages()[0] == "en"
    assert "zh" in languages()


@pytest.mark.parametrize("named", ["zh", "ZH", " zh ", "zh_CN", "zh-CN", "zh_CN.UTF-8", "zh.UTF-8"])
def test_gnt_lang_names_a_language_in_every_usual_way(monkeypatch: pytest.MonkeyPatch, named: str) -> None:
    monkeypatch.setenv("GNT_LANG", named)
    assert language() == "zh"


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, "en"),
        ({"LANG": "zh_CN.UTF-8"}, "zh"),
        ({"LANG": "zh_CN.UTF-8", "LC_ALL": "C"}, "en"),
        ({"LANG": "en_GB.UTF-8", "LC_MESSAGES": "zh_CN.UTF-8"}, "zh"),
        ({"LANG": "zh_CN.UTF-8", "LC_ALL": ""}, "zh"),
        ({"LANG": "fr_FR.UTF-8"}, "en"),
        ({"LANG": "zh_CN.UTF-8", "GNT_LANG": "en"}, "en"),
    ],
)
def test_the_locale_chooses_where_gnt_lang_does_not(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], environment: dict[str, str], expected: str
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert language() == expected
    assert capsys.readouterr() == ("", "")


def test_an_unknown_language_is_said_once_and_english(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GNT_LANG", "klingon")
    assert [language(), language()] == ["en", "en"]
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.count("GNT_LANG=klingon names no language of the course") == 1
    assert "there are en, zh" in said.err


def test_speaking_holds_for_what_is_inside(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GNT_LANG", "zh")
    with speaking("en"):
        assert language() == "en"
        with speaking("zh"):
            assert language() == "zh"
        assert language() == "en"
    assert language() == "zh"
