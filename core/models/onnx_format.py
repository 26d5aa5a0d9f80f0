"""What an ONNX file may hold: a list of fields and of operators. Whatever is on neither list is refused unread.

The runtime follows what a file names: weights in other files (of dense and of sparse tensors), functions of its own,
operators of other vendors. So the file is read here before, by a description of the fields that a model of a table
needs (ONNX 1.23, onnx.proto and onnx-ml.proto), at every depth: graphs inside attributes too. It is then run as it
stands, without being written again.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..base.errors import InputError
from ..datasets.columns import quoted
from .model_answers import is_path_or_address

DOMAINS = ("", "ai.onnx", "ai.onnx.ml")
"""Where operators may come from: the standard's own."""

_FIELDS: dict[str, tuple[tuple[str, int, str], ...]] = {
    "Model": (
        ("ir_version", 1, "int64"),
        ("producer_name", 2, "string"),
        ("producer_version", 3, "string"),
        ("domain", 4, "string"),
        ("model_version", 5, "int64"),
        ("doc_string", 6, "string"),
        ("graph", 7, "Graph"),
        ("opset_import", 8, "*OperatorSet"),
        ("metadata_props", 14, "*Entry"),
    ),
    "OperatorSet": (("domain", 1, "string"), ("version", 2, "int64")),
    "Entry": (("key", 1, "string"), ("value", 2, "string")),
    "Graph": (
        ("node", 1, "*Node"),
        ("name", 2, "string"),
        ("initializer", 5, "*Tensor"),
        ("doc_string", 10, "string"),
        ("input", 11, "*Value"),
        ("output", 12, "*Value"),
        ("value_info", 13, "*Value"),
        ("metadata_props", 16, "*Entry"),
    ),
    "Node": (
        ("input", 1, "*string"),
        ("output", 2, "*string"),
        ("name", 3, "string"),
        ("op_type", 4, "string"),
        ("attribute", 5, "*Attribute"),
        ("doc_string", 6, "string"),
        ("domain", 7, "string"),
        ("metadata_props", 9, "*Entry"),
    ),
    "Attribute": (
        ("name", 1, "string"),
        ("f", 2, "float"),
        ("i", 3, "int64"),
        ("s", 4, "bytes"),
        ("t", 5, "Tensor"),
        ("g", 6, "Graph"),
        ("floats", 7, "*float"),
        ("ints", 8, "*int64"),
        ("strings", 9, "*bytes"),
        ("tensors", 10, "*Tensor"),
        ("graphs", 11, "*Graph"),
        ("doc_string", 13, "string"),
        ("type", 20, "int32"),
    ),
    "Tensor": (
        ("dims", 1, "*int64"),
        ("data_type", 2, "int32"),
        ("float_data", 4, "*float"),
        ("int32_data", 5, "*int32"),
        ("string_data", 6, "*bytes"),
        ("int64_data", 7, "*int64"),
        ("name", 8, "string"),
        ("raw_data", 9, "bytes"),
        ("double_data", 10, "*double"),
        ("uint64_data", 11, "*uint64"),
        ("doc_string", 12, "string"),
        ("data_location", 14, "int32"),
        ("metadata_props", 16, "*Entry"),
    ),
    "Value": (
        ("name", 1, "string"),
        ("type", 2, "Type"),
        ("doc_string", 3, "string"),
        ("metadata_props", 4, "*Entry"),
    ),
    "Type": (
        ("tensor_type", 1, "TensorType"),
        ("sequence_type", 4, "SequenceType"),
        ("map_type", 5, "MapType"),
        ("denotation", 6, "string"),
    ),
    "TensorType": (("elem_type", 1, "int32"), ("shape", 2, "Shape")),
    "SequenceType": (("elem_type", 1, "Type"),),
    "MapType": (("key_type", 1, "int32"), ("value_type", 2, "Type")),
    "Shape": (("dim", 1, "*Dimension"),),
    "Dimension": (
        ("dim_value", 1, "int64"),
        ("dim_param", 2, "string"),
        ("denotation", 3, "string"),
    ),
}
"""Message -> (field, number, type); a star means repeated. No other field is let in."""

_OUTSIDE = ("its weights lie in another file", "export it as one file")
_SPARSE = ("it holds sparse tensors", "export it with dense weights, as one file")
_FUNCTIONS = ("it defines functions of its own", "export it with these written out")

_REFUSED_FIELDS = {
    ("Tensor", 13): _OUTSIDE,  # external_data
    ("Graph", 15): _SPARSE,  # sparse_initializer
    ("Attribute", 22): _SPARSE,  # sparse_tensor
    ("Attribute", 23): _SPARSE,  # sparse_tensors
    ("Type", 8): _SPARSE,  # sparse_tensor_type
    ("Model", 25): _FUNCTIONS,
    ("Attribute", 21): _FUNCTIONS,  # ref_attr_name
    ("Node", 8): _FUNCTIONS,  # overload
    ("Model", 20): ("it holds steps of training", "export it for inference"),
}
"""Message and number of a field that the format has and that is refused -> why, and what to do."""

