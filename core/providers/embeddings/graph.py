"""Builds the int8 ONNX graph of all-MiniLM-L6-v2 from its published weights."""

import hashlib
import json
import os
import struct
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from core.domain.errors import ConfigurationError

FLOAT, INT32, INT64 = 1, 6, 7
"""Element types of a tensor, `TensorProto.DataType`."""
_TYPES = {"float32": FLOAT, "int8": 3, "int64": INT64}
_IR_VERSION = 10
_VARINT, _BYTES, _FIXED32 = 0, 2, 5
_FLOAT_ATTRIBUTE, _INT_ATTRIBUTE = 1, 2

Value = int | float | str | bytes


@dataclass
class GraphWriter:
    """Collects the nodes and constants of a graph, and names what passes between them."""

    name: str
    nodes: list[bytes] = field(default_factory=list)
    constants: list[bytes] = field(default_factory=list)

    def add(
        self,
        operation: str,
        *inputs: str,
        outputs: Sequence[str] = (),
        domain: str = "",
        **attributes: int | float,
    ) -> str:
        """Add a node and return the name of its first output."""
        names = outputs or (f"{operation}_{len(self.nodes)}",)
        self.nodes.append(
            _message(
                *((1, name) for name in inputs),
                *((2, name) for name in names),
                (4, operation),
                *((5, _attribute(name, value)) for name, value in attributes.items()),
                (7, domain),
            )
        )
        return names[0]

    def constant(self, value: npt.NDArray[np.generic]) -> str:
        """Add a tensor of float32, int8 or int64, and return its name."""
        name = f"constant_{len(self.constants)}"
        # The wire is little-endian, whatever the machine is.
        data = np.ascontiguousarray(value, value.dtype.newbyteorder("<")).tobytes()
        self.constants.append(
            _message(
                *((1, length) for length in value.shape),
                (2, _TYPES[value.dtype.name]),
                (8, name),
                (9, data),
            )
        )
        return name

    def model(
        self, inputs: Iterable[bytes], outputs: Iterable[bytes], opsets: dict[str, int]
    ) -> bytes:
        """Return the file's content; inputs and outputs are what `tensor` returns."""
        graph = _message(
            *((1, node) for node in self.nodes),
            (2, self.name),
            *((5, constant) for constant in self.constants),
            *((11, one) for one in inputs),
            *((12, one) for one in outputs),
        )
        sets = (_message((1, domain), (2, version)) for domain, version in opsets.items())
        return _message((1, _IR_VERSION), (7, graph), *((8, one) for one in sets))


def tensor(name: str, kind: int, shape: Sequence[int | str]) -> bytes:
    """Return the description of an input or output; a length that varies has a name."""
    lengths = (_message((1 if isinstance(one, int) else 2, one)) for one in shape)
    described = _message((1, kind), (2, _message(*((1, length) for length in lengths))))
    return _message((1, name), (2, _message((1, described))))


def _attribute(name: str, value: int | float) -> bytes:
    if isinstance(value, float):
        return _message((1, name), (2, value), (20, _FLOAT_ATTRIBUTE))
    return _message((1, name), (3, value), (20, _INT_ATTRIBUTE))


def _message(*fields: tuple[int, Value]) -> bytes:
    return b"".join(_field(number, value) for number, value in fields)


def _field(number: int, value: Value) -> bytes:
    if isinstance(value, float):
        return _varint(number << 3 | _FIXED32) + struct.pack("<f", value)
    if isinstance(value, int):
        return _varint(number << 3 | _VARINT) + _varint(value)
    data = value.encode() if isinstance(value, str) else value
    return _varint(number << 3 | _BYTES) + _varint(len(data)) + data


def _varint(value: int) -> bytes:
    """Seven bits a byte, the lowest first; a negative number is its 64-bit complement."""
    value &= (1 << 64) - 1
    encoded = bytearray()
    while value > 0x7F:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes((*encoded, value))


WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
TOKENIZER_SHA256 = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"
LAYERS, HEADS, WIDTH = 6, 12, 384
_EPSILON = 1e-12
_OPSET = 20
_MICROSOFT = "com.microsoft"
"""The operations that onnxruntime has beyond those of ONNX."""

