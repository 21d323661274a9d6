"""Every vector index keeps the same promises and finds the same scores."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from pathlib import Path
from uuid import UUID, uuid4

import numpy as np
import pytest
from qdrant_client import AsyncQdrantClient, models

from core.domain.errors import CollectionMissing, VectorIndexError
from core.index.base import IndexedPoint, Part, SparseVector, VectorIndex
from core.index.edge import EdgeIndex
from core.index.qdrant import QdrantIndex, connect
from tests.contracts.index_points import (
    DIMENSIONS,
    Candidate,
    course,
    document_id,
    expected_scores,
    found_in,
    question,
    unit_vector,
)
from tests.wire.qdrant_server import QdrantServer

pytestmark = pytest.mark.filterwarnings("ignore:Payload indexes have no effect")
NAME = f"economics-{uuid4().hex}"
POINTS = course()


async def edge(folder: Path) -> AsyncIterator[VectorIndex]:
    index = EdgeIndex(folder / "index")
    yield index
    await index.close()


async def local(_: Path) -> AsyncIterator[VectorIndex]:
    index = QdrantIndex(AsyncQdrantClient(":memory:"))
    yield index
    await index.close()


async def remote(_: Path) -> AsyncIterator[VectorIndex]:
    async with QdrantServer() as server:
        index = QdrantIndex(connect(server.url))
        yield index
        await index.close()


ENGINES = (edge, local, remote)


@pytest.fixture(params=ENGINES, ids=lambda engine: str(engine.__name__))
async def index(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[VectorIndex]:
    async for made in request.param(tmp_path):
        yield made


async def sealed(
    index: VectorIndex, points: Sequence[IndexedPoint] = POINTS, name: str = NAME
) -> None:
    await index.create(name, DIMENSIONS)
    await index.upsert(name, points)
    await index.seal(name, len(points))


def by_id(candidates: list[Candidate]) -> dict[UUID, Candidate]:
    found = {candidate.chunk.chunk_id: candidate for candidate in candidates}
    assert len(found) == len(candidates)
    return found


@pytest.mark.costly
async def test_a_sealed_collection_holds_what_was_put_in(index: VectorIndex) -> None:
    await sealed(index)
    assert await index.count(NAME) == len(POINTS)
    assert await index.collections() == {NAME}


@pytest.mark.costly
async def test_a_search_finds_every_chunk_with_both_exact_scores(index: VectorIndex) -> None:
    await sealed(index)
    query = question("the price of labour and capital")
    found = by_id(await found_in(index, query, NAME))
    for chunk_id, (cosine, bm25) in expected_scores(POINTS, query).items():
        assert found[chunk_id].cosine == pytest.approx(cosine, abs=1e-4)
        assert found[chunk_id].bm25 == pytest.approx(bm25, abs=1e-4)


@pytest.mark.costly
async def test_a_search_is_the_union_of_the_best_by_each_vector(index: VectorIndex) -> None:
    points = course(documents=12, chunks=10)
    await sealed(index, points)
    query = question("inflation surplus", limit=6)
    scores = expected_scores(points, query)
    by_cosine = sorted(scores, key=lambda i: -scores[i][0])[:6]
    sixth_bm25 = sorted((bm25 for _, bm25 in scores.values()), reverse=True)[5]
    found = by_id(await found_in(index, query, NAME))
    assert set(by_cosine) <= set(found)
    assert 6 < len(found) <= 12
    for chunk_id, candidate in found.items():
        assert chunk_id in by_cosine or candidate.bm25 >= sixth_bm25 - 1e-4
        assert (candidate.cosine, candidate.bm25) == pytest.approx(scores[chunk_id], abs=1e-4)


@pytest.mark.costly
async def test_a_filter_narrows_the_chunks_but_not_the_statistics(index: VectorIndex) -> None:
    await sealed(index)
    query = question("money bank profit")
    scores = expected_scores(POINTS, query)
    narrow = replace(query, section_ids=("chapter-1", "2-0"))
    found = by_id(await found_in(index, narrow, NAME))
    wanted = {p.chunk.chunk_id for p in POINTS if {"chapter-1", "2-0"}.intersection(p.section_ids)}
    assert set(found) == wanted
    for chunk_id, candidate in found.items():
        assert candidate.bm25 == pytest.approx(scores[chunk_id][1], abs=1e-4)


async def test_section_and_document_filters_apply_together(index: VectorIndex) -> None:
    await sealed(index)
    query = question(section_ids=("module-1",), document_id=document_id(3))
    found = await found_in(index, query, NAME)
    assert {candidate.chunk.document_id for candidate in found} == {document_id(3)}
    assert len(found) == 5
    nowhere = replace(query, section_ids=("module-0",))
    assert await found_in(index, nowhere, NAME) == []


async def test_a_question_of_stop_words_is_searched_by_meaning(index: VectorIndex) -> None:
    await sealed(index)
    found = await found_in(index, question("the of and"), NAME)
    assert len(found) == len(POINTS)
    assert {candidate.bm25 for candidate in found} == {0.0}


async def test_a_question_without_a_meaning_is_searched_by_its_words(index: VectorIndex) -> None:
    await sealed(index)
    query = question(limit=3)
    words_alone = replace(query, dense=np.zeros(DIMENSIONS, np.float32))
    found = await found_in(index, words_alone, NAME)
    best = sorted(expected_scores(POINTS, query).values(), key=lambda score: -score[1])[:3]
    assert {candidate.cosine for candidate in found} == {0.0}
    assert sorted((c.bm25 for c in found), reverse=True)[:3] == pytest.approx([b for _, b in best])


async def test_a_question_of_the_wrong_length_is_refused(index: VectorIndex) -> None:
    await sealed(index)
    with pytest.raises(VectorIndexError, match="embedding model has changed"):
        await found_in(index, replace(question(), dense=np.ones(3, np.float32)), NAME)


async def test_a_chunk_comes_back_as_it_was_stored(index: VectorIndex) -> None:
    await sealed(index)
    chunks = [point.chunk for point in POINTS]
    ids = [point.number for point in POINTS]
    assert await index.fetch(NAME, ids) == chunks
    assert await index.fetch(NAME, [ids[3], 9_999, ids[0]]) == [chunks[3], chunks[0]]
    assert await index.fetch(NAME, []) == []


async def test_the_words_of_chunks_are_told_without_reading_them(index: VectorIndex) -> None:
    await sealed(index)
    third, first = POINTS[3], POINTS[0]

    found = await index.terms(NAME, [third.number, 9_999, first.number, third.number])

    words = [set(point.sparse.indices) for point in (third, first)]
    assert [set(terms) for terms in found] == [words[0], set(), words[1], words[0]]


async def test_hidden_documents_are_not_found(index: VectorIndex) -> None:
    await sealed(index)
    part = Part(NAME, frozenset({document_id(1), document_id(2)}))
    found = await found_in(index, question(), part)
    assert {c.chunk.document_id for c in found} == {document_id(0), document_id(3)}
    assert len(found) == 10
    limited = replace(question(), section_ids=("module-1",))
    found = await found_in(index, limited, part)
    assert {c.chunk.document_id for c in found} == {document_id(3)}


@pytest.mark.costly
async def test_several_collections_are_searched_like_one(index: VectorIndex) -> None:
    points = course(documents=12, chunks=10)
    query = question("inflation surplus", limit=6)
    await sealed(index, points)
    whole = by_id(await found_in(index, query, NAME))
    early = [p for p in points if p.number < 70]
    late = [replace(p, number=p.number - 70) for p in points if p.number >= 70]
    await sealed(index, early, "book-1")
    await sealed(index, late, "book-2")
    apart = by_id(await found_in(index, query, "book-1", "book-2"))
    assert set(apart) == set(whole)
    for chunk_id, candidate in apart.items():
        scores = (whole[chunk_id].cosine, whole[chunk_id].bm25)
        assert (candidate.cosine, candidate.bm25) == pytest.approx(scores, abs=1e-4)


@pytest.mark.costly
async def test_scrolling_reads_each_document_in_order(index: VectorIndex) -> None:
    points = course(documents=3, chunks=120)
    await sealed(index, points)
    chunks = [chunk async for chunk in index.scroll(NAME)]
    places = [(chunk.document_id, chunk.chunk_index) for chunk in chunks]
    assert len(places) == len(set(places)) == 360
    for number in range(3):
        own = [place for place in places if place[0] == document_id(number)]
        assert own == sorted(own)
    one = [chunk async for chunk in index.scroll(NAME, document_id=document_id(1))]
    assert [chunk.chunk_index for chunk in one] == list(range(120))


async def test_points_come_back_with_their_vectors(index: VectorIndex) -> None:
    await sealed(index)
    wanted = {p.chunk.chunk_id: p for p in POINTS if p.chunk.document_id != document_id(2)}
    found = await index.points(NAME, [document_id(0), document_id(1), document_id(3)])
    assert {point.chunk.chunk_id for point in found} == set(wanted)
    for point in found:
        stored = wanted[point.chunk.chunk_id]
        assert (point.chunk, point.section_ids) == (stored.chunk, stored.section_ids)
        assert point.sparse == stored.sparse
        assert point.dense.dtype == np.float32
        np.testing.assert_allclose(point.dense, stored.dense, atol=1e-6)
    assert await index.points(NAME, []) == []
    assert await index.points(NAME, [uuid4()]) == []


async def test_a_chunk_without_words_is_stored_and_found(index: VectorIndex) -> None:
    chunk = POINTS[0].chunk.model_copy(update={"terms": ()})
    wordless = replace(POINTS[0], chunk=chunk, sparse=SparseVector((), ()))
    points = [wordless, *POINTS[1:]]
    await sealed(index, points)
    query = question("demand")
    found = by_id(await found_in(index, query, NAME))
    assert found[wordless.chunk.chunk_id].bm25 == 0.0
    [again] = [
        point
        for point in await index.points(NAME, [wordless.chunk.document_id])
        if point.chunk == wordless.chunk
    ]
    assert again.sparse == wordless.sparse


async def test_a_known_number_replaces_the_point(index: VectorIndex) -> None:
    changed = replace(POINTS[0], dense=unit_vector(np.random.default_rng(5)))
    await index.create(NAME, DIMENSIONS)
    await index.upsert(NAME, POINTS)
    await index.upsert(NAME, [changed])
    await index.seal(NAME, len(POINTS))
    found = by_id(await found_in(index, replace(question(), dense=changed.dense), NAME))
    assert found[changed.chunk.chunk_id].cosine == pytest.approx(1.0, abs=1e-4)


async def test_an_unsealed_collection_is_listed_but_not_readable(index: VectorIndex) -> None:
    await index.create(NAME, DIMENSIONS)
    await index.upsert(NAME, POINTS)
    assert await index.collections() == {NAME}
    with pytest.raises(CollectionMissing, match="no sealed collection"):
        await index.count(NAME)
    with pytest.raises(VectorIndexError):
        await found_in(index, question(), NAME)
    with pytest.raises(VectorIndexError):
        await index.fetch(NAME, [0])
    with pytest.raises(VectorIndexError):
        await index.points(NAME, [document_id(0)])
    with pytest.raises(VectorIndexError):
        [chunk async for chunk in index.scroll(NAME)]


@pytest.mark.costly
async def test_creating_again_forgets_what_was_not_sealed(index: VectorIndex) -> None:
    await index.create(NAME, DIMENSIONS)
    await index.upsert(NAME, POINTS)
    await sealed(index, POINTS[:3])
    assert await index.count(NAME) == 3


async def test_a_wrong_count_is_refused_and_can_be_put_right(index: VectorIndex) -> None:
    await index.create(NAME, DIMENSIONS)
    await index.upsert(NAME, POINTS[:-1])
    with pytest.raises(VectorIndexError, match=f"{len(POINTS) - 1} points, not {len(POINTS)}"):
        await index.seal(NAME, len(POINTS))
    await index.upsert(NAME, POINTS[-1:])
    await index.seal(NAME, len(POINTS))
    assert await index.count(NAME) == len(POINTS)


async def test_a_sealed_collection_cannot_change(index: VectorIndex) -> None:
    await sealed(index)
    with pytest.raises(VectorIndexError):
        await index.upsert(NAME, POINTS[:1])
    with pytest.raises(VectorIndexError, match="is sealed"):
        await index.create(NAME, DIMENSIONS)
    await index.seal(NAME, len(POINTS))
    with pytest.raises(VectorIndexError):
        await index.seal(NAME, 1)
    assert await index.count(NAME) == len(POINTS)


@pytest.mark.costly
async def test_a_dropped_collection_is_gone_and_its_name_free(index: VectorIndex) -> None:
    await sealed(index)
    await found_in(index, question(), NAME)
    await index.drop(NAME)
    assert await index.collections() == frozenset()
    with pytest.raises(VectorIndexError):
        await found_in(index, question(), NAME)
    await index.drop(NAME)
    await sealed(index, POINTS[:4])
    assert len(await found_in(index, question(), NAME)) == 4


async def test_an_unsealed_collection_can_be_dropped(index: VectorIndex) -> None:
    await index.create(NAME, DIMENSIONS)
    await index.drop(NAME)
    assert await index.collections() == frozenset()
    with pytest.raises(VectorIndexError):
        await index.upsert(NAME, POINTS[:1])


@pytest.mark.costly
async def test_collections_do_not_see_one_another(index: VectorIndex) -> None:
    await sealed(index)
    await sealed(index, POINTS[:2], "biology-1")
    assert await index.collections() == {NAME, "biology-1"}
    assert len(await found_in(index, question(), "biology-1")) == 2
    await index.drop("biology-1")
    assert await index.count(NAME) == len(POINTS)


async def test_a_vector_of_the_wrong_length_is_refused(index: VectorIndex) -> None:
    await index.create(NAME, DIMENSIONS)
    with pytest.raises(VectorIndexError):
        await index.upsert(NAME, [replace(POINTS[0], dense=np.ones(3, np.float32))])


@pytest.mark.parametrize("name", ["", "../secrets", "a/b", "Upper", ".hidden", "a" * 129])
async def test_an_impossible_name_is_a_mistake_of_the_caller(index: VectorIndex, name: str) -> None:
    with pytest.raises(ValueError, match="cannot be the name"):
        await index.create(name, DIMENSIONS)
    with pytest.raises(ValueError, match="cannot be the name"):
        await index.drop(name)


@pytest.mark.costly
async def test_all_engines_find_the_same(tmp_path: Path) -> None:
    found = []
    query = question("wage growth and the interest on money", section_ids=("module-0",))
    for number, engine in enumerate(ENGINES):
        async for index in engine(tmp_path / str(number)):
            await sealed(index)
            found.append(by_id(await found_in(index, query, NAME)))
    first, *others = found
    for other in others:
        assert set(other) == set(first)
        for chunk_id, candidate in other.items():
            assert candidate.chunk == first[chunk_id].chunk
            assert candidate.cosine == pytest.approx(first[chunk_id].cosine, abs=1e-4)
            assert candidate.bm25 == pytest.approx(first[chunk_id].bm25, abs=1e-4)


async def test_other_peoples_collections_on_a_server_are_left_alone() -> None:
    client = AsyncQdrantClient(":memory:")
    vectors = models.VectorParams(size=2, distance=models.Distance.DOT)
    foreign = {NAME, f"{NAME}.points", "glossator-diary", f"other-{NAME}.points"}
    for name in foreign:
        await client.create_collection(name, vectors)
    index = QdrantIndex(client)
    await sealed(index)
    assert await index.collections() == {NAME}
    await index.drop(NAME)
    assert {entry.name for entry in (await client.get_collections()).collections} == foreign
    await index.close()