_OPERATORS = frozenset(
    (
        # Numbers, one by one.
        *(
            "Abs",
            "Acos",
            "Acosh",
            "Add",
            "And",
            "Asin",
            "Asinh",
            "Atan",
            "Atanh",
            "BitCast",
            "BitShift",
        ),
        *(
            "BitwiseAnd",
            "BitwiseNot",
            "BitwiseOr",
            "BitwiseXor",
            "Cast",
            "CastLike",
            "Ceil",
            "Clip",
            "Cos",
            "Cosh",
        ),
        *(
            "Div",
            "Equal",
            "Erf",
            "Exp",
            "Floor",
            "Greater",
            "GreaterOrEqual",
            "Identity",
            "IsInf",
            "IsNaN",
            "Less",
        ),
        *(
            "LessOrEqual",
            "Log",
            "Max",
            "Mean",
            "Min",
            "Mod",
            "Mul",
            "Neg",
            "Not",
            "Or",
            "Pow",
            "Reciprocal",
            "Round",
        ),
        *("Sign", "Sin", "Sinh", "Sqrt", "Sub", "Sum", "Tan", "Tanh", "Where", "Xor"),
        # Activations of networks, and noise while they are trained.
        *(
            "Celu",
            "Dropout",
            "Elu",
            "Gelu",
            "HardSigmoid",
            "HardSwish",
            "Hardmax",
            "LeakyRelu",
            "LogSoftmax",
            "Mish",
        ),
        *(
            "PRelu",
            "Relu",
            "Selu",
            "Shrink",
            "Sigmoid",
            "Softmax",
            "Softplus",
            "Softsign",
            "SwiGLU",
            "Swish",
        ),
        *("ThresholdedRelu", "Attention", "LinearAttention", "GRU", "LSTM", "RNN"),
        # Sums and products.
        *(
            "ArgMax",
            "ArgMin",
            "AveragePool",
            "BatchNormalization",
            "Conv",
            "ConvInteger",
            "CumProd",
            "CumSum",
            "Det",
        ),
        *(
            "Einsum",
            "Gemm",
            "GlobalAveragePool",
            "GlobalMaxPool",
            "GroupNormalization",
            "InstanceNormalization",
        ),
        *("LRN", "LayerNormalization", "LpNormalization", "MatMul", "MatMulInteger", "MaxPool"),
        *(
            "MeanVarianceNormalization",
            "QLinearConv",
            "QLinearMatMul",
            "RMSNormalization",
            "ReduceL1",
            "ReduceL2",
        ),
        *(
            "ReduceLogSum",
            "ReduceLogSumExp",
            "ReduceMax",
            "ReduceMean",
            "ReduceMin",
            "ReduceProd",
            "ReduceSum",
        ),
        *("ReduceSumSquare", "DequantizeLinear", "DynamicQuantizeLinear", "QuantizeLinear"),
        # Shapes and places.
        *(
            "Compress",
            "Concat",
            "Constant",
            "ConstantOfShape",
            "Expand",
            "EyeLike",
            "Flatten",
            "Gather",
        ),
        *(
            "GatherElements",
            "GatherND",
            "NonZero",
            "OneHot",
            "Pad",
            "Range",
            "Reshape",
            "ReverseSequence",
            "Scatter",
        ),
        *(
            "ScatterElements",
            "ScatterND",
            "Shape",
            "Size",
            "Slice",
            "Split",
            "Squeeze",
            "TensorScatter",
            "Tile",
        ),
        *("TopK", "Transpose", "Trilu", "Unique", "Unsqueeze"),
        # Sequences, branches and loops.
        *(
            "ConcatFromSequence",
            "If",
            "Loop",
            "Scan",
            "SequenceAt",
            "SequenceConstruct",
            "SequenceEmpty",
        ),
        *("SequenceErase", "SequenceInsert", "SequenceLength", "SequenceMap", "SplitToSequence"),
        # Chance.
        *(
            "Bernoulli",
            "Multinomial",
            "RandomNormal",
            "RandomNormalLike",
            "RandomUniform",
            "RandomUniformLike",
        ),
        # Texts.
        *("StringConcat", "StringNormalizer", "StringSplit", "TfIdfVectorizer"),
        # Tables: ai.onnx.ml.
        *(
            "ArrayFeatureExtractor",
            "Binarizer",
            "CastMap",
            "CategoryMapper",
            "DictVectorizer",
            "FeatureVectorizer",
        ),
        *(
            "Imputer",
            "LabelEncoder",
            "LinearClassifier",
            "LinearRegressor",
            "Normalizer",
            "OneHotEncoder",
        ),
        *("SVMClassifier", "SVMRegressor", "Scaler", "TreeEnsemble", "TreeEnsembleClassifier"),
        *("TreeEnsembleRegressor", "ZipMap"),
    )
)
"""The standard's operators that compute answers from a table; not those of pictures and sound, nor of training."""

