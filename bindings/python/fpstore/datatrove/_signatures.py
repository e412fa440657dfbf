"""The signatures of a rank: a file for each bucket, sorted by signature, and a file of the ids of all documents."""

from __future__ import annotations

import contextlib
import importlib
import json
import pathlib
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

import fpstore
from fpstore._arrow import pa, pq
from fpstore.errors import DamagedError, InvalidInputError, NotFoundError

np: Any = importlib.import_module("numpy")

FORMAT, VERSION = "fpstore-datatrove", 1
NAME, IDS, SKETCH = "rank.json", "ids.parquet", "sketch"
BATCH_DOCUMENTS, BATCH_CHARACTERS = 10_000, 16 << 20


@dataclass(frozen=True)
class Kind:
    """What signatures are, and how they are cut into buckets."""

    preset: str
    seed: int
    features: str
    num_buckets: int
    hashes_per_bucket: int

    def sign(self, texts: list[str]) -> Any:
        places = self.num_buckets * self.hashes_per_bucket
        return fpstore.minhash(
            texts, preset=self.preset, num_perm=places, seed=self.seed, features=self.features, normalise="none"
        )

    @property
    def hash_bytes(self) -> int:
        return 4 if self.preset.endswith("-32") else 8

    @property
    def row(self) -> Any:
        """A row of a bucket. The hashes have the most significant byte first, so that bytes sort as numbers do."""
        return np.dtype([("band", f"S{self.hash_bytes * self.hashes_per_bucket}"), ("doc", "<u4")])


@dataclass(frozen=True)
class Rank:
    """The result of a rank, as in its file `rank.json`, and its folder."""

    kind: Kind
    rank: int
    world_size: int
    documents: int
    signatures: int
    checksums: dict[str, int]
    folder: pathlib.Path

    @property
    def checksum(self) -> int:
        """A checksum of all of it."""
        return _checksum({name: value for name, value in asdict(self).items() if name != "folder"})

    def _read(self, name: str) -> bytes:
        return read_checked(self.folder / name, self.checksums[name], _again(self.folder))

    def bucket(self, number: int) -> tuple[Any, Any]:
        """The bands of a bucket in order and the document of each."""
        content, band = self._read(_bucket(number)), self.kind.row["band"]
        bands = np.frombuffer(content, band, self.signatures)
        return bands, np.frombuffer(content, "<u4", self.signatures, self.signatures * band.itemsize)

    def rows(self, number: int, begin: int, end: int) -> tuple[Any, Any]:
        """Some rows of a bucket whose checksum was compared."""
        path, band = self.folder / _bucket(number), self.kind.row["band"]
        bands = np.fromfile(path, band, end - begin, offset=begin * band.itemsize)
        return bands, np.fromfile(path, "<u4", end - begin, offset=self.signatures * band.itemsize + 4 * begin)

    def ids(self, docs: Any) -> Any:
        """The ids of documents, which are given in order."""
        first, found = 0, [pa.array([], pa.large_string())]
        for batch in pq.ParquetFile(pa.BufferReader(self._read(IDS))).iter_batches():
            begin, end = np.searchsorted(docs, [first, first + len(batch)])
            found.append(batch["id"].take(pa.array(docs[begin:end] - first)))
            first += len(batch)
        return pa.concat_arrays(found)


