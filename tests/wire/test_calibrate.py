"""`glossator calibrate`, before a server that embeds and judges: fitted, kept, and used."""

import json
import math
import random
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from pydantic import SecretStr

from bot.embedders import FILE
from bot.settings import Settings
from bot.wiring import open_services
from core.answering.grounding.judge import JudgedClaim, Setting
from core.domain import RetrievalToolOutput
from tests.command_line import CommandLine, Finished, shell
from tests.wire.gemini_shell import describing, finished_here
from tests.wire.openai_calls import OpenAICall
from tests.wire.openai_server import EMBEDDING_MODEL, ChatReply, OpenAIServer

pytestmark = pytest.mark.costly

MODEL = "local-model"
DIMENSIONS = 256
SYLLABLES = "ba ko ri mu tel van sor pid lun gar fes zu ni hol dra".split()
TOPICS = "kiln glaze clay wheel oven slab mould brush engobe cone bisque sieve".split()


@pytest.fixture
async def server() -> AsyncIterator[OpenAIServer]:
    async with OpenAIServer(dimensions=DIMENSIONS) as opened:
        opened.answer_with(careful)
        yield opened


def careful(call: OpenAICall) -> ChatReply:
    """Say yes with .6 to .7 to a claim that stands in its text, else with .2 to .4."""
    if "Claim (fact): " not in call.text:
        return ChatReply("Hello.")
    text, _, claim = call.text.rpartition("Claim (fact): ")
    claim = claim.partition("\n")[0]
    yes = (0.6 if claim in text else 0.2) + len(claim) % 10 / 100
    odds = {"yes": math.log(yes), "no": math.log(1 - yes)}
    return ChatReply("yes", logprobs=(odds,))


def book(folder: Path, sections: int) -> None:
    """Write a book with words that no other has, and five sentences a section."""
    chance = random.Random(3)
    folder.mkdir(parents=True)
    for number in range(sections):
        names = ["".join(chance.choices(SYLLABLES, k=4)) for _ in range(9)]
        topic = TOPICS[number % len(TOPICS)]
        told = [
            f"The {topic} of {one} needs {other} before the potter opens the lid of {third}."
            for one, other, third in zip(names[:5], names[1:6], names[2:7], strict=True)
        ]
        text = f"# The {topic} of {names[0]}\n\n{' '.join(told)}\n"
        (folder / f"{number:02}.md").write_text(text, encoding="utf-8")


def described(folder: Path, models: Path, server: OpenAIServer, sections: int = 60) -> CommandLine:
    book(folder / "pots", sections)
    table = {"kind": "openai", "model": MODEL, "base_url": server.url}
    own = "\n".join(f"{key} = {json.dumps(value)}" for key, value in table.items())
    vectors = own.replace(MODEL, EMBEDDING_MODEL) + f"\ndimensions = {DIMENSIONS}"
    toml = (
        f"[models.own]\n{own}\n[models.vectors]\n{vectors}\n[courses.pots]\n"
        'sources = ["pots"]\nembedding = "vectors"\njudge = "own"\n'
    )
    command_line = describing(shell(folder, models), toml)
    return command_line.setting(
        MODELS__OWN__API_KEY=server.api_key, MODELS__VECTORS__API_KEY=server.api_key
    )


def marks(done: Finished) -> list[str]:
    return [line for line in done.out.splitlines() if " marks " in line]


async def best_score(command_line: CommandLine, question: str) -> float:
    done = await finished_here(command_line, "search", question, "--course", "pots", "--json")
    assert done.code == 0, done.err
    found = RetrievalToolOutput.model_validate_json(done.out).retrieved_chunks
    return max((chunk.similarity_score for chunk in found), default=0.0)


