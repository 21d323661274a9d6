"""A question reaches the stage of policies only where its course has any."""

from types import SimpleNamespace
from typing import Any

import pytest

from core.teaching.policy_store import PolicyGate


@pytest.mark.parametrize(
    ("described", "stored", "builds"), [((), (), 0), (("hints",), (), 1), ((), ("hints",), 1)]
)
async def test_the_stage_is_built_once_and_only_where_there_is_a_policy(
    described: tuple[str, ...], stored: tuple[str, ...], builds: int
) -> None:
    built: list[object] = []

    class Stage:
        async def run(self, context: object) -> str:
            return f"by policy: {context}"

    class Store:
        async def of(self, course_id: str) -> tuple[str, ...]:
            return stored if course_id == "arden" else ()

    def build() -> Any:
        built.append(Stage())
        return built[-1]

    store: Any = Store()
    file: dict[str, Any] = {"arden": described}
    gate = PolicyGate(described=lambda name: file.get(name, ()), store=store, build=build)
    context: Any = SimpleNamespace(request=SimpleNamespace(course_id="arden"))
    for _ in range(2):
        assert (await gate.run(context) is not None) is bool(builds)
    context.request.course_id = "vault"
    assert await gate.run(context) is None
    assert len(built) == builds
