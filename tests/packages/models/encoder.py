"""Parts of ONNX graphs that both packaged encoders have. Needs `onnx`, as the scripts that build them do."""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from onnx import TensorProto, helper, numpy_helper  # pyright: ignore[reportMissingImports] - only where models are built
from onnxruntime.quantization import QuantType, quantize_dynamic

OPSET: Final = 17
IR_VERSION: Final = 8


class Graph:
    """Nodes and constants of an ONNX graph while it is being written."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def constant(self, name: str, value: Any) -> str:
        """Add a tensor and return its name."""
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def node(self, operator: str, inputs: list[str], output: str, **attributes: Any) -> str:
        """Add a node with one output and return the output's name."""
        self.nodes.append(helper.make_node(operator, inputs, [output], name=output, **attributes))
        return output

    def fused(self, operator: str, inputs: list[str], output: str, **attributes: Any) -> str:
        """Add one of onnxruntime's own operators."""
        return self.node(operator, inputs, output, domain="com.microsoft", **attributes)

    def places(self, positions: Any) -> str:
        """Write the vectors of the positions that a batch has."""
        table = self.constant("positions", positions)
        zero = self.constant("zero", np.array([0], np.int64))
        length = self.node("Shape", ["input_ids"], "length", start=1, end=2)
        return self.node("Slice", [table, zero, length], "places")

    def normalized_sum(self, value: str, skip: str, scale: str, shift: str, output: str, epsilon: float) -> str:
        """Write a residual connection and its normalisation.

        As two operators: onnxruntime's fused SkipLayerNormalization takes four times as long on a CPU, and one behind
        an Add would become that when the model is loaded.
        """
        total = self.node("Sum", [value, skip], output + ".sum")
        return self.node("LayerNormalization", [total, scale, shift], output, axis=-1, epsilon=epsilon)

    def pooled(self, value: str) -> str:
        """Write the mean over the tokens that are no padding, scaled to length 1."""
        axis, last = self.constant("axis", np.array([1], np.int64)), self.constant("last", np.array([2], np.int64))
        mask = self.node("Cast", ["attention_mask"], "float_mask", to=TensorProto.FLOAT)
        kept = self.node("Mul", [value, self.node("Unsqueeze", [mask, last], "wide_mask")], "kept")
        total = self.node("ReduceSum", [kept, axis], "total", keepdims=0)
        mean = self.node("Div", [total, self.node("ReduceSum", [mask, axis], "count", keepdims=1)], "mean")
        return self.node("LpNormalization", [mean], "embedding", axis=-1, p=2)

    def model(self, name: str, size: int) -> Any:
        """Return the model: input_ids and attention_mask [batch, tokens] -> embedding [batch, size]."""
        inputs = [
            helper.make_tensor_value_info(each, TensorProto.INT64, ["batch", "tokens"])
            for each in ("input_ids", "attention_mask")
        ]
        output = helper.make_tensor_value_info("embedding", TensorProto.FLOAT, ["batch", size])
        proto = helper.make_graph(self.nodes, name, inputs, [output], self.constants)
        opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid("com.microsoft", 1)]
        return helper.make_model(proto, opset_imports=opsets, ir_version=IR_VERSION, producer_name="drive-agent")


def quantize(full: Path, small: Path, operators: Sequence[str]) -> None:
    """Quantize the operators' weights by channel to 7 bits: with 8, products overflow on processors without VNNI."""
    quantize_dynamic(
        full,
        small,
        op_types_to_quantize=[*operators],
        per_channel=True,
        reduce_range=True,
        weight_type=QuantType.QInt8,
        extra_options={"DefaultTensorType": TensorProto.FLOAT, "MatMulConstBOnly": True},
    )


def digest(path: Path) -> str:
    """Return the SHA-256 of a file in hex."""
    return hashlib.sha256(path.read_bytes()).hexdigest()