Weights = Mapping[str, npt.NDArray[np.float32]]


def build_graph(weights: Path, target: Path) -> None:
    """Write the quantised graph to `target`, atomically.

    Inputs: `input_ids` and `attention_mask`, both (batch, tokens) int64. Outputs: `tokens`,
    (batch, tokens, 384) float32, and `embedding`, (batch, 384) float32 of unit length, the mean
    over the tokens that are not padding.

    Raises:
        ConfigurationError: when the weights are not the published ones.
    """
    verify(weights, WEIGHTS_SHA256)
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as folder:
        quantised = Path(folder) / "int8.onnx"
        quantised.write_bytes(_model(_read_safetensors(weights)))
        # First the sum: a graph that it does not fit is built again, and never used.
        noted = Path(folder) / "sum"
        noted.write_text(_digest(quantised), encoding="ascii")
        os.replace(noted, _sum_of(target))
        os.replace(quantised, target)


def is_intact(graph: Path) -> bool:
    """Return whether a graph is there, just as it was built."""
    try:
        noted = _sum_of(graph).read_text(encoding="ascii", errors="replace")
        return noted == _digest(graph)
    except OSError:
        return False


def _sum_of(graph: Path) -> Path:
    return graph.with_name(f"{graph.name}.sha256")


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def verify(path: Path, sha256: str) -> None:
    """Raise ConfigurationError unless the file's SHA-256 is the expected one."""
    if not path.is_file():
        raise ConfigurationError(
            f"The embedding model's file {path.name} is missing: run 'glossator model install', "
            "or set GLOSSATOR_EMBEDDING__MODEL_DIR to a folder that has it."
        )
    digest = _digest(path)
    if digest != sha256:
        raise ConfigurationError(
            f"The embedding model's file {path.name} is not the published one "
            f"(SHA-256 {digest[:12]}…, expected {sha256[:12]}…): run 'glossator model install'."
        )


def _read_safetensors(path: Path) -> Weights:
    """Return the tensors of a safetensors file: a JSON header, then raw little-endian data."""
    data = path.read_bytes()
    size = int.from_bytes(data[:8], "little")
    header: dict[str, Any] = json.loads(data[8 : 8 + size])
    header.pop("__metadata__", None)
    tensors = {}
    for name, entry in header.items():
        start, end = (8 + size + offset for offset in entry["data_offsets"])
        kind = {"F32": "<f4", "I64": "<i8"}[entry["dtype"]]
        tensors[name] = np.frombuffer(data[start:end], kind).reshape(entry["shape"])
    return tensors


class _Writer(GraphWriter):
    """Writes the layers of the model from its weights."""

    def __init__(self, weights: Weights) -> None:
        super().__init__("all-MiniLM-L6-v2")
        self.weights = weights
        self._quantised: dict[str, tuple[str, str, str]] = {}

    def weight(self, name: str) -> str:
        return self.constant(self.weights[name])

    def linear(self, x: str, weight: str, bias: str) -> str:
        """Multiply in int8: the weights are quantised here, their input as it comes."""
        matrix, scale = _int8(self.weights[weight].T)
        quantised, input_scale, input_zero = self._as_uint8(x)
        product = self.add(
            "MatMulInteger",
            quantised,
            self.constant(matrix),
            input_zero,
            self.constant(np.zeros((), np.int8)),
        )
        scales = self.add("Mul", input_scale, self.constant(scale))
        product = self.add("Mul", self.add("Cast", product, to=FLOAT), scales)
        return self.add("Add", product, self.weight(bias))

    def normalised(self, x: str, prefix: str) -> str:
        scale, shift = self.weight(f"{prefix}.weight"), self.weight(f"{prefix}.bias")
        return self.add("LayerNormalization", x, scale, shift, axis=-1, epsilon=_EPSILON)

    def normalised_sum(self, x: str, skipped: str, prefix: str) -> str:
        return self.add(
            "SkipLayerNormalization",
            *(x, skipped, self.weight(f"{prefix}.weight"), self.weight(f"{prefix}.bias")),
            domain=_MICROSOFT,
            epsilon=_EPSILON,
        )

    def _as_uint8(self, x: str) -> tuple[str, str, str]:
        """Return the names of a value's bytes, their scale and their zero."""
        if x not in self._quantised:
            names = (f"{x}_uint8", f"{x}_scale", f"{x}_zero")
            self.add("DynamicQuantizeLinear", x, outputs=names)
            self._quantised[x] = names
        return self._quantised[x]


