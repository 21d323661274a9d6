"""Writes an ONNX model file, which onnxruntime reads; the library that makes them is large.

Source: the message definitions of ONNX, `onnx.proto` (IR version 10), and the wire format of
protocol buffers.
"""

import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

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
