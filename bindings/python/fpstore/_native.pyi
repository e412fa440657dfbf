"""Types of the native part."""

import pathlib
from collections.abc import Iterator, Sequence
from types import TracebackType
from typing import Any, Literal, final, overload

from typing_extensions import Self

from fpstore._stats import Stats
from fpstore._types import ArrowArray, ArrowStream, Column, Fingerprint, Id, Keep, Path, Progress, Size
from fpstore._writer import Writer

__all__ = [
    "Answers",
    "Array",
    "BaseSnapshot",
    "BaseStore",
    "Batch",
    "KeyIndex",
    "KeyMatch",
    "KeySnapshot",
    "Match",
    "Ring",
    "RingLock",
    "Snapshot",
    "Store",
    "Table",
    "__version__",
    "_array",
    "_batch",
    "_key_match",
    "_match",
    "_table",
    "bands",
    "bytes_of",
    "compare",
    "create",
    "health",
    "linked",
    "lucene_min_hash",
    "minhash",
    "open",
    "renamed",
    "repair",
    "shares",
    "simhash",
    "verify",
]

__version__: str

@final
class Array:
    @property
    def hasher(self) -> str | None: ...
    @property
    def type(self) -> str: ...
    @property
    def width(self) -> int: ...
    @property
    def null_count(self) -> int: ...
    def __len__(self) -> int: ...
    @overload
    def __getitem__(self, at: int, /) -> Any: ...
    @overload
    def __getitem__(self, at: slice, /) -> Array: ...
    def to_pylist(self) -> list[Any]: ...
    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]: ...
    def __arrow_c_schema__(self) -> object: ...
    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any: ...
    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]: ...

@final
class Batch:
    @property
    def hasher(self) -> str | None: ...
    @property
    def sample_bits(self) -> int | None: ...
    @property
    def num_rows(self) -> int: ...
    @property
    def column_names(self) -> list[str]: ...
    def __len__(self) -> int: ...
    def __getitem__(self, name: str, /) -> Array: ...
    def to_pydict(self) -> dict[str, list[Any]]: ...
    def to_pylist(self) -> list[dict[str, Any]]: ...
    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]: ...
    def __arrow_c_schema__(self) -> object: ...
    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]: ...

@final
class Table:
    def __new__(cls, table: ArrowStream | ArrowArray | dict[str, Column]) -> Table: ...
    @property
    def num_rows(self) -> int: ...
    @property
    def column_names(self) -> list[str]: ...
    def __len__(self) -> int: ...
    def __getitem__(self, name: str, /) -> Array: ...
    def without(self, rows: Column) -> Table: ...
    def to_pydict(self) -> dict[str, list[Any]]: ...
    def to_pylist(self) -> list[dict[str, Any]]: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
    def __arrow_c_schema__(self) -> object: ...
    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]: ...

@final
class Answers:
    def __iter__(self) -> Iterator[Batch]: ...
    def __next__(self) -> Batch: ...
    def read_all(self) -> Batch: ...
    def to_pydict(self) -> dict[str, list[Any]]: ...
    def to_pylist(self) -> list[dict[str, Any]]: ...
    @property
    def column_names(self) -> list[str]: ...
    @property
    def progress(self) -> float: ...
    @property
    def skipped_keys(self) -> int: ...
    def close(self) -> None: ...
    def __enter__(self) -> Answers: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
    def __arrow_c_schema__(self) -> object: ...

@final
class Match:
    @property
    def distance(self) -> int: ...
    @property
    def fingerprint(self) -> int: ...
    @property
    def id(self) -> Any: ...
    def __iter__(self) -> Iterator[Any]: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]: ...

@final
class KeyMatch:
    @property
    def id(self) -> Any: ...
    @property
    def shared(self) -> int: ...
    @property
    def jaccard(self) -> float | None: ...
    def __iter__(self) -> Iterator[Any]: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]: ...