def _int8(matrix: npt.NDArray[np.float32]) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.float32]]:
    """Return a matrix as whole numbers from -127 to 127, and the scale of one step."""
    scale = np.asarray(2 * np.abs(matrix).max() / 254, np.float32)
    return np.clip(np.rint(matrix / scale), -127, 127).astype(np.int8), scale


def _model(weights: Weights) -> bytes:
    writer = _Writer(weights)
    hidden = _embed_tokens(writer)
    padding = writer.add("Cast", "attention_mask", to=INT32)
    for layer in range(LAYERS):
        hidden = _transform(writer, hidden, padding, f"encoder.layer.{layer}")
    writer.add("Identity", hidden, outputs=["tokens"])
    writer.add("Identity", _mean(writer, hidden), outputs=["embedding"])
    return writer.model(
        [tensor(name, INT64, ["batch", "tokens"]) for name in ("input_ids", "attention_mask")],
        [
            tensor("embedding", FLOAT, ["batch", WIDTH]),
            tensor("tokens", FLOAT, ["batch", "tokens", WIDTH]),
        ],
        {"": _OPSET, _MICROSOFT: 1},
    )


def _embed_tokens(writer: _Writer) -> str:
    """Sum of word, position and token-type embeddings, normalised."""
    weights = writer.weights
    words = writer.add("Gather", writer.weight("embeddings.word_embeddings.weight"), "input_ids")
    positions = writer.constant(
        weights["embeddings.position_embeddings.weight"]
        + weights["embeddings.token_type_embeddings.weight"][0]
    )
    zero, one = (writer.constant(np.array([n], np.int64)) for n in (0, 1))
    length = writer.add("Gather", writer.add("Shape", "input_ids"), one)
    total = writer.add("Add", words, writer.add("Slice", positions, zero, length, zero))
    return writer.normalised(total, "embeddings.LayerNorm")


def _transform(writer: _Writer, hidden: str, padding: str, prefix: str) -> str:
    """One BERT layer: attention, then the feed-forward pair, each added and normalised."""
    query, key, value = (
        writer.linear(
            hidden, f"{prefix}.attention.self.{n}.weight", f"{prefix}.attention.self.{n}.bias"
        )
        for n in ("query", "key", "value")
    )
    attended = writer.add(
        "MultiHeadAttention", query, key, value, "", padding,
        domain=_MICROSOFT, num_heads=HEADS,
    )  # fmt: skip
    output = f"{prefix}.attention.output"
    attended = writer.linear(attended, f"{output}.dense.weight", f"{output}.dense.bias")
    hidden = writer.normalised_sum(attended, hidden, f"{output}.LayerNorm")
    inner = f"{prefix}.intermediate.dense"
    wide = writer.add("Gelu", writer.linear(hidden, f"{inner}.weight", f"{inner}.bias"))
    output = f"{prefix}.output"
    narrow = writer.linear(wide, f"{output}.dense.weight", f"{output}.dense.bias")
    return writer.normalised_sum(narrow, hidden, f"{output}.LayerNorm")


def _mean(writer: _Writer, hidden: str) -> str:
    """Mean over the real tokens, scaled to unit length."""
    last = writer.constant(np.array([2], np.int64))
    tokens = writer.constant(np.array([1], np.int64))
    mask = writer.add("Cast", "attention_mask", to=FLOAT)
    weighted = writer.add("Mul", hidden, writer.add("Unsqueeze", mask, last))
    summed = writer.add("ReduceSum", weighted, tokens, keepdims=0)
    return writer.add("LpNormalization", summed, axis=-1, p=2)
