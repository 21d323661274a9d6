"""What is no Python package is installed by a command of the system at hand."""

import platform

import pytest

from core.ingestion.system_packages import how_to_install_git, how_to_install_tesseract, manager_of

UNKNOWN = "with the package manager of this system"


@pytest.mark.parametrize(
    ("system", "release", "git", "german", "chinese"),
    [
        (
            "Linux",
            {"ID": "linuxmint", "ID_LIKE": "ubuntu debian"},
            "apt-get install git",
            "apt-get install tesseract-ocr tesseract-ocr-deu",
            "apt-get install tesseract-ocr-chi-sim",
        ),
        (
            "Linux",
            {"ID": "rocky", "ID_LIKE": "rhel centos fedora"},
            "dnf install git",
            "dnf install tesseract tesseract-langpack-deu",
            "dnf install tesseract-langpack-chi_sim",
        ),
        (
            "Linux",
            {"ID": "alpine"},
            "apk add git",
            "apk add tesseract-ocr tesseract-ocr-data-deu",
            "apk add tesseract-ocr-data-chi_sim",
        ),
        (
            "Linux",
            {"ID": "arch"},
            "pacman -S git",
            "pacman -S tesseract tesseract-data-deu",
            "pacman -S tesseract-data-chi_sim",
        ),
        (
            "Linux",
            {"ID": "opensuse-tumbleweed", "ID_LIKE": "opensuse suse"},
            "zypper install git",
            "zypper install tesseract-ocr tesseract-ocr-traineddata-deu",
            "zypper install tesseract-ocr-traineddata-chi_sim",
        ),
        (
            "Darwin",
            {},
            "brew install git",
            "brew install tesseract tesseract-lang",
            "brew install tesseract-lang",
        ),
        (
            "Windows",
            {},
            "winget install --interactive Git.Git",
            "winget install --interactive UB-Mannheim.TesseractOCR",
            "winget install --interactive UB-Mannheim.TesseractOCR",
        ),
    ],
)
def test_each_system_is_told_its_own_command(
    system: str, release: dict[str, str], git: str, german: str, chinese: str
) -> None:
    manager = manager_of(system, release)
    assert manager is not None
    assert how_to_install_git(manager).endswith(f"{git}'")
    assert how_to_install_tesseract("deu", manager=manager).endswith(f"{german}'")
    only_data = how_to_install_tesseract("chi_sim", is_there=True, manager=manager)
    assert only_data.endswith(f"{chinese}'")


def test_english_is_a_package_of_its_own_only_where_the_program_comes_without_it() -> None:
    debian, alpine = (manager_of("Linux", {"ID": name}) for name in ("debian", "alpine"))
    assert how_to_install_tesseract("eng", manager=debian).endswith("install tesseract-ocr'")
    assert how_to_install_tesseract("eng", manager=alpine).endswith(" tesseract-ocr-data-eng'")


def test_a_system_that_is_not_known_gets_no_command_of_another(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert manager_of("Linux", {"ID": "plan9"}) is None
    monkeypatch.setattr(platform, "system", lambda: "Linux")
    monkeypatch.setattr(platform, "freedesktop_os_release", lambda: {"ID": "plan9"})
    assert how_to_install_git() == how_to_install_tesseract("eng") == UNKNOWN