class BaseStore:
    @property
    def path(self) -> pathlib.Path: ...
    @property
    def ids(self) -> str: ...
    @property
    def hasher(self) -> str | None: ...
    @property
    def read_only(self) -> bool: ...
    def __len__(self) -> int: ...
    def __bool__(self) -> bool: ...
    def stats(self) -> Stats: ...
    def verify(self) -> dict[str, Any]: ...
    def backup(self, path: Path, *, hard_links: bool = False) -> int: ...
    def compact(self) -> bool: ...
    def remove_ids(self, ids: Column) -> int: ...
    def refresh(self) -> bool: ...
    def close(self) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None: ...
    def __reduce__(self) -> tuple[Any, tuple[Any, dict[str, Any]]]: ...

class BaseSnapshot:
    @property
    def path(self) -> pathlib.Path: ...
    @property
    def ids(self) -> str: ...
    @property
    def hasher(self) -> str | None: ...
    def __len__(self) -> int: ...
    def __bool__(self) -> bool: ...
    def stats(self) -> Stats: ...

@final
class Store(BaseStore):
    @property
    def width(self) -> int: ...
    @property
    def max_distance(self) -> int: ...
    @property
    def plan(self) -> str: ...
    def __contains__(self, fingerprint: Fingerprint, /) -> bool: ...
    def load(
        self,
        records: Column | dict[str, Column],
        ids: Column | None = None,
        *,
        fingerprint_column: str = "fingerprint",
        id_column: str | None = None,
        progress: Progress = None,
    ) -> dict[str, int]: ...
    def load_replace(
        self,
        records: Column | dict[str, Column],
        ids: Column | None = None,
        *,
        fingerprint_column: str = "fingerprint",
        id_column: str | None = None,
        progress: Progress = None,
    ) -> dict[str, int]: ...
    def load_remove(
        self,
        records: Column | dict[str, Column],
        ids: Column | None = None,
        *,
        fingerprint_column: str = "fingerprint",
        id_column: str | None = None,
        progress: Progress = None,
    ) -> dict[str, int]: ...
    def insert(
        self, fingerprint: Fingerprint | Column, id: Id | Column | None = None, *, durability: str = "sync"
    ) -> None: ...
    @overload
    def insert_if_new(  # type: ignore[overload-overlap]  # pyright: ignore[reportOverlappingOverload]
        self,
        fingerprint: Fingerprint,
        id: Id | None = None,
        *,
        ids: None = None,
        k: int | None = None,
        durability: str = "sync",
    ) -> bool: ...
    @overload
    def insert_if_new(
        self,
        fingerprint: Column,
        id: Column | None = None,
        *,
        ids: Column | None = None,
        k: int | None = None,
        durability: str = "sync",
    ) -> Batch: ...
    def remove(
        self, fingerprint: Fingerprint | Column, id: Id | Column | None = None, *, durability: str = "sync"
    ) -> int: ...
    def remove_id(self, id: Id, *, durability: str = "sync") -> int: ...
    def replace(self, fingerprint: Fingerprint, id: Id, *, durability: str = "sync") -> int: ...
    @overload
    def query(  # type: ignore[overload-overlap]  # pyright: ignore[reportOverlappingOverload]
        self, fingerprint: Fingerprint, k: int | None = None
    ) -> list[Match]: ...
    @overload
    def query(self, fingerprint: Column, k: int | None = None) -> Answers: ...
    @overload
    def nearest(  # type: ignore[overload-overlap]  # pyright: ignore[reportOverlappingOverload]
        self, fingerprint: Fingerprint, count: int = 10, *, k: int | None = None
    ) -> list[Match]: ...
    @overload
    def nearest(self, fingerprint: Column, count: int = 10, *, k: int | None = None) -> Answers: ...
    @overload
    def contains_near(  # type: ignore[overload-overlap]  # pyright: ignore[reportOverlappingOverload]
        self, fingerprint: Fingerprint, k: int | None = None
    ) -> bool: ...
    @overload
    def contains_near(self, fingerprint: Column, k: int | None = None) -> Array: ...
    def get(self, fingerprint: Fingerprint) -> list[Any]: ...
    def get_id(self, id: Id) -> list[int]: ...
    def deal(self, folder: Path, *, groups: int, k: int | None = None) -> list[dict[str, Any]]: ...
    def records(self) -> Answers: ...
    def pairs(
        self,
        k: int | None = None,
        *,
        distinct: bool = False,
        part: int | None = None,
        more: Sequence[Store | Snapshot] | None = None,
        memory: Size | None = None,
        tmp_dir: Path | None = None,
    ) -> Answers: ...
    def join(
        self, other: Store | Snapshot, k: int | None = None, *, memory: Size | None = None, tmp_dir: Path | None = None
    ) -> Answers: ...
    def clusters(
        self,
        k: int | None = None,
        *,
        linkage: str = "single",
        keep: Keep = None,
        min_size: int = 1,
        part: int | None = None,
        more: Sequence[Store | Snapshot] | None = None,
        memory: Size | None = None,
        tmp_dir: Path | None = None,
    ) -> Answers: ...
    def keep(
        self,
        k: int | None = None,
        *,
        linkage: str = "star",
        evidence: bool = False,
        keep: Keep = None,
        memory: Size | None = None,
        tmp_dir: Path | None = None,
    ) -> Answers: ...
    def snapshot(self) -> Snapshot: ...
    def writer(self, durability: str = "sync") -> Writer: ...
    def sync(self, durability: str = "sync") -> None: ...