_RUNTIME_SETTINGS = ("ort_config", "ep_cache_context")
"""Keys of metadata that the runtime itself may follow."""


def read_graph(content: bytes, name: str) -> Any:
    """Message of the whole file, with the fields of `_FIELDS`.

    Refused is what is not ONNX, what holds a field or an operator that is not listed, and weights in other files.
    """
    from google.protobuf.message import DecodeError, Message

    model = _message_class()()
    try:
        model.ParseFromString(content)
    except (DecodeError, RecursionError):
        model = None
    if model is None or not model.ir_version or not model.graph.node:
        raise InputError(f"The file {quoted(name)} is not ONNX, or is damaged; ask for it again.")
    waiting: list[Message] = [model]
    while waiting:
        message = waiting.pop()
        _check_message(message, name)
        waiting.extend(_parts(message))
    return model


def _parts(message: Any) -> Iterator[Any]:
    """Messages inside a message."""
    for field, value in message.ListFields():
        if field.message_type is None:
            continue
        if hasattr(value, "ListFields"):
            yield value
        else:
            yield from value


def _check_message(message: Any, name: str) -> None:
    """Refuse a message with a field, an operator, a place of weights or metadata that is not let in."""
    from google.protobuf.unknown_fields import UnknownFieldSet

    kind = message.DESCRIPTOR.name
    for field in UnknownFieldSet(message):
        unlisted = (
            f"it holds a field that is not listed ({kind} {field.field_number})",
            "export it once more",
        )
        raise _refused(name, *_REFUSED_FIELDS.get((kind, field.field_number), unlisted))
    if kind == "Tensor" and message.data_location:
        raise _refused(name, *_OUTSIDE)
    if kind == "Node":
        _check_operator(message, name)
    if kind == "Entry" and (message.key in _RUNTIME_SETTINGS or is_path_or_address(message.value)):
        raise _refused(
            name,
            f"its metadata name a file or a setting ({quoted(message.key)})",
            "export it without metadata",
        )


def _check_operator(node: Any, name: str) -> None:
    if node.domain not in DOMAINS:
        raise _refused(
            name,
            f"its operator {quoted(node.op_type)} of {quoted(node.domain)} is not part of the ONNX standard",
            "export it with standard operators only",
        )
    if node.op_type not in _OPERATORS:
        raise _refused(
            name,
            f"its operator {quoted(node.op_type)} is not on the list of those that are run",
            "export a classifier of a table",
        )


def _refused(name: str, reason: str, remedy: str) -> InputError:
    return InputError(f"The ONNX file {quoted(name)} is refused because {reason}; {remedy}.")


def _message_class() -> Any:
    """Class of the message, built from `_FIELDS` in a pool of its own."""
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    kinds = descriptor_pb2.FieldDescriptorProto
    plain_names = ("int32", "int64", "uint64", "float", "double", "string", "bytes")
    plain = {name: getattr(kinds, f"TYPE_{name.upper()}") for name in plain_names}
    file = descriptor_pb2.FileDescriptorProto(
        name="onnx_part.proto", package="onnx_part", syntax="proto2"
    )
    for title, fields in _FIELDS.items():
        message = file.message_type.add(name=title)
        for name, number, kind in fields:
            if kind.startswith("*"):
                label = kinds.LABEL_REPEATED
            else:
                label = kinds.LABEL_OPTIONAL
            kind = kind.removeprefix("*")
            added = message.field.add(name=name, number=number, label=label)
            added.type = plain.get(kind, kinds.TYPE_MESSAGE)
            if kind not in plain:
                added.type_name = f".onnx_part.{kind}"
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("onnx_part.Model"))


def smallest_model() -> bytes:
    """Smallest file that the runtime can rehearse with: it hands on a table of one column."""
    float_type = 1
    record = "N"
    model = _message_class()(ir_version=8)
    model.opset_import.add(domain="", version=17)
    model.graph.name = "rehearsal"
    model.graph.node.add(op_type="Identity", input=["x"], output=["p"])
    for values, name in ((model.graph.input, "x"), (model.graph.output, "p")):
        tensor = values.add(name=name).type.tensor_type
        tensor.elem_type = float_type
        tensor.shape.dim.add(dim_param=record)
        tensor.shape.dim.add(dim_value=1)
    return bytes(model.SerializeToString())