def read_checked(path: pathlib.Path, checksum: int, remedy: str) -> bytes:
    """The content of a file that has this checksum."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise DamagedError(f"{path}: {error.strerror}; {remedy}", path) from None
    if zlib.crc32(content) != checksum:
        raise DamagedError(f"{path}: the checksum does not fit the content; {remedy}", path)
    return content


def _checksum(values: dict[str, Any]) -> int:
    return zlib.crc32(json.dumps(values, sort_keys=True).encode())


def _bucket(number: int) -> str:
    return f"bucket-{number:03d}"


def _again(folder: pathlib.Path) -> str:
    return f"remove {folder} and run this rank of MinhashSketch again"


def folder_of(folder: pathlib.Path, rank: int) -> pathlib.Path:
    return folder / SKETCH / f"{rank:05d}"


def read(folder: pathlib.Path, rank: int) -> Rank:
    place = folder_of(folder, rank)
    path = place / NAME
    try:
        values: Any = json.loads(path.read_text("utf-8"))
        if (values.pop("format"), values.pop("version")) != (FORMAT, VERSION):
            raise ValueError("it is not of this version")
        if values.pop("checksum") != _checksum(values):
            raise ValueError("the checksum does not fit the content")
        return Rank(kind=Kind(**values.pop("kind")), folder=place, **values)
    except FileNotFoundError:
        remedy = "run this rank of MinhashSketch first, with as many tasks"
        raise NotFoundError(f"{place}: there are no signatures of rank {rank}; {remedy}", place) from None
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise DamagedError(f"{path}: {error}; {_again(place)}", path) from None


def read_all(folder: pathlib.Path) -> list[Rank]:
    """All ranks, in the order in which datatrove reads their files."""
    there = sorted(int(path.name) for path in (folder / SKETCH).glob("*") if path.name.isdigit())
    if not there:
        raise NotFoundError(f"{folder}: there are no signatures; run MinhashSketch first", folder)
    first = read(folder, there[0])
    if missing := sorted(set(range(first.world_size)) - set(there)):
        numbers = ", ".join(map(str, missing[:5])) + (", ..." if len(missing) > 5 else "")
        remedy = "run these ranks of MinhashSketch"
        raise InvalidInputError(f"{folder}: of {first.world_size} ranks there are no signatures of {numbers}; {remedy}")
    ranks = [read(folder, rank) for rank in there]
    for one in ranks:
        check_same(one, first.kind, first.world_size)
    return sorted(ranks, key=lambda one: one.folder.name)


def check_same(rank: Rank, kind: Kind | None, world_size: int) -> None:
    """Refuses signatures of other parameters, or of another number of ranks."""
    message = f"{rank.folder}: the signatures are of {rank.world_size} tasks"
    if rank.world_size != world_size:
        remedy = f"use as many, not {world_size}, and the same reader, or another folder"
        raise InvalidInputError(f"{message}; {remedy}", rank.folder)
    if kind not in (None, rank.kind):
        raise InvalidInputError(f"{rank.folder}: {rank.kind} is there, not {kind}; use another folder", rank.folder)


def _batches(documents: Iterable[Any]) -> Iterator[tuple[list[str], list[str | None]]]:
    texts: list[str] = []
    ids: list[str | None] = []
    size = 0
    for document in documents:
        if texts and (len(texts) == BATCH_DOCUMENTS or size + len(document.text) > BATCH_CHARACTERS):
            yield texts, ids
            texts, ids, size = [], [], 0
        texts.append(document.text)
        ids.append(None if document.id is None else str(document.id))
        size += len(document.text)
    yield texts, ids


def write(place: pathlib.Path, kind: Kind, rank: int, world_size: int, documents: Iterable[Any]) -> None:
    """Writes the signatures and the ids of the documents of a rank into an empty directory."""
    count, signed, checksums = 0, 0, dict[str, int]()
    names = [_bucket(number) for number in range(kind.num_buckets)]
    schema = pa.schema([("id", pa.large_string())])
    with contextlib.ExitStack() as opened:
        files = [opened.enter_context(open(place / name, "wb")) for name in names]
        out = opened.enter_context(pq.ParquetWriter(place / IDS, schema, compression="zstd"))
        for texts, ids in _batches(documents):
            try:
                docs, bands = _signed(kind, texts)
            except InvalidInputError as error:
                at = count + (error.row or 0)
                raise InvalidInputError(f"rank {rank}, document {at}: {error}", row=at) from error
            rows = np.empty(len(docs), kind.row)
            rows["doc"] = docs + count
            for number, file in enumerate(files):
                rows["band"] = bands[:, number]
                file.write(rows.tobytes())
            out.write_batch(pa.record_batch([_column(ids, rank, count)], schema=schema))
            count, signed = count + len(texts), signed + len(docs)
            if count > 2**32:
                raise InvalidInputError(f"rank {rank}: a rank has at most 2^32 documents; use more tasks")
    for name in names:
        rows = np.fromfile(place / name, kind.row)
        order = np.argsort(rows["band"], kind="stable")
        (place / name).write_bytes(rows["band"][order].tobytes() + rows["doc"][order].tobytes())
    for name in [*names, IDS]:
        checksums[name] = zlib.crc32((place / name).read_bytes())
    made = Rank(kind, rank, world_size, count, signed, checksums, place)
    values = {"format": FORMAT, "version": VERSION, "checksum": made.checksum} | asdict(made)
    del values["folder"]
    (place / NAME).write_text(json.dumps(values, indent=1) + "\n", "utf-8")


def _column(ids: list[str | None], rank: int, first: int) -> Any:
    try:
        return pa.array(ids, pa.large_string())
    except UnicodeEncodeError as error:
        at = first + next(number for number, id in enumerate(ids) if id == error.object)
        raise InvalidInputError(f"rank {rank}, document {at}: its id is no valid text: {error}", row=at) from None


def _signed(kind: Kind, texts: list[str]) -> tuple[Any, Any]:
    """The places of the texts that have a signature, and of each the bands of all buckets."""
    made = pa.array(kind.sign(texts))
    hashes = made.flatten().to_numpy(zero_copy_only=False).astype(f">u{kind.hash_bytes}")
    bands = hashes.view(kind.row["band"]).reshape(-1, kind.num_buckets)
    return np.flatnonzero(made.is_valid().to_numpy(zero_copy_only=False)), bands