@final
class Snapshot(BaseSnapshot):
    @property
    def width(self) -> int: ...
    @property
    def max_distance(self) -> int: ...
    @overload
    def query(  # type: ignore[overload-overlap]  # pyright: ignore[reportOverlappingOverload]
        self, fingerprint: Fingerprint, k: int | None = None
    ) -> list[Match]: ...
    @overload
    def query(self, fingerprint: Column, k: int | None = None) -> Answers: ...
    @overload
    def nearest(  # type: ignore[overload-overlap]  # pyright: ignore[reportOverlappingOverload]
        self, fingerprint: Fingerprint, count: int = 10, *, k: int | None = None
    ) -> list[Match]: ...
    @overload
    def nearest(self, fingerprint: Column, count: int = 10, *, k: int | None = None) -> Answers: ...
    @overload
    def contains_near(  # type: ignore[overload-overlap]  # pyright: ignore[reportOverlappingOverload]
        self, fingerprint: Fingerprint, k: int | None = None
    ) -> bool: ...
    @overload
    def contains_near(self, fingerprint: Column, k: int | None = None) -> Array: ...
    def records(self) -> Answers: ...
    def pairs(
        self,
        k: int | None = None,
        *,
        distinct: bool = False,
        part: int | None = None,
        more: Sequence[Store | Snapshot] | None = None,
        memory: Size | None = None,
        tmp_dir: Path | None = None,
    ) -> Answers: ...
    def join(
        self, other: Store | Snapshot, k: int | None = None, *, memory: Size | None = None, tmp_dir: Path | None = None
    ) -> Answers: ...
    def clusters(
        self,
        k: int | None = None,
        *,
        linkage: str = "single",
        keep: Keep = None,
        min_size: int = 1,
        part: int | None = None,
        more: Sequence[Store | Snapshot] | None = None,
        memory: Size | None = None,
        tmp_dir: Path | None = None,
    ) -> Answers: ...
    def keep(
        self,
        k: int | None = None,
        *,
        linkage: str = "star",
        evidence: bool = False,
        keep: Keep = None,
        memory: Size | None = None,
        tmp_dir: Path | None = None,
    ) -> Answers: ...