async def test_marks_are_fitted_kept_and_used_from_then_on(
    tmp_path: Path, models: Path, server: OpenAIServer
) -> None:
    command_line = described(tmp_path, models, server)
    done = await finished_here(command_line, "ingest")
    assert done.code == 0, done.err
    before = await finished_here(command_line, "doctor")
    assert len(marks(before)) == 2
    assert all("run 'glossator calibrate pots'" in line for line in marks(before))
    asked = "the glaze of the potter"
    score = await best_score(command_line, asked)

    done = await finished_here(command_line, "calibrate", "pots", "--json")
    assert done.code == 0, done.err
    embedding, judge = done.json["embedding"], done.json["judge"]
    assert embedding["model"] == f"{EMBEDDING_MODEL}/{DIMENSIONS}"
    assert min(embedding["known"], embedding["foreign"]) >= 50
    assert embedding["reached"] >= 0.9
    assert embedding["refused"] >= 0.9
    assert embedding["scale"]["usable_at"] < embedding["scale"]["answerable_at"]
    assert (judge["dropped"], judge["passed"]) == (0.0, 0.0)
    assert 0.3 < judge["mark"] < 0.6
    assert judge["true"] * 1.5 < judge["false"] + 2
    assert done.json["file"] == str(command_line.data / FILE)

    assert marks(await finished_here(command_line, "doctor")) == []
    assert await best_score(command_line, asked) != pytest.approx(score, abs=1e-4)
    told = await finished_here(command_line, "calibrate", "pots")
    assert "pots is embedded with local-embedder/256. Its marks were fitted on" in told.out
    assert "Its claims are judged by local-model. From 0." in told.out


async def test_a_book_that_is_too_short_is_told_and_nothing_is_changed(
    tmp_path: Path, models: Path, server: OpenAIServer
) -> None:
    command_line = described(tmp_path, models, server, sections=3)
    assert (await finished_here(command_line, "ingest")).code == 0
    done = await finished_here(command_line, "calibrate", "pots")
    assert done.code == 65
    assert "20 of each are needed. Nothing was changed." in done.sentence
    assert not (command_line.data / FILE).exists()


async def test_a_judge_that_is_gone_is_told(
    tmp_path: Path, models: Path, server: OpenAIServer
) -> None:
    command_line = described(tmp_path, models, server)
    assert (await finished_here(command_line, "ingest")).code == 0
    server.answer_with(lambda call: ChatReply("I would not know."))
    done = await finished_here(command_line, "calibrate", "pots")
    assert done.code == 69
    assert "gave no verdict: run 'glossator doctor'" in done.err
    assert json.loads((command_line.data / FILE).read_text())["judges"] == {}


async def test_a_claim_holds_from_the_mark_that_was_fitted_for_its_course(
    tmp_path: Path, server: OpenAIServer
) -> None:
    toml = tmp_path / "glossator.toml"
    table = f'[models.own]\nkind = "openai"\nmodel = "{MODEL}"\nbase_url = "{server.url}"\n'
    toml.write_text(table, encoding="utf-8")
    settings = Settings(
        data_dir=tmp_path / "data",
        config=toml,
        judge="own",
        models={"OWN": {"API_KEY": SecretStr(server.api_key)}},
    )
    claim = JudgedClaim("It is fired twice.", ("It is fired twice.", "Then it cools."))
    async with open_services(settings) as opened:

        async def holds(course_id: str) -> bool:
            judge = opened.judge(course_id)
            assert judge is not None
            while True:  # on a busy machine it may be late
                [likely] = await judge.judge([claim], Setting("How often is it fired?"))
                if likely is not None:
                    return likely >= judge.mark

        await opened.models.chat("own").open()
        assert await holds("pots")
        opened.marks.keep_judge("pots", MODEL, 0.9)
        assert not await holds("pots")
        assert await holds("pans")


async def test_what_is_known_needs_no_fitting(tmp_path: Path, models: Path) -> None:
    book(tmp_path / "pots", 3)
    command_line = shell(tmp_path, models)
    assert (await finished_here(command_line, "ingest", "pots", "--course", "pots")).code == 0
    done = await finished_here(command_line, "calibrate", "pots")
    assert done.code == 0
    assert "whose marks are known" in done.out
    assert marks(await finished_here(command_line, "doctor")) == []
    unknown = await finished_here(command_line, "calibrate", "pans")
    assert unknown.code == 2