@final
class KeyIndex(BaseStore):
    @property
    def key_bits(self) -> int: ...
    @property
    def sketch_bits(self) -> int: ...
    def load(
        self,
        records: Column | dict[str, Column],
        ids: Column | None = None,
        sketches: Column | None = None,
        *,
        replace: bool = False,
        keys_column: str = "keys",
        id_column: str | None = None,
        sketch_column: str | None = None,
        progress: Progress = None,
    ) -> dict[str, int]: ...
    @overload
    def query(  # type: ignore[overload-overlap]  # pyright: ignore[reportOverlappingOverload]
        self,
        keys: list[int] | tuple[int, ...],
        sketches: bytes | None = None,
        *,
        min_shared: int = 1,
        min_jaccard: float | None = None,
        nearest: int | None = None,
    ) -> list[KeyMatch]: ...
    @overload
    def query(
        self,
        keys: Column,
        sketches: Column | None = None,
        *,
        min_shared: int = 1,
        min_jaccard: float | None = None,
        nearest: int | None = None,
    ) -> Answers: ...
    def pairs(
        self,
        *,
        min_shared: int = 1,
        min_jaccard: float | None = None,
        max_key_frequency: int | None = None,
        memory: Size | None = None,
        tmp_dir: Path | None = None,
    ) -> Answers: ...
    def join(
        self,
        other: KeyIndex | KeySnapshot,
        *,
        min_shared: int = 1,
        min_jaccard: float | None = None,
        max_key_frequency: int | None = None,
        memory: Size | None = None,
        tmp_dir: Path | None = None,
    ) -> Answers: ...
    def clusters(
        self,
        *,
        linkage: str = "single",
        keep: Keep = None,
        min_shared: int = 1,
        min_jaccard: float | None = None,
        max_key_frequency: int | None = None,
        memory: Size | None = None,
        tmp_dir: Path | None = None,
    ) -> Answers: ...
    def keep(
        self,
        *,
        linkage: str = "star",
        evidence: bool = False,
        keep: Keep = None,
        min_shared: int = 1,
        min_jaccard: float | None = None,
        max_key_frequency: int | None = None,
        memory: Size | None = None,
        tmp_dir: Path | None = None,
    ) -> Answers: ...
    def records(self) -> Answers: ...
    def snapshot(self) -> KeySnapshot: ...

@final
class KeySnapshot(BaseSnapshot):
    @property
    def key_bits(self) -> int: ...
    @property
    def sketch_bits(self) -> int: ...
    @overload
    def query(  # type: ignore[overload-overlap]  # pyright: ignore[reportOverlappingOverload]
        self,
        keys: list[int] | tuple[int, ...],
        sketches: bytes | None = None,
        *,
        min_shared: int = 1,
        min_jaccard: float | None = None,
        nearest: int | None = None,
    ) -> list[KeyMatch]: ...
    @overload
    def query(
        self,
        keys: Column,
        sketches: Column | None = None,
        *,
        min_shared: int = 1,
        min_jaccard: float | None = None,
        nearest: int | None = None,
    ) -> Answers: ...
    def pairs(
        self,
        *,
        min_shared: int = 1,
        min_jaccard: float | None = None,
        max_key_frequency: int | None = None,
        memory: Size | None = None,
        tmp_dir: Path | None = None,
    ) -> Answers: ...
    def join(
        self,
        other: KeyIndex | KeySnapshot,
        *,
        min_shared: int = 1,
        min_jaccard: float | None = None,
        max_key_frequency: int | None = None,
        memory: Size | None = None,
        tmp_dir: Path | None = None,
    ) -> Answers: ...
    def clusters(
        self,
        *,
        linkage: str = "single",
        keep: Keep = None,
        min_shared: int = 1,
        min_jaccard: float | None = None,
        max_key_frequency: int | None = None,
        memory: Size | None = None,
        tmp_dir: Path | None = None,
    ) -> Answers: ...
    def keep(
        self,
        *,
        linkage: str = "star",
        evidence: bool = False,
        keep: Keep = None,
        min_shared: int = 1,
        min_jaccard: float | None = None,
        max_key_frequency: int | None = None,
        memory: Size | None = None,
        tmp_dir: Path | None = None,
    ) -> Answers: ...
    def records(self) -> Answers: ...

@overload
def create(
    path: Path,
    *,
    kind: Literal["fingerprints"] = "fingerprints",
    width: int | None = None,
    max_distance: int | None = None,
    ids: str = "u64",
    plan: str | None = None,
    codec: str | None = None,
    block_size: int | None = None,
    id_index: bool = False,
    hasher: str | None = None,
    read_mode: str | None = None,
    filters: str | None = None,
    filter_memory: Size | None = None,
    memory: Size | None = None,
    tmp_dir: Path | None = None,
    threads: int | None = None,
) -> Store: ...
@overload
def create(
    path: Path,
    *,
    kind: Literal["keys"],
    ids: str = "u64",
    codec: str | None = None,
    block_size: int | None = None,
    id_index: bool = False,
    hasher: str | None = None,
    key_bits: int | None = None,
    sketch: int | None = None,
    sample_bits: int | None = None,
    read_mode: str | None = None,
    filters: str | None = None,
    filter_memory: Size | None = None,
    memory: Size | None = None,
    tmp_dir: Path | None = None,
    threads: int | None = None,
) -> KeyIndex: ...
def open(
    path: Path,
    *,
    read_only: bool = False,
    read_mode: str | None = None,
    filters: str | None = None,
    filter_memory: Size | None = None,
    memory: Size | None = None,
    tmp_dir: Path | None = None,
    threads: int | None = None,
) -> Store | KeyIndex: ...
def verify(path: Path) -> dict[str, Any]: ...
def repair(path: Path, *, yes: bool = False) -> dict[str, Any]: ...
def simhash(texts: Column, **options: Any) -> Array: ...
def minhash(texts: Column, **options: Any) -> Array: ...
@overload
def bands(texts: Column, *, sketch: Literal[0] = 0, **options: Any) -> Array: ...
@overload
def bands(texts: Column, *, sketch: int | str, **options: Any) -> Batch: ...
def compare(
    a: str, b: str, *, method: str = "simhash", threshold: float | None = None, **options: Any
) -> dict[str, Any]: ...
def health(fingerprints: Column, *, width: int | None = None) -> dict[str, Any]: ...
@final
class Ring:
    def __new__(cls, path: Path) -> Self: ...
    @property
    def nodes(self) -> list[str]: ...
    @property
    def directories(self) -> list[pathlib.Path]: ...
    @property
    def replicas(self) -> int: ...
    def locate(self, id: Id) -> list[str]: ...
    def has(self, ids: Column, node: int) -> Array: ...
    def first(self, ids: Column, asked: Sequence[bool]) -> Array: ...
    def cover(self, alive: Sequence[bool], begin: int = 0) -> tuple[list[bool], float]: ...
    def lock(self) -> RingLock: ...

@final
class RingLock:
    def release(self) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None: ...

def linked(count: int, a: Column, b: Column, *, linkage: str) -> Array: ...
def shares(ids: Column, count: int) -> Array: ...
def bytes_of(memory: int | str) -> int: ...
def lucene_min_hash(texts: Column, **options: Any) -> Array: ...
def renamed(batch: Batch, names: list[str], values: Array) -> Batch: ...
def _table(bytes: bytes) -> Table: ...
def _batch(bytes: bytes, hasher: str | None, sample_bits: int | None) -> Batch: ...
def _array(bytes: bytes, hasher: str | None) -> Array: ...
def _match(distance: int, fingerprint: bytes, id: Id, is_count: bool) -> Match: ...
def _key_match(id: Id, shared: int, jaccard: float | None) -> KeyMatch: ...
